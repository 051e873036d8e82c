#include "model/motion.h"

#include "math/vec3.h"

#include <math.h>
#include <string.h>

// Time spent in [from, until] up to t
static double elapsed(double t, double from, double until) { return t <= from ? 0 : (t < until ? t : until) - from; }

static void keyframe_offset(const rbt_move_keyframes *k, double t, double offset[3]) {
    size_t n = k->times.count, i = 0;
    const double *times = k->times.items, *offsets = k->offsets.items;
    memset(offset, 0, 3 * sizeof *offset);
    if (!n) return;
    while (i < n && times[i] <= t) i++;
    if (i == 0 || i == n) {
        memcpy(offset, offsets + 3 * (i ? n - 1 : 0), 3 * sizeof *offset);
        return;
    }
    double s = (t - times[i - 1]) / (times[i] - times[i - 1]);
    for (size_t c = 0; c < 3; c++) offset[c] = (1 - s) * offsets[3 * (i - 1) + c] + s * offsets[3 * i + c];
}

static void apply(const rbt_motion *motion, double t, double p[3]) {
    switch ((rbt_motion_kind)motion->which) {
    case RBT_MOVE_VELOCITY: {
        const rbt_move_velocity *m = motion->value;
        rbt_add_scaled(p, elapsed(t, m->from, m->until), m->velocity);
        break;
    }
    case RBT_MOVE_ROTATION: {
        const rbt_move_rotation *m = motion->value;
        double axis[3], start[3] = {p[0], p[1], p[2]};
        rbt_normalize(m->axis, axis);
        rbt_rotate(start, m->point, axis, m->rate * elapsed(t, m->from, m->until), p);
        break;
    }
    case RBT_MOVE_OSCILLATION: {
        const rbt_move_oscillation *m = motion->value;
        double turn = 2 * acos(-1.0) * m->frequency * elapsed(t, m->from, m->until);
        rbt_add_scaled(p, sin(turn + m->phase) - sin(m->phase), m->amplitude);
        break;
    }
    case RBT_MOVE_KEYFRAMES: {
        double offset[3];
        keyframe_offset(motion->value, t, offset);
        rbt_add_scaled(p, 1, offset);
        break;
    }
    case RBT_MOVE_KINDS: break;
    }
}

void rbt_motion_position(const rbt_motion_group *group, const double start[3], double t, double position[3]) {
    memcpy(position, start, 3 * sizeof *position);
    for (size_t i = 0; i < group->motion_count; i++) apply(&group->motions[i], t, position);
    if (group->guide && *group->guide) rbt_guide_apply(*group->guide, t, position);
}

static bool is_inside(double t, double begin, double end) { return t > begin && t < end; }

// Of a motion that continues from one time to another; `rate` while it does
static double bend_of(double from, double until, double rate, double begin, double end) {
    if (is_inside(from, begin, end) || is_inside(until, begin, end)) return INFINITY;
    return from <= begin && until >= end ? fabs(rate) : 0;
}

static double bend(const rbt_motion *motion, double begin, double end) {
    switch ((rbt_motion_kind)motion->which) {
    case RBT_MOVE_VELOCITY: {
        const rbt_move_velocity *m = motion->value;
        return bend_of(m->from, m->until, 0, begin, end);
    }
    case RBT_MOVE_ROTATION: {
        const rbt_move_rotation *m = motion->value;
        return bend_of(m->from, m->until, m->rate, begin, end);
    }
    case RBT_MOVE_OSCILLATION: {
        const rbt_move_oscillation *m = motion->value;
        return bend_of(m->from, m->until, 2 * acos(-1.0) * m->frequency, begin, end);
    }
    case RBT_MOVE_KEYFRAMES: {
        const rbt_move_keyframes *k = motion->value;
        for (size_t i = 0; i < k->times.count; i++)
            if (is_inside(k->times.items[i], begin, end)) return INFINITY;
        return 0;
    }
    case RBT_MOVE_KINDS: break;
    }
    return 0;
}

double rbt_motion_bend(const rbt_motion_group *group, double begin, double end) {
    double most = 0;
    for (size_t i = 0; i < group->motion_count; i++) most = fmax(most, bend(&group->motions[i], begin, end));
    return most;
}
