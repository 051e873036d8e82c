// What the two searches for intersections share: pairs of primitives in piles that grow on several threads.
#ifndef RBT_VERIFY_EXACT_INTERSECT_PAIRS_H
#define RBT_VERIFY_EXACT_INTERSECT_PAIRS_H

#include "mesh/query/box_tree.h"
#include "verify/exact/intersect.h"

typedef struct rbt_intersect_pair {
    int32_t kind, first, second;  // rbt_intersection_kind and numbers of primitives
    int32_t touching;
    double when;
} rbt_intersect_pair;

typedef struct rbt_intersect_pile {
    rbt_intersect_pair *items;
    size_t count, capacity, tested;
    bool failed;  // no memory
} rbt_intersect_pile;

void rbt_intersect_pile_add(rbt_intersect_pile *pile, rbt_intersect_pair pair);

// For every box of `queries`: `visit` each item of the tree whose box overlaps it (closed). Piles of separate runs of
// queries are filled at once and put behind each other, so the result does not depend on threads. Adds to *all.
typedef void (*rbt_intersect_visit)(const void *context, int32_t query, int32_t item, rbt_intersect_pile *pile);
bool rbt_intersect_search(const rbt_box *queries, size_t query_count, const rbt_box_tree *tree, const rbt_box *boxes,
                          rbt_intersect_visit visit, const void *context, rbt_intersect_pile *all, rbt_error *error);

// By kind and numbers, each once.
void rbt_intersect_pile_sort(rbt_intersect_pile *pile);

// Whether a pair of these nodes counts: no obstacle is in it, or one is, but not alone, and something of it has moved.
bool rbt_intersect_counts(const rbt_intersect_mesh *mesh, const int32_t *nodes, int count);

// Adds pairs of what is round, and of planes, in the state x0 (x1 NULL) or on the way from x0 to x1.
bool rbt_intersect_add_rounds(const rbt_intersect_mesh *mesh, const double *x0, const double *x1,
                              rbt_intersect_pile *pile, rbt_error *error);
// Kind, nodes and place of such a pair
void rbt_intersect_describe_round(const rbt_intersect_mesh *mesh, const rbt_intersect_pair *pair, const double *x0,
                                  const double *x1, rbt_intersection *i);

bool rbt_intersect_check_finite(const rbt_intersect_mesh *mesh, const double *x, rbt_error *error);

#endif
