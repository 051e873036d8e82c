// The barrier energy of step contact as a sum of terms: every closest feature counts once (step_contact.h).
//
// A node and the surfaces near it: by contact/barrier/feature_count.h. Every triangle that the node may touch is a
// candidate, so edges and corners follow from these.
//
// Two edges: an edge is a piece of a line that continues in others. Where two lines cross near a node of one of them,
// both of its edges have that node for their closest feature: an edge counts 1, and each of its ends -1/2, for the
// other half is the next edge's,
//
//   b(e, f) - 1/2 sum over ends a of e of b(a, f) - 1/2 sum over ends b of f of b(e, b) + 1/4 sum over both of b(a, b),
//
// so that a crossing of straight lines pushes the same, whether it is near a node of one, of both or of none. k edges
// at a node of a surface are halves of k/2 lines: as many as a line that passes by crosses on either side of it, on
// average. (With -1 or with each closest feature once, a node that crosses an edge finds a valley instead of a ridge.)
// Lines that end count to their end. The mollifier of edges that are nearly parallel multiplies the sum.
//
// Terms of negative count have negative energies and forces. They remain where closest features of several simplices
// differ but are near: in hollows, and within the thickness of nodes.
#ifndef RBT_STEP_CONTACT_CONTACT_TERMS_H
#define RBT_STEP_CONTACT_CONTACT_TERMS_H

#include "step/contact/step_contact.h"

// Terms at contact->y into contact->terms, with their energies; *energy: the sum, infinity where a pair touches (no
// terms then). false: no memory.
bool rbt_contact_terms_make(rbt_step_contact *contact, double *energy);

#endif
