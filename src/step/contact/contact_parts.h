// What the files of step contact share: positions, parameters and gaps of pairs.
#ifndef RBT_STEP_CONTACT_CONTACT_PARTS_H
#define RBT_STEP_CONTACT_CONTACT_PARTS_H

#include "step/contact/step_contact.h"

// Nodes and parameters of a pair
void rbt_contact_pair_of(const rbt_step_contact *contact, rbt_pair_key key, int32_t node[4], rbt_pair_barrier *pair);

// Corners (x 3) of a pair out of x
void rbt_contact_gather(const int32_t node[4], const double *x, double corners[12]);

// Distance of a pair less what is inside [m]
double rbt_contact_gap_of(const rbt_step_contact *contact, rbt_pair_key key, const double *x);

// Coulomb's coefficient of a pair
double rbt_contact_friction_of(const rbt_step_contact *contact, const int32_t node[4], int corners);

// Candidates that hold for motions from x to y (all nodes x 3). false: no memory.
bool rbt_contact_prepare(rbt_step_contact *contact, const double *x, const double *y);

// contact->y = positions of all nodes at z, with obstacles at `share` of their motion; and candidates that hold there.
// false: no memory.
bool rbt_contact_place(rbt_step_contact *contact, const double *z, double share);

#endif
