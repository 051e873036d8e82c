#include "contact/span.h"

static const double THIRD = 0.57735026918962576451;  // 1 / sqrt(3)

void rbt_span_of_ball(const double start[3], const double last[3], double radius, double rounding, rbt_span *span) {
    for (int end = 0; end < 2; end++) {
        const double *x = end ? last : start;
        double p[RBT_SPAN_AXES];
        rbt_dop_project(x, p);
        p[9] = THIRD * (x[0] + x[1] + x[2]);
        p[10] = THIRD * (x[0] + x[1] - x[2]);
        p[11] = THIRD * (x[0] - x[1] + x[2]);
        for (int i = 0; i < RBT_SPAN_AXES; i++) {
            span->low[end][i] = (float)(p[i] - radius - rounding);
            span->high[end][i] = (float)(p[i] + radius + rounding);
        }
    }
}

static float smaller(float a, float b) { return a < b ? a : b; }
static float larger(float a, float b) { return a > b ? a : b; }

void rbt_span_add(rbt_span *span, const rbt_span *other) {
    for (int end = 0; end < 2; end++)
        for (int i = 0; i < RBT_SPAN_AXES; i++) {
            span->low[end][i] = smaller(span->low[end][i], other->low[end][i]);
            span->high[end][i] = larger(span->high[end][i], other->high[end][i]);
        }
}

float rbt_span_apart(const rbt_span *a, const rbt_span *b) {
    float gap[RBT_SPAN_AXES];
    for (int i = 0; i < RBT_SPAN_AXES; i++) {
        float above = smaller(b->low[0][i] - a->high[0][i], b->low[1][i] - a->high[1][i]);
        float below = smaller(a->low[0][i] - b->high[0][i], a->low[1][i] - b->high[1][i]);
        gap[i] = larger(above, below);
    }
    for (int width = RBT_SPAN_AXES / 2; width > 2; width /= 2)
        for (int i = 0; i < width; i++) gap[i] = larger(gap[i], gap[i + width]);
    return larger(larger(gap[0], gap[1]), gap[2]);
}
