// Where the lists of candidates.h hold.
//
// A pair that the wide list leaves out is separated along an axis n, at all times of the motion that was searched, by
// more than reach |n| + 2 slack |n|_1. Positions that are off this motion by e, each node by its own, keep it apart as
// long as for its nodes a and b of both sides
//   |e_a - e_b| <= 2 slack   in each coordinate,
// however large e is: what matters is how far the two sides have moved against each other. For two groups of leaves
// whose boxes (reach and slack included) are apart by D along x, y or z, 2 slack + D will do. So the tree is descended
// in pairs of groups, from the root against itself: a pair of groups is done where the differences of their e keep to
// that, and parted where they do not, down to ends of a few leaves. Neighbours move together: a body that turns keeps
// its lists longer than its nodes keep to their slack.
//
// A pair that the wide list has and the narrow one leaves out asks for the same with the narrow list's slack and e from
// its motion; groups whose boxes are apart (D > 0) have none of those.
//
// Both are sets of positions given by linear inequalities, for a common s, so they are convex: a straight motion
// between two positions that a list holds for has it as well.
#ifndef RBT_CONTACT_BROAD_PHASE_CANDIDATE_HOLD_H
#define RBT_CONTACT_BROAD_PHASE_CANDIDATE_HOLD_H

#include "contact/broad_phase/candidates.h"

typedef enum rbt_holding {
    RBT_HOLDS_NOT,
    RBT_HOLDS_GROUPS,  // as above
    RBT_HOLDS_ALL,     // every node is within the slack
} rbt_holding;

typedef enum rbt_room {
    RBT_NO_ROOM,  // it does not hold
    RBT_LITTLE_ROOM,
    RBT_ENOUGH_ROOM,
} rbt_room;

// The upper part of the tree; after it was built. false: no memory.
bool rbt_candidates_group(rbt_candidates *candidates);

// Whether the wide list holds at positions x, and if so, whether with `room` [m] to spare in each coordinate of each
// node
rbt_room rbt_wide_holds(rbt_candidates *candidates, const double *x, double room);

// The same of the narrow one, provided that the wide one does
rbt_holding rbt_narrow_holds(rbt_candidates *candidates, const double *x);

#endif
