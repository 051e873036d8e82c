// The narrow list: pairs of the wide one that no direction separates. See candidates.h.
//
// Positions are taken from an origin, in single precision with u = 2^-24, and are at most R away from it in each
// coordinate. Along n a corner is off by u |n|_1 R as stored, by u |n|_1 R in each product and by 2 u |n|_1 R in the
// sums: 4 u |n|_1 R, and twice that for the difference of two corners. The positions themselves have been rounded in
// doubles, which is far less. MARGIN = 32 u is beyond it, and LENGTH beyond the length that n has in single precision.
#include "base/threads.h"
#include "contact/broad_phase/candidate_kernels.h"
#include "math/scalar.h"

#include <string.h>

static const float MARGIN = 32 * 0x1p-24f, LENGTH = RBT_AXIS_LENGTH;

// Places of all nodes from the first one; returns R.
static double place_nodes(rbt_candidates *c, const double *x, const double *y) {
    double most = 0;
    for (size_t n = 0; n < c->surface->def.node_count; n++)
        for (int end = 0; end < 2; end++) {
            const double *at = (end ? y : x) + 3 * n;
            double from[3] = {at[0] - x[0], at[1] - x[1], at[2] - x[2]};
            for (int k = 0; k < 3; k++) most = rbt_larger(most, fabs(from[k]));
            c->places[n].end[end] = (rbt_four){(float)from[0], (float)from[1], (float)from[2], 0};
        }
    return most;
}

void rbt_candidates_narrow(rbt_candidates *c, const double *x, const double *y, double slack) {
    size_t count = c->found_count;
    enum { RUN = 1024 };
    const rbt_candidate_kernels *kernels = rbt_candidate_kernels_best();
    rbt_narrowing s = {c, x, y, 0};
    s.around = (float)(2 * slack + MARGIN * place_nodes(c, x, y)) * LENGTH;
#pragma omp parallel for schedule(static) if (count >= RBT_PARALLEL_FROM)
    for (size_t begin = 0; begin < count; begin += RUN)
        kernels->narrow(&s, begin, begin + RUN < count ? begin + RUN : count);
    c->count = 0;
    for (size_t i = 0; i < count; i++)
        if (c->kept[i]) c->keys[c->count++] = c->found[i];
    rbt_tube_lay(&c->narrow, x, y, 1, slack);
    c->lists++;
}
