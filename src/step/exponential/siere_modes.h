// The lowest modes K U = M U Lambda of a step, found from those that the state remembers, and the matrix A that they
// are found with: for siere, and for a method that integrates them itself (multirate/rest_modes.h).
#ifndef RBT_STEP_EXPONENTIAL_SIERE_MODES_H
#define RBT_STEP_EXPONENTIAL_SIERE_MODES_H

#include "step/exponential/siere.h"

// ---- For a method that integrates them itself

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

// ---- For siere

// Nodes that are not constrained, of all ranks. Without any there are no modes to be found.
size_t rbt_siere_free_nodes(const rbt_siere *s);

// Whether all bodies are damped alike, so that D U = alpha Q + beta K U
bool rbt_siere_damped_alike(const rbt_model *model);

// Everything up to the modes and their damping
rbt_outcome rbt_siere_prepare(rbt_siere *s, rbt_state *state, double h, rbt_stages *stages, rbt_step_report *report);

// Whether an outcome says that the matrix was taken for another one than it is; then K is to be projected, and the
// modes are those of that one.
bool rbt_siere_is_mistaken(const rbt_siere *s, rbt_outcome outcome);
rbt_outcome rbt_siere_project(rbt_siere *s, rbt_state *state, double h, rbt_step_report *report);

// The worst of all ranks
rbt_outcome rbt_siere_agree(const rbt_siere *s, rbt_outcome outcome);

#endif
