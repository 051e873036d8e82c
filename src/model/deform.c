#include "model/deform.h"

#include "math/vec3.h"

#include <string.h>

// Scaled and rotated, not yet fitted
static void turn(const double p[3], double unit, const rbt_transform_def *transform, double q[3]) {
    const double origin[3] = {0, 0, 0};
    double scaled[3], axis[3], angle = transform->degrees * acos(-1.0) / 180;
    for (int k = 0; k < 3; k++) scaled[k] = p[k] * unit * transform->scale[k];
    memcpy(q, scaled, sizeof scaled);
    if (angle == 0) return;
    rbt_normalize(transform->axis, axis);
    rbt_rotate(scaled, origin, axis, angle, q);
}

rbt_fit rbt_fit_measure(const double *points, size_t count, double unit, const rbt_transform_def *transform) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, longest = 0;
    if (!(transform->fit > 0)) return (rbt_fit){.factor = 1};
    for (size_t i = 0; i < count; i++) {
        double q[3];
        turn(points + 3 * i, unit, transform, q);
        for (int k = 0; k < 3; k++) low[k] = fmin(low[k], q[k]), high[k] = fmax(high[k], q[k]);
    }
    for (int k = 0; k < 3; k++) longest = fmax(longest, high[k] - low[k]);
    return (rbt_fit){transform->fit / longest, {low[0], low[1], low[2]}};
}

void rbt_place_points(double *points, size_t count, double unit, const rbt_transform_def *transform,
                      const rbt_fit *fit) {
    for (size_t i = 0; i < count; i++) {
        double *p = points + 3 * i, q[3];
        turn(p, unit, transform, q);
        for (int k = 0; k < 3; k++) p[k] = fit->factor * (q[k] - fit->corner[k]);
        rbt_add_scaled(p, 1, transform->translate);
    }
}

// How far the box reaches from its centre along a unit axis
static double reach(const double axis[3], const double low[3], const double high[3]) {
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += 0.5 * fabs(axis[k]) * (high[k] - low[k]);
    return sum;
}

// y = c + r + (factor - 1) (a.r) a, and across the axis 1/sqrt(factor) if the volume is to be kept
static void stretch(double r[3], const rbt_deform_stretch *d, const double axis[3]) {
    double along = rbt_dot(r, axis), across = d->keep_volume ? 1 / sqrt(d->factor) : 1;
    for (int k = 0; k < 3; k++) r[k] = across * (r[k] - along * axis[k]) + d->factor * along * axis[k];
}

// The axis becomes an arc of the given total angle with its middle at the centre; a point at height q towards the arc's
// centre keeps that height: r = R (sin a, cos a), R = length / angle - q.
static void bend(double r[3], const rbt_deform_bend *d, const double axis[3], double half_length) {
    double towards[3], angle = d->degrees * acos(-1.0) / 180;
    rbt_normalize(d->towards, towards);
    rbt_add_scaled(towards, -rbt_dot(towards, axis), axis);
    rbt_normalize(towards, towards);
    if (angle == 0 || half_length == 0) return;
    double along = rbt_dot(r, axis), up = rbt_dot(r, towards), radius = 2 * half_length / angle;
    double a = along / radius;
    rbt_add_scaled(r, (radius - up) * sin(a) - along, axis);
    rbt_add_scaled(r, radius - (radius - up) * cos(a) - up, towards);
}

void rbt_deform_points(double *points, size_t count, const rbt_deformation *deformation, const double box_min[3],
                       const double box_max[3]) {
    const double origin[3] = {0, 0, 0};
    double centre[3], axis[3] = {1, 0, 0};
    for (int k = 0; k < 3; k++) centre[k] = 0.5 * (box_min[k] + box_max[k]);
    const rbt_deform_stretch *s = deformation->value;
    const rbt_deform_twist *t = deformation->value;
    const rbt_deform_bend *b = deformation->value;
    const rbt_deform_scale *f = deformation->value;
    switch ((rbt_deformation_kind)deformation->which) {
    case RBT_DEFORM_STRETCH: rbt_normalize(s->axis, axis); break;
    case RBT_DEFORM_TWIST: rbt_normalize(t->axis, axis); break;
    case RBT_DEFORM_BEND: rbt_normalize(b->axis, axis); break;
    default: break;
    }
    double half = reach(axis, box_min, box_max);
    for (size_t i = 0; i < count; i++) {
        double r[3], *p = points + 3 * i;
        rbt_subtract(p, centre, r);
        switch ((rbt_deformation_kind)deformation->which) {
        case RBT_DEFORM_STRETCH: stretch(r, s, axis); break;
        case RBT_DEFORM_TWIST: {
            double from[3] = {r[0], r[1], r[2]}, angle = t->degrees * acos(-1.0) / 180;
            if (half > 0) rbt_rotate(from, origin, axis, 0.5 * angle * rbt_dot(from, axis) / half, r);
            break;
        }
        case RBT_DEFORM_BEND: bend(r, b, axis, half); break;
        case RBT_DEFORM_SCALE:
            for (int k = 0; k < 3; k++) r[k] *= f->factors[k];
            break;
        case RBT_DEFORM_KINDS: break;
        }
        for (int k = 0; k < 3; k++) p[k] = centre[k] + r[k];
    }
}
