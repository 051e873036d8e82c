// Random contact pairs, and derivatives by differences with a bound of their error.
//
// D(h) = (f(h) - f(-h)) / 2h, and R = (4 D(h/2) - D(h)) / 3 (Richardson). If f is analytic in a disc of radius rho
// around 0 of the complex plane and |f| <= M there, its Taylor coefficients are at most M / rho^k (Cauchy), and that of
// order k adds at most 1/3 M h^(k-1) / rho^k, k = 5, 7, ..., to the error of R. If values are wrong by at most `noise`,
// R is by at most (4/(h/2) + 1/h) noise / 3 = 3 noise/h. With h = rho / STEPS:
//   |R - f'| <= M / rho STEPS^-4 + 3 STEPS noise / rho
//
// Included after cmocka.h and random.h.
#ifndef TEST_SUPPORT_PAIR_H
#define TEST_SUPPORT_PAIR_H

#include "contact/distance/shape.h"
#include "math/symmetric.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define assert_below(value, bound)                                                                                   \
    do {                                                                                                             \
        double value_ = (value), bound_ = (bound);                                                                   \
        if (!(value_ <= bound_)) fail_msg("%s = %.17g is not below %.17g", #value, value_, bound_);                  \
    } while (0)

enum { PAIR_STEPS = 500 };

static inline double pair_inner(const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += a[i] * b[i];
    return sum;
}

static inline double pair_norm(const double *a, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * a[i];
    return sqrt(sum);
}

// a^T A b
static inline double pair_form(const double *a, const double *A, const double *b) {
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += a[i] * pair_inner(A + 12 * i, b);
    return sum;
}

static inline void pair_direction(double *delta) {
    for (int i = 0; i < 12; i++) delta[i] = uniform(-1, 1);
    double size = pair_norm(delta, 12);
    for (int i = 0; i < 12; i++) delta[i] /= size;
}

static inline void pair_unit(double n[3]) {
    for (int k = 0; k < 3; k++) n[k] = uniform(-1, 1);
    rbt_normalize(n, n);
}

// Corners in a cube of edge 2 around 0, and the normal of a wall
static inline void pair_draw(double x[12], double wall_normal[3]) {
    for (int a = 0; a < 12; a++) x[a] = uniform(-1, 1);
    pair_unit(wall_normal);
}

static inline void pair_move(const double *x, double s, const double *delta, double *moved) {
    for (int a = 0; a < 12; a++) moved[a] = x[a] + s * delta[a];
}

// ---- The closest features: which weights are not 0, as bits

enum { PAIR_FEATURES = 16 };

static inline int pair_feature(const rbt_gap *gap) {
    int bits = 0;
    for (int i = 0; i < 4; i++) bits |= (gap->weight[i] != 0) << i;
    return bits;
}

// Whether a pair of this kind can have them
static inline bool pair_feature_exists(rbt_touch_kind kind, int bits) {
    int last = (1 << rbt_pair_corners(kind)) - 1;
    if (bits & ~last) return false;
    if (kind == RBT_TOUCH_EDGES) return (bits & 3) && (bits & 12);
    if (kind == RBT_TOUCH_FACE || kind == RBT_TOUCH_EDGE) return (bits & 1) && (bits & ~1);
    return bits == last;
}

// Every closest feature of every kind was judged so often at least.
static inline void pair_all_judged(int judged[RBT_TOUCH_KINDS][PAIR_FEATURES], int times) {
    for (int kind = 0; kind < RBT_TOUCH_KINDS; kind++)
        for (int bits = 0; bits < PAIR_FEATURES; bits++)
            if (pair_feature_exists((rbt_touch_kind)kind, bits) && judged[kind][bits] < times)
                fail_msg("kind %d with corners %x: judged %d times, not %d", kind, bits, judged[kind][bits], times);
}

// ---- How far corners may move before the distance stops being analytic

// The least length that divides: heights of triangles and edges, across one another
static inline double pair_height(rbt_touch_kind kind, const double *x) {
    double e[3][3], n[3];
    if (kind == RBT_TOUCH_FACE) {
        for (int i = 0; i < 3; i++) rbt_subtract(x + 3 + 3 * ((i + 1) % 3), x + 3 + 3 * i, e[i]);
        rbt_cross(e[0], e[1], n);
        return rbt_length(n) / fmax(rbt_length(e[0]), fmax(rbt_length(e[1]), rbt_length(e[2])));
    }
    if (kind == RBT_TOUCH_EDGES) {
        rbt_subtract(x + 3, x, e[0]);
        rbt_subtract(x + 9, x + 6, e[1]);
        rbt_cross(e[0], e[1], n);
        return rbt_length(n) / fmax(rbt_length(e[0]), rbt_length(e[1]));
    }
    if (kind == RBT_TOUCH_EDGE) {
        rbt_subtract(x + 6, x + 3, e[0]);
        return rbt_length(e[0]);
    }
    return 1;
}

// A displacement of rho changes heights and weights (by rho size / height^2) so little that neither the heights nor the
// distance can become 0: rho = 0.1 min(distance, height) height / size, size = 1.
static inline double pair_radius(rbt_touch_kind kind, const double *x, const rbt_gap *gap) {
    double height = fmin(1, pair_height(kind, x));
    return 0.1 * fmin(fabs(gap->distance), height) * height;
}

// ---- Derivatives

typedef double pair_function(const void *of, double s);

static inline double pair_derivative(pair_function *f, const void *of, double rho) {
    double h = rho / PAIR_STEPS, wide = (f(of, h) - f(of, -h)) / (2 * h), narrow = (f(of, h / 2) - f(of, -h / 2)) / h;
    return (4 * narrow - wide) / 3;
}
static inline double pair_derivative_bound(double M, double noise, double rho) {
    return M / rho * pow(PAIR_STEPS, -4) + 3 * PAIR_STEPS * noise / rho;
}

// ---- Matrices

static inline double pair_least_eigenvalue(const double *A) {
    double B[144], least = INFINITY;
    memcpy(B, A, sizeof B);
    rbt_symmetric_eigen(12, B, NULL);
    for (int i = 0; i < 12; i++) least = fmin(least, B[13 * i]);
    return least;
}

static inline void assert_symmetric(const double *A) {
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < i; j++) assert_true(A[12 * i + j] == A[12 * j + i]);
}

