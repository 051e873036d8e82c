// From the nearest point of one simple thing to that of another, in plain floating point: good directions to try, no
// proofs.
#ifndef RBT_MATH_NEAREST_H
#define RBT_MATH_NEAREST_H

#include "math/vec3.h"

static inline double rbt_nearest_clamp(double s) { return s > 0 ? (s < 1 ? s : 1) : 0; }  // NaN becomes 0

// From the nearest point of the segment a b to p.
static inline void rbt_from_segment(const double p[3], const double a[3], const double b[3], double d[3]) {
    double u[3], r[3];
    rbt_subtract(b, a, u);
    rbt_subtract(p, a, r);
    double s = rbt_nearest_clamp(rbt_dot(u, r) / rbt_dot(u, u));
    for (int k = 0; k < 3; k++) d[k] = r[k] - s * u[k];
}

static inline void rbt_keep_shorter(double best[3], const double d[3]) {
    if (!(rbt_dot(d, d) < rbt_dot(best, best))) return;
    for (int k = 0; k < 3; k++) best[k] = d[k];
}

// From the nearest point of the triangle to p.
static inline void rbt_from_triangle(const double p[3], const double a[3], const double b[3], const double c[3],
                                     double d[3]) {
    double u[3], v[3], n[3], r[3], other[3], su[3], sv[3];
    rbt_subtract(b, a, u);
    rbt_subtract(c, a, v);
    rbt_subtract(p, a, r);
    rbt_cross(u, v, n);
    rbt_cross(u, r, su);
    rbt_cross(r, v, sv);
    double beta = rbt_dot(sv, n), gamma = rbt_dot(su, n), area = rbt_dot(n, n);
    if (area > 0 && beta >= 0 && gamma >= 0 && beta + gamma <= area) {
        double height = rbt_dot(r, n) / area;
        for (int k = 0; k < 3; k++) d[k] = height * n[k];
        return;
    }
    rbt_from_segment(p, a, b, d);
    rbt_from_segment(p, b, c, other);
    rbt_keep_shorter(d, other);
    rbt_from_segment(p, c, a, other);
    rbt_keep_shorter(d, other);
}

// From the segment c d to the segment a b, at their nearest points.
static inline void rbt_from_edge(const double a[3], const double b[3], const double c[3], const double d[3],
                                 double best[3]) {
    double u[3], w[3], r[3], other[3];
    rbt_subtract(b, a, u);
    rbt_subtract(d, c, w);
    rbt_subtract(a, c, r);
    double uu = rbt_dot(u, u), ww = rbt_dot(w, w), uw = rbt_dot(u, w), ur = rbt_dot(u, r), wr = rbt_dot(w, r);
    double area = uu * ww - uw * uw, s = (uw * wr - ww * ur) / area, v = (uu * wr - uw * ur) / area;
    if (area > 0 && s >= 0 && s <= 1 && v >= 0 && v <= 1) {
        for (int k = 0; k < 3; k++) best[k] = r[k] + s * u[k] - v * w[k];
        return;
    }
    rbt_from_segment(a, c, d, best);
    rbt_from_segment(b, c, d, other);
    rbt_keep_shorter(best, other);
    rbt_from_segment(c, a, b, other);
    for (int k = 0; k < 3; k++) other[k] = -other[k];
    rbt_keep_shorter(best, other);
    rbt_from_segment(d, a, b, other);
    for (int k = 0; k < 3; k++) other[k] = -other[k];
    rbt_keep_shorter(best, other);
}

#endif
