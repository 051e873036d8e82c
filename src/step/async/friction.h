// Friction of contacts (Harmon et al. 2009, section 6.3; Coulomb's law for every layer that ticks), with two changes:
//   - it comes last in a moment and sees the velocities after all other kicks, so that a body at rest on a slope is
//   stopped before
//     it has moved: what gravity gives it, friction takes at once. All friction of a moment sees the same velocities,
//     so its order
//     does not matter either;
//   - it never does more than stop the pair, where a node shares its mass among all pairs that drag at it. So it
//   takes energy
//     away, however many pairs there are: they are Jacobi's sweep over the contacts, made safe by splitting masses.
//     drag = min(mu J, |u| / sum w^2 k / m),   J: normal impulse, u: sliding velocity, k: pairs at a node
#ifndef RBT_STEP_ASYNC_FRICTION_H
#define RBT_STEP_ASYNC_FRICTION_H

#include "step/async/contact.h"

// Of the touches of this moment, whose normal impulses have been given.
void rbt_contact_drag(rbt_contact *contact, int64_t t);

#endif
