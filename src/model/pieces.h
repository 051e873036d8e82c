// The connected pieces of a model: nodes that elements join, directly or through others. Pieces do not know of each
// other, so a tolerance that is relative to forces is relative to those on the same piece: a light soft body must not
// be called solved because a heavy stiff one beside it is. A body's nodes without elements (particles) are one piece.
//
// The nodes of a piece are listed in blocks of at most RBT_PIECE_BLOCK, which depend on the model alone: sums over
// blocks, added in their order, have the same bits for any number of threads.
#ifndef RBT_MODEL_PIECES_H
#define RBT_MODEL_PIECES_H

#include "model/model.h"

enum { RBT_PIECE_BLOCK = 1024 };

typedef struct rbt_pieces {
    size_t count;
    size_t block_count;
    int32_t *order;       // (node_count) nodes, piece by piece, ascending within each
    size_t *block_start;  // (block_count + 1) into order
    size_t *piece_start;  // (count + 1) into the blocks
} rbt_pieces;

// Sets of nodes as trees: parent[n] is n itself for a root. The root of a node's tree, with paths halved on the way;
// and two trees made one. The smaller number becomes the root: what a set is called does not depend on the order of
// joining.
int32_t rbt_pieces_root(int32_t *parent, int32_t n);
void rbt_pieces_join(int32_t *parent, int32_t a, int32_t b);

// Arrays lie in the arena.
bool rbt_pieces_find(rbt_pieces *pieces, rbt_arena *arena, const rbt_model *model, rbt_error *error);

#endif
