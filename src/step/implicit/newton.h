// What the two files of Newton's method share.
#ifndef RBT_STEP_IMPLICIT_NEWTON_H
#define RBT_STEP_IMPLICIT_NEWTON_H

#include "step/core/linear.h"
#include "step/implicit/search.h"
#include "step/implicit/solver.h"

typedef struct rbt_newton {
    rbt_objective *objective;
    rbt_linear linear;
    rbt_search search;
    rbt_arena *arena;
    double *gradient, *direction, *rhs;  // (node_count x 3)
    double *plain, *bent;                // (node_count x 3) with contact: another direction and right-hand side, work
    double factored_tau;                 // of the factor that is kept for a linear model; 0: none
    bool exact;                          // with contact: the next factor is to be that of the true Hessian
    int waited, patience;                // iterations until that is tried again, and after the next failure
} rbt_newton;

// The iteration of a step with contact: z holds positions that are apart and receives the minimum; every move between
// two iterates is as long as the continuous test allows, at most.
rbt_outcome rbt_newton_contact(rbt_newton *newton, double *z, rbt_stop *stop, int max_iterations, rbt_stages *stages,
                               rbt_step_report *report);

#endif
