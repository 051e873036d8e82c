// Windows: which pairs can touch until when, and the trajectory bounds that this rests on. See contact.h.
#include "step/async/window.h"

#include "base/threads.h"
#include "math/scalar.h"
#include "math/vec3.h"
#include "step/async/bounds.h"

#include <string.h>

enum {
    REBUILD_AFTER = 1024,  // windows; the tree and its separation list are then made again
    RENEW_SHARE = 1,       // of the looks that a new list takes
    REST_FRACTION = 2      // pairs of one body keep a thickness of their distance at rest over this
};
static const double SHORTEST = 1.0 / 1024, LONGEST = 64;  // windows, in steps
static const double CLOSE = 0.5;  // gaps, in thicknesses, of parts of leaves that are looked at in every search

// ---- Thickness

// The least distance at rest of a node of one side and a node of the other, which bounds that of the sides
static double nodes_apart(const double *X, const int32_t *node, int first, int corners) {
    double least = INFINITY;
    for (int i = 0; i < first; i++)
        for (int j = first; j < corners; j++) {
            double across[3];
            rbt_subtract(X + 3 * (size_t)node[i], X + 3 * (size_t)node[j], across);
            least = rbt_smaller(least, rbt_dot(across, across));
        }
    return sqrt(least);
}

double rbt_pair_thickness(const rbt_contact *c, rbt_pair_key key, const int32_t node[4]) {
    rbt_touch_kind kind = rbt_pair_key_kind(key);
    const rbt_contact_surface_def *def = &c->surface.def;
    int first = rbt_pair_first(kind), corners = rbt_pair_corners(kind);
    if (kind == RBT_TOUCH_POINT && def->radius[node[0]] > 0) return c->law.thickness;
    if (kind == RBT_TOUCH_WALL || def->body[node[0]] != def->body[node[corners - 1]]) return c->law.thickness;
    double x[12];
    rbt_gap gap;
    for (int i = 0; i < corners; i++) memcpy(x + 3 * i, def->X + 3 * (size_t)node[i], 3 * sizeof *x);
    rbt_gap_measure(kind, x, &gap);
    double apart = gap.distance > 0 ? gap.distance : nodes_apart(def->X, node, first, corners);
    double kept = c->law.rubbing && kind < RBT_TOUCH_STRETCH ? rbt_pair_inside(&c->surface, key, node) : 0;
    if (apart > kept) apart -= kept;
    return apart > 0 ? rbt_smaller(apart / REST_FRACTION, c->law.thickness) : c->law.thickness;
}

// ---- A new window

void rbt_span_of_node(const rbt_contact *c, size_t n) {
    double start[3], last[3];
    rbt_subtract(c->trajectories.lines[n].start, c->trajectories.origin, start);
    rbt_subtract(c->trajectories.lines[n].last, c->trajectories.origin, last);
    rbt_span_of_ball(start, last, c->trajectories.lines[n].reach, 0x1p-21 * c->trajectories.scale,
                     &c->trajectories.spans[n]);
}

static void span_of_nodes(const rbt_contact *c, const int32_t *node, int count, rbt_span *span) {
    *span = c->trajectories.spans[node[0]];
    for (int k = 1; k < count; k++) rbt_span_add(span, &c->trajectories.spans[node[k]]);
}

void rbt_span_of_edge(const rbt_contact *c, size_t e) {
    span_of_nodes(c, c->surface.edges + 2 * e, 2, c->trajectories.spans + c->surface.def.node_count + e);
}

void rbt_span_of_leaf(const rbt_contact *c, size_t l) {
    const rbt_leaf *leaf = &c->surface.leaves[l];
    span_of_nodes(c, leaf->node, leaf->corners,
                  c->trajectories.spans + c->surface.def.node_count + c->surface.edge_count + l);
}

