// A plot of steps.csv: how long steps were, and their error over what it may have been, over time.
#ifndef RBT_VIEW_STEPS_PLOT_H
#define RBT_VIEW_STEPS_PLOT_H

#include "base/error.h"

bool rbt_steps_plot_write(const char *csv, const char *title, const char *output, rbt_error *error);

#endif
