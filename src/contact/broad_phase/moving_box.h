// Boxes of things whose nodes move straight on, all from time 0 to time 1: one at each end, in single precision,
// rounded outwards. Where a node is least along an axis is a concave function of time, where it is largest a convex
// one, so in between a thing stays in the box whose faces move straight from one to the other. Two of these that are
// apart along the same axis, on the same side, at both ends, are apart all the time.
//
// A box has eight axes, x, y, z and five of the six diagonals between two of them, and holds where it begins along each
// and minus where it ends: two are apart at one end of the motion where a half of one plus the other half of the other
// has a number above 0. What is tilted, as most neighbours in a mesh are, is apart along a diagonal where x, y and z
// see an overlap; diagonals of a cube, along which slack counts 1.7 times, tell fewer apart.
#ifndef RBT_CONTACT_BROAD_PHASE_MOVING_BOX_H
#define RBT_CONTACT_BROAD_PHASE_MOVING_BOX_H

#include <math.h>
#include <stdbool.h>

typedef float rbt_four __attribute__((vector_size(16)));

typedef struct rbt_moving_box {
    rbt_four low[2][2], minus_high[2][2];  // at the ends of the motion, four axes and four more
} rbt_moving_box;

// The largest float that is not above x, or a little less
static inline float rbt_float_below(double x) {
    float f = (float)x;
    return f - 0x1p-23f * fabsf(f) - 0x1p-126f;
}

static inline rbt_four rbt_four_smaller(rbt_four a, rbt_four b) {
#if defined(__SSE__)
    return __builtin_ia32_minps(a, b);
#else
    for (int i = 0; i < 4; i++) a[i] = a[i] < b[i] ? a[i] : b[i];
    return a;
#endif
}

static inline bool rbt_four_is_above(rbt_four a, rbt_four b) {  // 0, in a number of either
#if defined(__SSE__)
    return __builtin_ia32_movmskps((rbt_four)((a > (rbt_four){0}) | (b > (rbt_four){0})));
#else
    bool any = false;
    for (int i = 0; i < 4; i++) any |= a[i] > 0 || b[i] > 0;
    return any;
#endif
}

// A node on its way from x to y that may be off by `slack` in each coordinate, with all that is nearer than `reach`.
// Along a diagonal n that is |n|_1 slack, and rounding.
static inline rbt_moving_box rbt_moving_box_of(const double x[3], const double y[3], double reach, double slack) {
    const double root = 1.4142135623730952, part = 1 / 1.4142135623730951;  // of 2, from above
    rbt_moving_box box;
    for (int end = 0; end < 2; end++) {
        const double *p = end ? y : x;
        double at[8] = {p[0],
                        p[1],
                        p[2],
                        part * (p[0] + p[1]),
                        part * (p[0] - p[1]),
                        part * (p[0] + p[2]),
                        part * (p[0] - p[2]),
                        part * (p[1] + p[2])};
        double rounding = 1e-15 * (fabs(p[0]) + fabs(p[1]) + fabs(p[2]));
        for (int k = 0; k < 8; k++) {
            double around = reach + (k < 3 ? slack : root * slack + rounding);
            box.low[end][k / 4][k % 4] = rbt_float_below(at[k] - around);
            box.minus_high[end][k / 4][k % 4] = rbt_float_below(-at[k] - around);
        }
    }
    return box;
}

static inline void rbt_moving_box_unite(rbt_moving_box *box, const rbt_moving_box *more) {
    for (int end = 0; end < 2; end++)
        for (int half = 0; half < 2; half++) {
            box->low[end][half] = rbt_four_smaller(box->low[end][half], more->low[end][half]);
            box->minus_high[end][half] = rbt_four_smaller(box->minus_high[end][half], more->minus_high[end][half]);
        }
}

// False: they surely do not. A sum that is rounded to nearest keeps its sign.
static inline bool rbt_moving_boxes_meet(const rbt_moving_box *a, const rbt_moving_box *b) {
#if defined(__AVX__)
    typedef float eight __attribute__((vector_size(32), aligned(16), may_alias));
    const eight *low_a = (const eight *)a->low, *high_a = (const eight *)a->minus_high;
    const eight *low_b = (const eight *)b->low, *high_b = (const eight *)b->minus_high;
    eight above = __builtin_ia32_minps256(low_a[0] + high_b[0], low_a[1] + high_b[1]);
    eight below = __builtin_ia32_minps256(high_a[0] + low_b[0], high_a[1] + low_b[1]);
    return !__builtin_ia32_movmskps256((eight)(__builtin_ia32_maxps256(above, below) > (eight){0}));
#else
    for (int half = 0; half < 2; half++) {
        rbt_four above =
            rbt_four_smaller(a->low[0][half] + b->minus_high[0][half], a->low[1][half] + b->minus_high[1][half]);
        rbt_four below =
            rbt_four_smaller(a->minus_high[0][half] + b->low[0][half], a->minus_high[1][half] + b->low[1][half]);
        if (rbt_four_is_above(above, below)) return false;
    }
    return true;
#endif
}

#endif
