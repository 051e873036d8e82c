// What operations on bodies cost on this machine: measured once, on a block of tets with one thread, and kept in a
// file ($RUBATO_COSTS, or rubato/costs in $XDG_CACHE_HOME or ~/.cache). Only predictions use them,
// and predictions only say what is worth trying (sim/choice.h).
#ifndef RBT_SIM_UNIT_COSTS_H
#define RBT_SIM_UNIT_COSTS_H

#include "model/model.h"
#include "step/core/step_work.h"

typedef struct rbt_unit_costs {
    double gradient, assembly;  // [s] per element
    double factor;              // [s] per flop, as rbt_predicted_flops counts them
    double solve;               // [s] per non-zero of the factor, as rbt_predicted_fill counts them
} rbt_unit_costs;

bool rbt_unit_costs_get(rbt_unit_costs *costs, rbt_error *error);

// [s] of a step that does this work
double rbt_unit_costs_predict(const rbt_unit_costs *costs, const rbt_model *model, const rbt_step_work *work);

#endif