// Spans of nodes, then those of edges and leaves from the spans of their nodes. A team of one thread costs more than
// a few of them.
static void fit_spans(rbt_contact *c) {
    const rbt_contact_surface *s = &c->surface;
    size_t nodes = s->def.node_count;
    if (nodes < RBT_PARALLEL_FROM) {
        for (size_t n = 0; n < nodes; n++) rbt_span_of_node(c, n);
        for (size_t e = 0; e < s->edge_count; e++) rbt_span_of_edge(c, e);
        for (size_t l = 0; l < s->leaf_count; l++) rbt_span_of_leaf(c, l);
        return;
    }
#pragma omp parallel for schedule(static)
    for (size_t n = 0; n < nodes; n++) rbt_span_of_node(c, n);
#pragma omp parallel for schedule(static)
    for (size_t e = 0; e < s->edge_count; e++) rbt_span_of_edge(c, e);
#pragma omp parallel for schedule(static)
    for (size_t l = 0; l < s->leaf_count; l++) rbt_span_of_leaf(c, l);
}

// A node that trembles continues with its mean velocity rather than with the one that it happens to have: its line
// follows the mean once that has told better in two windows. Returns how far it would have been from a line that it
// has just turned to; 0: it keeps its predictor.
static double choose_path(rbt_contact *c, size_t n) {
    rbt_line *line = &c->trajectories.lines[n];
    rbt_velocity_predictor *predictor = &c->trajectories.predictors[n];
    const double *v = c->tracks->v + 3 * n;
    double wrong = 0;
    memcpy(line->path, v, sizeof line->path);
    if (c->window.span > 0) {
        double mean[3], by_v = 0, by_mean = 0;
        for (int k = 0; k < 3; k++) {
            mean[k] = (line->start[k] - predictor->place[k]) / c->window.span;
            by_v += (mean[k] - predictor->v[k]) * (mean[k] - predictor->v[k]);
            by_mean += (mean[k] - predictor->mean[k]) * (mean[k] - predictor->mean[k]);
        }
        predictor->trust = 0.5f * predictor->trust + (by_mean < by_v ? 0.5f : -0.5f);
        bool before = predictor->by_mean;
        predictor->by_mean = predictor->trust > 0.5f;
        if (predictor->by_mean != before) wrong = c->window.span * sqrt(predictor->by_mean ? by_mean : by_v);
        if (predictor->by_mean) memcpy(line->path, mean, sizeof mean);
        memcpy(predictor->mean, mean, sizeof mean);
    }
    memcpy(predictor->place, line->start, sizeof predictor->place);
    memcpy(predictor->v, v, sizeof predictor->v);
    return wrong;
}

// Until it is looked at for the first time a node continues with the velocity that it has: its line must not be further
// from there than the node may be, else it follows that velocity.
static void keep_to_path(rbt_contact *c, size_t n, double left) {
    rbt_line *line = &c->trajectories.lines[n];
    const double *v = c->tracks->v + 3 * n;
    double off[3];
    rbt_subtract(v, line->path, off);
    if (left * rbt_length(off) > 0.5 * line->reach) memcpy(line->path, v, sizeof line->path);
}

static void bound_trajectories(rbt_contact *c, int64_t t) {
    const rbt_tracks *s = c->tracks;
    double length = (double)(c->window.end - t) * s->tick, left = rbt_contact_left(c, t);
    c->trajectories.scale = c->law.thickness;
    for (size_t n = 0; n < s->count; n++) {
        rbt_cone *cone = &c->certificates.cones[n];
        rbt_line *line = &c->trajectories.lines[n];
        // Cones of nodes that stay well inside get narrower; wider ones are a matter of leaving them (contact.c).
        double inside = rbt_larger(1.5 * sqrt(line->most), 0.7 * cone->eps);
        if (!c->law.exact) cone->eps = rbt_larger(rbt_smaller(inside, cone->eps), 1e-3 * c->law.thickness / length);
        double far = sqrt(line->far);
        line->most = line->far = 0;
        line->born = t;
        rbt_track_at(s, n, t, line->start);
        memcpy(cone->v, s->v + 3 * n, sizeof cone->v);
        far = rbt_larger(far, choose_path(c, n));
        // What it was in the last window, scaled to this one's length; a node that was kicked once may be kicked again
        double share = c->window.span > 0 ? length / c->window.span : 1;
        line->reach =
            rbt_larger(1.5 * far * rbt_larger(share, share * share), 0.5 * line->reach) + 0.05 * c->law.thickness;
        if (!c->law.exact) line->reach = rbt_smaller(line->reach, 2 * cone->eps * length + 0.05 * c->law.thickness);
        keep_to_path(c, n, left);
        c->trajectories.min_reach = n ? rbt_smaller(c->trajectories.min_reach, line->reach) : line->reach;
        for (size_t k = 0; k < 3; k++) {
            line->last[k] = line->start[k] + length * line->path[k];
            double far_out = rbt_larger(fabs(line->start[k]), fabs(line->last[k])) + line->reach;
            c->trajectories.scale = rbt_larger(c->trajectories.scale, far_out);
        }
    }
    if (s->count) memcpy(c->trajectories.origin, c->trajectories.lines[0].start, sizeof c->trajectories.origin);
    fit_spans(c);
}

