// The plot of a sweep: the total energy of every run over time; for every axis of numbers the time per step and,
// where runs have a reference, the distance to it at the end, both over the value.
#ifndef RBT_CLI_SWEEP_PLOT_H
#define RBT_CLI_SWEEP_PLOT_H

#include "study/sweep.h"

// A panel shows RBT_PLOT_CURVES_MAX curves; if there are more, its title says so.
bool rbt_sweep_plot_write(const rbt_sweep_result *sweep, const char *title, const char *output, rbt_error *error);

#endif
