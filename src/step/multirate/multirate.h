// Options of multirate-euler.
#ifndef RBT_STEP_MULTIRATE_MULTIRATE_H
#define RBT_STEP_MULTIRATE_MULTIRATE_H

#include "base/record.h"
#include "rubato/methods.h"

extern const rbt_record RBT_MULTIRATE_OPTIONS;

#endif