// A ball around how far the corners of a leaf have come since the last renewal, at the start or at the end of the
// window
static void fit_ball(const rbt_contact *c, const rbt_leaf *leaf, bool end, rbt_ball *ball) {
    double way[3][3], centre[3] = {0}, square = 0;
    for (int i = 0; i < leaf->corners; i++) {
        size_t n = (size_t)leaf->node[i];
        rbt_subtract(end ? c->trajectories.lines[n].last : c->trajectories.lines[n].start, c->search.renewed + 3 * n,
                     way[i]);
        rbt_add_scaled(centre, 1.0 / leaf->corners, way[i]);
    }
    for (int k = 0; k < 3; k++) centre[k] = ball->centre[k] = (float)centre[k];
    for (int i = 0; i < leaf->corners; i++) {
        rbt_subtract(way[i], centre, way[i]);
        square = rbt_larger(square, rbt_dot(way[i], way[i]));
    }
    ball->radius = (float)(sqrt(square) + 1e-13 * c->trajectories.scale) * (1 + 0x1p-18f);
}

static void fit_leaf(rbt_contact *c, size_t l) {
    const rbt_leaf *leaf = &c->surface.leaves[l];
    rbt_dop *dop = &c->search.tree.nodes[c->search.tree.leaf_node[l]].dop;
    rbt_drift *drift = &c->search.tree.drifts[c->search.tree.leaf_node[l]];
    double reach = 0;
    rbt_dop_empty(dop);
    for (int k = 0; k < leaf->corners; k++) {
        const rbt_line *line = &c->trajectories.lines[leaf->node[k]];
        reach = rbt_larger(reach, line->reach);
        double margin = line->reach + 0.501 * c->law.thickness + c->surface.def.radius[leaf->node[k]];
        rbt_dop_add_ball(dop, line->start, margin);
        rbt_dop_add_ball(dop, line->last, margin);
    }
    drift->reach = (float)reach * (1 + 0x1p-18f);
    fit_ball(c, leaf, false, &drift->first);
    fit_ball(c, leaf, true, &drift->last);
}

static void fit_drifts(rbt_contact *c) {
    for (size_t l = 0; l < c->surface.leaf_count; l++) {
        rbt_drift *drift = &c->search.tree.drifts[c->search.tree.leaf_node[l]];
        fit_ball(c, &c->surface.leaves[l], false, &drift->first);
        fit_ball(c, &c->surface.leaves[l], true, &drift->last);
    }
    rbt_tree_refit_drifts(&c->search.tree);
}

static void build_tree(rbt_contact *c) {
    const rbt_contact_surface *s = &c->surface;
    for (size_t l = 0; l < s->leaf_count; l++) {
        double *centre = c->search.centres + 3 * l;
        memset(centre, 0, 3 * sizeof *centre);
        for (int k = 0; k < s->leaves[l].corners; k++)
            rbt_add_scaled(centre, 1.0 / s->leaves[l].corners, c->trajectories.lines[s->leaves[l].node[k]].start);
    }
    rbt_tree_build(&c->search.tree, c->search.centres);
}

static void fit_leaves(rbt_contact *c) {
    size_t count = c->surface.leaf_count;
    if (count < 4 * RBT_PARALLEL_FROM) {
        for (size_t l = 0; l < count; l++) fit_leaf(c, l);
    } else {
#pragma omp parallel for schedule(static)
        for (size_t l = 0; l < count; l++) fit_leaf(c, l);
    }
    rbt_tree_refit(&c->search.tree);
}

