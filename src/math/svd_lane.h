// Polar and singular value decomposition of 3x3 matrices in lanes.
//
// Polar. F = R S with R a rotation. With C = F^T F, a = tr C, b = (a^2 - tr C^2) / 2 and J = det F, the sum of the
// signed singular values s = tr S is the largest root of
//     g(s) = (s^2 - a)^2 / 4 - b - 2 J s,
// and, since ds/dF = R, differentiating g(s(F), F) = 0 gives
//     R = ((s^2 + a) F - 2 F C + 2 s cof F) / g'(s),      g'(s) = s (s^2 - a) - 2 J = 2 (s1 + s2)(s2 + s3)(s3 + s1).
// s <= sqrt(3 a), and g is convex and increasing to the right of its largest root, so Halley's iteration from there
// descends to it. R is undetermined where g' = 0 (s2 = -s3: inverted by as much as the next direction is stretched);
// lanes near there are done one by one with rbt_svd3.
//
// SVD. S = R^T F is symmetric: Jacobi rotations give S = V Sigma V^T, and U = R V. F is never squared on this way.
#ifndef RBT_MATH_SVD_LANE_H
#define RBT_MATH_SVD_LANE_H

#include "math/lane.h"
#include "math/svd3.h"

// One lane of U, sigma, V by the robust way
static inline void svd_one_lane(const rbt_lane3 *F, int l, rbt_lane3 *U, rbt_lane sigma[3], rbt_lane3 *V) {
    double f[9], u[9], s[3], v[9];
    for (int i = 0; i < 9; i++) f[i] = F->at[i][l];
    rbt_svd3(f, u, s, v);
    for (int i = 0; i < 9; i++) {
        U->at[i][l] = u[i];
        V->at[i][l] = v[i];
    }
    for (int i = 0; i < 3; i++) sigma[i][l] = s[i];
}

// Invariants of F that the polar factor needs, and that energies need too
typedef struct rbt_lane_invariants {
    rbt_lane I1, I2, I3, I4;  // sum sigma, sum sigma^2, product, sum sigma^4
    rbt_lane slope;           // g'(I1)
} rbt_lane_invariants;

// I2, I3, I4, cof F and the upper half of C = F^T F
static inline void lane_upper_squares(const rbt_lane3 *F, rbt_lane_invariants *I, rbt_lane3 *C, rbt_lane3 *cofactor) {
    I->I3 = lane_cofactor(F, cofactor);
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            C->at[3 * i + j] = F->at[i] * F->at[j] + F->at[3 + i] * F->at[3 + j] + F->at[6 + i] * F->at[6 + j];
    const rbt_lane *c = C->at;
    I->I2 = c[0] + c[4] + c[8];
    I->I4 = c[0] * c[0] + c[4] * c[4] + c[8] * c[8] + 2 * (c[1] * c[1] + c[2] * c[2] + c[5] * c[5]);
}

// The same with all nine entries of C
static inline void lane_squares(const rbt_lane3 *F, rbt_lane_invariants *I, rbt_lane3 *C, rbt_lane3 *cofactor) {
    lane_upper_squares(F, I, C, cofactor);
    C->at[3] = C->at[1];
    C->at[6] = C->at[2];
    C->at[7] = C->at[5];
}

// One step of Halley for g(s) = 0: what s moves down by, 2 g g' / (2 g'^2 - g g''), with 4 g = q^2 - 4 b - 8 J s, q =
// s^2 - a
static inline rbt_lane lane_halley(rbt_lane s, rbt_lane a, rbt_lane b4, rbt_lane J2) {
    rbt_lane q = s * s - a, g4 = q * q - (4 * J2 * s + b4), slope = s * q - J2, twice = slope + slope;
    return g4 * slope / (twice * twice - g4 * (1.5 * q + a));
}

