// The options of imex.
#ifndef RBT_STEP_IMEX_IMEX_H
#define RBT_STEP_IMEX_IMEX_H

#include "base/record.h"

typedef struct rbt_imex_options {
    double safety;        // of the local test
    int rings;            // of nodes around ill-shaped elements
    bool certify;         // the explicit nodes, beyond the local test
    bool release;         // nodes of ill-shaped elements that can be explicit after all
    double tolerance;     // of the implicit nodes' equation, relative
    double rotation_lag;  // of a stiffness that is kept (step/imex/rotation_lag.h)
} rbt_imex_options;

extern const rbt_record RBT_IMEX_OPTIONS;

#endif