static void renew(rbt_contact *c) {
    for (size_t n = 0; n < c->tracks->count; n++)
        memcpy(c->search.renewed + 3 * n, c->trajectories.lines[n].start, 3 * sizeof(double));
    c->search.vain = 0;
}

// Drifts are counted again once they cost so many looks at pairs of leaves that were apart after all; the tree is
// built again when its separation list has become long.
static void fit_tree(rbt_contact *c) {
    bool build = !c->search.all_looks || c->search.tree.front_count > 3 * c->search.first_front / 2 ||
                 c->search.since_build >= REBUILD_AFTER;
    if (build) {
        build_tree(c);
        renew(c);
        c->search.since_build = 0;
        c->search.all_looks = c->search.first_front = 0;
    }
    c->search.since_build++;
    if (c->surface.leaf_count < 2) return;  // it meets nothing, wherever it is
    fit_leaves(c);
    if (build || c->search.vain <= c->search.all_looks / RENEW_SHARE) return;
    rbt_tree_renew(&c->search.tree);
    renew(c);
    fit_drifts(c);
}

static float apart_in_window(const rbt_contact *c, rbt_pair_key key) {
    size_t a = key >> 30 & 0x3fffffff, b = key & 0x3fffffff;
    const rbt_span *node = c->trajectories.spans, *edge = node + c->surface.def.node_count,
                   *leaf = edge + c->surface.edge_count;
    switch (rbt_pair_key_kind(key)) {
    case RBT_TOUCH_FACE: return rbt_span_apart(&node[a], &leaf[b]);
    case RBT_TOUCH_EDGES: return rbt_span_apart(&edge[a], &edge[b]);
    case RBT_TOUCH_EDGE: return rbt_span_apart(&node[a], &edge[b]);
    default: return rbt_span_apart(&node[a], &node[b]);
    }
}

// The same along the normal of the pair at the start of the window, which tells more than fixed axes where sides are
// close; and their distance then
static double apart_along_normal(const rbt_contact *c, rbt_touch_kind kind, const int32_t *node, double *distance) {
    int first = rbt_pair_first(kind), corners = rbt_pair_corners(kind);
    double x[12], least = INFINITY;
    rbt_gap gap;
    for (int i = 0; i < corners; i++) memcpy(x + 3 * i, c->trajectories.lines[node[i]].start, 3 * sizeof *x);
    rbt_gap_measure(kind, x, &gap);
    *distance = gap.distance;
    for (int end = 0; end < 2; end++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < corners; i++) {
            const rbt_line *line = &c->trajectories.lines[node[i]];
            double along = rbt_dot(gap.normal, end ? line->last : line->start);
            if (i < first) high = rbt_larger(high, along + line->reach);
            else low = rbt_smaller(low, along - line->reach);
        }
        least = rbt_smaller(least, low - high);
    }
    return least - 1e-13 * c->trajectories.scale;
}

// The thickness of a pair that may come closer than that in this window; 0: it cannot, or there is no such pair. *gap
// becomes at most how much further apart it is at the start. Looking things up costs most, so what can be told
// without comes first, unless the gap is so narrow that it must soon be looked at again.
double rbt_pair_may_touch(const rbt_contact *c, rbt_pair_key key, double *gap) {
    const rbt_contact_surface *s = &c->surface;
    rbt_touch_kind kind = rbt_pair_key_kind(key);
    double apart = (double)apart_in_window(c, key) - 1e-6 * (c->law.thickness + c->max_inside);
    double most = c->law.thickness, wide = 0.5 * most;
    if (apart > wide + most + c->max_inside) {
        *gap = rbt_smaller(*gap, apart + 2 * c->trajectories.min_reach - most - c->max_inside);
        return 0;
    }
    int32_t node[4];
    int first = rbt_pair_first(kind), corners = rbt_pair_corners(kind);
    rbt_pair_nodes(s, key, node);
    double inside = rbt_pair_inside(s, key, node);
    apart -= inside;
    bool own = kind != RBT_TOUCH_POINT && s->def.body[node[0]] == s->def.body[node[corners - 1]];
    if (own) most = rbt_smaller(most, nodes_apart(s->def.X, node, first, corners) / REST_FRACTION);
    if (most == 0) most = c->law.thickness;  // two nodes at one place at rest
    double distance = apart + 2 * c->trajectories.min_reach;
    if (apart <= most) {
        if (!rbt_pair_exists(s, key)) return 0;
        apart = rbt_larger(apart, apart_along_normal(c, kind, node, &distance) - inside);
        distance -= inside;
    }
    if (apart <= most) most = rbt_pair_thickness(c, key, node);
    *gap = rbt_smaller(*gap, apart <= most ? -1 : distance - most);
    return apart <= most ? most : 0;
}

