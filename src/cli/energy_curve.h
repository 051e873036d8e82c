// The total energy of contenders over time, in a window that one of them cannot blow up.
#ifndef RBT_CLI_ENERGY_CURVE_H
#define RBT_CLI_ENERGY_CURVE_H

#include "study/contender.h"

// What is shown: the range of the runs that were added and once their largest energy scale beyond it. A curve that goes
// further ends at the border, so that one run that explodes does not flatten all others. {0}: everything.
typedef struct rbt_energy_window {
    bool bounded;
    double low, high, scale;
} rbt_energy_window;

void rbt_energy_window_add(rbt_energy_window *window, const rbt_contender *contender);

// (2 x trial.frame_count) times, then energies; NaN behind the border. NULL: no memory. Free it.
double *rbt_energy_curve(const rbt_contender *contender, const rbt_energy_window *window, rbt_error *error);

#endif
