// The options of imex.
#ifndef RBT_STEP_IMEX_IMEX_H
#define RBT_STEP_IMEX_IMEX_H

#include "base/record.h"
#include "rubato/methods.h"

extern const rbt_record RBT_IMEX_OPTIONS;

#endif