static bool add_candidate(rbt_contact *c, size_t *count, rbt_pair_key key, double eta) {
    if (*count == c->search.candidate_capacity &&
        !rbt_array_reserve((void **)&c->search.candidates, &c->search.candidate_capacity, *count + 1,
                           sizeof *c->search.candidates, "pairs that may touch", NULL))
        return false;
    c->search.candidates[(*count)++] = (rbt_candidate){key, eta};
    return true;
}

// Candidates of two leaves, of all their parts or of some; gaps: how much further apart than its thickness each part
// is at the start, negative: it may touch. Returns the number of parts, -1 if there is no memory.
static int look(rbt_contact *c, int32_t a, int32_t b, int32_t some, size_t *count, double gaps[15]) {
    const rbt_contact_surface *s = &c->surface;
    rbt_pair_key keys[15];
    int n = rbt_leaf_names(s, a, b, keys);
    for (int k = 0; k < n; k++) {
        gaps[k] = INFINITY;
        if (some && !(some >> k & 1)) continue;
        double eta = rbt_pair_may_touch(c, keys[k], &gaps[k]);
        if (eta > 0 && !add_candidate(c, count, keys[k], eta)) return -1;
    }
    return n;
}

// How much further apart than their thickness two leaves are at the start at least, by their spans
static double leaf_gap(const rbt_contact *c, int32_t a, int32_t b) {
    const rbt_span *spans = c->trajectories.spans + c->surface.def.node_count + c->surface.edge_count;
    return (double)rbt_span_apart(&spans[a], &spans[b]) + 2 * c->trajectories.min_reach -
           (1 + 1e-6) * (c->law.thickness + c->max_inside);
}

// Looks at pair number i of the search, and tells the tree what was seen: how far apart it is, and that parts which
// are not near need not be looked at for a while.
static bool look_at(rbt_contact *c, size_t i, size_t *count) {
    int32_t a = c->search.tree.pairs[2 * i], b = c->search.tree.pairs[2 * i + 1],
            some = rbt_tree_some(&c->search.tree, i), close = 0;
    double gaps[15], least = some ? 0 : leaf_gap(c, a, b), rest = INFINITY;
    if (least > 0.5 * c->law.thickness + 2 * c->trajectories.min_reach) {
        rbt_tree_tell(&c->search.tree, i, least, 0, 0);
        c->search.vain += c->search.all_looks != 0;
        return true;
    }
    int n = look(c, a, b, some, count, gaps);
    least = INFINITY;
    for (int k = 0; k < n; k++) {
        least = rbt_smaller(least, gaps[k]);
        if (gaps[k] <= CLOSE * c->law.thickness) close |= 1 << k;
        else rest = rbt_smaller(rest, gaps[k]);
    }
    if (some) rbt_tree_tell_some(&c->search.tree, i, least);
    else rbt_tree_tell(&c->search.tree, i, least, rest < INFINITY ? close : 0, rest);
    c->search.vain += c->search.all_looks && least > 0;
    return n >= 0;
}

static bool collect(rbt_contact *c, size_t *count) {
    const rbt_contact_surface *s = &c->surface;
    if (!rbt_tree_collide(&c->search.tree, NULL)) return false;
    for (size_t i = 0; i < c->search.tree.pair_count; i++)
        if (!look_at(c, i, count)) return false;
    c->search.looks = c->search.tree.pair_count;
    if (!c->search.all_looks) {
        c->search.all_looks = c->search.looks + 1;
        c->search.first_front = c->search.tree.front_count;
    }
    for (size_t l = 0; l < s->leaf_count; l++) {
        const rbt_leaf *leaf = &s->leaves[l];
        if (!rbt_leaf_ends_may_touch(s, l)) continue;
        double gap = 0, eta = rbt_pair_may_touch(c, rbt_leaf_ends(leaf), &gap);
        if (eta > 0 && !add_candidate(c, count, rbt_leaf_ends(leaf), eta)) return false;
    }
    rbt_candidate bound;
    for (size_t at = 0; rbt_bounds_next(c, &at, &bound);)
        if (!add_candidate(c, count, bound.key, bound.eta)) return false;
    return true;
}

