// Life of contact, and whether a start is legal. See contact.h.
#include "step/async/bounds.h"
#include "step/async/window.h"

#include "math/scalar.h"
#include "math/vec3.h"

#include <stdio.h>
#include <string.h>

// The leaves of each node
static bool list_leaves(rbt_contact *c, rbt_error *error) {
    const rbt_contact_surface *s = &c->surface;
    size_t nodes = s->def.node_count;
    c->leaf_start = rbt_array_new(nodes + 2, sizeof *c->leaf_start, "a surface", error);
    c->node_leaves = rbt_array_new(3 * s->leaf_count, sizeof *c->node_leaves, "a surface", error);
    if (!c->leaf_start || !c->node_leaves) return false;
    size_t *start = c->leaf_start;
    for (size_t l = 0; l < s->leaf_count; l++)
        for (int k = 0; k < s->leaves[l].corners; k++) start[s->leaves[l].node[k] + 2]++;
    for (size_t n = 0; n < nodes; n++) start[n + 2] += start[n + 1];
    for (size_t l = 0; l < s->leaf_count; l++)
        for (int k = 0; k < s->leaves[l].corners; k++) c->node_leaves[start[s->leaves[l].node[k] + 1]++] = (int32_t)l;
    return true;
}

static bool init_trajectories(rbt_trajectory_bounds *b, const rbt_contact_surface *s, rbt_error *error) {
    size_t n = s->def.node_count;
    return (b->lines = rbt_array_new(n, sizeof *b->lines, "cones", error)) &&
           (b->predictors = rbt_array_new(n, sizeof *b->predictors, "cones", error)) &&
           (b->spans = rbt_array_new(n + s->edge_count + s->leaf_count, sizeof *b->spans, "cones", error));
}

static bool init_search(rbt_pair_search *q, const rbt_contact_surface *s, rbt_error *error) {
    return rbt_tree_init(&q->tree, s->leaf_count, error) &&
           (q->centres = rbt_array_new(s->leaf_count, 3 * sizeof *q->centres, "a surface", error)) &&
           (q->renewed = rbt_array_new(s->def.node_count, 3 * sizeof *q->renewed, "cones", error));
}

static bool init_pairs(rbt_window_pairs *p, size_t n, rbt_error *error) {
    return (p->node_start = rbt_array_new(n + 2, sizeof *p->node_start, "pairs", error)) &&
           (p->later_first = rbt_array_new(n, sizeof *p->later_first, "pairs", error));
}

static bool init_moment(rbt_moment *m, size_t n, rbt_error *error) {
    return (m->dragging = rbt_array_new(n, sizeof *m->dragging, "contacts", error)) &&
           (m->cone_violators = rbt_array_new(n, sizeof *m->cone_violators, "cones", error)) &&
           (m->leaving = rbt_array_new(n, 1, "cones", error)) &&
           (m->line_violators = rbt_array_new(n, sizeof *m->line_violators, "cones", error)) &&
           (m->violates_line = rbt_array_new(n, 1, "cones", error));
}

bool rbt_contact_init(rbt_contact *c, const rbt_contact_law *law, const rbt_contact_surface_def *def,
                      rbt_tracks *tracks, rbt_error *error) {
    *c = (rbt_contact){.law = *law, .tracks = tracks, .window = {.end = -1, .length = (int64_t)4 << RBT_TICK_BITS}};
    size_t n = def->node_count;
    c->rubs = law->rubbing ? rbt_contact_settings_has_friction(law->rubbing) : law->friction > 0;
    bool ok = rbt_layers_init(&c->layers, error) && rbt_contact_surface_init(&c->surface, def, error) &&
              (c->exposed = rbt_array_new(n, 1, "cones", error)) && list_leaves(c, error) &&
              init_trajectories(&c->trajectories, &c->surface, error) &&
              init_search(&c->search, &c->surface, error) && init_pairs(&c->pairs, n, error) &&
              (c->certificates.cones = rbt_array_new(n, sizeof *c->certificates.cones, "cones", error)) &&
              init_moment(&c->moment, n, error);
    for (size_t i = 0; ok && i < n; i++) c->max_inside = rbt_larger(c->max_inside, 2 * def->radius[i]);
    for (size_t l = 0; ok && l < c->surface.leaf_count; l++)
        for (int k = 0; k < c->surface.leaves[l].corners; k++) c->exposed[c->surface.leaves[l].node[k]] = 1;
    for (size_t w = 0; ok && w < def->wall_count; w++) c->exposed[def->walls[w].node] = 1;
    if (ok) rbt_contact_set_thickness(c, law->thickness);
    else rbt_contact_free(c);
    return ok;
}

