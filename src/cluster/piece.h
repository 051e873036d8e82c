// The part of a model that a rank holds (model/ranks.h), as bytes: made from the whole on the first rank, and a model
// of its own where it arrives. It has the nodes of the rank's subdomains, all elements that touch these, and the nodes
// of these elements. Tets come in whole batches, so that every kernel sees the same lanes as in the whole, and each
// chunk of the plan of sums has the elements of one chunk of the whole: what is summed at a node of the rank's
// subdomains has the same bits.
#ifndef RBT_CLUSTER_PIECE_H
#define RBT_CLUSTER_PIECE_H

#include "base/text.h"
#include "model/division.h"
#include "model/pieces.h"
#include "step/explicit/stability.h"

// What the first rank knows of the whole, and how it is divided
typedef struct rbt_cluster_plan {
    const rbt_model *whole;
    rbt_division division;
    int rank_count;
    int32_t *rank_of;  // (division.count)
    int32_t *owner;    // (node_count) the rank of a node's first subdomain
    rbt_pieces pieces;
    rbt_arena *arena;  // of the pieces
    rbt_stable_steps stable;
    uint64_t fingerprint;
} rbt_cluster_plan;

// `subdomains` 0: one for each rank
bool rbt_cluster_plan_make(rbt_cluster_plan *plan, const rbt_model *whole, int rank_count, size_t subdomains,
                           rbt_error *error);
void rbt_cluster_plan_free(rbt_cluster_plan *plan);

bool rbt_piece_pack(const rbt_cluster_plan *plan, int rank, rbt_text *bytes, rbt_error *error);

// A rank's model, and what it knows of the others. The functions of `ranks` are for whoever connects them.
typedef struct rbt_piece {
    rbt_model *model;
    rbt_ranks ranks;
    const int32_t *owner;    // (node_count)
    rbt_body *whole_bodies;  // (body_count) with the counts of the whole
} rbt_piece;

bool rbt_piece_unpack(rbt_piece *piece, const void *bytes, size_t size, rbt_error *error);
void rbt_piece_free(rbt_piece *piece);

#endif
