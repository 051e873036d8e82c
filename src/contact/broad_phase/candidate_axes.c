// The narrow list: pairs of the wide one that no direction separates. See candidates.h.
//
// Positions are taken from an origin, in single precision with u = 2^-24, and are at most R away from it in each
// coordinate. Along n a corner is off by u |n|_1 R as stored, by u |n|_1 R in each product and by 2 u |n|_1 R in the
// sums: 4 u |n|_1 R, and twice that for the difference of two corners. The positions themselves have been rounded in
// doubles, which is far less. MARGIN = 32 u is beyond it, and LENGTH beyond the length that n has in single precision.
#include "base/threads.h"
#include "contact/broad_phase/candidates.h"
#include "math/scalar.h"

#include <string.h>

static const float MARGIN = 32 * 0x1p-24f, LENGTH = 1 + 0x1p-20f;

typedef struct narrowing {
    const rbt_candidates *candidates;
    const double *x, *y;
    float around;  // [m] to be added to the reach for each unit of |n|_1: of slack and rounding
} narrowing;

// n . (the corners' places) at one end
static inline rbt_four along(const rbt_place *places, const int32_t node[4], rbt_four n, int end) {
    rbt_four a = places[node[0]].end[end] * n, b = places[node[1]].end[end] * n;
    rbt_four c = places[node[2]].end[end] * n, d = places[node[3]].end[end] * n;
    rbt_four low_ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), low_cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    rbt_four high_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7), high_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    rbt_four x = __builtin_shufflevector(low_ab, low_cd, 0, 1, 4, 5);
    rbt_four y = __builtin_shufflevector(low_ab, low_cd, 2, 3, 6, 7);
    rbt_four z = __builtin_shufflevector(high_ab, high_cd, 0, 1, 4, 5);
    return (x + y) + z;
}

static inline float lesser(float a, float b) { return a < b ? a : b; }
static inline float greater(float a, float b) { return a > b ? a : b; }

// How far B is above A, of the corners' numbers
static inline float gap_of(rbt_four g, bool edges) {
    float b = lesser(g[2], g[3]);
    return edges ? b - greater(g[0], g[1]) : lesser(b, g[1]) - g[0];
}

static inline bool is_apart(const narrowing *s, const rbt_listed *l, bool edges) {
    const rbt_place *places = s->candidates->places;
    rbt_four n = {l->axis[0], l->axis[1], l->axis[2], 0};
    float sum = fabsf(n[0]) + fabsf(n[1]) + fabsf(n[2]);
    float gap = lesser(gap_of(along(places, l->node, n, 0), edges), gap_of(along(places, l->node, n, 1), edges));
    return gap > l->reach * LENGTH + s->around * sum;
}

// From the nearest points of A to those of B, at positions x
static void renew(rbt_listed *l, rbt_touch_kind kind, const double *x) {
    double corners[12];
    rbt_gap gap;
    for (int i = 0; i < rbt_pair_corners(kind); i++)
        memcpy(corners + 3 * i, x + 3 * (size_t)l->node[i], 3 * sizeof *x);
    rbt_gap_measure(kind, corners, &gap);
    for (int k = 0; k < 3; k++) l->axis[k] = (float)gap.normal[k];
}

// Whether a pair may come within reach; its direction is renewed where the one it has does not do, or if it has none. A
// plane separates along its normal or not at all.
static bool may_meet(const narrowing *s, rbt_pair_key key, rbt_listed *l) {
    rbt_touch_kind kind = rbt_pair_key_kind(key);
    bool edges = kind == RBT_TOUCH_EDGES, known = l->axis[0] != 0 || l->axis[1] != 0 || l->axis[2] != 0;
    if (known && is_apart(s, l, edges)) return false;
    if (kind == RBT_TOUCH_WALL) return true;
    renew(l, kind, s->x);
    if (is_apart(s, l, edges)) return false;
    if (s->x == s->y) return true;
    renew(l, kind, s->y);
    return !is_apart(s, l, edges);
}

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
    narrowing s = {c, x, y, 0};
    s.around = (float)(2 * slack + MARGIN * place_nodes(c, x, y)) * LENGTH;
#pragma omp parallel for schedule(static) if (count >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < count; i++) c->kept[i] = may_meet(&s, c->found[i], &c->listed[i]);
    c->count = 0;
    for (size_t i = 0; i < count; i++)
        if (c->kept[i]) c->keys[c->count++] = c->found[i];
    rbt_tube_lay(&c->narrow, x, y, 1, slack);
    c->lists++;
}
