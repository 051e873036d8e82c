// Where something may be at the start and at the end of a window, along twelve axes: the nine of the tree's k-DOPs
// and three diagonals of a cube. Points move along straight lines in between, so how far two such things are apart
// along an axis is a concave function of time, and least at one of the ends.
//
// Single precision, about an origin near all places, each bound moved outwards by more than rounding: a bound that is
// too wide costs a look, never a contact.
#ifndef RBT_CONTACT_BROAD_PHASE_SPAN_H
#define RBT_CONTACT_BROAD_PHASE_SPAN_H

#include "contact/broad_phase/tree.h"

enum { RBT_SPAN_AXES = 12 };

typedef struct rbt_span {
    float low[2][RBT_SPAN_AXES], high[2][RBT_SPAN_AXES];  // at the start, at the end [m]
} rbt_span;

// A ball of this radius that goes from `start` to `last`, both relative to the origin; `rounding`: a bound of |x|
// times 2^-22.
void rbt_span_of_ball(const double start[3], const double last[3], double radius, double rounding, rbt_span *span);

void rbt_span_add(rbt_span *span, const rbt_span *other);

static inline float rbt_span_smaller(float a, float b) { return a < b ? a : b; }
static inline float rbt_span_larger(float a, float b) { return a > b ? a : b; }

// They are never closer than this [m]; negative: they may touch.
static inline float rbt_span_apart(const rbt_span *a, const rbt_span *b) {
    float gap[RBT_SPAN_AXES], most[4];
    for (int i = 0; i < RBT_SPAN_AXES; i++) {
        float above = rbt_span_smaller(b->low[0][i] - a->high[0][i], b->low[1][i] - a->high[1][i]);
        float below = rbt_span_smaller(a->low[0][i] - b->high[0][i], a->low[1][i] - b->high[1][i]);
        gap[i] = rbt_span_larger(above, below);
    }
    for (int i = 0; i < 4; i++) most[i] = rbt_span_larger(rbt_span_larger(gap[i], gap[i + 4]), gap[i + 8]);
    return rbt_span_larger(rbt_span_larger(most[0], most[1]), rbt_span_larger(most[2], most[3]));
}

#endif
