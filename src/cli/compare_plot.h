// The plot of a comparison: total energy and distance to the reference over time, and time against error.
#ifndef RBT_CLI_COMPARE_PLOT_H
#define RBT_CLI_COMPARE_PLOT_H

#include "study/compare.h"

bool rbt_compare_plot_write(const rbt_comparison *comparison, const char *title, const char *output,
                            rbt_error *error);

#endif
