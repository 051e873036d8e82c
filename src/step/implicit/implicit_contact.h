// Contact in the implicit methods: what the state remembers of it, what it tells, and who watches.
//
// The state's memory holds the work that prescribed nodes have done through contact, the energy that friction has
// taken, and what cannot be found again from positions: the friction forces of the last step, and of an augmented
// Lagrangian behind them the multipliers of its end, as many as there is room for, those of the largest forces first. A
// pair that has no room begins the next step without one, which costs it a round.
#ifndef RBT_STEP_IMPLICIT_IMPLICIT_CONTACT_H
#define RBT_STEP_IMPLICIT_IMPLICIT_CONTACT_H

#include "step/contact/step_contact.h"
#include "step/core/method.h"

typedef struct rbt_contact_memory {
    double work;         // [J] of prescribed nodes and obstacles, through contact, so far
    double dissipation;  // [J] taken by friction so far
    double friction[];   // (node_count x 3) [N] on nodes in the last step; then rbt_multiplier_memory
} rbt_contact_memory;

typedef struct rbt_multiplier_memory {
    uint64_t count;
    rbt_pair_force pairs[];  // (count) ascending by key
} rbt_multiplier_memory;

size_t rbt_contact_memory_size(const rbt_model *model);  // bytes; 0 without contact

// After a step whose end is that of the latest gradient: work, friction and its forces. The forces of the end act all
// through the step, so their work is what it is: where the barrier is convex, energy rises by no more.
void rbt_contact_remember(const rbt_step_contact *contact, rbt_contact_memory *memory);

// Multipliers, work and friction so far of an augmented Lagrangian, for another method and from it
void rbt_contact_give(const rbt_step_contact *contact, const rbt_contact_memory *memory, rbt_contact_handover *to);
void rbt_contact_take(const rbt_step_contact *contact, rbt_contact_memory *memory, const rbt_contact_handover *from);

// [J] in the pairs of the latest gradient
double rbt_contact_stored(const rbt_step_contact *contact);

// The same end, for a rule that damps nothing by itself: takes from v (nodes x 3) what contact has given too much. The
// force of the end has its direction, too. Of surfaces that slide past each other it points forward all through the
// step, since they are curved, and does more work than the barrier gives:
//   G = f . (y - x_n) - (B(x_n) - B(y)) = N k |u|^2 / 2 of a pair that slips by u on a curvature k, of first order in
//   h.
// So each pair gets an impulse -s h N u against its slip, s one number for all of them (it is about half the
// curvature): the one by which the kinetic energy falls by G. Momentum stays, since pairs have it between them.
// `before` is B(x_n); constraints have the work of their force on the gap, N (d(y) - d(x_n)), in place of B(x_n) -
// B(y). Returns what is left of G: slip may have less energy than that.
double rbt_contact_balance(const rbt_step_contact *contact, double before, double *v);

// The pairs that push each other in a state, as rbt_step_contact_look tells them.
bool rbt_contact_look(rbt_step_contact *contact, const rbt_state *state, const rbt_contact_memory *memory);

// As rbt_method has them, at the positions of a state; memory: that of the state, NULL: none
size_t rbt_contact_points(rbt_step_contact *contact, const rbt_state *state, const rbt_contact_memory *memory,
                          rbt_contact_point *points, size_t capacity);
void rbt_contact_add_forces(rbt_step_contact *contact, const rbt_state *state, const rbt_contact_memory *memory,
                            double *f);
double rbt_contact_energy_at(rbt_step_contact *contact, const rbt_state *state, const rbt_contact_memory *memory);

#endif
