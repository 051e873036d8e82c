// What the files of step contact share: positions, parameters and gaps of pairs.
#ifndef RBT_STEP_CONTACT_CONTACT_PARTS_H
#define RBT_STEP_CONTACT_CONTACT_PARTS_H

#include "step/contact/step_contact.h"

// Corners (x 3) of a pair out of x
void rbt_contact_gather(const int32_t node[4], const double *x, double corners[12]);

// Nodes and parameters of a pair
void rbt_contact_make_pair(const rbt_step_contact *contact, rbt_pair_key key, rbt_contact_pair *pair);

// Of the softer side of a pair the firmest of its free nodes [N/m]; 0: nothing of it is free.
double rbt_contact_softer_side(const rbt_step_contact *contact, const rbt_contact_pair *pair);

// Distance of a pair less what is inside [m]
double rbt_contact_gap_of(const rbt_contact_pair *pair, const double *x);

// Whether the sides of a pair, each within the box of its corners at `from` and `to` (12 each), surely do not
// come nearer than `within` [m]: a quick test.
bool rbt_contact_is_far(const rbt_contact_pair *pair, const double *from, const double *to, double within);

// Coulomb's coefficient of a pair
double rbt_contact_friction_of(const rbt_step_contact *contact, const int32_t node[4], int corners);

// Candidates that hold for motions from x to y (all nodes x 3). false: no memory.
bool rbt_contact_prepare(rbt_step_contact *contact, const double *x, const double *y);

// contact->y = positions of all nodes at z, with obstacles at `share` of their motion
void rbt_contact_put(rbt_step_contact *contact, const double *z, double share);

// The same with candidates that hold there. false: no memory.
bool rbt_contact_place(rbt_step_contact *contact, const double *z, double share);

// ---- Whether positions are apart (contact_start.c)

// x (all nodes x 3); false: `text` names a pair that is not.
bool rbt_contact_is_apart(rbt_step_contact *contact, const double *x, char *text, size_t size);

// Refuses a thickness or a gap that is larger than what it is for, or too small for numbers; before any pair is looked
// for.
bool rbt_contact_check_sizes(const rbt_step_contact *contact, rbt_error *error);

// Refuses a start with crossings, touching surfaces or pairs closer than their gap; takes "auto" below the least gap.
bool rbt_contact_check_start(rbt_step_contact *contact, rbt_error *error);

#endif
