// Points that do not move. Degenerate triangles and segments are points or segments and treated as such.
#include "math/exact.h"

#include "math/exact_integer.h"

#include <float.h>
#include <math.h>

// Bounds on the rounding error of the determinants relative to the sum of their products' sizes, a little above
// Shewchuk's (3 + 16 e) e and (7 + 56 e) e; the absolute terms are far above anything that underflow can do.
static const double TURN_ERROR = 2.0 * DBL_EPSILON, SIDE_ERROR = 4.0 * DBL_EPSILON, UNDERFLOW = 1e-300;

// ---- Determinants

static void integers_init(mpz_t *z, int count) {
    for (int i = 0; i < count; i++) mpz_init(z[i]);
}

static void integers_clear(mpz_t *z, int count) {
    for (int i = 0; i < count; i++) mpz_clear(z[i]);
}

static int exact_turn(const double d[6]) {  // a b c, two coordinates each
    mpz_t z[6], product;
    integers_init(z, 6);
    mpz_init(product);
    rbt_doubles_to_integers(d, 6, z);
    for (int i = 2; i < 6; i++) mpz_sub(z[i], z[i], z[i % 2]);
    mpz_mul(product, z[2], z[5]);
    mpz_submul(product, z[3], z[4]);
    int sign = mpz_sgn(product);
    integers_clear(z, 6);
    mpz_clear(product);
    return sign;
}

int rbt_rotation_lag(const double a[3], const double b[3], const double c[3], int i, int j) {
    double left = (b[i] - a[i]) * (c[j] - a[j]), right = (b[j] - a[j]) * (c[i] - a[i]);
    double bound = TURN_ERROR * (fabs(left) + fabs(right)) + UNDERFLOW;
    if (left - right > bound) return 1;
    if (right - left > bound) return -1;
    if ((b[i] == a[i] && c[i] == a[i]) || (b[j] == a[j] && c[j] == a[j])) return 0;
    return exact_turn((double[6]){a[i], a[j], b[i], b[j], c[i], c[j]});
}

static int exact_side(const double d[12]) {  // a b c d, three coordinates each
    mpz_t z[12], minor, sum;
    integers_init(z, 12);
    mpz_init(minor);
    mpz_init(sum);
    rbt_doubles_to_integers(d, 12, z);
    for (int i = 3; i < 12; i++) mpz_sub(z[i], z[i], z[i % 3]);
    for (int k = 0; k < 3; k++) {  // along the row of d - a
        int i = (k + 1) % 3, j = (k + 2) % 3;
        mpz_mul(minor, z[3 + i], z[6 + j]);
        mpz_submul(minor, z[3 + j], z[6 + i]);
        mpz_addmul(sum, minor, z[9 + k]);
    }
    int sign = mpz_sgn(sum);
    integers_clear(z, 12);
    mpz_clear(minor);
    mpz_clear(sum);
    return sign;
}

int rbt_side(const double a[3], const double b[3], const double c[3], const double d[3]) {
    double u[3], v[3], w[3], determinant = 0, size = 0, reach = 1;
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
        w[k] = d[k] - a[k];
        reach += fabs(w[k]);
        if (u[k] == 0 && v[k] == 0 && w[k] == 0) return 0;  // differences of doubles are 0 only if they are equal
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double left = u[i] * v[j], right = u[j] * v[i];
        determinant += (left - right) * w[k];
        size += (fabs(left) + fabs(right)) * fabs(w[k]);
    }
    double bound = SIDE_ERROR * size + UNDERFLOW * reach;
    if (determinant > bound) return 1;
    if (-determinant > bound) return -1;
    double all[12] = {a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2], d[0], d[1], d[2]};
    return exact_side(all);
}

// ---- Within a plane

static bool ranges_meet(const double p[3], const double q[3], const double a[3], const double b[3], int k) {
    return fmin(p[k], q[k]) <= fmax(a[k], b[k]) && fmin(a[k], b[k]) <= fmax(p[k], q[k]);
}

