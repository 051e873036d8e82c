// See candidate_hold.h.
#include "contact/broad_phase/candidate_hold.h"

#include "base/threads.h"
#include "math/scalar.h"

#include <string.h>

// ---- Groups

enum { FEW = 32 };  // leaves of an end

typedef struct grouping {
    rbt_candidates *candidates;
    int32_t *seen;  // (node_count) the end that a node was put into last
} grouping;

static void add_node(grouping *g, int32_t end, int32_t node) {
    rbt_candidates *c = g->candidates;
    if (g->seen[node] == end) return;
    g->seen[node] = end;
    c->group_nodes[c->group_node_count++] = node;
}

// The part of the tree below a node; returns its number.
static int32_t group_below(grouping *g, int32_t node) {
    rbt_candidates *c = g->candidates;
    const rbt_box_node *from = &c->tree.nodes[node];
    int32_t number = (int32_t)c->group_count++;
    c->groups[number] = (rbt_leaf_group){.node = node, .count = from->count, .first = (int32_t)c->group_node_count};
    if (from->right && from->count > FEW) {
        group_below(g, node + 1);
        c->groups[number].right = group_below(g, from->right);
    } else {
        for (int32_t i = from->first; i < from->first + from->count; i++) {
            const rbt_leaf *leaf = &c->surface->leaves[c->tree.order[i]];
            for (int k = 0; k < leaf->corners; k++) add_node(g, number, leaf->node[k]);
        }
    }
    c->groups[number].last = (int32_t)c->group_node_count;
    return number;
}

bool rbt_candidates_group(rbt_candidates *c) {
    size_t nodes = c->surface->def.node_count, most = c->tree.node_count;
    grouping g = {c, rbt_array_new(nodes, sizeof *g.seen, "candidates", NULL)};
    free(c->groups), free(c->offsets), free(c->group_nodes);
    c->groups = rbt_array_new(most, sizeof *c->groups, "candidates", NULL);
    c->offsets = rbt_array_new(most, sizeof *c->offsets, "candidates", NULL);
    c->group_nodes = rbt_array_new(3 * c->surface->leaf_count, sizeof *c->group_nodes, "candidates", NULL);
    bool ok = g.seen && c->groups && c->offsets && c->group_nodes;
    c->group_count = c->group_node_count = 0;
    for (size_t n = 0; ok && n < nodes; n++) g.seen[n] = -1;
    if (ok && most) group_below(&g, 0);
    free(g.seen);
    return ok;
}

// ---- Offsets

// Which s brings the motion of a tube near to x. Any will do, so some of the nodes are enough.
static double share_of_motion(const rbt_candidates *c, const rbt_tube *t, const double *x) {
    enum { EVERY = 16 };
    double along = 0, square = 0;
    for (size_t i = 0; i < c->group_node_count; i += EVERY)
        for (size_t j = 3 * (size_t)c->group_nodes[i], end = j + 3; j < end; j++) {
            double by = t->to[j] - t->from[j];
            along += by * (x[j] - t->from[j]);
            square += by * by;
        }
    double s = square > 0 ? along / square : 0;
    return s > 0 ? (s < 1 ? s : 1) : 0;
}

typedef struct holding {
    rbt_candidates *candidates;
    const rbt_tube *tube;
    const double *x;
    double share;
    float within;  // [m] how far e of two sides may differ
    bool narrow;   // groups that are apart are of no interest
    long left;     // pairs of groups that may be looked at
} holding;

static void offset_of(const holding *h, int32_t node, double e[3]) {
    const rbt_tube *t = h->tube;
    for (int k = 0; k < 3; k++) {
        size_t i = 3 * (size_t)node + (size_t)k;
        e[k] = h->x[i] - (t->from[i] + h->share * (t->to[i] - t->from[i]));
    }
}

static rbt_offset_box box_of(const double low[3], const double high[3]) {
    rbt_offset_box box = {{0}, {0}};
    for (int k = 0; k < 3; k++) {
        box.low[k] = rbt_float_below(low[k]);
        box.minus_high[k] = rbt_float_below(-high[k]);
    }
    return box;
}

typedef double four_doubles __attribute__((vector_size(32)));

// x, y and z of a node, and what stands behind them
static inline void load(const double *all, int32_t node, four_doubles *values) {
    memcpy(values, all + 3 * (size_t)node, sizeof *values);
}

// e of a node, rounded to nearest. `last`: nothing stands behind it.
static inline rbt_four rounded_offset(const holding *h, int32_t node, int32_t last) {
    if (node == last) {
        double e[3];
        offset_of(h, node, e);
        return (rbt_four){(float)e[0], (float)e[1], (float)e[2], 0};
    }
    four_doubles from, to, x;
    load(h->tube->from, node, &from);
    load(h->tube->to, node, &to);
    load(h->x, node, &x);
    return __builtin_convertvector(x - (from + h->share * (to - from)), rbt_four);
}

