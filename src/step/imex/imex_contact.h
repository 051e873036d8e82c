// Contact of imex: impulses (step/contact/impulses.h) on explicit and implicit nodes.
//
// An impulse J_E on an explicit node changes its velocity by J_E / m at once; the implicit nodes, solved with the
// explicit ones' new velocities known, answer to both:
//
//   dv_E = M_E^-1 J_E,   dv_I = A^-1 (J_I - h (h + beta) K_IE dv_E),   displacements h dv
//
// What the programme is told is the part without K_IE, M_E^-1 and A^-1, which is symmetric (`approximate`).
//
// The certificate. It says that of the explicit nodes, with the implicit ones held, H = 1/2 v^T M v + 1/2 x+^T K x,
// which symplectic Euler keeps for linear forces (x before the step, x+ and v+ after it), is positive definite, so that
// nothing grows. v+ = v - h M^-1 K x + M^-1 J adds J^T (v + v+) / 2 to it. A pair that pushes ends the step no wider
// than it began, J^T v+ <= 0, and one that was closing has J^T v <= 0: contact takes from H, and the certificate covers
// it. Only a pair that was opening and is pushed may give something, at most J^T v / 2, once. So nothing is asked of
// the step that is not asked without contact; but a set that was not certified is refused.
#ifndef RBT_STEP_IMEX_IMEX_CONTACT_H
#define RBT_STEP_IMEX_IMEX_CONTACT_H

#include "step/contact/impulses.h"
#include "step/imex/imex_block.h"

typedef struct rbt_imex_contact {
    rbt_impulses *impulses;
    rbt_stiffness stiffness;  // the pattern of connected parts
    rbt_arena *arena;
    double *velocity;                              // (nodes x 3) at the end of the step, without impulses
    double *change;                                // (nodes x 3) work
    int32_t *place;                                // (nodes) among the implicit ones; -1: explicit
    int32_t *columns, *rows, *column_at, *row_at;  // (nodes) work
    double *entries;
    size_t entry_capacity;

    // The step that is taken
    const rbt_model *model;
    rbt_imex_block *block;  // NULL: no node is implicit
    const unsigned char *constrained;
    double h;
} rbt_imex_contact;

bool rbt_imex_contact_init(rbt_imex_contact *contact, const rbt_model *model, rbt_error *error);
void rbt_imex_contact_free(rbt_imex_contact *contact);

// What it brings to impulses.h; self is the contact.
rbt_impulse_response rbt_imex_response(const rbt_imex_contact *contact);

// The step: contact->velocity is that without impulses, and the block is as it has left it.
rbt_outcome rbt_imex_meet(rbt_imex_contact *contact, rbt_state *state, rbt_stages *stages, rbt_step_report *report);

#endif
