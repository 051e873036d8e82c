// The distance of two simple bodies A and B (points, edges, triangles), and how it changes as their corners move:
//   d = |p_B - p_A|,   n = (p_B - p_A) / d,   d' = n . sum_i w_i v_i
// p_A, p_B: their nearest points; w: barycentric coordinates of these, negative for the corners of A, which come first.
#ifndef RBT_CONTACT_DISTANCE_GAP_H
#define RBT_CONTACT_DISTANCE_GAP_H

#include "math/vec3.h"

typedef struct rbt_gap {
    double distance;   // [m]
    double normal[3];  // from A to B
    double weight[4];  // per corner: those of A, then those of B
} rbt_gap;

typedef enum rbt_touch_kind {
    RBT_TOUCH_FACE,     // 1 + 3 corners
    RBT_TOUCH_EDGES,    // 2 + 2
    RBT_TOUCH_EDGE,     // 1 + 2
    RBT_TOUCH_POINT,    // 1 + 1
    RBT_TOUCH_WALL,     // 1 and the point that a plane goes through
    RBT_TOUCH_STRETCH,  // 1 + 1, the ends of a spring: how much longer it may get
    RBT_TOUCH_SHRINK,   // 1 + 1, how much shorter
    RBT_TOUCH_KINDS
} rbt_touch_kind;

static inline int rbt_pair_first(rbt_touch_kind kind) { return kind == RBT_TOUCH_EDGES ? 2 : 1; }  // corners of A
static inline int rbt_pair_corners(rbt_touch_kind kind) {
    static const signed char corners[RBT_TOUCH_KINDS] = {4, 4, 3, 2, 2, 2, 2};
    return corners[kind];
}

// x: the corners (x 3). Not for walls. Of RBT_TOUCH_STRETCH the distance is the length with a minus, so that it gets
// less as the spring gets longer.
void rbt_gap_measure(rbt_touch_kind kind, const double x[12], rbt_gap *gap);

// Of two edges, or of an end of one or both: part is 0 for the edge, 1 and 2 for its ends. Weights of ends that are
// left out are 0.
void rbt_gap_edge_parts(const double x[12], const signed char part[2], rbt_gap *gap);

// Between nearest points
static inline void rbt_gap_lay(const double across[3], rbt_gap *gap) {
    gap->distance = rbt_length(across);
    for (int k = 0; k < 3; k++) gap->normal[k] = gap->distance > 0 ? across[k] / gap->distance : k == 0;
}

// The same as rbt_gap_measure for kinds with two corners
static inline void rbt_gap_points(rbt_touch_kind kind, const double a[3], const double b[3], rbt_gap *gap) {
    double across[3];
    for (int k = 0; k < 3; k++) across[k] = (0 - a[k]) + b[k];  // as sums of weights have it: 0, never -0
    rbt_gap_lay(across, gap);
    gap->weight[0] = -1, gap->weight[1] = 1;
    gap->weight[2] = gap->weight[3] = 0;
    if (kind != RBT_TOUCH_STRETCH) return;
    gap->distance = -gap->distance;
    for (int k = 0; k < 3; k++) gap->normal[k] = -gap->normal[k];
}

// From x to a wall through `point` with the unit normal `normal` to its free side.
static inline void rbt_gap_wall(const double point[3], const double normal[3], const double x[3], rbt_gap *gap) {
    double arm[3];
    rbt_subtract(x, point, arm);
    gap->distance = rbt_dot(arm, normal);
    for (int k = 0; k < 3; k++) gap->normal[k] = -normal[k];
    gap->weight[0] = -1, gap->weight[1] = 1;
    gap->weight[2] = gap->weight[3] = 0;
}

// Whether the segment p q meets the triangle a b c (rounding decides where they barely touch).
int rbt_gap_crosses(const double p[3], const double q[3], const double a[3], const double b[3], const double c[3]);

#endif
