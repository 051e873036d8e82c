// Contact as linear constraints, for a position that is far away: an augmented Lagrangian (after Zheng, Luo and Li
// 2026, "Robust and efficient penetration-free elastodynamics without barriers"). step/implicit/contact_chase.c uses
// it.
//
// Two positions are kept: a safe one, which never intersects anything, and a wanted one y, which may. A constraint of a
// pair says that its gap, linearised, is at least what it should be:
//
//   c(y) = n . sum_i w_i y_i - inside - target >= 0,   target = d^ (less for a pair that begins the step closer)
//
// To the step's function (step_contact.h) comes, instead of the barrier,
//
//   tau^2/r A(y),   A(y) = sum over constraints of m/2 (max(0, lambda/m - c(y)))^2
//
// whose force along n is f = max(0, lambda - m c). lambda [N] is the multiplier, m [N/m] the penalty: a number of times
// the stiffness, inertia over tau^2 included, of the softer side's nodes. After a whole Newton step, lambda <- f: what
// the quadratic programme of that step has for its multipliers, so that constraints are met to first order in 1/m and
// then better with every iteration.
//
// After each solve the safe position moves towards y as far as the continuous test allows. Every pair that stops it
// gets a constraint, with the normal that it has where it stopped; every pair that is near at the safe position has
// one, with the normal there. Those that have not pushed for a while and are not near are dropped.
#ifndef RBT_STEP_CONTACT_CONTACT_CONSTRAINTS_H
#define RBT_STEP_CONTACT_CONTACT_CONSTRAINTS_H

#include "step/contact/step_contact.h"

// No constraints; a step begins.
void rbt_constraints_begin(rbt_step_contact *contact);

// Constraints of the pairs that stopped the motion of the latest rbt_step_contact_limit. false: no memory.
bool rbt_constraints_add_stops(rbt_step_contact *contact);

// Constraints of all pairs that are near where z brings the nodes, linearised there, with obstacles at `share`. Others
// keep what they have, or are dropped. false: no memory.
bool rbt_constraints_relinearise(rbt_step_contact *contact, const double *z, double share);

// p (model nodes x 3) moves the nodes of near pairs, from where the latest rbt_constraints_relinearise was made, such
// that gaps are what is wanted: a few sweeps of projections, each pair by itself, weighed by mass. false: none needs
// it.
bool rbt_constraints_restore(const rbt_step_contact *contact, double *p);

// A at contact->y
double rbt_constraints_value(const rbt_step_contact *contact);

// The same with forces: of every constraint, and as contact->active in their order. false: no memory.
bool rbt_constraints_gradient(rbt_step_contact *contact, double *value);

// m n n^T (w w^T) of an active pair (12 x 12)
void rbt_constraint_hessian(const rbt_active_pair *active, double hessian[144]);

// lambda <- f of the latest gradient
void rbt_constraints_update(rbt_step_contact *contact);

#endif
