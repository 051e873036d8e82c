// Options of multirate-euler.
#ifndef RBT_STEP_MULTIRATE_MULTIRATE_H
#define RBT_STEP_MULTIRATE_MULTIRATE_H

#include "base/record.h"

typedef struct rbt_multirate_options {
    int regions;        // 0: the bodies' tempi, 1: chosen where sound is fast
    int interpolation;  // how a part with long steps moves: 0 by the interpolated velocity, 1 by that at their end
} rbt_multirate_options;

extern const rbt_record RBT_MULTIRATE_OPTIONS;

#endif
