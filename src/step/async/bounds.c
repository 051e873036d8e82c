#include "step/async/bounds.h"

#include "math/scalar.h"
#include "math/vec3.h"

#include <math.h>

static double length_between(const double *x, const int32_t *node) {
    double along[3];
    rbt_subtract(x + 3 * (size_t)node[1], x + 3 * (size_t)node[0], along);
    return rbt_length(along);
}

double rbt_limit_thickness(const rbt_contact *c, int32_t leaf) {
    const rbt_contact_surface_def *def = &c->surface.def;
    double limit = def->limit[(size_t)leaf - def->triangle_count];
    return rbt_smaller(c->law.thickness, 0.5 * limit * length_between(def->X, c->surface.leaves[leaf].node));
}

// How near the plane a node can come in the window, both on straight lines: at one of its ends
static bool may_touch_wall(const rbt_contact *c, size_t n, size_t w, double eta) {
    const rbt_wall *wall = &c->surface.def.walls[w];
    const rbt_line *node = &c->trajectories.lines[n], *base = &c->trajectories.lines[wall->node];
    double first[3], last[3];
    rbt_subtract(node->start, base->start, first);
    rbt_subtract(node->last, base->last, last);
    double least = rbt_smaller(rbt_dot(first, wall->normal), rbt_dot(last, wall->normal));
    return least - node->reach - base->reach - c->surface.def.radius[n] <= eta;
}

// The length of a spring whose ends move on straight lines is a convex function of time: longest at an end of the
// window. It may be short anywhere between, which is told by the longest way its ends can go.
static bool may_reach_limit(const rbt_contact *c, rbt_pair_key key, double eta) {
    int32_t node[4];
    rbt_pair_nodes(&c->surface, key, node);
    const rbt_line *a = &c->trajectories.lines[node[0]], *b = &c->trajectories.lines[node[1]];
    double first[3], last[3], way[3], reach = a->reach + b->reach;
    rbt_subtract(b->start, a->start, first);
    rbt_subtract(b->last, a->last, last);
    rbt_subtract(last, first, way);
    double inside = rbt_pair_inside(&c->surface, key, node);
    if (rbt_pair_key_kind(key) == RBT_TOUCH_STRETCH)
        return -inside - rbt_larger(rbt_length(first), rbt_length(last)) - reach <= eta;
    return rbt_length(first) - rbt_length(way) - inside - reach <= eta;
}

// The limit of a leaf: 0 of its getting shorter, 1 of its getting longer
static bool find_limit(const rbt_contact *c, int32_t leaf, bool longer, rbt_candidate *found) {
    const rbt_contact_surface *s = &c->surface;
    int32_t a = s->leaves[leaf].node[0], b = s->leaves[leaf].node[1];
    if (!rbt_leaf_is_limited(s, (size_t)leaf) || s->def.inverse_mass[a] + s->def.inverse_mass[b] == 0) return false;
    rbt_touch_kind kind = longer ? RBT_TOUCH_STRETCH : RBT_TOUCH_SHRINK;
    *found = (rbt_candidate){rbt_pair_key_of(kind, s->leaves[leaf].edge[0], leaf), rbt_limit_thickness(c, leaf)};
    return may_reach_limit(c, found->key, found->eta);
}

static bool find_wall(const rbt_contact *c, size_t n, size_t w, rbt_candidate *found) {
    if (c->surface.def.inverse_mass[n] == 0 || !may_touch_wall(c, n, w, c->law.thickness)) return false;
    *found = (rbt_candidate){rbt_pair_key_of(RBT_TOUCH_WALL, (int32_t)n, (int32_t)w), c->law.thickness};
    return true;
}

bool rbt_bounds_next(const rbt_contact *c, size_t *at, rbt_candidate *found) {
    const rbt_contact_surface *s = &c->surface;
    size_t springs = 2 * s->leaf_count, nodes = s->def.node_count, end = springs + nodes * s->def.wall_count;
    while (*at < end) {
        size_t i = (*at)++;
        if (i < springs ? find_limit(c, (int32_t)(i / 2), i % 2, found)
                        : find_wall(c, (i - springs) % nodes, (i - springs) / nodes, found))
            return true;
    }
    return false;
}

bool rbt_bounds_of_node(const rbt_contact *c, size_t n, size_t *at, rbt_candidate *found) {
    const int32_t *leaves = c->node_leaves + c->leaf_start[n];
    size_t springs = 2 * (c->leaf_start[n + 1] - c->leaf_start[n]), end = springs + c->surface.def.wall_count;
    while (*at < end) {
        size_t i = (*at)++;
        if (i < springs ? find_limit(c, leaves[i / 2], i % 2, found) : find_wall(c, n, i - springs, found))
            return true;
    }
    return false;
}

int32_t rbt_limit_broken(const rbt_contact *c, const double *x, double *length) {
    const rbt_contact_surface *s = &c->surface;
    for (size_t l = 0; l < s->leaf_count; l++) {
        if (!rbt_leaf_is_limited(s, l)) continue;
        double limit = s->def.limit[l - s->def.triangle_count], rest = length_between(s->def.X, s->leaves[l].node);
        *length = length_between(x, s->leaves[l].node);
        if (!(fabs(*length - rest) < limit * rest * (1 - 1e-12))) return (int32_t)l;
    }
    return -1;
}

bool rbt_walls_are_kept(const rbt_contact *c, const double *x, double least, char *text, size_t size) {
    const rbt_contact_surface *s = &c->surface;
    for (size_t l = 0; l < s->leaf_count; l++)
        for (int k = 0; k < s->leaves[l].corners; k++)
            for (size_t w = 0; w < s->def.wall_count; w++) {
                const rbt_wall *wall = &s->def.walls[w];
                int32_t n = s->leaves[l].node[k];
                rbt_gap gap;
                rbt_gap_wall(x + 3 * (size_t)wall->node, wall->normal, x + 3 * (size_t)n, &gap);
                if (gap.distance - s->def.radius[n] > least || s->def.inverse_mass[n] == 0) continue;
                rbt_pair_text(s, rbt_pair_key_of(RBT_TOUCH_WALL, n, (int32_t)w), text, size);
                return false;
            }
    return true;
}