static int compare_candidates(const void *a, const void *b) {
    rbt_pair_key x = ((const rbt_candidate *)a)->key, y = ((const rbt_candidate *)b)->key;
    return (x > y) - (x < y);
}

// Byte by byte from the lowest; bytes that all keys share are skipped.
static bool sort_candidates(rbt_contact *c, size_t count) {
    if (count < 2) return true;
    if (count < 256) {
        qsort(c->search.candidates, count, sizeof *c->search.candidates, compare_candidates);
        return true;
    }
    if (!rbt_array_reserve((void **)&c->search.sorted, &c->search.sorted_capacity, c->search.candidate_capacity,
                           sizeof *c->search.sorted, "pairs", NULL))
        return false;
    for (int shift = 0; shift < 64; shift += 8) {
        size_t at[257] = {0};
        for (size_t i = 0; i < count; i++) at[(c->search.candidates[i].key >> shift & 255) + 1]++;
        if (at[(c->search.candidates[0].key >> shift & 255) + 1] == count) continue;
        for (int b = 0; b < 256; b++) at[b + 1] += at[b];
        for (size_t i = 0; i < count; i++)
            c->search.sorted[at[c->search.candidates[i].key >> shift & 255]++] = c->search.candidates[i];
        rbt_candidate *swap = c->search.candidates;
        size_t capacity = c->search.candidate_capacity;
        c->search.candidates = c->search.sorted, c->search.candidate_capacity = c->search.sorted_capacity;
        c->search.sorted = swap, c->search.sorted_capacity = capacity;
    }
    return true;
}

// Largest of w^2 / m summed over the corners, for any nearest points
static double inverse_mass_of(const rbt_contact *c, rbt_touch_kind kind, const int32_t *node) {
    const double *light = c->surface.def.inverse_mass;
    double side[2] = {0, 0};
    int first = rbt_pair_first(kind);
    for (int i = 0; i < rbt_pair_corners(kind); i++) side[i >= first] = rbt_larger(side[i >= first], light[node[i]]);
    return side[0] + side[1];
}

static double friction_of(const rbt_contact *c, rbt_touch_kind kind, const int32_t *node) {
    const rbt_contact_law *law = &c->law;
    if (!law->rubbing) return law->friction;
    if (kind >= RBT_TOUCH_STRETCH) return 0;
    return rbt_contact_settings_friction(law->rubbing, law->side[node[0]],
                                         law->side[node[rbt_pair_corners(kind) - 1]]);
}

void rbt_pair_make(const rbt_contact *c, rbt_pair *pair, rbt_pair_key key, double eta) {
    rbt_touch_kind kind = rbt_pair_key_kind(key);
    *pair = (rbt_pair){.key = key, .level = -1};
    rbt_pair_nodes(&c->surface, key, pair->node);
    pair->eta = eta;
    pair->radius = rbt_pair_inside(&c->surface, key, pair->node);
    double inverse_mass = inverse_mass_of(c, kind, pair->node);
    double omega = sqrt(c->law.stiffness * inverse_mass), h = c->law.step;
    pair->watched = inverse_mass == 0;
    int base = 0;
    while (h * omega > c->law.safety && base <= c->law.deepest) h *= 0.5, base++;  // beyond the deepest: it stalls
    pair->base = (signed char)base;
    pair->push = c->law.stiffness * h;
    pair->friction = friction_of(c, kind, pair->node);
}