// Seen along the third axis. Opposite sides, each of the other's line; on one line the ranges decide.
static bool segments_meet_in(const double p[3], const double q[3], const double a[3], const double b[3], int i,
                             int j) {
    return rbt_rotation_lag(p, q, a, i, j) * rbt_rotation_lag(p, q, b, i, j) <= 0 &&
           rbt_rotation_lag(a, b, p, i, j) * rbt_rotation_lag(a, b, q, i, j) <= 0 && ranges_meet(p, q, a, b, i) &&
           ranges_meet(p, q, a, b, j);
}

bool rbt_segments_meet(const double p[3], const double q[3], const double a[3], const double b[3]) {
    for (int k = 0; k < 3; k++)
        if (!ranges_meet(p, q, a, b, k)) return false;
    if (rbt_side(p, q, a, b) != 0) return false;
    for (int k = 0; k < 3; k++) {  // a projection that keeps their plane a plane
        int i = (k + 1) % 3, j = (k + 2) % 3;
        if (rbt_rotation_lag(p, q, a, i, j) || rbt_rotation_lag(p, q, b, i, j) || rbt_rotation_lag(a, b, p, i, j) ||
            rbt_rotation_lag(a, b, q, i, j))
            return segments_meet_in(p, q, a, b, i, j);
    }
    return true;  // on one line, and the ranges overlap
}

// The axes (i, j) in which the triangle has an area, and its orientation there; 0 if it has none at all.
static int triangle_view(const double a[3], const double b[3], const double c[3], int *i, int *j) {
    for (int k = 0; k < 3; k++) {
        *i = (k + 1) % 3;
        *j = (k + 2) % 3;
        int turn = rbt_rotation_lag(a, b, c, *i, *j);
        if (turn) return turn;
    }
    return 0;
}

// All five points in one plane, or the triangle without area.
static bool meets_within(const double p[3], const double q[3], const double a[3], const double b[3],
                         const double c[3]) {
    if (rbt_segments_meet(p, q, a, b) || rbt_segments_meet(p, q, b, c) || rbt_segments_meet(p, q, c, a)) return true;
    int i, j, turn = triangle_view(a, b, c, &i, &j);
    return turn && rbt_rotation_lag(a, b, p, i, j) == turn && rbt_rotation_lag(b, c, p, i, j) == turn &&
           rbt_rotation_lag(c, a, p, i, j) == turn;
}

// ---- Segment and triangle

rbt_meeting rbt_segment_meets_triangle(const double p[3], const double q[3], const double a[3], const double b[3],
                                       const double c[3]) {
    int from = rbt_side(a, b, c, p), to = rbt_side(a, b, c, q);
    if (from * to > 0) return RBT_APART;
    if (!from && !to) return meets_within(p, q, a, b, c) ? RBT_TOUCHING : RBT_APART;
    // The line goes through the plane once: on which side of it do the triangle's edges pass?
    int ab = rbt_side(p, q, a, b), bc = rbt_side(p, q, b, c);
    if (ab * bc < 0) return RBT_APART;
    int ca = rbt_side(p, q, c, a);
    if (ab * ca < 0 || bc * ca < 0) return RBT_APART;
    return from && to && ab && bc && ca ? RBT_CROSSING : RBT_TOUCHING;
}

// Whether b and q lie in the same direction from a, on one line with it.
static bool same_direction(const double a[3], const double b[3], const double q[3]) {
    bool same = false;
    for (int k = 0; k < 3; k++) {
        if (rbt_rotation_lag(a, b, q, (k + 1) % 3, (k + 2) % 3)) return false;
        same = same || (b[k] > a[k] && q[k] > a[k]) || (b[k] < a[k] && q[k] < a[k]);
    }
    return same;
}

bool rbt_corner_segment_overlaps(const double q[3], const double a[3], const double b[3], const double c[3]) {
    if (rbt_side(a, b, c, q) != 0) return false;
    int i, j, turn = triangle_view(a, b, c, &i, &j);
    if (!turn) return same_direction(a, b, q) || same_direction(a, c, q);
    int ab = turn * rbt_rotation_lag(a, b, q, i, j), ac = turn * rbt_rotation_lag(a, q, c, i, j);
    return ab >= 0 && ac >= 0 && (ab || ac);  // neither: q lies on a
}
