// Round things: balls and rods, that is points and segments with a radius, against each other, against triangles and
// segments, and nodes against planes. Whether they meet at rest is exactly right for the doubles given, as in
// math/exact.h, which has no radii.
//
// Ways are apart for sure where, in every part of the time, a direction separates the pair by more than the radii, the
// rounding included. A pair that cannot be decided counts as meeting: one that passes at about 1e-17 of the largest
// coordinate (1e-13 where long double is double), or that rolls around each other so closely that 2^24 parts of the
// time do not show it.
#ifndef RBT_MATH_EXACT_ROUND_H
#define RBT_MATH_EXACT_ROUND_H

#include "math/exact.h"

typedef struct rbt_round_pair {
    int count[2];                 // points of the two hulls: 1 or 2 of the first, 1 to 3 of the second
    double from[5][3];            // points of the first, then of the second
    double to[5][3];              // where they continue straight lines; not read of pairs at rest
    double radius, other_radius;  // [m] of the first and of the second
} rbt_round_pair;

// At rest: nearer than the radii together, or just that (touching).
rbt_meeting rbt_round_meets(const rbt_round_pair *pair);

// On the way: whether they meet at any t in [0, 1]; *when: about the first such t.
bool rbt_round_paths_meet(const rbt_round_pair *pair, double *when);

// Sign of (x - p) . n - radius |n|: +1 if the ball around x is wholly on the side of the plane through p that n
// points to, 0 if it touches it.
int rbt_ball_above(const double x[3], double radius, const double p[3], const double n[3]);

#endif
