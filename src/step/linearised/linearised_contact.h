// Contact of steps with forces linearised once (step/contact/impulses.h), for methods built on linearised.h.
#ifndef RBT_STEP_LINEARISED_LINEARISED_CONTACT_H
#define RBT_STEP_LINEARISED_LINEARISED_CONTACT_H

#include "step/linearised/linearised.h"

// The end of a step whose matrix is factored: the solve with what is in the way, and the update. `memory` is where the
// state remembers contact.
rbt_outcome rbt_linearised_meet(rbt_linearised *s, rbt_state *state, double h, rbt_impulse_memory *memory,
                                rbt_stages *stages, rbt_step_report *report);

// The end of any such step: positions and velocities are checked, and contact is remembered.
rbt_outcome rbt_linearised_remember(const rbt_linearised *s, const rbt_state *state, double h,
                                    rbt_impulse_memory *memory, rbt_step_report *report);

// ---- As rbt_method has them; without contact they do what a method without these functions does

void rbt_linearised_watch(rbt_linearised *s, const rbt_observer *observer);
bool rbt_linearised_accepts(rbt_linearised *s, const rbt_state *state, char *text, size_t size);
double rbt_linearised_thickness(const rbt_linearised *s);
void rbt_linearised_describe(const rbt_linearised *s, rbt_text *json);
void rbt_linearised_energies(const rbt_linearised *s, const rbt_impulse_memory *memory, rbt_energies *energies);
size_t rbt_linearised_contacts(rbt_linearised *s, const rbt_impulse_memory *memory, const rbt_state *state,
                               rbt_contact_point *points, size_t capacity);
void rbt_linearised_contact_forces(rbt_linearised *s, const rbt_impulse_memory *memory, const rbt_state *state,
                                   double *f);

#endif
