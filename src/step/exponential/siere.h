// The options of siere, and its small dense part by itself.
#ifndef RBT_STEP_EXPONENTIAL_SIERE_H
#define RBT_STEP_EXPONENTIAL_SIERE_H

#include "base/record.h"
#include "rubato/methods.h"
#include "step/core/stage.h"

extern const rbt_record RBT_SIERE_OPTIONS;

// ---- Modes for a method that integrates them itself (multirate/rest_modes.h)

typedef struct rbt_siere_modes {
    size_t count;
    const double *U;                 // (count x nodes x 3)
    const double *lambda, *damping;  // (count)
    const double *force;             // (nodes x 3) f_ext - dW/dx where the step begins
    double *partial;                 // work of rbt_vectors_inner
} rbt_siere_modes;

// A workspace for so many modes, and the bytes of the state's memory that they need. An indefinite matrix is projected.
void *rbt_siere_modes_new(const rbt_model *model, int modes, rbt_error *error);
void rbt_siere_modes_free(void *self);
size_t rbt_siere_modes_memory(const rbt_model *model, int modes);

// The modes of the state, from those that its memory begins with.
rbt_outcome rbt_siere_find_modes(void *self, rbt_state *state, double h, rbt_stages *stages, rbt_step_report *report,
                                 rbt_siere_modes *modes);
// The state has become that of the end of the step.
void rbt_siere_remember_modes(void *self, rbt_state *state, rbt_step_report *report);

#endif
