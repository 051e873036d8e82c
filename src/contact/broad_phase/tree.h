// A hierarchy of k-DOPs (Klosowski et al. 1998) over the places that leaves may reach until a certain time, and its
// separation list (Weller and Zachmann 2006): the pairs of nodes at which the last search ended. The next search
// starts there, since most of them are still apart.
//
// What was found about a pair holds until its sides have moved enough relative to each other. Let D be how far a
// point has come since the last renewal, and let all D of a node lie in a ball of centre c and radius r. Sides A and
// B that had a gap g at a time, when the balls were these, are apart at another time, when they are c', r', if
//   |c'_A - c'_B| + r'_A + r'_B  <  g - (|c_A - c_B| + r_A + r_B)  =: slack
// since distances of convex hulls change by no more than their corners move relative to each other. Points move along
// straight lines during a search's span, but for a reach, so the left side is largest at one of its ends. That costs
// a few numbers, and is true of neighbours in a mesh, which move together, for many searches.
#ifndef RBT_CONTACT_BROAD_PHASE_TREE_H
#define RBT_CONTACT_BROAD_PHASE_TREE_H

#include "base/memory.h"

enum { RBT_DOP_AXES = 9 };  // x, y, z and the six diagonals of the faces of a cube

typedef struct rbt_dop {
    double low[RBT_DOP_AXES], high[RBT_DOP_AXES];  // along the unit axes [m]
} rbt_dop;

static inline void rbt_dop_project(const double x[3], double along[RBT_DOP_AXES]) {  // on the axes
    const double half = 0.70710678118654752440;                                      // 1 / sqrt(2)
    along[0] = x[0], along[1] = x[1], along[2] = x[2];
    along[3] = half * (x[0] + x[1]), along[4] = half * (x[0] - x[1]);
    along[5] = half * (x[0] + x[2]), along[6] = half * (x[0] - x[2]);
    along[7] = half * (x[1] + x[2]), along[8] = half * (x[1] - x[2]);
}
void rbt_dop_empty(rbt_dop *dop);
void rbt_dop_add_ball(rbt_dop *dop, const double centre[3], double radius);
void rbt_dop_add(rbt_dop *dop, const rbt_dop *other);
bool rbt_dop_overlap(const rbt_dop *a, const rbt_dop *b);

typedef struct rbt_tree_node {
    rbt_dop dop;
    int32_t leaf;   // -1: it has children, the left one next in the array
    int32_t right;  // the right one
    int32_t size;   // leaves below
} rbt_tree_node;

typedef struct rbt_ball {
    float centre[3], radius;  // [m]
} rbt_ball;

typedef struct rbt_drift {
    rbt_ball first,
        last;     // at the start and at the end of the span, on straight lines; an infinite radius: not known
    float reach;  // how far from these [m]
} rbt_drift;

typedef struct rbt_node_pair {
    int32_t a, b;  // nodes of the tree
    float slack;   // they are apart while they drift by less relative to each other [m]
    float rest;    // of two leaves: so are all of their parts but some
    int32_t some;  // bits of these parts; 0: nothing is known about parts
} rbt_node_pair;

typedef struct rbt_tree {
    size_t leaf_count, node_count;
    rbt_tree_node *nodes;
    int32_t *leaf_node;  // (leaf_count)
    int32_t *order;      // (leaf_count) work space of building
    rbt_drift *drifts;   // (node_count)
    // the separation list, and the one being made
    rbt_node_pair *front, *next;
    size_t front_count, front_capacity, next_count, next_capacity;
    int32_t *pairs;   // (pair_count x 2) leaves that may touch
    size_t *entries;  // (pair_count) where they stand in the list
    size_t pair_count, pair_capacity, entry_capacity;
    int32_t *met;  // leaves that one leaf may touch
    size_t met_count, met_capacity;
} rbt_tree;

bool rbt_tree_init(rbt_tree *tree, size_t leaf_count, rbt_error *error);
void rbt_tree_free(rbt_tree *tree);

// Splits leaves by their centres (leaf_count x 3); the separation list starts again.
void rbt_tree_build(rbt_tree *tree, const double *centres);

// After nodes[leaf_node[l]].dop was set for every leaf l, and its drift if it is known.
void rbt_tree_refit(rbt_tree *tree);
void rbt_tree_refit_drifts(rbt_tree *tree);  // nothing but the drifts has changed

// Drifts are counted from the start of the present span on; they are then set and refitted before anything else. What
// is known loses what it has drifted so far.
void rbt_tree_renew(rbt_tree *tree);

// All pairs of leaves whose k-DOPs overlap and that are not known to be apart, into tree->pairs. False if there is no
// memory.
bool rbt_tree_collide(rbt_tree *tree, rbt_error *error);

// Within a span, after the k-DOP of a leaf was set again: those above it grow.
void rbt_tree_widen(rbt_tree *tree, size_t leaf);

// Leaves whose k-DOPs overlap a given one, into tree->met; what is known from searches does not count. False if there
// is no memory.
bool rbt_tree_meet(rbt_tree *tree, const rbt_dop *dop, rbt_error *error);

// What is known about the parts of two leaves, pair number i of the last search: bits of those that may touch, the
// others do not in its span; 0: all may.
static inline int32_t rbt_tree_some(const rbt_tree *tree, size_t i) { return tree->front[tree->entries[i]].some; }

// Pair number i of the last search is apart by a gap [m] at the start of its span; and all its parts but some by a
// wider one. If only the parts that it had been told of before were looked at, the last function tells their gap.
void rbt_tree_tell(rbt_tree *tree, size_t i, double gap, int32_t some, double rest);
void rbt_tree_tell_some(rbt_tree *tree, size_t i, double gap);

#endif
