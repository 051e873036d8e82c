// Options of multirate-euler.
#ifndef RBT_STEP_MULTIRATE_MULTIRATE_H
#define RBT_STEP_MULTIRATE_MULTIRATE_H

#include "base/record.h"
#include "rubato/methods.h"

extern const rbt_record RBT_MULTIRATE_OPTIONS;

// The contact of a stepper of this method; NULL without (multirate_contact.h).
struct rbt_multirate_contact *rbt_multirate_contact_of(const void *self);

#endif
