// What energy-euler adds to a step: how implicit it is, and its velocities.
//
// energy-euler: s^2 = theta, the implicitness, from 1/2 to 1, so that with F the forces at free nodes, but for those R
// of contact and damping, which act as at the end,
//   x = x_n + h v_n + theta h^2 M^-1 (F(x) + R),   v = v_n + h M^-1 ((1 - theta) F(x_n) + theta F(x) + R)
//     = v_n + (x - x_n - h v_n)/(theta h) + (1 - theta) h M^-1 (F(x_n) - F(x)).
// theta = 1 is backward Euler. A vibration of q = h^2 omega^2 keeps the area (1 + (1 - theta) q)/(1 + theta q) of its
// phase plane in a step. theta = 1/2 keeps all of it, with eigenvalues of modulus 1 at any q (their sum is 2/(1 + q/2):
// 4 steps in a period at least), and is of second order: Newmark's rule of beta = gamma = 1/2. Gravity is exact, a body
// at rest stays so whatever theta is, and x is a minimum, as that of backward Euler is. Then energies are
// set right (energy_leash.h). Damping c = s: its force is D (x - x_n)/h.
#ifndef RBT_STEP_IMPLICIT_ENERGY_EULER_H
#define RBT_STEP_IMPLICIT_ENERGY_EULER_H

#include "step/implicit/implicit.h"

// Reads the options and makes the leash; nothing to do for other rules
bool rbt_energy_euler_init(rbt_implicit *s, const void *options, rbt_error *error);

// theta of a whole step that touches something
double rbt_energy_euler_whole(const rbt_implicit *s);

// theta of this step; `damped`: that of backward Euler
void rbt_energy_euler_choose(rbt_implicit *s, const rbt_state *state, bool damped);

// v of energy-euler, for whose update w is that of backward Euler; s->base and s->velocity are x_n and v_n.
void rbt_energy_euler_update(rbt_implicit *s, rbt_state *state, double h);

#endif
