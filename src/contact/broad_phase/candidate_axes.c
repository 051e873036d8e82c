// The narrow list: pairs of the wide one that no direction separates. See candidates.h.
//
// Rounding: along n, products and sums of a coordinate of size R are off by less than 4 units in the last place of
// |n|_1 R on each side, and positions that the list is asked for are those above up to a few units more. MARGIN times
// |n|_1 R is beyond both, and beyond what the length of n, stored in single precision, is off by.
#include "base/threads.h"
#include "contact/broad_phase/candidates.h"
#include "math/scalar.h"

#include <math.h>
#include <string.h>

static const double MARGIN = 1e-13, LENGTH = 1 + 1e-6;  // LENGTH: of a direction, at most

typedef struct narrowing {
    const rbt_candidates *candidates;
    const double *x, *y;
    double slack, largest;  // largest: coordinate
} narrowing;

// Of all nodes of one side, times n: where it ends towards the other side, at both ends of the motion
static void support(const narrowing *s, const int32_t *node, int count, const double n[3], bool above, double end[2]) {
    end[0] = end[1] = above ? -INFINITY : INFINITY;
    for (int i = 0; i < count; i++) {
        const double *x = s->x + 3 * (size_t)node[i], *y = s->y + 3 * (size_t)node[i];
        double along[2] = {n[0] * x[0] + n[1] * x[1] + n[2] * x[2], n[0] * y[0] + n[1] * y[1] + n[2] * y[2]};
        for (int k = 0; k < 2; k++) end[k] = above ? rbt_larger(end[k], along[k]) : rbt_smaller(end[k], along[k]);
    }
}

static double reach_of(const rbt_candidates *c, const int32_t *node, int count) {
    double most = 0;
    for (int i = 0; i < count; i++) most = rbt_larger(most, c->reach[node[i]]);
    return most;
}

static bool is_apart(const narrowing *s, const int32_t *node, int first, int corners, double reach,
                     const rbt_axis *axis) {
    double n[3] = {axis->n[0], axis->n[1], axis->n[2]}, sum = fabs(n[0]) + fabs(n[1]) + fabs(n[2]), a[2], b[2];
    support(s, node, first, n, true, a);
    support(s, node + first, corners - first, n, false, b);
    return sum > 0 &&
           rbt_smaller(b[0] - a[0], b[1] - a[1]) > reach * LENGTH + (2 * s->slack + MARGIN * s->largest) * sum;
}

// From the nearest points of A to those of B where the motion begins, or where it ends
static rbt_axis nearest(const narrowing *s, rbt_touch_kind kind, const int32_t *node, const double *x) {
    double corners[12];
    rbt_gap gap;
    (void)s;
    for (int i = 0; i < rbt_pair_corners(kind); i++) memcpy(corners + 3 * i, x + 3 * (size_t)node[i], 3 * sizeof *x);
    rbt_gap_measure(kind, corners, &gap);
    return (rbt_axis){{(float)gap.normal[0], (float)gap.normal[1], (float)gap.normal[2]}};
}

// A plane separates along its normal or not at all.
static bool may_meet_wall(const narrowing *s, const int32_t *node, rbt_pair_key key, double reach) {
    const double *up = s->candidates->surface->def.walls[key & 0x3fffffff].normal;
    double a[2], b[2], n[3] = {-up[0], -up[1], -up[2]}, sum = fabs(n[0]) + fabs(n[1]) + fabs(n[2]);
    support(s, node, 1, n, true, a);
    support(s, node + 1, 1, n, false, b);
    return !(rbt_smaller(b[0] - a[0], b[1] - a[1]) > reach * LENGTH + (2 * s->slack + MARGIN * s->largest) * sum);
}

// Whether a pair may come within reach; its direction is renewed where the one it has does not do.
static bool may_meet(const narrowing *s, rbt_pair_key key, rbt_axis *axis) {
    const rbt_candidates *c = s->candidates;
    rbt_touch_kind kind = rbt_pair_key_kind(key);
    int first = rbt_pair_first(kind), corners = rbt_pair_corners(kind);
    int32_t node[4];
    rbt_pair_nodes(c->surface, key, node);
    double reach = reach_of(c, node, first) + reach_of(c, node + first, corners - first);
    if (kind == RBT_TOUCH_WALL) return may_meet_wall(s, node, key, reach);
    if (is_apart(s, node, first, corners, reach, axis)) return false;
    *axis = nearest(s, kind, node, s->x);
    if (is_apart(s, node, first, corners, reach, axis)) return false;
    if (s->x == s->y) return true;
    *axis = nearest(s, kind, node, s->y);
    return !is_apart(s, node, first, corners, reach, axis);
}

void rbt_candidates_narrow(rbt_candidates *c, const double *x, const double *y, double slack) {
    size_t values = 3 * c->surface->def.node_count, count = c->found_count;
    double largest = 0;
    for (size_t i = 0; i < values; i++) largest = rbt_larger(largest, rbt_larger(fabs(x[i]), fabs(y[i])));
    narrowing s = {c, x, y, slack, largest};
#pragma omp parallel for schedule(static) if (count >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < count; i++) c->kept[i] = may_meet(&s, c->found[i], &c->axes[i]);
    c->count = 0;
    for (size_t i = 0; i < count; i++)
        if (c->kept[i]) c->keys[c->count++] = c->found[i];
    rbt_tube_lay(&c->narrow, x, y, 1, slack);
    c->lists++;
}
