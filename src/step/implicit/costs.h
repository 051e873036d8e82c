// What the parts of an iteration cost on one core, for solvers that weigh a new factor against more iterations. An
// estimate from the sizes of things, never measured: results would depend on the machine.
#ifndef RBT_STEP_IMPLICIT_COSTS_H
#define RBT_STEP_IMPLICIT_COSTS_H

#include "model/model.h"

typedef struct rbt_costs {  // [s]; only their ratios matter
    double assemble, factor;
    double solve, gradient;  // in each iteration
} rbt_costs;

// For factors of so many flops and non-zeros
rbt_costs rbt_costs_estimate(const rbt_model *model, double flops, double fill);

// Of a new factor, in iterations. With contact its pattern is another one more often than not, and is analysed again
// for about what the factor costs; and an iteration has a continuous test and a list of pairs, for about what two
// gradients cost.
double rbt_costs_making(const rbt_costs *costs, bool contact);

#endif
