// Vectors of three doubles.
#ifndef RBT_MATH_VEC3_H
#define RBT_MATH_VEC3_H

#include <math.h>
#include <stdbool.h>

static inline double rbt_dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static inline double rbt_length(const double a[3]) { return sqrt(rbt_dot(a, a)); }

static inline void rbt_subtract(const double a[3], const double b[3], double c[3]) {
    for (int i = 0; i < 3; i++) c[i] = a[i] - b[i];
}

static inline void rbt_cross(const double a[3], const double b[3], double c[3]) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

// y += s x
static inline void rbt_add_scaled(double y[3], double s, const double x[3]) {
    for (int i = 0; i < 3; i++) y[i] += s * x[i];
}

// The same direction with components whose squares are numbers of full precision: those below 1e-154 or above 1e154
// are brought to about 1, by a power of two, which rounds nothing.
static inline void rbt_moderate(const double a[3], double b[3]) {
    double square = rbt_dot(a, a), largest = fmax(fmax(fabs(a[0]), fabs(a[1])), fabs(a[2]));
    int exponent = 0;
    if (!(square > 1e-280 && square < 1e300) && largest > 0 && largest < INFINITY) frexp(largest, &exponent);
    for (int i = 0; i < 3; i++) b[i] = exponent ? ldexp(a[i], -exponent) : a[i];
}

// a / |a|; a zero vector becomes the x axis.
static inline void rbt_normalize(const double a[3], double unit[3]) {
    double b[3];
    rbt_moderate(a, b);
    double length = rbt_length(b);
    for (int i = 0; i < 3; i++) unit[i] = length > 0 ? b[i] / length : (i == 0);
}

// Signed volume of a tet, det(b - a, c - a, d - a) / 6
// Two unit vectors at right angles to a unit vector and to each other: axis = u x v.
static inline void rbt_across(const double axis[3], double u[3], double v[3]) {
    const double helper[3] = {fabs(axis[0]) < 0.5, fabs(axis[0]) >= 0.5, 0};
    rbt_cross(axis, helper, u);
    rbt_normalize(u, u);
    rbt_cross(axis, u, v);
}

static inline double rbt_tet_volume(const double a[3], const double b[3], const double c[3], const double d[3]) {
    double u[3], v[3], w[3], n[3];
    rbt_subtract(b, a, u);
    rbt_subtract(c, a, v);
    rbt_subtract(d, a, w);
    rbt_cross(u, v, n);
    return rbt_dot(n, w) / 6;
}

// p turned by `angle` about the line through `point` along the unit vector `axis` (Rodrigues).
static inline void rbt_rotate(const double p[3], const double point[3], const double axis[3], double angle,
                              double turned[3]) {
    double r[3], side[3], c = cos(angle), s = sin(angle);
    rbt_subtract(p, point, r);
    rbt_cross(axis, r, side);
    double along = rbt_dot(axis, r) * (1 - c);
    for (int i = 0; i < 3; i++) turned[i] = point[i] + c * r[i] + s * side[i] + along * axis[i];
}

#endif
