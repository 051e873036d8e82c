// The options of siere, and its small dense part by itself.
#ifndef RBT_STEP_EXPONENTIAL_SIERE_H
#define RBT_STEP_EXPONENTIAL_SIERE_H

#include "base/record.h"

typedef enum rbt_at_indefinite { RBT_INDEFINITE_PROJECTS, RBT_INDEFINITE_FACTORS } rbt_at_indefinite;

typedef struct rbt_siere_options {
    int modes;            // -1: as many as the next three ask for
    double modes_below;   // [Hz]; NaN: ten steps in a period
    double modes_energy;  // share of the kinetic energy; 0: do not look at it
    int max_modes;
    double tolerance;
    int indefinite;  // rbt_at_indefinite
} rbt_siere_options;

extern const rbt_record RBT_SIERE_OPTIONS;

#endif
