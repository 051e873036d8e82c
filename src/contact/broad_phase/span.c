#include "contact/broad_phase/span.h"

static const double THIRD = 0.57735026918962576451;  // 1 / sqrt(3)

void rbt_span_of_ball(const double start[3], const double last[3], double radius, double rounding, rbt_span *span) {
    double margin = radius + rounding;
    for (int end = 0; end < 2; end++) {
        const double *x = end ? last : start;
        double p[RBT_SPAN_AXES];
        rbt_dop_project(x, p);
        p[9] = THIRD * (x[0] + x[1] + x[2]);
        p[10] = THIRD * (x[0] + x[1] - x[2]);
        p[11] = THIRD * (x[0] - x[1] + x[2]);
        for (int i = 0; i < RBT_SPAN_AXES; i++) {
            span->low[end][i] = (float)(p[i] - margin);
            span->high[end][i] = (float)(p[i] + margin);
        }
    }
}

void rbt_span_add(rbt_span *span, const rbt_span *other) {
    for (int end = 0; end < 2; end++)
        for (int i = 0; i < RBT_SPAN_AXES; i++) {
            span->low[end][i] = rbt_span_smaller(span->low[end][i], other->low[end][i]);
            span->high[end][i] = rbt_span_larger(span->high[end][i], other->high[end][i]);
        }
}
