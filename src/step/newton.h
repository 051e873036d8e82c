// Projected Newton: z <- z - s H(z)^-1 grad E(z), with the length s halved until E does not increase.
#ifndef RBT_STEP_NEWTON_H
#define RBT_STEP_NEWTON_H

#include "step/linear.h"
#include "step/objective.h"

typedef struct rbt_newton {
    rbt_objective *objective;
    rbt_linear linear;
    double *gradient, *direction, *trial, *trial_gradient;  // (node_count x 3)
    rbt_arena *arena;
    double factored_tau;  // of the factor that is kept for a linear model; 0: none
} rbt_newton;

bool rbt_newton_init(rbt_newton *newton, rbt_objective *objective, rbt_error *error);
void rbt_newton_free(rbt_newton *newton);

// From z, which holds the start and receives the minimum, until |grad E| <= tolerance.
rbt_outcome rbt_newton_solve(rbt_newton *newton, double *z, double tolerance, int max_iterations, rbt_stages *stages,
                             rbt_step_report *report);

#endif
