// The options of imex.
#ifndef RBT_STEP_IMEX_IMEX_H
#define RBT_STEP_IMEX_IMEX_H

#include "base/record.h"
#include "rubato/methods.h"

extern const rbt_record RBT_IMEX_OPTIONS;

// The contact of a stepper of this method (imex_contact.h).
struct rbt_imex_contact *rbt_imex_contact_of(void *self);

#endif
