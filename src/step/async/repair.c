// Trajectory bounds that nodes break within a window, repaired one by one: the node gets a new line from its position
// with its velocity, the tree tells which leaves it may now meet, and the pairs that are new join the others.
// Certificates rest on cones alone, so that those of all other pairs stay as they are. See contact.h.
#include "step/async/bounds.h"
#include "step/async/window.h"

#include "math/scalar.h"
#include "math/vec3.h"

#include <string.h>

// ---- Pairs of repairs

static int compare_names(const void *a, const void *b, void *pairs) {
    rbt_pair_key x = ((const rbt_pair *)pairs)[*(const int32_t *)a].key;
    rbt_pair_key y = ((const rbt_pair *)pairs)[*(const int32_t *)b].key;
    return (x > y) - (x < y);
}

rbt_pair_walk rbt_pair_walk_all(rbt_contact *c) {
    size_t count = c->pairs.count - c->pairs.first_count;
    if (count && !c->pairs.later_sorted)
        qsort_r(c->pairs.later, count, sizeof *c->pairs.later, compare_names, c->pairs.items);
    c->pairs.later_sorted = true;
    return (rbt_pair_walk){0};
}

const rbt_pair *rbt_pair_next(const rbt_contact *c, rbt_pair_walk *walk) {
    size_t later_count = c->pairs.count - c->pairs.first_count;
    const rbt_pair *first = walk->first < c->pairs.first_count ? &c->pairs.items[walk->first] : NULL;
    const rbt_pair *later = walk->later < later_count ? &c->pairs.items[c->pairs.later[walk->later]] : NULL;
    if (first && (!later || first->key < later->key)) {
        walk->first++;
        return first;
    }
    walk->later += later != NULL;
    return later;
}

// The pairs that a node had when the window began are in the order of their names.
static bool is_known(const rbt_contact *c, rbt_pair_key key, size_t n) {
    size_t low = c->pairs.node_start[n], high = c->pairs.node_start[n + 1];
    while (low < high) {
        size_t middle = (low + high) / 2;
        rbt_pair_key at = c->pairs.items[c->pairs.of_nodes[middle]].key;
        if (at == key) return true;
        if (at < key) low = middle + 1;
        else high = middle;
    }
    for (int32_t k = c->pairs.later_first[n]; k >= 0; k = rbt_later_next(c, k, n))
        if (c->pairs.items[k].key == key) return true;
    return false;
}

static bool reserve_pair(rbt_contact *c) {
    size_t later = c->pairs.count - c->pairs.first_count;
    return rbt_array_reserve((void **)&c->pairs.items, &c->pairs.capacity, c->pairs.count + 1, sizeof *c->pairs.items,
                             "pairs", NULL) &&
           rbt_array_reserve((void **)&c->pairs.stamps, &c->pairs.stamp_capacity, c->pairs.count + 1,
                             sizeof *c->pairs.stamps, "pairs", NULL) &&
           rbt_array_reserve((void **)&c->pairs.later, &c->pairs.later_capacity, later + 1, sizeof *c->pairs.later,
                             "pairs", NULL) &&
           rbt_array_reserve((void **)&c->pairs.later_next, &c->pairs.later_next_capacity, later + 1,
                             4 * sizeof *c->pairs.later_next, "pairs", NULL);
}

static void add_pair(rbt_contact *c, rbt_pair_key key, double eta, int64_t t) {
    if (!reserve_pair(c)) {
        c->out_of_memory = true;
        return;
    }
    size_t later = c->pairs.count - c->pairs.first_count;
    int32_t number = (int32_t)c->pairs.count++;
    rbt_pair *pair = &c->pairs.items[number];
    rbt_pair_make(c, pair, key, eta);
    c->pairs.later[later] = number;
    c->pairs.later_sorted = false;
    c->window.repair_work += 3;
    for (int k = 0; k < rbt_pair_corners(rbt_pair_key_kind(key)); k++) {
        c->pairs.later_next[4 * later + (size_t)k] = c->pairs.later_first[pair->node[k]];
        c->pairs.later_first[pair->node[k]] = number;
    }
    rbt_gap gap;
    double support;
    rbt_pair_measure(c, pair, t, &gap, &support);
    rbt_pair_place(c, number, t, gap.normal, support);
}

// ---- Where a node may be now

// Its line from now on, written as since the begin of the window
static void bound_trajectory(rbt_contact *c, size_t n, int64_t t) {
    rbt_line *line = &c->trajectories.lines[n];
    const double *v = c->tracks->v + 3 * n;
    double since = (double)(t - c->window.begin) * c->tracks->tick,
           ahead = (double)(c->window.end - t) * c->tracks->tick, x[3];
    rbt_track_at(c->tracks, n, t, x);
    line->reach *= 2;
    line->far = 0;
    for (int k = 0; k < 3; k++) {
        line->start[k] = x[k] - since * v[k];
        line->path[k] = v[k];
        line->last[k] = x[k] + ahead * v[k];
        double far_out = rbt_larger(fabs(line->start[k]), fabs(line->last[k])) + line->reach;
        c->trajectories.scale = rbt_larger(c->trajectories.scale, far_out);
    }
}