// The rows of corners that do not exist are 0.
static inline void assert_only_corners(rbt_touch_kind kind, const double *gradient, const double *hessian) {
    for (int i = 3 * rbt_pair_corners(kind); i < 12; i++) {
        assert_true(gradient[i] == 0);
        for (int j = 0; j < 12; j++) assert_true(hessian[12 * i + j] == 0);
    }
}

// The energy does not change if all corners move by the same, nor (unless there is a wall) if they turn about 0 by
// omega: sum g_i = 0, H t = 0, sum x_i x g_i = 0, H (omega x x) = omega x g. `about`: how much rounding there may be,
// of the gradient and of products of the Hessian.
static inline void assert_rigid(bool turns, const double *x, const double *g, const double *H, double about_g,
                                double about_H) {
    double shift[12], turn[12], omega[3], arm[3], torque[3] = {0}, along[3];
    pair_unit(omega);
    pair_unit(along);
    for (int i = 0; i < 4; i++) {
        memcpy(shift + 3 * i, along, sizeof along);
        rbt_cross(omega, x + 3 * i, turn + 3 * i);
        rbt_cross(x + 3 * i, g + 3 * i, arm);
        rbt_add_scaled(torque, 1, arm);
    }
    assert_below(fabs(pair_inner(g, shift)), about_g);
    for (int i = 0; i < 12; i++) assert_below(fabs(pair_inner(H + 12 * i, shift)), about_H);
    if (!turns) return;
    assert_below(rbt_length(torque), about_g);
    for (int i = 0; i < 4; i++) {
        double expected[3];
        rbt_cross(omega, g + 3 * i, expected);
        for (int k = 0; k < 3; k++) assert_below(fabs(pair_inner(H + 12 * (3 * i + k), turn) - expected[k]), about_H);
    }
}

#endif
