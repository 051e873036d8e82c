// Rigid motions that a caller gives to driven nodes and obstacles (model/input.h). Apart from the rest of the input, so
// that whoever only asks where something is needs nothing else of a model.
#include "math/quaternion.h"
#include "math/vec3.h"
#include "model/input.h"

#include <math.h>
#include <string.h>

static double elapsed(const rbt_guide *g, double t) {
    return t <= g->from ? 0 : (t < g->until ? t : g->until) - g->from;
}

// Q p + o, without rounding where Q is 1
static void place(const rbt_guide *g, double p[3]) {
    double R[9], q[3] = {p[0], p[1], p[2]};
    if (g->turn[0] != 1) {
        rbt_quaternion_rotation(g->turn, R);
        for (int i = 0; i < 3; i++) p[i] = rbt_dot(R + 3 * i, q);
    }
    rbt_add_scaled(p, 1, g->offset);
}

void rbt_guide_apply(const rbt_guide *g, double t, double p[3]) {
    double s = elapsed(g, t), angle = s * rbt_length(g->spin);
    place(g, p);
    if (angle != 0) {
        double axis[3], start[3] = {p[0], p[1], p[2]};
        rbt_normalize(g->spin, axis);
        rbt_rotate(start, g->about, axis, angle, p);
    }
    if (s > 0) rbt_add_scaled(p, s, g->velocity);
}

// a b
static void multiply(const double a[4], const double b[4], double c[4]) {
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

rbt_guide rbt_guide_at(const rbt_guide *g, double t) {
    rbt_guide now = {.from = t, .until = t, .used = 1};
    double origin[3] = {0}, axis[3], angle = 0.5 * elapsed(g, t) * rbt_length(g->spin);
    rbt_guide_apply(g, t, origin);
    memcpy(now.offset, origin, sizeof origin);
    memcpy(now.turn, g->turn, sizeof now.turn);
    if (angle == 0) return now;
    rbt_normalize(g->spin, axis);
    double more[4] = {cos(angle), sin(angle) * axis[0], sin(angle) * axis[1], sin(angle) * axis[2]};
    multiply(more, g->turn, now.turn);
    double size = 0;
    for (int i = 0; i < 4; i++) size += now.turn[i] * now.turn[i];
    for (int i = 0; i < 4; i++) now.turn[i] /= sqrt(size);
    return now;
}
