// Which of the closest features of a surface push a point, and how often each counts.
//
// A node near a seam of a triangulated surface has the same closest feature, an edge or a corner, on several triangles.
// Summed over triangles, the barrier would push it twice at an edge and six times at a corner: a ridge along every
// seam, as steep for a thin contact as for a thick one, over which nothing slides freely. With the coefficients of
// inclusion and exclusion (cf. Li et al. 2023, "Convergent incremental potential contact")
//
//   c(triangle) = 1,   c(edge) = 1 - triangles at it,   c(node) = 1 - triangles at it - sum of c over the edges at it
//
// (free edges have 1) every point of the surface K is covered once: sum over simplices s of c(s) 1_s = 1_K. So
//
//   sum over s of c(s) b(d(p, s)) = - integral over r of b'(r) X(r),   X(r) = Euler characteristic of K within r of p,
//
// because the part of a simplex within a ball is convex, of characteristic 1 or empty, and X is additive. Where K near
// p is one sheet, flat, convex or bent gently, its part within r is a disc: X = 1 from the least distance d on, and the
// sum is b(d). Where two sheets are near, it is the sum of both. Nothing in it depends on how K is divided into
// triangles.
//
// Terms with the same closest feature are one: of all simplices within reach few are left, mostly one. Coefficients
// follow from the triangles within reach of p alone, since what an edge or a node within reach belongs to is within
// reach, too. So borders, free edges, and triangles that are no partners of p (its own) need no case of their own.
#ifndef RBT_CONTACT_BARRIER_FEATURE_COUNT_H
#define RBT_CONTACT_BARRIER_FEATURE_COUNT_H

#include "base/memory.h"
#include "contact/distance/gap.h"

typedef struct rbt_near_simplex {
    int32_t node[3];
    int corners;       // 3: triangle, 2: free edge
    unsigned nearest;  // bits of the corners that the closest feature has
} rbt_near_simplex;

typedef struct rbt_counted_feature {
    int32_t node[3];
    int corners;  // 3, 2 or 1
    int count;    // not 0
} rbt_counted_feature;

typedef struct rbt_feature_work {
    uint64_t *edges;
    struct rbt_feature_share *shares, *corners;
    size_t edge_capacity, share_capacity, corner_capacity;
} rbt_feature_work;

void rbt_feature_work_free(rbt_feature_work *work);

// Of all simplices (count) closer to node p than `reach` [m]; x: positions of all nodes. `features` has room for 7
// times as many; triangles first, in their order, then edges and nodes by number. Returns how many, or -1: no memory.
int rbt_features_count(const double *x, int32_t p, const rbt_near_simplex *simplices, size_t count, double reach,
                       rbt_feature_work *work, rbt_counted_feature *features);

#endif
