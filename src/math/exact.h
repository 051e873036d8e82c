// Questions about points whose answers are exactly right for the doubles given: on which side, do they meet.
//
// Every answer is first sought in floating point with a bound on the error (after Shewchuk 1997, "Adaptive precision
// floating-point arithmetic and fast robust geometric predicates"); where the bound leaves it open, the doubles become
// integers of any size (GMP) and the answer is computed without rounding. All coordinates must be finite. Sets are
// closed: to touch is to meet. This code and what calls it to judge a run share nothing with the contact that the
// run was made with.
#ifndef RBT_MATH_EXACT_H
#define RBT_MATH_EXACT_H

#include <stdbool.h>

// Sign of det(b - a, c - a) of the coordinates (i, j): +1 if a, b, c turn to the left.
int rbt_rotation_lag(const double a[3], const double b[3], const double c[3], int i, int j);

// Sign of det(b - a, c - a, d - a): +1 if d lies on the side to which (b - a) x (c - a) points, 0 if all lie in a
// plane.
int rbt_side(const double a[3], const double b[3], const double c[3], const double d[3]);

typedef enum rbt_meeting {
    RBT_APART,
    RBT_TOUCHING,  // they meet, but only in a corner, on an edge or within a plane
    RBT_CROSSING   // the inside of the segment pierces the inside of the triangle
} rbt_meeting;

rbt_meeting rbt_segment_meets_triangle(const double p[3], const double q[3], const double a[3], const double b[3],
                                       const double c[3]);

// The segment from the triangle's own corner a to q: whether they share more than a.
bool rbt_corner_segment_overlaps(const double q[3], const double a[3], const double b[3], const double c[3]);

bool rbt_segments_meet(const double p[3], const double q[3], const double a[3], const double b[3]);

// ---- Points that move on straight lines, x(t) = (1 - t) x(0) + t x(1)

typedef enum rbt_pair_kind {
    RBT_VERTEX_TRIANGLE,  // point 0 and the triangle 1 2 3
    RBT_EDGE_EDGE         // the segments 0 1 and 2 3
} rbt_pair_kind;

typedef struct rbt_paths {  // of the four points of a pair
    double from[4][3], to[4][3];
} rbt_paths;

// Whether the pair is surely apart during [begin, end] within [0, 1]: a quick test that may say no without need.
// `begin` and `end` must be multiples of 2^-20.
bool rbt_paths_apart(const rbt_paths *paths, rbt_pair_kind kind, double begin, double end);

// Whether the pair meets at any t in [0, 1], exactly; *when: such a t, to about 1e-9 (the first, unless all four
// points stay in one plane).
bool rbt_paths_meet(const rbt_paths *paths, rbt_pair_kind kind, double *when);

#endif
