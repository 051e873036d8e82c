// How far nodes may move, and prescribed motion. See step_contact.h.
#include "base/threads.h"
#include "contact/ccd/additive.h"
#include "math/scalar.h"
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

// Where z + part p would bring all nodes, into c->motion; returns how far the one that moves most would go [m]
static double aim(rbt_step_contact *c, const double *p, double part, double share, double advance) {
    size_t bodies = c->model->node_count;
    double most = 0, end = fmin(1, share + part * advance);
    for (size_t n = 0; n < bodies; n++) {
        double by[3], *to = c->motion + 3 * n;
        const double *from = c->y + 3 * n, *direction = p + 3 * n;
        for (int k = 0; k < 3; k++) {
            to[k] = from[k] + c->rate * (part * direction[k]);
            by[k] = to[k] - from[k];
        }
        most = rbt_larger(rbt_dot(by, by), most);
    }
    for (size_t n = bodies; n < c->node_count; n++) {
        double by[3];
        for (size_t i = 3 * n; i < 3 * n + 3; i++) {
            c->motion[i] = end < 1 ? c->x0[i] + end * (c->x1[i] - c->x0[i]) : c->x1[i];
            by[i - 3 * n] = c->motion[i] - c->y[i];
        }
        most = rbt_larger(rbt_dot(by, by), most);
    }
    return sqrt(most);
}

// The midpoint rule stores y = 2 z - x_n: two roundings more than the test allows for, each of half a unit in the last
// place of 2 z or y, at both sides of the pair.
static double midpoint_rounding(const double from[12], const double to[12]) {
    double largest = 0;
    for (int i = 0; i < 12; i++) largest = fmax(largest, fmax(fabs(from[i]), fabs(to[i])));
    return 16 * DBL_EPSILON * largest;
}

// How much of the motion from c->y to c->motion is free
static double free_share(rbt_step_contact *c) {
    if (!rbt_contact_prepare(c, c->y, c->motion)) return 0;
    size_t count = c->candidates.count;
    double start = rbt_now();
#pragma omp parallel for schedule(static) if (count >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < count; i++) {
        const rbt_contact_pair *pair = &c->pairs[i];
        double from[12], to[12];
        rbt_contact_gather(pair->node, c->y, from);
        rbt_contact_gather(pair->node, c->motion, to);
        c->values[i] = 1;
        if (rbt_contact_is_far(pair, from, to, c->thickness)) continue;
        double inside = pair->barrier.inside + (c->rate > 1 ? midpoint_rounding(from, to) : 0);
        const double *normal = pair->barrier.kind == RBT_TOUCH_WALL ? pair->barrier.wall_normal : NULL;
        c->values[i] = rbt_ccd_pair(pair->barrier.kind, from, to, inside, c->thickness, normal);
    }
    double least = 1;
    c->effort.test_seconds += rbt_now() - start;
    c->effort.tests++;
    for (size_t i = 0; i < count; i++)
        if (c->values[i] < least) least = c->values[i], c->blocking = c->candidates.keys[i];
    return least;
}

double rbt_step_contact_limit(rbt_step_contact *c, const double *z, const double *p, double share, double advance) {
    rbt_contact_put(c, z, share);
    return isfinite(aim(c, p, 1, share, advance)) ? free_share(c) : 0;
}

// The longest power of two of a motion in which no node moves by more than a few edges; a power of two, so that a share
// of the part is that share of the motion to the last bit
static double first_part(const rbt_step_contact *c, double distance) {
    static const double NEAR = 4;
    int exponent;
    if (!(c->edge_length > 0) || !(distance > NEAR * c->edge_length)) return 1;
    frexp(NEAR * c->edge_length / distance, &exponent);
    return ldexp(1, exponent - 1);
}

double rbt_step_contact_first_stop(rbt_step_contact *c, const double *z, const double *p, double share,
                                   double advance) {
    static const double FURTHER = 8;
    rbt_contact_put(c, z, share);
    double distance = aim(c, p, 1, share, advance);
    if (!isfinite(distance)) return 0;
    for (double part = first_part(c, distance); part < 1 / FURTHER; part *= FURTHER) {
        aim(c, p, part, share, advance);
        double length = free_share(c);
        if (length < 1) return part * length;
    }
    aim(c, p, 1, share, advance);
    return free_share(c);
}

bool rbt_step_contact_is_shut(const rbt_step_contact *c) {
    static const double DIGITS = 1e3;
    for (size_t i = 0; i < c->active_count; i++) {
        double corners[12], largest = 0;
        rbt_contact_gather(c->active[i].pair.node, c->y, corners);
        for (int k = 0; k < 12; k++) largest = fmax(largest, fabs(corners[k]));
        if (c->active[i].gap < DIGITS * DBL_EPSILON * largest) return true;
    }
    return false;
}
