#include "model/fingerprint.h"

#include "model/obstacle_geometry.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bytes are hashed as they lie in memory");

// Exclusive or, multiplication by an odd constant and a right shift are each invertible in 64 bits.
static uint64_t mix(uint64_t h, uint64_t word) {
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

uint64_t rbt_hash(uint64_t seed, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    uint64_t h = mix(seed, size), word;
    for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
        memcpy(&word, at, sizeof word);
        h = mix(h, word);
    }
    word = 0;
    if (size) memcpy(&word, at, size);
    return mix(mix(h, word), 0x2545f4914f6cdd1du);
}

static void add(uint64_t *h, const void *bytes, size_t count, size_t size) { *h = rbt_hash(*h, bytes, count * size); }
static void add_number(uint64_t *h, uint64_t number) { add(h, &number, 1, sizeof number); }
static void add_reals(uint64_t *h, const double *reals, size_t count) { add(h, reals, count, sizeof *reals); }
static void add_ints(uint64_t *h, const int32_t *ints, size_t count) { add(h, ints, count, sizeof *ints); }

static void add_geometry(uint64_t *h, const rbt_obstacle_geometry *g) {
    if (!g) return;
    const double times[] = {g->rate, g->from, g->loop};
    add_ints(h, g->triangles, 3 * g->triangle_count);
    add_reals(h, g->frames, 3 * g->node_count * g->frame_count);
    if (g->frame_count > 1) add_reals(h, times, sizeof times / sizeof times[0]);
}

// The alternatives below consist of doubles only, so their memory has no gaps and is hashed as a whole; obstacles up
// to their prescribed motions, a turn up to the flag at its end, which compiling has made use of.
static void add_obstacles(uint64_t *h, const rbt_obstacles *obstacles) {
    static const size_t sizes[RBT_OBSTACLE_KINDS] = {[RBT_OBSTACLE_PLANE] = offsetof(rbt_obstacle_plane, motions),
                                                     [RBT_OBSTACLE_SPHERE] = offsetof(rbt_obstacle_sphere, motions),
                                                     [RBT_OBSTACLE_BOX] = offsetof(rbt_obstacle_box, motions),
                                                     [RBT_OBSTACLE_CAPSULE] =
                                                         offsetof(rbt_obstacle_capsule, motions)};
    add_number(h, obstacles->count);
    for (size_t i = 0; i < obstacles->count; i++) {
        const rbt_obstacle *o = &obstacles->items[i];
        add_number(h, (uint64_t)o->which);
        if (o->which == RBT_OBSTACLE_MESH) add_geometry(h, obstacles->geometry ? obstacles->geometry[i] : NULL);
        else if (o->which >= 0 && o->which < RBT_OBSTACLE_KINDS) add(h, o->value, 1, sizes[o->which]);
    }
}

static void add_motion(uint64_t *h, const rbt_motion *motion) {
    static const size_t sizes[RBT_MOVE_KINDS] = {[RBT_MOVE_VELOCITY] = sizeof(rbt_move_velocity),
                                                 [RBT_MOVE_ROTATION] = offsetof(rbt_move_rotation, relative),
                                                 [RBT_MOVE_OSCILLATION] = sizeof(rbt_move_oscillation)};
    add_number(h, (uint64_t)motion->which);
    if (motion->which == RBT_MOVE_KEYFRAMES) {
        const rbt_move_keyframes *keys = motion->value;
        add_reals(h, keys->times.items, keys->times.count);
        add_reals(h, keys->offsets.items, 3 * keys->times.count);  // one offset per time
    } else if (motion->which >= 0 && motion->which < RBT_MOVE_KINDS) {
        add(h, motion->value, 1, sizes[motion->which]);
    }
}

static void add_motions(uint64_t *h, const rbt_motions *motions) {
    add_number(h, motions->group_count);
    for (size_t g = 0; g < motions->group_count; g++) {
        add_reals(h, &motions->groups[g].release, 1);
        add_number(h, motions->groups[g].motion_count);
        for (size_t m = 0; m < motions->groups[g].motion_count; m++) add_motion(h, &motions->groups[g].motions[m]);
    }
    add_ints(h, motions->node, motions->node_count);
    add_ints(h, motions->group, motions->node_count);
}

static void add_loads(uint64_t *h, const rbt_loads *loads) {
    add_number(h, loads->node_load_count);
    for (size_t i = 0; i < loads->node_load_count; i++) {
        const rbt_node_load *load = &loads->node_loads[i];
        const double numbers[] = {load->force[0], load->force[1], load->force[2],
                                  load->from,     load->until,    load->pulse};
        add_reals(h, numbers, sizeof numbers / sizeof numbers[0]);
        add_ints(h, load->nodes, load->node_count);
        add_reals(h, load->share, load->node_count);
    }
    for (size_t i = 0; i < loads->drag_count; i++) {
        const rbt_drag *d = &loads->drags[i];
        const double numbers[] = {d->point[0], d->point[1], d->point[2], d->stiffness, d->from, d->until};
        add_reals(h, numbers, sizeof numbers / sizeof numbers[0]);
        add_ints(h, d->nodes, d->node_count);
        add_reals(h, d->share, d->node_count);
    }
    add_number(h, loads->wind_count);
    for (size_t i = 0; i < loads->wind_count; i++) {
        const rbt_wind *wind = &loads->winds[i];
        const rbt_force_wind *d = &wind->def;
        const double numbers[] = {d->velocity[0], d->velocity[1],    d->velocity[2], d->air_density,
                                  d->gust,        d->gust_frequency, d->from,        d->until};
        add_reals(h, numbers, sizeof numbers / sizeof numbers[0]);
        add_number(h, wind->triangle_begin);
        add_number(h, wind->triangle_end);
    }
}