// I1 from I2, I3, I4, for `count` vectors at once; `bad`: the lanes in which R is (nearly) undetermined or F is not a
// number. All lanes make two steps. One that then moved by less than 2e-6 of itself is at its root to rounding, since
// the error is cubed, and stays: what it gets does not depend on the others.
static inline __attribute__((always_inline)) void lane_sums_of_stretches(rbt_lane_invariants *I, rbt_lane_mask *bad,
                                                                         int count) {
    enum { MAX_VECTORS = 8, MAX_STEPS = 6 };
    rbt_lane a[MAX_VECTORS], b4[MAX_VECTORS], J2[MAX_VECTORS], s[MAX_VECTORS], least[MAX_VECTORS];
    rbt_lane_mask moving[MAX_VECTORS], any = {0};
    for (int i = 0; i < count; i++) {
        a[i] = I[i].I2;
        b4[i] = 2 * (a[i] * a[i] - I[i].I4);
        J2[i] = 2 * I[i].I3;
        s[i] = lane_sqrt(3 * a[i]);
        least[i] = 0.028867513459481287 * a[i] * s[i];  // of g': 0.05 a^(3/2)
    }
    for (int i = 0; i < count; i++) s[i] -= lane_halley(s[i], a[i], b4[i], J2[i]);
    for (int i = 0; i < count; i++) {
        rbt_lane by = lane_halley(s[i], a[i], b4[i], J2[i]);
        s[i] -= by;
        moving[i] = lane_abs(by) > 2e-6 * s[i];
        any |= moving[i];
    }
    for (int k = 2; k < MAX_STEPS && lane_any(any); k++) {
        any = moving[0] & 0;
        for (int i = 0; i < count; i++) {
            rbt_lane by = lane_halley(s[i], a[i], b4[i], J2[i]);
            s[i] = lane_select(moving[i], s[i] - by, s[i]);
            moving[i] &= lane_abs(by) > 2e-6 * s[i];
            any |= moving[i];
        }
    }
    for (int i = 0; i < count; i++) {
        I[i].I1 = s[i];
        I[i].slope = s[i] * (s[i] * s[i] - a[i]) - J2[i];
        bad[i] = ~(I[i].slope > least[i]) | moving[i];
    }
}

static inline rbt_lane_mask lane_sum_of_stretches(rbt_lane_invariants *I) {
    rbt_lane_mask bad;
    lane_sums_of_stretches(I, &bad, 1);
    return bad;
}

// I1 and R of the bad lanes, by rbt_svd3
static inline void lane_polar_bad(const rbt_lane3 *F, rbt_lane_invariants *I, rbt_lane_mask bad, rbt_lane3 *R) {
    rbt_lane3 U, V;
    rbt_lane sigma[3];
    for (int l = 0; l < RBT_LANES; l++) {
        if (!bad[l]) continue;
        svd_one_lane(F, l, &U, sigma, &V);
        I->I1[l] = sigma[0][l] + sigma[1][l] + sigma[2][l];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                R->at[3 * i + j][l] = U.at[3 * i][l] * V.at[3 * j][l] + U.at[3 * i + 1][l] * V.at[3 * j + 1][l] +
                                      U.at[3 * i + 2][l] * V.at[3 * j + 2][l];
    }
}

// R, with I1, slope and the bad lanes as lane_sums_of_stretches left them
static inline void lane_rotation(const rbt_lane3 *F, rbt_lane_invariants *I, const rbt_lane3 *C,
                                 const rbt_lane3 *cofactor, rbt_lane_mask bad, rbt_lane3 *R) {
    rbt_lane3 FC;
    lane_multiply(F, C, &FC);
    rbt_lane inverse = 1 / I->slope, f = (I->I1 * I->I1 + I->I2) * inverse, fc = -2 * inverse,
             co = 2 * I->I1 * inverse;
    for (int i = 0; i < 9; i++) R->at[i] = f * F->at[i] + fc * FC.at[i] + co * cofactor->at[i];
    if (lane_any(bad)) lane_polar_bad(F, I, bad, R);
}

// R and all invariants; C and cofactor as lane_squares left them
static inline void lane_polar(const rbt_lane3 *F, rbt_lane_invariants *I, const rbt_lane3 *C,
                              const rbt_lane3 *cofactor, rbt_lane3 *R) {
    rbt_lane_mask bad = lane_sum_of_stretches(I);
    lane_rotation(F, I, C, cofactor, bad, R);
}