void rbt_contact_set_thickness(rbt_contact *c, double thickness) {
    c->law.thickness = thickness;
    for (size_t i = 0; i < c->surface.def.node_count; i++)
        c->certificates.cones[i].eps = c->law.exact ? 0 : 0.01 * thickness / c->law.step;
}

void rbt_contact_free(rbt_contact *c) {
    rbt_layers_free(&c->layers);
    rbt_contact_surface_free(&c->surface);
    rbt_tree_free(&c->search.tree);
    rbt_queue_free(&c->certificates.queue);
    for (int k = 0; k <= RBT_TICK_BITS; k++) free(c->awake.levels[k].items);
    void *const arrays[] = {c->leaf_start,
                            c->node_leaves,
                            c->exposed,
                            c->trajectories.lines,
                            c->trajectories.predictors,
                            c->trajectories.spans,
                            c->search.centres,
                            c->search.renewed,
                            c->search.candidates,
                            c->search.sorted,
                            c->pairs.items,
                            c->pairs.stamps,
                            c->pairs.node_start,
                            c->pairs.of_nodes,
                            c->pairs.later,
                            c->pairs.later_first,
                            c->pairs.later_next,
                            c->certificates.cones,
                            c->moment.touches,
                            c->moment.order,
                            c->moment.merged,
                            c->moment.dragging,
                            c->moment.cone_violators,
                            c->moment.leaving,
                            c->moment.line_violators,
                            c->moment.violates_line};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    *c = (rbt_contact){0};
}

// ---- Whether a start is legal

static void gather(const double *x, const int32_t *node, int corners, double at[12]) {
    for (int i = 0; i < corners; i++) memcpy(at + 3 * i, x + 3 * (size_t)node[i], 3 * sizeof *at);
}

// Leaves that come closer to each other than the thickness at the places x
static bool near_leaves(rbt_contact *c, const double *x, rbt_error *error) {
    const rbt_contact_surface *s = &c->surface;
    for (size_t l = 0; l < s->leaf_count; l++) {
        const rbt_leaf *leaf = &s->leaves[l];
        double *centre = c->search.centres + 3 * l;
        memset(centre, 0, 3 * sizeof *centre);
        for (int k = 0; k < leaf->corners; k++)
            rbt_add_scaled(centre, 1.0 / leaf->corners, x + 3 * (size_t)leaf->node[k]);
    }
    rbt_tree_build(&c->search.tree, c->search.centres);
    for (size_t l = 0; l < s->leaf_count; l++) {
        const rbt_leaf *leaf = &s->leaves[l];
        rbt_dop *dop = &c->search.tree.nodes[c->search.tree.leaf_node[l]].dop;
        rbt_dop_empty(dop);
        for (int k = 0; k < leaf->corners; k++)
            rbt_dop_add_ball(dop, x + 3 * (size_t)leaf->node[k],
                             0.501 * c->law.thickness + s->def.radius[leaf->node[k]]);
    }
    rbt_tree_refit(&c->search.tree);
    return rbt_tree_collide(&c->search.tree, error);
}