// Rounding to single precision is monotone: the least of rounded numbers is that of the least, and so
// rbt_float_below of it.
static rbt_offset_box end_offsets(const holding *h, const rbt_leaf_group *group, rbt_four *sum) {
    const int32_t *node = h->candidates->group_nodes, last = (int32_t)h->candidates->surface->def.node_count - 1;
    rbt_four low = {INFINITY, INFINITY, INFINITY, INFINITY}, minus_high = low;
    for (int32_t k = group->first; k < group->last; k++) {
        rbt_four e = rounded_offset(h, node[k], last);
        low = rbt_four_smaller(low, e);
        minus_high = rbt_four_smaller(minus_high, -e);
        *sum += e;
    }
    double begin[3] = {(double)low[0], (double)low[1], (double)low[2]};
    double end[3] = {-(double)minus_high[0], -(double)minus_high[1], -(double)minus_high[2]};
    return box_of(begin, end);
}

// Of all groups; false: one is not finite.
static bool offset_all(const holding *h) {
    rbt_candidates *c = h->candidates;
    bool finite = true;
#pragma omp parallel for schedule(static) reduction(&& : finite) if (c->group_node_count >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < c->group_count; i++) {
        if (c->groups[i].right) continue;
        rbt_four sum = {0};
        c->offsets[i] = end_offsets(h, &c->groups[i], &sum);
        finite = finite && isfinite(sum[0] + sum[1] + sum[2]);
    }
    for (size_t i = c->group_count; i-- > 0;) {
        if (!c->groups[i].right) continue;
        const rbt_offset_box *left = &c->offsets[i + 1], *right = &c->offsets[c->groups[i].right];
        c->offsets[i] = (rbt_offset_box){rbt_four_smaller(left->low, right->low),
                                         rbt_four_smaller(left->minus_high, right->minus_high)};
    }
    return finite;
}

// Sums of two numbers in single precision are off by half of this share of them.
static const float ROUNDING = 0x1p-23f;

static float least(rbt_four a) {  // of x, y, z
    float less = a[0] < a[1] ? a[0] : a[1];
    return less < a[2] ? less : a[2];
}

// How far e of two groups may differ in a coordinate
static float difference(const rbt_offset_box *a, const rbt_offset_box *b) {
    return -least(rbt_four_smaller(a->low + b->minus_high, b->low + a->minus_high)) * (1 + ROUNDING);
}

// Whether all e are at most this long in each coordinate
static bool keeps_within(const rbt_offset_box *box, float length) {
    return -least(rbt_four_smaller(box->low, box->minus_high)) <= length;
}

// ---- Pairs of groups

// D of candidate_hold.h, 0 if boxes meet
static float boxes_apart(const rbt_moving_box *a, const rbt_moving_box *b) {
    rbt_four above = rbt_four_smaller(a->low[0][0] + b->minus_high[0][0], a->low[1][0] + b->minus_high[1][0]);
    rbt_four below = rbt_four_smaller(a->minus_high[0][0] + b->low[0][0], a->minus_high[1][0] + b->low[1][0]);
    float most = 0;
    for (int k = 0; k < 3; k++) {
        if (above[k] > most) most = above[k];
        if (below[k] > most) most = below[k];
    }
    return most * (1 - ROUNDING);
}

// Whether a difference of e is allowed where boxes are apart by D
static bool allows(const holding *h, float difference, float apart) {
    return difference <= h->within ||
           (apart > 0 && (h->narrow || difference <= (h->within + apart) * (1 - ROUNDING)));
}

static bool groups_hold(holding *h, int32_t a, int32_t b) {
    const rbt_candidates *c = h->candidates;
    const rbt_leaf_group *A = &c->groups[a], *B = &c->groups[b];
    if (h->left-- <= 0) return false;
    float apart = a == b ? 0 : boxes_apart(&c->bounds[A->node], &c->bounds[B->node]);
    if (allows(h, difference(&c->offsets[a], &c->offsets[b]), apart)) return true;
    if (!A->right && !B->right) return false;
    if (a == b)
        return groups_hold(h, a + 1, a + 1) && groups_hold(h, A->right, A->right) && groups_hold(h, a + 1, A->right);
    bool first = A->right && (!B->right || A->count >= B->count);
    return first ? groups_hold(h, a + 1, b) && groups_hold(h, A->right, b)
                 : groups_hold(h, a, b + 1) && groups_hold(h, a, B->right);
}

