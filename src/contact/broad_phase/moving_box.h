// Boxes of things whose nodes move straight on, all from time 0 to time 1: one at each end, in single precision, rounded
// outwards. Where a node is least along an axis is a concave function of time, where it is largest a convex one, so in
// between a thing stays in the box whose faces move straight from one to the other. Two of these that are apart along the
// same axis, on the same side, at both ends, are apart all the time.
//
// A box holds its low corner and minus its high one: they are apart at one end where a half of one plus the other half of
// the other has a number above 0.
#ifndef RBT_CONTACT_BROAD_PHASE_MOVING_BOX_H
#define RBT_CONTACT_BROAD_PHASE_MOVING_BOX_H

#include <math.h>
#include <stdbool.h>

typedef float rbt_four __attribute__((vector_size(16)));

typedef struct rbt_moving_box {
    rbt_four low[2], minus_high[2];  // at the ends; the last number of each is 0
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

// A node on its way from x to y, with all that is nearer than `around`
static inline rbt_moving_box rbt_moving_box_of(const double x[3], const double y[3], double around) {
    rbt_moving_box box;
    for (int end = 0; end < 2; end++) {
        const double *at = end ? y : x;
        box.low[end] = (rbt_four){rbt_float_below(at[0] - around), rbt_float_below(at[1] - around),
                                  rbt_float_below(at[2] - around), 0};
        box.minus_high[end] = (rbt_four){rbt_float_below(-at[0] - around), rbt_float_below(-at[1] - around),
                                         rbt_float_below(-at[2] - around), 0};
    }
    return box;
}

static inline void rbt_moving_box_unite(rbt_moving_box *box, const rbt_moving_box *more) {
    for (int end = 0; end < 2; end++) {
        box->low[end] = rbt_four_smaller(box->low[end], more->low[end]);
        box->minus_high[end] = rbt_four_smaller(box->minus_high[end], more->minus_high[end]);
    }
}

// False: they surely do not. A sum that is rounded to nearest keeps its sign.
static inline bool rbt_moving_boxes_meet(const rbt_moving_box *a, const rbt_moving_box *b) {
    rbt_four above = rbt_four_smaller(a->low[0] + b->minus_high[0], a->low[1] + b->minus_high[1]);
    rbt_four below = rbt_four_smaller(a->minus_high[0] + b->low[0], a->minus_high[1] + b->low[1]);
    return !rbt_four_is_above(above, below);
}

#endif