// One Jacobi rotation of the symmetric matrix (d: diagonal, o: off-diagonal with o[k] opposite of k) in the plane (p,
// q), r the third index; V gathers the rotations.
static inline void lane_jacobi(rbt_lane d[3], rbt_lane o[3], rbt_lane3 *V, int p, int q, int r) {
    rbt_lane apq = o[r], difference = d[q] - d[p];
    // t = 2 apq / (difference + sign sqrt(difference^2 + 4 apq^2)): no division by apq
    rbt_lane root = lane_sqrt(difference * difference + 4 * apq * apq);
    rbt_lane below = difference + lane_select(difference < 0, -root, root);
    rbt_lane t = 2 * apq / lane_select(below == 0, lane_of(1), below);
    rbt_lane cosine = 1 / lane_sqrt(1 + t * t), sine = t * cosine;
    d[p] -= t * apq;
    d[q] += t * apq;
    rbt_lane orq = o[p], orp = o[q];
    o[r] = lane_of(0);
    o[q] = cosine * orp - sine * orq;
    o[p] = sine * orp + cosine * orq;
    for (int i = 0; i < 9; i += 3) {
        rbt_lane x = V->at[i + p], y = V->at[i + q];
        V->at[i + p] = cosine * x - sine * y;
        V->at[i + q] = sine * x + cosine * y;
    }
}

// Eigenvalues d and eigenvectors (columns of V) of the symmetric matrix S, in no particular order
static inline void lane_eigen(const rbt_lane3 *S, rbt_lane d[3], rbt_lane3 *V) {
    rbt_lane o[3] = {0.5 * (S->at[5] + S->at[7]), 0.5 * (S->at[2] + S->at[6]), 0.5 * (S->at[1] + S->at[3])};
    for (int i = 0; i < 3; i++) d[i] = S->at[4 * i];
    for (int i = 0; i < 9; i++) V->at[i] = lane_of(i % 4 == 0);
    for (int sweep = 0; sweep < 8; sweep++) {
        lane_jacobi(d, o, V, 0, 1, 2);
        lane_jacobi(d, o, V, 0, 2, 1);
        lane_jacobi(d, o, V, 1, 2, 0);
        rbt_lane off = o[0] * o[0] + o[1] * o[1] + o[2] * o[2], size = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (!lane_any(off > 1e-32 * size)) break;
    }
}

// Eigenvalues d[0] >= d[1] >= d[2] of the symmetric matrix S (the upper half is read), without vectors: with q = tr S
// / 3 and p^2 = |S - q I|^2 / 6 those of (S - q I) / p are the roots of x^3 - 3 x = 2 r, r = det((S - q I) / p) / 2.
// The one farthest away, in [sqrt 3, 2] up to the sign of r, is simple and found by Newton's method; the others
// follow from a quadratic equation. Where two are close, each may be off by 1e-7 p, in opposite directions: their sum
// is right, and they never coincide unless S is q I, so that functions of S can be interpolated between them.
static inline void lane_eigenvalues(const rbt_lane3 *S, rbt_lane d[3]) {
    rbt_lane q = (S->at[0] + S->at[4] + S->at[8]) / 3, a = S->at[0] - q, b = S->at[4] - q, c = S->at[8] - q;
    rbt_lane x = S->at[1], y = S->at[2], z = S->at[5], xx = x * x, yy = y * y, zz = z * z;
    rbt_lane p = lane_sqrt((a * a + b * b + c * c + 2 * (xx + yy + zz)) / 6);
    rbt_lane half = 0.5 * (a * (b * c - zz) - b * yy - c * xx) + x * y * z, cube = p * p * p;
    rbt_lane r = half / lane_select(cube > 0, cube, lane_of(1)), size = lane_abs(r);
    size = lane_select(size < 1, size, lane_of(1));
    rbt_lane far = 1.7320508075688772 + 0.2679491924311228 * size;
    for (int k = 0; k < 3; k++) far = (2 * far * far * far + 2 * size) / (3 * far * far - 3);
    rbt_lane inside = 12 - 3 * far * far, root = lane_sqrt(lane_max(inside, lane_of(1e-14)));
    rbt_lane_mask up = r > 0;
    d[0] = q + p * lane_select(up, far, 0.5 * (far + root));
    d[1] = q + p * lane_select(up, 0.5 * (root - far), 0.5 * (far - root));
    d[2] = q - p * lane_select(up, 0.5 * (far + root), far);
}

// F = U diag(sigma) V^T; sigma in no particular order, their product has the sign of det F
static inline void lane_svd(const rbt_lane3 *F, rbt_lane3 *U, rbt_lane sigma[3], rbt_lane3 *V,
                            rbt_lane_invariants *I) {
    rbt_lane3 C, cofactor, R, S;
    lane_squares(F, I, &C, &cofactor);
    lane_polar(F, I, &C, &cofactor, &R);
    lane_multiply_transposed(&R, F, &S);
    lane_eigen(&S, sigma, V);
    lane_multiply(&R, V, U);
}

#endif
