// A binary tree of bounding boxes over any items, for nearest and range queries that their owners write themselves.
//
// Nodes stand in depth-first order: the left child of node i is i + 1, the right one is nodes[i].right, and the items
// below node i are order[first] .. order[first + count - 1]. The tree depends on the boxes only.
#ifndef RBT_MESH_QUERY_BOX_TREE_H
#define RBT_MESH_QUERY_BOX_TREE_H

#include "base/error.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum { RBT_BOX_TREE_LEAF = 4 };    // items below a leaf, at most
enum { RBT_BOX_TREE_DEPTH = 64 };  // a stack of this many nodes is enough for a walk that pushes one child

typedef struct rbt_box {
    double min[3], max[3];
} rbt_box;

typedef struct rbt_box_node {
    rbt_box box;
    int32_t first, count;
    int32_t right;  // 0: a leaf
} rbt_box_node;

typedef struct rbt_box_tree {
    size_t node_count;
    rbt_box_node *nodes;
    int32_t *order;  // (items)
} rbt_box_tree;

bool rbt_box_tree_build(rbt_box_tree *tree, const rbt_box *boxes, size_t count, rbt_error *error);
void rbt_box_tree_refit(rbt_box_tree *tree,
                        const rbt_box *boxes);  // the items moved: the same tree around their new boxes
void rbt_box_tree_free(rbt_box_tree *tree);

// Squared distance from a point to a box, 0 inside.
static inline double rbt_box_distance2(const rbt_box *box, const double x[3]) {
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double d = x[k] < box->min[k] ? box->min[k] - x[k] : x[k] > box->max[k] ? x[k] - box->max[k] : 0;
        sum += d * d;
    }
    return sum;
}

static inline void rbt_box_include(rbt_box *box, const double x[3], double radius) {
    for (int k = 0; k < 3; k++) {
        box->min[k] = fmin(box->min[k], x[k] - radius);
        box->max[k] = fmax(box->max[k], x[k] + radius);
    }
}

static inline rbt_box rbt_box_empty(void) {
    return (rbt_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

#endif