// ---- Planes

typedef struct plane {
    const rbt_wall *wall;
    rbt_offset_box offset;  // of its point
    double taxicab;         // |n|_1
} plane;

// How far above a plane a group's box stays, as D along its normal over |n|_1; 0 if it may come down to it. Boxes have
// reach and slack of their nodes in them along each axis, and so along n.
static float above_plane(const holding *h, int32_t group, const plane *p) {
    const rbt_candidates *c = h->candidates;
    const rbt_moving_box *box = &c->bounds[c->groups[group].node];
    const double *n = p->wall->normal;
    double least_up = INFINITY, size = 0;
    for (int end = 0; end < 2; end++) {
        const double *point = (end ? c->wide.to : c->wide.from) + 3 * (size_t)p->wall->node;
        double up = 0;
        for (int k = 0; k < 3; k++) {
            double low = (double)box->low[end][0][k], high = -(double)box->minus_high[end][0][k];
            up += rbt_smaller(n[k] * low, n[k] * high) - n[k] * point[k];
            size = rbt_larger(size, rbt_larger(fabs(low), fabs(high)) + fabs(point[k]));
        }
        least_up = rbt_smaller(least_up, up);
    }
    double apart = least_up - c->reach[p->wall->node] - p->taxicab * c->wide.slack - 1e-14 * size;
    return apart > 0 ? rbt_float_below(apart / p->taxicab) : 0;
}

static bool plane_holds(holding *h, int32_t group, const plane *p) {
    const rbt_leaf_group *at = &h->candidates->groups[group];
    if (h->left-- <= 0) return false;
    if (allows(h, difference(&h->candidates->offsets[group], &p->offset), above_plane(h, group, p))) return true;
    return at->right && plane_holds(h, group + 1, p) && plane_holds(h, at->right, p);
}

static bool planes_hold(holding *h) {
    const rbt_contact_surface_def *def = &h->candidates->surface->def;
    for (size_t w = 0; w < def->wall_count; w++) {
        plane p = {.wall = &def->walls[w]};
        double e[3];
        offset_of(h, p.wall->node, e);
        if (!isfinite(e[0] + e[1] + e[2])) return false;
        p.offset = box_of(e, e);
        for (int k = 0; k < 3; k++) p.taxicab += fabs(p.wall->normal[k]);
        if (!plane_holds(h, 0, &p)) return false;
    }
    return true;
}

// ---- Lists

static bool planes_keep_within(const holding *h, double length) {
    const rbt_contact_surface_def *def = &h->candidates->surface->def;
    for (size_t w = 0; w < def->wall_count; w++) {
        double e[3];
        offset_of(h, def->walls[w].node, e);
        for (int k = 0; k < 3; k++)
            if (!(fabs(e[k]) <= length)) return false;
    }
    return true;
}

// e of all groups at x; false: no list of this tube holds there.
static bool lay_offsets(rbt_candidates *c, const rbt_tube *t, const double *x, holding *h) {
    *h = (holding){.candidates = c, .tube = t, .x = x, .narrow = t == &c->narrow};
    if (!t->holds) return false;
    if (!c->group_count) return true;
    h->share = share_of_motion(c, t, x);
    return offset_all(h);
}

// With `room` to spare
static rbt_holding holds_with(holding *h, double room) {
    const rbt_candidates *c = h->candidates;
    double length = h->tube->slack - room;
    if (!(length >= 0)) return RBT_HOLDS_NOT;
    if (!c->group_count) return RBT_HOLDS_ALL;
    if (keeps_within(&c->offsets[0], rbt_float_below(length)) && planes_keep_within(h, length)) return RBT_HOLDS_ALL;
    h->within = rbt_float_below(2 * length);
    h->left = 256 + 16 * (long)c->group_count;
    return groups_hold(h, 0, 0) && planes_hold(h) ? RBT_HOLDS_GROUPS : RBT_HOLDS_NOT;
}

rbt_room rbt_wide_holds(rbt_candidates *c, const double *x, double room) {
    holding h;
    if (!lay_offsets(c, &c->wide, x, &h)) return RBT_NO_ROOM;
    if (holds_with(&h, room) != RBT_HOLDS_NOT) return RBT_ENOUGH_ROOM;
    return room > 0 && holds_with(&h, 0) != RBT_HOLDS_NOT ? RBT_LITTLE_ROOM : RBT_NO_ROOM;
}

rbt_holding rbt_narrow_holds(rbt_candidates *c, const double *x) {
    holding h;
    return lay_offsets(c, &c->narrow, x, &h) ? holds_with(&h, 0) : RBT_HOLDS_NOT;
}
