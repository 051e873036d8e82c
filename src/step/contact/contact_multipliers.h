// Contact by an augmented Lagrangian, in place of the barrier (after Zheng, Luo and Li 2026, "Robust and efficient
// penetration-free elastodynamics without barriers"). The gap of a pair is a constraint,
//
//   c(y) = d(y) - inside - target >= 0,   target = d^ (less for a pair that begins the step closer),
//
// with a multiplier lambda >= 0 [N], which is the pair's normal force. A round minimises the step's function with
//
//   B(y) = sum over pairs of P(u),   u = max(0, target + U(lambda) - (d(y) - inside)),   of force f = P'(u),
//
//   P(u) = m u^3 / (6 w)                for u < w = 0.1 target,
//          m (u (u - w)/2 + w^2/6)      beyond,        P'(U(lambda)) = lambda,
//
// in the place of the barrier: a function of the true distance (contact/barrier/pair_barrier.h), so that directions,
// line searches, friction and the continuous test are those of step_contact.h, and nothing ever passes through
// anything. A pure parabola, P = m u^2/2, has f = max(0, lambda - m c). Its stiffness appears from nowhere as a pair
// comes in, directions know nothing of it, and line searches stop in front of it again and again; with a cubic entry
// light contacts are soft, as those of the barrier are. The penalty m [N/m] is PENALTY times the stiffness, inertia
// over tau^2 included, of the softer side's nodes. P ends where surfaces meet, and what it must stop may be faster than
// it knows: below half of the target a barrier helps it, which no pair of a solved step feels.
//
// Where a round is solved, f is in balance with all other forces. The step is solved if in addition every pair that
// pushes is where it should be, |c| <= 0.1 target, and none is closer: with lambda = f these are the conditions of
// Karush, Kuhn and Tucker, c >= 0, lambda >= 0, lambda c = 0, within a tenth of the gap. Otherwise lambda <- f, m gets
// ten times as large where |c| was too large though lambda was more than 0, and the next round begins where this one
// ended. (Multipliers that follow at every iteration, before f is in balance, swing.)
//
// Where a pair is pressed by far more than m d^, iterations go down the net: below a hundredth of its target a pair
// gets ten times the m at once, before the round is solved, and again in the next iteration. (A stiff bar that its
// driven ends wind up on itself presses with 1e5 times m d^, and came to gaps of 1e-7 d^, where rounding leaves no way
// back.)
//
// Where no pair has a multiplier yet, at the start of a run and where bodies first meet, w is all of the target: which
// pairs will push is found in the soft entry, as by a barrier, and how much they push comes out of that round. With the
// narrow entry line searches stopped at one group of pairs after the other: fifteen cards that lie on each other took
// three times as many iterations and had to halve the step.
//
// A pair that begins a step closer than d^ makes good a quarter of what is missing, at a quarter of the largest speed
// of its nodes at most (rbt_step_contact_note_speed). Constraints store no energy, so that what opens a gap is energy
// from nothing: things that began at rest within the thickness flew apart with d^/h, which short steps make large.
//
// m is no less than lambda over half of d^, so that no pair acts beyond 1.55 d^, which candidates are listed for.
// Multipliers of the end of a step are where the next one begins.
#ifndef RBT_STEP_CONTACT_CONTACT_MULTIPLIERS_H
#define RBT_STEP_CONTACT_CONTACT_MULTIPLIERS_H

#include "step/contact/step_contact.h"

// Target, multiplier and parabola of a pair in a step that has begun.
void rbt_multipliers_apply(const rbt_step_contact *contact, rbt_contact_pair *pair);

// Multipliers for a step or a look, ascending by key. false: no memory.
bool rbt_multipliers_set(rbt_step_contact *contact, const rbt_pair_force *from, size_t count);

// The forces of the latest gradient, ascending by key, into `to`; how many. Where there are more than `capacity`, the
// largest.
size_t rbt_multipliers_get(const rbt_step_contact *contact, rbt_pair_force *to, size_t capacity);

// Whether gaps of the latest gradient meet the conditions above.
bool rbt_multipliers_settled(const rbt_step_contact *contact);

// lambda <- f of the latest gradient. false: no memory.
bool rbt_multipliers_follow(rbt_step_contact *contact);

// Pairs of the latest gradient that are far down the net get ten times the m; *any: there are some. false: no memory.
bool rbt_multipliers_stiffen(rbt_step_contact *contact, bool *any);

// The pairs of the multipliers at contact->y, as contact->active with forces lambda along their normals, and no energy:
// constraints store none. false: no memory, or a pair touches.
bool rbt_multipliers_look(rbt_step_contact *contact);

#endif