// From now to the end of the window
static void fit_leaf(rbt_contact *c, size_t l, double since) {
    const rbt_leaf *leaf = &c->surface.leaves[l];
    rbt_dop *dop = &c->search.tree.nodes[c->search.tree.leaf_node[l]].dop;
    rbt_dop_empty(dop);
    for (int k = 0; k < leaf->corners; k++) {
        const rbt_line *line = &c->trajectories.lines[leaf->node[k]];
        double margin = line->reach + 0.501 * c->law.thickness + c->surface.def.radius[leaf->node[k]], now[3];
        for (int i = 0; i < 3; i++) now[i] = line->start[i] + since * line->path[i];
        rbt_dop_add_ball(dop, now, margin);
        rbt_dop_add_ball(dop, line->last, margin);
    }
    rbt_tree_widen(&c->search.tree, l);
}

static void move_node(rbt_contact *c, size_t n, int64_t t) {
    const rbt_contact_surface *s = &c->surface;
    double since = (double)(t - c->window.begin) * c->tracks->tick;
    bound_trajectory(c, n, t);
    rbt_span_of_node(c, n);
    for (size_t k = c->leaf_start[n]; k < c->leaf_start[n + 1]; k++) {
        size_t l = (size_t)c->node_leaves[k];
        const rbt_leaf *leaf = &s->leaves[l];
        for (int e = 0; e < (leaf->corners == 3 ? 3 : leaf->corners - 1); e++)
            rbt_span_of_edge(c, (size_t)leaf->edge[e]);
        rbt_span_of_leaf(c, l);
        fit_leaf(c, l, since);
    }
}

// ---- What it may touch now

static void find_pair(rbt_contact *c, size_t n, rbt_pair_key key, int64_t t) {
    double gap = INFINITY, eta = rbt_pair_may_touch(c, key, &gap);
    if (eta > 0 && !is_known(c, key, n)) add_pair(c, key, eta, t);
}

static const rbt_dop *dop_of(const rbt_contact *c, int32_t leaf) {
    return &c->search.tree.nodes[c->search.tree.leaf_node[leaf]].dop;
}

// All its leaves together ask the tree once.
static void meet(rbt_contact *c, size_t n) {
    rbt_dop dop;
    rbt_dop_empty(&dop);
    for (size_t k = c->leaf_start[n]; k < c->leaf_start[n + 1]; k++) rbt_dop_add(&dop, dop_of(c, c->node_leaves[k]));
    if (!rbt_tree_meet(&c->search.tree, &dop, NULL)) c->out_of_memory = true;
}

static void find_pairs(rbt_contact *c, size_t n, int64_t t) {
    const rbt_contact_surface *s = &c->surface;
    meet(c, n);
    for (size_t k = c->leaf_start[n]; k < c->leaf_start[n + 1]; k++) {
        int32_t l = c->node_leaves[k];
        const rbt_leaf *leaf = &s->leaves[l];
        c->window.repair_work += 5;
        for (size_t i = 0; i < c->search.tree.met_count; i++) {
            int32_t other = c->search.tree.met[i];
            if (other == l || !rbt_dop_overlap(dop_of(c, l), dop_of(c, other))) continue;
            rbt_pair_key keys[15];
            int count = rbt_leaf_names_of(s, l, other, (int32_t)n, keys);
            c->window.repair_work += 2;
            for (int j = 0; j < count; j++) find_pair(c, n, keys[j], t);
        }
        if (rbt_leaf_ends_may_touch(s, (size_t)l)) find_pair(c, n, rbt_leaf_ends(leaf), t);
    }
    rbt_candidate bound;
    for (size_t at = 0; rbt_bounds_of_node(c, n, &at, &bound);)
        if (!is_known(c, bound.key, n)) add_pair(c, bound.key, bound.eta, t);
}

static bool bears_wall(const rbt_contact *c, int32_t n) {
    for (size_t w = 0; w < c->surface.def.wall_count; w++)
        if (c->surface.def.walls[w].node == n) return true;
    return false;
}

void rbt_contact_repair(rbt_contact *c, int64_t t) {
    for (size_t i = 0; i < c->moment.line_violator_count; i++) {
        c->moment.violates_line[c->moment.line_violators[i]] = 0;
        if (bears_wall(c, c->moment.line_violators[i])) c->window.cut = true;
    }
    if (c->window.repair_work > c->window.search_work) c->window.cut = true;
    if (c->window.cut) c->window.end = t;
    else {
        for (size_t i = 0; i < c->moment.line_violator_count; i++)
            move_node(c, (size_t)c->moment.line_violators[i], t);
        for (size_t i = 0; i < c->moment.line_violator_count; i++)
            find_pairs(c, (size_t)c->moment.line_violators[i], t);
        c->counts.repairs += (int64_t)c->moment.line_violator_count;
    }
    c->moment.line_violator_count = 0;
}
