// Candidates: pairs of primitives of a surface that may come within a reach of each other while every node stays in a
// box of its own. A list is good for any positions inside the boxes, and for every straight motion between two such
// positions, since a primitive stays in the hull of its nodes' boxes. Boxes have slack, so that most iterations of a
// solver need no search (the idea of Verlet's neighbour lists).
//
// There are two lists: a wide one, found by a search in a tree, and a narrow one for the motion of the moment, taken
// out of the wide one, which costs a pass over it. What is evaluated again and again is the narrow one.
#ifndef RBT_CONTACT_BROAD_PHASE_CANDIDATES_H
#define RBT_CONTACT_BROAD_PHASE_CANDIDATES_H

#include "contact/broad_phase/surface.h"
#include "mesh/query/box_tree.h"

typedef struct rbt_candidates {
    const rbt_contact_surface *surface;
    // (node_count) [m] radius, and half of the distance at which pairs of this node matter; the caller's
    const double *reach;
    bool built;                   // the tree has its shape
    rbt_box_tree tree;            // over the leaves
    rbt_box *leaves;              // (leaf_count) made by the last search
    rbt_box *wide_nodes, *nodes;  // (node_count) where the wide and the narrow list hold, without reach
    size_t wide_count, wide_capacity;
    rbt_pair_key *wide;  // (wide_count) ascending, each once
    size_t count, capacity;
    rbt_pair_key *keys;   // (count) the narrow list
    unsigned char *kept;  // (wide_count) work of narrowing
    size_t kept_capacity;
    size_t searches, lists;            // so far: of the tree, and narrow lists made
    struct rbt_candidate_pile *piles;  // work of searching
} rbt_candidates;

// `surface` and `reach` must stay.
bool rbt_candidates_init(rbt_candidates *candidates, const rbt_contact_surface *surface, const double *reach,
                         rbt_error *error);
void rbt_candidates_free(rbt_candidates *candidates);

// Makes sure that the narrow list holds for motions from x to y, both (node_count x 3). If it does not, its boxes get
// `slack` [m] around these; if the wide list does not hold there either, `wide_slack`. false: no memory; the lists are
// then empty and cover nothing.
bool rbt_candidates_prepare(rbt_candidates *candidates, const double *x, const double *y, double slack,
                            double wide_slack);

// Lists start again: other pairs exist now.
void rbt_candidates_forget(rbt_candidates *candidates);

// Calls `visit` with all pairs of leaves a < b whose boxes overlapped at the last search.
typedef void (*rbt_leaf_visit)(void *context, int32_t a, int32_t b);
void rbt_candidates_leaves(const rbt_candidates *candidates, rbt_leaf_visit visit, void *context);

#endif
