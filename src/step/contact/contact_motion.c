// How far nodes may move, and prescribed motion. See step_contact.h.
#include "base/threads.h"
#include "contact/ccd/additive.h"
#include "math/vec3.h"
#include "step/contact/contact_parts.h"

#include <float.h>
#include <string.h>

bool rbt_step_contact_is_driven(const rbt_step_contact *c) {
    if (!(c->share < 1)) return false;
    for (size_t i = 0; i < 3 * c->node_count; i++)
        if (c->x1[i] != c->x0[i]) return true;
    return false;
}

void rbt_step_contact_drive(const rbt_step_contact *c, double *p) {
    double left = (1 - c->share) / c->rate;
    for (size_t i = 0; i < 3 * c->model->node_count; i++)
        if (c->constrained[i / 3]) p[i] = left * (c->x1[i] - c->x0[i]);
}

// Where z + p would bring all nodes, into c->motion; returns how far the one that moves most would go [m]
static double aim(rbt_step_contact *c, const double *p, double share, double advance) {
    size_t values = 3 * c->model->node_count;
    double most = 0, end = fmin(1, share + advance);
    for (size_t i = 0; i < values; i++) c->motion[i] = c->y[i] + c->rate * p[i];
    for (size_t i = values; i < 3 * c->node_count; i++)
        c->motion[i] = end < 1 ? c->x0[i] + end * (c->x1[i] - c->x0[i]) : c->x1[i];
    for (size_t n = 0; n < c->node_count; n++) {
        double by[3];
        rbt_subtract(c->motion + 3 * n, c->y + 3 * n, by);
        most = fmax(most, rbt_dot(by, by));
    }
    return sqrt(most);
}

// A list that holds a little further than it must is good for the next iterations, which move less.
static double slack(const rbt_step_contact *c, double distance) {
    double most = fmin(c->thickness + 0.1 * c->edge_length, 0.25 * c->edge_length);
    double least = fmin(0.5 * c->thickness, 0.1 * c->edge_length);
    return fmax(least, fmin(most, 0.25 * distance));
}

// The midpoint rule stores y = 2 z - x_n: two roundings more than the test allows for, each of half a unit in the last
// place of 2 z or y, at both sides of the pair.
static double midpoint_rounding(const double from[12], const double to[12]) {
    double largest = 0;
    for (int i = 0; i < 12; i++) largest = fmax(largest, fmax(fabs(from[i]), fabs(to[i])));
    return 16 * DBL_EPSILON * largest;
}

double rbt_step_contact_limit(rbt_step_contact *c, const double *z, const double *p, double share, double advance) {
    if (!rbt_contact_place(c, z, share)) return 0;
    double distance = aim(c, p, share, advance);
    if (!isfinite(distance)) return 0;
    if (!rbt_candidates_cover(&c->candidates, c->motion) &&
        !rbt_candidates_search(&c->candidates, c->y, c->motion, slack(c, distance))) {
        c->out_of_memory = true;
        return 0;
    }
    size_t count = c->candidates.count;
    if (!rbt_array_reserve((void **)&c->values, &c->value_capacity, count, sizeof *c->values, "contact", NULL)) {
        c->out_of_memory = true;
        return 0;
    }
#pragma omp parallel for schedule(static) if (count >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < count; i++) {
        int32_t node[4];
        double from[12], to[12];
        rbt_pair_barrier pair;
        rbt_contact_pair_of(c, c->candidates.keys[i], node, &pair);
        rbt_contact_gather(node, c->y, from);
        rbt_contact_gather(node, c->motion, to);
        double inside = pair.inside + (c->rate > 1 ? midpoint_rounding(from, to) : 0);
        c->values[i] = rbt_ccd_pair(pair.kind, from, to, inside, c->thickness,
                                    pair.kind == RBT_TOUCH_WALL ? pair.wall_normal : NULL);
    }
    double least = 1;
    for (size_t i = 0; i < count; i++)
        if (c->values[i] < least) least = c->values[i], c->blocking = c->candidates.keys[i];
    return least;
}
