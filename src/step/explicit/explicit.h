// What explicit methods share: the force on every node at the start of a step.
//   f = f_ext - dW/dx + contact - D v,   D = alpha M + beta K
// A linear model's forces are K (x - X) with K assembled once. Otherwise the stiffness part of the damping needs K v
// by a central difference of forces along v:
//   K v ~ (f_int(x + s v) - f_int(x - s v)) / 2 s,   s = 1e-6 size / |v|max
#ifndef RBT_STEP_EXPLICIT_EXPLICIT_H
#define RBT_STEP_EXPLICIT_EXPLICIT_H

#include "model/force.h"
#include "model/stiffness.h"
#include "step/core/method.h"

typedef struct rbt_explicit {
    const rbt_model *model;
    rbt_arena *arena;
    unsigned char *constrained;
    double *f;                           // (node_count x 3)
    double *partial;                     // (plan.slot_count x 3)
    double *moved, *forward, *backward;  // for K v; NULL without stiffness damping
    rbt_stiffness stiffness;             // of a linear model, for the whole run
    double *work;                        // (2 x node_count x 3) beside it
} rbt_explicit;

// Fails if a body's mass is not lumped; `method` is for that message.
bool rbt_explicit_init(rbt_explicit *s, const rbt_model *model, const char *method, rbt_error *error);
void rbt_explicit_free(rbt_explicit *s);

// The parts of f, in their order
void rbt_explicit_external(rbt_explicit *s, const rbt_state *state);             // f = f_ext
void rbt_explicit_elastic(rbt_explicit *s, const rbt_state *state);              // f -= dW/dx
void rbt_explicit_contact_and_damping(rbt_explicit *s, const rbt_state *state);  // f += contact - D v

// v+ = v + h M^-1 f of the nodes that are free in this step and, if `skip` is not NULL, not in it; constrained ones
// as they must be.
void rbt_explicit_velocities(rbt_explicit *s, rbt_state *state, double h, const unsigned char *skip);

#endif