static bool list_pairs_of_nodes(rbt_contact *c) {
    size_t *start = c->pairs.node_start, total = 0;
    memset(start, 0, (c->tracks->count + 2) * sizeof *start);
    for (size_t i = 0; i < c->pairs.count; i++)
        for (int k = 0; k < rbt_pair_corners(rbt_pair_key_kind(c->pairs.items[i].key)); k++, total++)
            start[c->pairs.items[i].node[k] + 2]++;
    if (!rbt_array_reserve((void **)&c->pairs.of_nodes, &c->pairs.of_nodes_capacity, total, sizeof *c->pairs.of_nodes,
                           "pairs", NULL))
        return false;
    for (size_t n = 0; n < c->tracks->count; n++) start[n + 2] += start[n + 1];
    for (size_t i = 0; i < c->pairs.count; i++)
        for (int k = 0; k < rbt_pair_corners(rbt_pair_key_kind(c->pairs.items[i].key)); k++)
            c->pairs.of_nodes[start[c->pairs.items[i].node[k] + 1]++] = (int32_t)i;
    return true;
}

// Lengths go by half octaves, 2^k and 3 2^k ticks: whole steps from two steps on, where elements tick anyway.
static int64_t next_length(int64_t length, bool longer) {
    bool octave = (length & (length - 1)) == 0;
    if (longer) return octave ? length / 2 * 3 : length / 3 * 4;
    return octave ? length / 4 * 3 : length / 3 * 2;
}

// Windows get longer as long as that makes less work per time, then shorter again, and so on.
static void choose_length(rbt_contact *c, int64_t t) {
    const rbt_contact_counts *done = &c->counts;
    int64_t work = done->certificates + done->impulses + 2 * done->expired + done->confirmed / 3,
            span = t - c->window.begin;
    if (c->counts.windows && span > 0) {
        const int64_t least = (int64_t)(SHORTEST * ((int64_t)1 << RBT_TICK_BITS));
        const int64_t most = (int64_t)LONGEST << RBT_TICK_BITS;
        double rate =
            ((double)(work - c->window.work_before) + c->window.search_work + c->window.repair_work) / (double)span;
        if (c->window.cut) c->window.longer = false;
        else if (rate > c->window.rate) c->window.longer = !c->window.longer;
        c->window.rate = rate;
        int64_t next = next_length(c->window.length, c->window.longer);
        if (next >= least && next <= most) c->window.length = next;
        c->counts.cut_windows += c->window.cut;
    }
    c->window.work_before = work;
}

bool rbt_contact_window(rbt_contact *c, int64_t t) {
    choose_length(c, t);
    c->window.span = c->counts.windows ? (double)(t - c->window.begin) * c->tracks->tick : 0;
    c->window.begin = t;
    c->window.end = t + c->window.length;
    c->window.cut = false;
    c->moment.time = -1;
    rbt_queue_clear(&c->certificates.queue, c->window.begin, c->window.end);
    for (; c->awake.used; c->awake.used &= c->awake.used - 1)
        c->awake.levels[__builtin_ctzll(c->awake.used)].count = 0;
    c->moment.cone_violator_count = c->moment.touch_count = 0;
    c->counts.windows++;
    bound_trajectories(c, t);
    fit_tree(c);
    size_t count = 0;
    c->pairs.count = 0;
    c->window.repair_work = 0;
    memset(c->pairs.later_first, -1, c->tracks->count * sizeof *c->pairs.later_first);
    if (!collect(c, &count) || !sort_candidates(c, count) ||
        !rbt_array_reserve((void **)&c->pairs.items, &c->pairs.capacity, count, sizeof *c->pairs.items, "pairs",
                           NULL) ||
        !rbt_array_reserve((void **)&c->pairs.stamps, &c->pairs.stamp_capacity, count, sizeof *c->pairs.stamps,
                           "pairs", NULL)) {
        c->out_of_memory = true;
        return false;
    }
    c->pairs.count = c->pairs.first_count = count;
    // A search costs about as much as this many certificates.
    c->window.search_work = 2.0 * (double)c->search.looks + 3.0 * (double)c->surface.leaf_count +
                            0.1 * (double)c->search.tree.front_count;
    c->counts.candidates += (int64_t)count;
    for (size_t i = 0; i < count; i++)
        rbt_pair_make(c, &c->pairs.items[i], c->search.candidates[i].key, c->search.candidates[i].eta);
    if (!list_pairs_of_nodes(c)) {
        c->out_of_memory = true;
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        rbt_gap gap;
        double support;
        rbt_pair_measure(c, &c->pairs.items[i], t, &gap, &support);
        rbt_pair_place(c, (int32_t)i, t, gap.normal, support);
    }
    return !c->out_of_memory && !c->stall.found;
}
