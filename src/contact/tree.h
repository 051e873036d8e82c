// A hierarchy of k-DOPs (Klosowski et al. 1998) over the places that leaves may reach until a certain time, and its separation
// list (Weller and Zachmann 2006): the pairs of nodes at which the last search ended. The next search starts there, since most of
// them are still apart, and on the axis that told them apart the last time.
#ifndef RBT_CONTACT_TREE_H
#define RBT_CONTACT_TREE_H

#include "base/memory.h"

enum { RBT_DOP_AXES = 9 };  // x, y, z and the six diagonals of the faces of a cube

typedef struct rbt_dop {
    double low[RBT_DOP_AXES], high[RBT_DOP_AXES];  // along the unit axes [m]
} rbt_dop;

void rbt_dop_project(const double x[3], double along[RBT_DOP_AXES]);  // on the axes
void rbt_dop_empty(rbt_dop *dop);
void rbt_dop_add_ball(rbt_dop *dop, const double center[3], double radius);

typedef struct rbt_tree_node {
    rbt_dop dop;
    int32_t leaf;   // -1: it has children, the left one next in the array
    int32_t right;  // the right one
    int32_t size;   // leaves below
} rbt_tree_node;

typedef struct rbt_node_pair {
    int32_t a, b;  // nodes of the tree
    int32_t axis;  // that told them apart; -1: two leaves that may touch
} rbt_node_pair;

typedef struct rbt_tree {
    size_t leaf_count, node_count;
    rbt_tree_node *nodes;
    int32_t *leaf_node;  // (leaf_count)
    int32_t *order;      // (leaf_count) work space of building
    // the separation list, and the one being made
    rbt_node_pair *front, *next;
    size_t front_count, front_capacity, next_count, next_capacity;
    int32_t *pairs;  // (pair_count x 2) leaves that may touch
    size_t pair_count, pair_capacity;
} rbt_tree;

bool rbt_tree_init(rbt_tree *tree, size_t leaf_count, rbt_error *error);
void rbt_tree_free(rbt_tree *tree);

// Splits leaves by their centers (leaf_count x 3); the separation list starts anew.
void rbt_tree_build(rbt_tree *tree, const double *centers);

// After nodes[leaf_node[l]].dop was set for every leaf l.
void rbt_tree_refit(rbt_tree *tree);

// All pairs of leaves whose k-DOPs overlap, into tree->pairs. False if there is no memory.
bool rbt_tree_collide(rbt_tree *tree, rbt_error *error);

#endif
