// The plot of a run's energy.csv: energies, linear and angular momentum over time.
#ifndef RBT_VIEW_ENERGY_PLOT_H
#define RBT_VIEW_ENERGY_PLOT_H

#include "base/error.h"

bool rbt_energy_plot_write(const char *csv, const char *title, const char *output, rbt_error *error);

#endif
