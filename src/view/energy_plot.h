// Plots of energy.csv: of one run energies, linear and angular momentum over time; of several the same quantity of
// all runs in one panel.
#ifndef RBT_VIEW_ENERGY_PLOT_H
#define RBT_VIEW_ENERGY_PLOT_H

#include "base/error.h"

#include <stddef.h>

bool rbt_energy_plot_write(const char *csv, const char *title, const char *output, rbt_error *error);

typedef struct rbt_energy_source {
    const char *csv;
    const char *name;  // in the legend
} rbt_energy_source;

// At most RBT_PLOT_CURVES_MAX runs (view/plot.h). A quantity that is zero in all of them is left out.
bool rbt_energy_plot_overlay(const rbt_energy_source *runs, size_t count, const char *title, const char *output,
                             rbt_error *error);

#endif