// Cuts are no part of it, and neither are names.
static void add_events(uint64_t *h, const rbt_model *model) {
    for (size_t i = 0; i < model->event_count; i++) {
        const rbt_planned_event *e = &model->events[i];
        const rbt_event_material *m = &e->material;
        const rbt_event_drive *d = &e->drive;
        add_number(h, e->kind);
        add_reals(h, &e->time, 1);
        add_reals(h, e->load.force, 3);
        add_ints(h, e->load.nodes, e->load.node_count);
        const uint64_t numbers[] = {e->target, e->body, e->region, e->group};
        add(h, numbers, 4, sizeof *numbers);
        const double values[] = {
            e->point[0],     e->point[1],          e->point[2],    e->stiffness,   m->young,       m->poisson,
            m->mass_damping, m->stiffness_damping, d->velocity[0], d->velocity[1], d->velocity[2], d->spin[0],
            d->spin[1],      d->spin[2],           d->about[0],    d->about[1],    d->about[2],    d->duration};
        add_reals(h, values, sizeof values / sizeof values[0]);
    }
    for (size_t i = model->selection_count; model->event_count && i < model->drag_count; i++)
        add_ints(h, model->drag_targets[i].nodes, model->drag_targets[i].node_count);
}

static void add_bodies(uint64_t *h, const rbt_model *model) {
    add_number(h, model->body_count);
    for (size_t b = 0; b < model->body_count; b++) {
        const rbt_body *body = &model->bodies[b];
        add_number(h, body->node_end);
        add_number(h, body->tet_end);
        add_number(h, body->triangle_end);
        add_number(h, body->edge_end);
        add_number(h, body->kind);
        const double sheet[] = {body->shell.thickness,   body->shell.membrane,   body->shell.bending,
                                body->springs.stiffness, body->particles.radius, body->particles.mass,
                                body->shell.yield,       body->springs.limit};
        add_reals(h, sheet, sizeof sheet / sizeof sheet[0]);
        add_reals(h, &body->damping.mass, 1);
        add_reals(h, &body->damping.stiffness, 1);
        add_number(h, body->consistent_mass);
    }
    add_number(h, model->region_count);
    for (size_t r = 0; r < model->region_count; r++) {
        const rbt_material_def *m = &model->regions[r].material;
        const double numbers[] = {m->model, m->young, m->poisson, m->density};
        add_reals(h, numbers, sizeof numbers / sizeof numbers[0]);
    }
}

static void add_contact(uint64_t *h, const rbt_contact_settings *s) {
    if (!s->on) return;
    const double numbers[] = {s->thickness, s->slip_speed, s->friction};
    add_reals(h, numbers, sizeof numbers / sizeof numbers[0]);
    if (s->augmented) add_number(h, RBT_CONTACT_AUGMENTED_LAGRANGIAN);
    add_reals(h, s->body_friction, s->body_count);
    add_reals(h, s->body_gap, s->body_count);
    for (size_t i = 0; i < s->rule_count; i++) {
        const double rule[] = {s->rules[i].a, s->rules[i].b, s->rules[i].friction};
        add_reals(h, rule, 3);
    }
}

uint64_t rbt_model_fingerprint(const rbt_model *model) {
    uint64_t h = 0;
    add_reals(&h, model->X, 3 * model->node_count);
    add_ints(&h, model->tets, 4 * model->tet_count);
    add_ints(&h, model->tet_region, model->tet_count);
    add_ints(&h, model->triangles, 3 * model->triangle_count);
    if (model->triangle_region) add_ints(&h, model->triangle_region, model->triangle_count);
    add_ints(&h, model->edges, 2 * model->edge_count);
    add_reals(&h, model->mass, model->node_count);
    add(&h, model->role, model->node_count, 1);
    add_bodies(&h, model);
    add_motions(&h, &model->motions);
    add_loads(&h, &model->loads);
    add_obstacles(&h, &model->obstacles);
    for (size_t i = 0; model->obstacle_motions && i < model->obstacles.count; i++)
        for (size_t k = 0; k < model->obstacle_motions[i].motion_count; k++)
            add_motion(&h, &model->obstacle_motions[i].motions[k]);
    add_contact(&h, &model->contact);
    add_events(&h, model);
    add_reals(&h, model->gravity, 3);
    add_reals(&h, &model->step, 1);
    add_reals(&h, &model->frame_interval, 1);
    add_number(&h, (uint64_t)model->steps_per_frame);
    if (model->asked.error > 0) add_reals(&h, &model->asked.error, 1);
    if (model->asked.error > 0) add_reals(&h, &model->asked.shortest, 1);
    return h;
}
