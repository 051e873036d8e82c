// A fused sequence of triangular solves with one factor L L^T, in which each right-hand side follows from the
// solution before it, number by number:
//   A x_i = r(x_{i-1}),   i = 1..count
// The way back of a solve and the way up of the next one then go through the tree together, subtree by subtree, and
// each front is met again while it is in a cache. Threads meet twice in a solve: every subtree is one's own, and what
// is above them is left to the first.
//
// Of each front there is not L but P = [L11^-1; -L21 L11^-1]: with t = [right-hand side; what is below], P t on the
// way up and P^T t on the way back are all that is left to do, and both read P from its begin to its end. The bits do
// not depend on the threads.
#ifndef RBT_SOLVE_FUSED_SOLVE_H
#define RBT_SOLVE_FUSED_SOLVE_H

#include "base/team.h"
#include "solve/frontal.h"

typedef struct rbt_fused_solve {
    size_t node_count;
    size_t length;   // of a vector: fronts one after the other, each filled up with numbers that must stay 0
    int32_t *place;  // (node_count) where the unknowns of a row of the matrix are in a vector
    double *x;       // (length) the last solution
    double numbers;  // that a solve reads twice
    double shared;   // the longest way of a solve that all members share: numbers read by one after the other

    struct rbt_fused_solve_parts *parts;
} rbt_fused_solve;

// Of the numbers from `first` on: x is the solution of solve `step` (0: there is none yet), `right` becomes the
// right-hand side of the next; after the last one it is of no use.
typedef void rbt_fused_solve_turn(void *self, size_t step, size_t first, size_t count, const double *restrict x,
                                  double *restrict right);

// Of a factor in double precision, which is needed no more. order (nodes): the row that is eliminated at a place. As
// many members as may ever share a solve.
rbt_fused_solve *rbt_fused_solve_new(const rbt_frontal *frontal, const int32_t *order, size_t members,
                                     rbt_error *error);
void rbt_fused_solve_free(rbt_fused_solve *fused);

// By all members of the team, each of which calls it; one alone does it all. They have not met at the end.
void rbt_fused_solve_run(rbt_fused_solve *fused, rbt_team *team, size_t count, rbt_fused_solve_turn *turn,
                         void *self);

#endif
