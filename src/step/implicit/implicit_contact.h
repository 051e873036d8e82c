// Contact in the implicit methods: what the state remembers of it, what it tells, and who watches.
//
// The state's memory holds the work that prescribed nodes have done through contact, the energy that friction has taken,
// and the friction forces of the last step, which cannot be found again from positions.
#ifndef RBT_STEP_IMPLICIT_IMPLICIT_CONTACT_H
#define RBT_STEP_IMPLICIT_IMPLICIT_CONTACT_H

#include "step/contact/step_contact.h"
#include "step/core/method.h"

typedef struct rbt_contact_memory {
    double work;         // [J] of prescribed nodes and obstacles, through contact, so far
    double dissipation;  // [J] taken by friction so far
    double friction[];   // (node_count x 3) [N] on nodes in the last step
} rbt_contact_memory;

size_t rbt_contact_memory_size(const rbt_model *model);  // bytes; 0 without contact

// After a step whose end is that of the latest gradient: work, friction and its forces. The forces of the end act all
// through the step, so their work is what it is: where the barrier is convex, energy rises by no more.
void rbt_contact_remember(const rbt_step_contact *contact, rbt_contact_memory *memory);

// As rbt_method has them, at the positions of a state
size_t rbt_contact_points(rbt_step_contact *contact, const rbt_state *state, rbt_contact_point *points,
                          size_t capacity);
void rbt_contact_add_forces(rbt_step_contact *contact, const rbt_state *state, const rbt_contact_memory *memory,
                            double *f);
double rbt_contact_energy_at(rbt_step_contact *contact, const rbt_state *state);

#endif
