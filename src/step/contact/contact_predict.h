// Contacts to come. A Newton direction knows the pairs that push each other now, not those that it would run into: the
// continuous test then stops everything after a short way, pair after pair. So the pairs that stop a motion are put into
// the quadratic model as constraints, and the direction is found again:
//
//   min 1/2 p^T H p + g^T p   with   d + n . sum_i w_i (p_i - t q_i) >= delta   for each of them.
//
// d, n and w are the gap of the pair, its normal and its weights at the time t at which it would stop the motion q;
// delta is half of the thickness, or of the gap that there is now if that is less. A constraint that holds is kept by a
// stiff spring of m = 1e6 times the largest entry of its nodes on the diagonal of H, one that would pull is dropped. No
// energy comes of it: it changes directions only, and E and the continuous test judge them as any other.
#ifndef RBT_STEP_CONTACT_CONTACT_PREDICT_H
#define RBT_STEP_CONTACT_CONTACT_PREDICT_H

#include "step/contact/step_contact.h"

void rbt_contact_predict_begin(rbt_step_contact *contact);

// After rbt_step_contact_limit with the direction p (model nodes x 3): constraints that pull are dropped, pairs that stop
// the motion become constraints. Returns how many have changed; SIZE_MAX: no memory.
size_t rbt_contact_predict_update(rbt_step_contact *contact, const double *p);

// Adds what constraints ask for to contact->matrix, after rbt_step_contact_hessian with the same H, and to rhs (model
// nodes x 3), so that p = -A^-1 rhs meets them. false: no memory.
bool rbt_contact_predict_add(rbt_step_contact *contact, const rbt_block_matrix *H, double *rhs);

#endif
