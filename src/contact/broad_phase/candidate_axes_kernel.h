// Which pairs of the wide list no direction separates: the kernel `narrow` of candidate_kernels.h. What is computed,
// and what is rounded, stands in candidate_axes.c.
#ifndef RBT_CONTACT_BROAD_PHASE_CANDIDATE_AXES_KERNEL_H
#define RBT_CONTACT_BROAD_PHASE_CANDIDATE_AXES_KERNEL_H

#include "contact/broad_phase/candidate_kernels.h"
#include "math/shuffle.h"

#include <string.h>

#if defined(__AVX__)

typedef float eight __attribute__((vector_size(32)));

static inline void place_of(const rbt_place *place, eight *both) { memcpy(both, place->end, sizeof *both); }

// The lesser of both ends of how far B is above A along n, in the order of sums and products that `along` has below
static inline float gap_along(const rbt_place *places, const int32_t node[4], rbt_four axis, bool edges) {
    eight a, b, c, d, n = RBT_TWICE(eight, axis);
    place_of(&places[node[0]], &a), place_of(&places[node[1]], &b);
    place_of(&places[node[2]], &c), place_of(&places[node[3]], &d);
    a *= n, b *= n, c *= n, d *= n;
    eight low_ab = RBT_SHUFFLE(rbt_order_8_floats, a, b, 0, 8, 1, 9, 4, 12, 5, 13);
    eight low_cd = RBT_SHUFFLE(rbt_order_8_floats, c, d, 0, 8, 1, 9, 4, 12, 5, 13);
    eight high_ab = RBT_SHUFFLE(rbt_order_8_floats, a, b, 2, 10, 3, 11, 6, 14, 7, 15);
    eight high_cd = RBT_SHUFFLE(rbt_order_8_floats, c, d, 2, 10, 3, 11, 6, 14, 7, 15);
    eight x = RBT_SHUFFLE(rbt_order_8_floats, low_ab, low_cd, 0, 1, 8, 9, 4, 5, 12, 13);
    eight y = RBT_SHUFFLE(rbt_order_8_floats, low_ab, low_cd, 2, 3, 10, 11, 6, 7, 14, 15);
    eight z = RBT_SHUFFLE(rbt_order_8_floats, high_ab, high_cd, 0, 1, 8, 9, 4, 5, 12, 13);
    eight g = (x + y) + z;                                                    // 0 1 2 3, of both ends
    eight h = RBT_SHUFFLE(rbt_order_8_floats, g, g, 1, 0, 3, 2, 5, 4, 7, 6);  // 1 0 3 2
    eight least = __builtin_ia32_minps256(g, h);                              // . . 2|3 .
    eight b_low = RBT_SHUFFLE(rbt_order_8_floats, least, least, 2, 2, 2, 2, 6, 6, 6, 6);
    eight gap = edges ? b_low - __builtin_ia32_maxps256(g, h) : __builtin_ia32_minps256(b_low, h) - g;
    return gap[0] < gap[4] ? gap[0] : gap[4];
}

#else

// n . (the corners' places) at one end
static inline rbt_four along(const rbt_place *places, const int32_t node[4], rbt_four n, int end) {
    rbt_four a = places[node[0]].end[end] * n, b = places[node[1]].end[end] * n;
    rbt_four c = places[node[2]].end[end] * n, d = places[node[3]].end[end] * n;
    rbt_four low_ab = RBT_SHUFFLE(rbt_order_4_floats, a, b, 0, 4, 1, 5),
             low_cd = RBT_SHUFFLE(rbt_order_4_floats, c, d, 0, 4, 1, 5);
    rbt_four high_ab = RBT_SHUFFLE(rbt_order_4_floats, a, b, 2, 6, 3, 7),
             high_cd = RBT_SHUFFLE(rbt_order_4_floats, c, d, 2, 6, 3, 7);
    rbt_four x = RBT_SHUFFLE(rbt_order_4_floats, low_ab, low_cd, 0, 1, 4, 5);
    rbt_four y = RBT_SHUFFLE(rbt_order_4_floats, low_ab, low_cd, 2, 3, 6, 7);
    rbt_four z = RBT_SHUFFLE(rbt_order_4_floats, high_ab, high_cd, 0, 1, 4, 5);
    return (x + y) + z;
}

static inline float lesser(float a, float b) { return a < b ? a : b; }
static inline float greater(float a, float b) { return a > b ? a : b; }

// How far B is above A, of the corners' numbers
static inline float gap_of(rbt_four g, bool edges) {
    float b = lesser(g[2], g[3]);
    return edges ? b - greater(g[0], g[1]) : lesser(b, g[1]) - g[0];
}

static inline float gap_along(const rbt_place *places, const int32_t node[4], rbt_four n, bool edges) {
    return lesser(gap_of(along(places, node, n, 0), edges), gap_of(along(places, node, n, 1), edges));
}

#endif

static inline bool is_apart(const rbt_narrowing *s, const rbt_listed *l, bool edges) {
    rbt_four n = {l->axis[0], l->axis[1], l->axis[2], 0};
    float sum = fabsf(n[0]) + fabsf(n[1]) + fabsf(n[2]);
    return gap_along(s->candidates->places, l->node, n, edges) > l->reach * RBT_AXIS_LENGTH + s->around * sum;
}

// From the nearest points of A to those of B, at positions x; returns how far they are apart.
static double renew(rbt_listed *l, rbt_touch_kind kind, const double *x) {
    double corners[12];
    rbt_gap gap;
    for (int i = 0; i < rbt_pair_corners(kind); i++)
        memcpy(corners + 3 * i, x + 3 * (size_t)l->node[i], 3 * sizeof *x);
    rbt_gap_measure(kind, corners, &gap);
    for (int k = 0; k < 3; k++) l->axis[k] = (float)gap.normal[k];
    return gap.distance;
}

// Whether a pair may come within reach; its direction is renewed where the one it has does not do, or if it has none. A
// plane separates along its normal or not at all. No direction shows more than the distance, and |n| <= |n|_1.
static bool may_meet(const rbt_narrowing *s, rbt_pair_key key, rbt_listed *l) {
    rbt_touch_kind kind = rbt_pair_key_kind(key);
    bool edges = kind == RBT_TOUCH_EDGES, known = l->axis[0] != 0 || l->axis[1] != 0 || l->axis[2] != 0;
    if (known && is_apart(s, l, edges)) return false;
    if (kind == RBT_TOUCH_WALL || renew(l, kind, s->x) <= (double)l->reach + (double)s->around) return true;
    if (is_apart(s, l, edges)) return false;
    if (s->x == s->y) return true;
    renew(l, kind, s->y);
    return !is_apart(s, l, edges);
}

static void narrow(const rbt_narrowing *s, size_t begin, size_t end) {
    const rbt_candidates *c = s->candidates;
    for (size_t i = begin; i < end; i++) c->kept[i] = may_meet(s, c->found[i], &c->listed[i]);
}

#endif
