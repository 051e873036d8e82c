#include "step/async/friction.h"

#include "math/scalar.h"
#include "math/vec3.h"

#include <string.h>

static bool drags(const rbt_contact *c, const rbt_touch *touch) {
    const rbt_pair *pair = &c->pairs.items[touch->pair];
    return touch->push > 0 && pair->friction > 0 && rbt_pair_key_kind(pair->key) < RBT_TOUCH_STRETCH;
}

static void measure(const rbt_contact *c, rbt_touch *touch) {
    const rbt_tracks *tracks = c->tracks;
    const rbt_pair *pair = &c->pairs.items[touch->pair];
    double velocity[3] = {0}, inverse_mass = 0;
    for (int i = 0; i < rbt_pair_corners(rbt_pair_key_kind(pair->key)); i++) {
        size_t n = (size_t)pair->node[i];
        double w = touch->gap.weight[i];
        rbt_add_scaled(velocity, w, tracks->v + 3 * n);
        inverse_mass += w * w * tracks->inverse_mass[n] * c->moment.dragging[n];
    }
    rbt_add_scaled(velocity, -rbt_dot(velocity, touch->gap.normal), touch->gap.normal);
    double speed = rbt_length(velocity), stop = inverse_mass > 0 ? speed / inverse_mass : 0;
    double drag = rbt_smaller(pair->friction * touch->push, stop);
    for (int k = 0; k < 3; k++) touch->drag[k] = speed > 0 ? -drag / speed * velocity[k] : 0;
}

static void give(const rbt_contact *c, const rbt_touch *touch, int64_t t) {
    const rbt_pair *pair = &c->pairs.items[touch->pair];
    rbt_tracks *tracks = c->tracks;
    for (int i = 0; i < rbt_pair_corners(rbt_pair_key_kind(pair->key)); i++) {
        size_t n = (size_t)pair->node[i];
        double w = touch->gap.weight[i], s = w * tracks->inverse_mass[n];
        if (s == 0) {
            if (c->work) *c->work -= w * rbt_dot(touch->drag, tracks->v + 3 * n);
            continue;
        }
        rbt_track_move(tracks, n, t);
        rbt_add_scaled(tracks->v + 3 * n, s, touch->drag);
    }
}

static void count(const rbt_contact *c, const rbt_touch *touch, int32_t by) {
    const rbt_pair *pair = &c->pairs.items[touch->pair];
    for (int i = 0; i < rbt_pair_corners(rbt_pair_key_kind(pair->key)); i++)
        if (touch->gap.weight[i] != 0) c->moment.dragging[pair->node[i]] += by;
}

void rbt_contact_drag(rbt_contact *c, int64_t t) {
    for (size_t i = 0; i < c->moment.touch_count; i++)
        if (drags(c, &c->moment.touches[i])) count(c, &c->moment.touches[i], 1);
    for (size_t i = 0; i < c->moment.touch_count; i++)
        if (drags(c, &c->moment.touches[i])) measure(c, &c->moment.touches[i]);
    for (size_t i = 0; i < c->moment.touch_count; i++)
        if (drags(c, &c->moment.touches[i])) give(c, &c->moment.touches[i], t);
    for (size_t i = 0; i < c->moment.touch_count; i++)
        if (drags(c, &c->moment.touches[i])) count(c, &c->moment.touches[i], -1);
}
