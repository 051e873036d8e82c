// The options of siere, and its small dense part by itself.
#ifndef RBT_STEP_EXPONENTIAL_SIERE_H
#define RBT_STEP_EXPONENTIAL_SIERE_H

#include "base/record.h"
#include "rubato/methods.h"

extern const rbt_record RBT_SIERE_OPTIONS;

#endif