static double gap_of(const rbt_contact_surface *s, const double *x, rbt_pair_key key) {
    rbt_touch_kind kind = rbt_pair_key_kind(key);
    int32_t node[4];
    double at[12];
    rbt_gap gap;
    rbt_pair_nodes(s, key, node);
    gather(x, node, rbt_pair_corners(kind), at);
    if (kind == RBT_TOUCH_WALL) rbt_gap_wall(at + 3, s->def.walls[key & 0x3fffffff].normal, at, &gap);
    else rbt_gap_measure(kind, at, &gap);
    return gap.distance - rbt_pair_inside(s, key, node);
}

bool rbt_contact_is_legal(rbt_contact *c, const double *x, char *text, size_t size) {
    const rbt_contact_surface *s = &c->surface;
    double scale = 0;
    for (size_t i = 0; i < 3 * s->def.node_count; i++) scale = rbt_larger(scale, fabs(x[i]));
    double least = 1e-12 * scale;
    if (!near_leaves(c, x, NULL)) {
        snprintf(text, size, "not enough memory");
        return false;
    }
    for (size_t i = 0; i < c->search.tree.pair_count; i++) {
        int32_t a = c->search.tree.pairs[2 * i], b = c->search.tree.pairs[2 * i + 1];
        rbt_pair_key keys[15];
        int count = rbt_leaf_pairs(s, a, b, keys);
        for (int k = 0; k < count; k++)
            if (!(gap_of(s, x, keys[k]) > least)) {
                rbt_pair_text(s, keys[k], text, size);
                return false;
            }
        if (count && (rbt_leaves_cross(s, x, a, b) || rbt_leaves_cross(s, x, b, a))) {
            const int32_t *p = s->leaves[a].node, *q = s->leaves[b].node;
            snprintf(text, size, "the elements of nodes %d-%d-%d and %d-%d-%d", p[0], p[1], p[2], q[0], q[1], q[2]);
            return false;
        }
    }
    return rbt_walls_are_kept(c, x, least, text, size);
}

// ---- How near things are at the start

static void look(const rbt_contact *c, const double *x, rbt_pair_key key, bool in_parts, rbt_start_gap *found) {
    int32_t node[4];
    rbt_pair_nodes(&c->surface, key, node);
    double eta = rbt_pair_thickness(c, key, node), gap = gap_of(&c->surface, x, key);
    if (!(gap < eta) || (found->eta > 0 && !(in_parts ? gap / eta < found->gap / found->eta : gap < found->gap)))
        return;
    *found = (rbt_start_gap){key, gap, eta, c->law.stiffness * rbt_layers_energy(&c->layers, eta, gap)};
}

bool rbt_contact_start_gap(rbt_contact *c, const double *x, bool in_parts, rbt_start_gap *found) {
    const rbt_contact_surface *s = &c->surface;
    *found = (rbt_start_gap){0};
    if (!near_leaves(c, x, NULL)) return false;
    for (size_t i = 0; i < c->search.tree.pair_count; i++) {
        rbt_pair_key keys[15];
        int count = rbt_leaf_pairs(s, c->search.tree.pairs[2 * i], c->search.tree.pairs[2 * i + 1], keys);
        for (int k = 0; k < count; k++) look(c, x, keys[k], in_parts, found);
    }
    for (size_t l = 0; l < s->leaf_count; l++) {
        const rbt_leaf *leaf = &s->leaves[l];
        if (rbt_leaf_ends_may_touch(s, l)) look(c, x, rbt_leaf_ends(leaf), in_parts, found);
        for (int k = 0; k < leaf->corners; k++)
            for (size_t w = 0; s->def.inverse_mass[leaf->node[k]] > 0 && w < s->def.wall_count; w++)
                look(c, x, rbt_pair_key_of(RBT_TOUCH_WALL, leaf->node[k], (int32_t)w), in_parts, found);
    }
    return found->eta > 0;
}
