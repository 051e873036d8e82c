// Several doubles in one register: the vector type that element kernels compute with. A kernel file is compiled once
// per instruction set; RBT_LANES is the width it gets there. Arithmetic is written as for scalars.
#ifndef RBT_MATH_LANE_H
#define RBT_MATH_LANE_H

#include "math/shuffle.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
enum { RBT_LANES = 8 };
#elif defined(__AVX__)
enum { RBT_LANES = 4 };
#else
enum { RBT_LANES = 2 };
#endif

typedef double rbt_lane __attribute__((vector_size(8 * RBT_LANES)));
typedef int64_t rbt_lane_mask __attribute__((vector_size(8 * RBT_LANES)));  // all bits set where true

static inline rbt_lane lane_load(const double *p) {
    rbt_lane v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void lane_store(double *p, rbt_lane v) { memcpy(p, &v, sizeof v); }
static inline rbt_lane lane_of(double s) { return s - (rbt_lane){0}; }

#if defined(__AVX__) && !defined(__AVX512F__)
#define RBT_LANE_IS_PLACE  // four doubles: a vector and a spare number
static inline rbt_lane lane_select(rbt_lane_mask where, rbt_lane a, rbt_lane b) {
    return __builtin_ia32_blendvpd256(b, a, (rbt_lane)where);
}
static inline bool lane_any(rbt_lane_mask m) { return __builtin_ia32_movmskpd256((rbt_lane)m) != 0; }
#else
static inline rbt_lane lane_select(rbt_lane_mask where, rbt_lane a, rbt_lane b) {
    return (rbt_lane)((where & (rbt_lane_mask)a) | (~where & (rbt_lane_mask)b));
}
static inline bool lane_any(rbt_lane_mask m) {
    int64_t bits = 0;
    for (int l = 0; l < RBT_LANES; l++) bits |= m[l];
    return bits != 0;
}
#endif
static inline rbt_lane lane_max(rbt_lane a, rbt_lane b) { return lane_select(a > b, a, b); }
static inline rbt_lane lane_abs(rbt_lane a) { return (rbt_lane)((rbt_lane_mask)a & INT64_MAX); }

static inline rbt_lane lane_sqrt(rbt_lane a) {
    for (int l = 0; l < RBT_LANES; l++) a[l] = sqrt(a[l]);
    return a;
}
static inline rbt_lane lane_log(rbt_lane a) {
    for (int l = 0; l < RBT_LANES; l++) a[l] = log(a[l]);
    return a;
}

#ifdef RBT_LANE_IS_PLACE
// Vectors in places: r[l][i] becomes r[i][l].
static inline void lane_from_places(rbt_lane r[4]) {
    rbt_lane a = RBT_SHUFFLE(rbt_order_4_doubles, r[0], r[1], 0, 4, 2, 6);
    rbt_lane b = RBT_SHUFFLE(rbt_order_4_doubles, r[0], r[1], 1, 5, 3, 7);
    rbt_lane c = RBT_SHUFFLE(rbt_order_4_doubles, r[2], r[3], 0, 4, 2, 6);
    rbt_lane d = RBT_SHUFFLE(rbt_order_4_doubles, r[2], r[3], 1, 5, 3, 7);
    r[0] = RBT_SHUFFLE(rbt_order_4_doubles, a, c, 0, 1, 4, 5);
    r[1] = RBT_SHUFFLE(rbt_order_4_doubles, b, d, 0, 1, 4, 5);
    r[2] = RBT_SHUFFLE(rbt_order_4_doubles, a, c, 2, 3, 6, 7);
}

// The other way: to[l][i] = r[i][l]; to[l][3] is any number.
static inline void lane_to_places(const rbt_lane r[3], rbt_lane to[4]) {
    rbt_lane a = RBT_SHUFFLE(rbt_order_4_doubles, r[0], r[1], 0, 4, 2, 6);
    rbt_lane b = RBT_SHUFFLE(rbt_order_4_doubles, r[0], r[1], 1, 5, 3, 7);
    rbt_lane c = RBT_SHUFFLE(rbt_order_4_doubles, r[2], r[2], 1, 0, 3, 2);
    to[0] = RBT_SHUFFLE(rbt_order_4_doubles, a, r[2], 0, 1, 4, 5);
    to[1] = RBT_SHUFFLE(rbt_order_4_doubles, b, c, 0, 1, 4, 5);
    to[2] = RBT_SHUFFLE(rbt_order_4_doubles, a, r[2], 2, 3, 6, 7);
    to[3] = RBT_SHUFFLE(rbt_order_4_doubles, b, c, 2, 3, 6, 7);
}
#endif

// 3x3 matrices, entries numbered 3 row + column
typedef struct rbt_lane3 {
    rbt_lane at[9];
} rbt_lane3;

static inline rbt_lane lane_dot9(const rbt_lane3 *A, const rbt_lane3 *B) {
    rbt_lane s = A->at[0] * B->at[0];
    for (int i = 1; i < 9; i++) s += A->at[i] * B->at[i];
    return s;
}

// C = A B
static inline void lane_multiply(const rbt_lane3 *A, const rbt_lane3 *B, rbt_lane3 *C) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C->at[3 * i + j] =
                A->at[3 * i] * B->at[j] + A->at[3 * i + 1] * B->at[3 + j] + A->at[3 * i + 2] * B->at[6 + j];
}

// C = A^T B
static inline void lane_multiply_transposed(const rbt_lane3 *A, const rbt_lane3 *B, rbt_lane3 *C) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C->at[3 * i + j] = A->at[i] * B->at[j] + A->at[3 + i] * B->at[3 + j] + A->at[6 + i] * B->at[6 + j];
}

// cof F = d(det F)/dF into C; returns det F
static inline rbt_lane lane_cofactor(const rbt_lane3 *F, rbt_lane3 *C) {
    const rbt_lane *f = F->at;
    C->at[0] = f[4] * f[8] - f[5] * f[7];
    C->at[1] = f[5] * f[6] - f[3] * f[8];
    C->at[2] = f[3] * f[7] - f[4] * f[6];
    C->at[3] = f[2] * f[7] - f[1] * f[8];
    C->at[4] = f[0] * f[8] - f[2] * f[6];
    C->at[5] = f[1] * f[6] - f[0] * f[7];
    C->at[6] = f[1] * f[5] - f[2] * f[4];
    C->at[7] = f[2] * f[3] - f[0] * f[5];
    C->at[8] = f[0] * f[4] - f[1] * f[3];
    return f[0] * C->at[0] + f[1] * C->at[1] + f[2] * C->at[2];
}

#endif
