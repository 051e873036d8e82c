// Nodes of ill-shaped elements that need not be implicit.
//
// An element is unstable by the motion of all its corners against each other. With some of them implicit, what counts
// is the block of the others, whose largest eigenvalue is less: one or two implicit corners are often enough. Nodes
// are therefore given back one by one, the softest first, where the explicit corners of every element at the node
// pass the local test together: h^2 lambda <= 4 (0.95 safety)^2 of their block of the assembled M^-1/2 P(h) M^-1/2.
// Like the local test this is an optimistic one, and left to the certificate to put right.
#ifndef RBT_STEP_EXPLICIT_STABILITY_RELEASE_H
#define RBT_STEP_EXPLICIT_STABILITY_RELEASE_H

#include "step/explicit/stability.h"

// implicit (node_count): as marked by the local test; returns how many of its nodes are given back. Without memory
// none is. Needs K at rest, and leaves it in *s.
size_t rbt_stability_release(rbt_stability *s, const rbt_split_def *def, unsigned char *implicit);

#endif
