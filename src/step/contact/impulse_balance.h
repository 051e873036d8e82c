// Momentum of connected parts of bodies, for rbt_impulses_balance (impulses.h).
#ifndef RBT_STEP_CONTACT_IMPULSE_BALANCE_H
#define RBT_STEP_CONTACT_IMPULSE_BALANCE_H

#include <stdbool.h>

typedef struct rbt_part_momentum {
    double mass, missing[3];  // what was given, less that of the velocities
    bool held;                // something else acts on it
} rbt_part_momentum;

#endif
