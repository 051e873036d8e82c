// What the state remembers of impulses, and what it tells. See impulses.h.
#include "step/contact/impulses.h"

#include "math/vec3.h"
#include "model/force.h"
#include "step/contact/contact_parts.h"

#include <string.h>

static size_t note_capacity(const rbt_model *m) { return 2 * m->node_count + 64; }

size_t rbt_impulse_memory_size(const rbt_model *m) {
    if (!m->contact.on) return 0;
    return sizeof(rbt_impulse_memory) + note_capacity(m) * sizeof(rbt_impulse_note) +
           3 * m->node_count * sizeof(double);
}

static rbt_impulse_note *notes_of(rbt_impulse_memory *memory) { return (rbt_impulse_note *)(memory + 1); }
static const rbt_impulse_note *read_notes(const rbt_impulse_memory *memory) {
    return (const rbt_impulse_note *)(memory + 1);
}

// Impulses on all nodes do work on what is prescribed, and friction takes energy.
static void account(const rbt_impulses *s, const rbt_impulse_pair *pair, const double *x,
                    rbt_impulse_memory *memory) {
    const rbt_step_contact *c = s->contact;
    double slip[3] = {0};
    for (int i = 0; i < 4; i++) {
        int32_t node = pair->pair.node[i];
        double force[3] = {0}, by[3];
        if (node < 0) continue;
        size_t n = (size_t)node;
        rbt_subtract(n < c->model->node_count ? x + 3 * n : c->x1 + 3 * n, c->x0 + 3 * n, by);
        rbt_add_scaled(slip, pair->weight[i], by);
        if (rbt_impulses_is_free(s, node)) continue;
        for (size_t d = 0; d < 3; d++)
            rbt_add_scaled(force, pair->weight[i] * pair->impulse[d] / c->h, rbt_impulse_direction(pair, d));
        memory->work -= rbt_dot(force, by);
    }
    for (size_t d = 1; d < 3; d++)
        memory->dissipation -= pair->impulse[d] / c->h * rbt_dot(rbt_impulse_direction(pair, d), slip);
}

double rbt_impulses_work(const rbt_impulses *s, const double *x) {
    rbt_impulse_memory sum = {0};
    for (size_t k = 0; k < s->pair_count; k++) account(s, &s->pairs[k], x, &sum);
    return sum.work;
}

void rbt_impulses_remember(const rbt_impulses *s, const double *x, rbt_impulse_memory *memory) {
    const rbt_step_contact *c = s->contact;
    const rbt_model *m = c->model;
    rbt_impulse_note *notes = notes_of(memory);
    double *forces = (double *)(notes + note_capacity(m));
    memory->count = 0;
    memset(notes, 0, note_capacity(m) * sizeof *notes);
    for (size_t i = 0; i < 3 * m->node_count; i++) forces[i] = s->pair_count ? s->J[i] / c->h : 0;
    for (size_t k = 0; k < s->pair_count; k++) {
        const rbt_impulse_pair *pair = &s->pairs[k];
        if (!(pair->impulse[0] > 0)) continue;
        account(s, pair, x, memory);
        if (memory->count < note_capacity(m))
            notes[memory->count++] = (rbt_impulse_note){pair->pair.key, pair->impulse[0] / c->h};
    }
}

// Copies of a pair (impulse_step.c) follow each other, and are one pair for others.
void rbt_impulses_give(const rbt_model *m, const rbt_impulse_memory *memory, rbt_contact_handover *to) {
    const rbt_impulse_note *notes = read_notes(memory);
    to->work = to->dissipation = 0;
    to->count = 0;
    memset(to->force, 0, 3 * m->node_count * sizeof(double));
    rbt_impulses_add_forces(m, memory, to->force);
    for (size_t i = 0; i < memory->count && i < note_capacity(m); i++) {
        if (to->count && to->pairs[to->count - 1].key == notes[i].key)
            to->pairs[to->count - 1].force += notes[i].force;
        else if (to->count < to->capacity) to->pairs[to->count++] = (rbt_pair_force){notes[i].key, notes[i].force};
    }
}

void rbt_impulses_take(const rbt_model *m, rbt_impulse_memory *memory, const rbt_contact_handover *from) {
    rbt_impulse_note *notes = notes_of(memory);
    memory->work += from->work;
    memory->dissipation += from->dissipation;
    memory->count = 0;
    memset(notes, 0, note_capacity(m) * sizeof *notes);
    for (size_t i = 0; i < from->count && memory->count < note_capacity(m); i++)
        if (from->pairs[i].force > 0)
            notes[memory->count++] = (rbt_impulse_note){from->pairs[i].key, from->pairs[i].force};
    memcpy(notes + note_capacity(m), from->force, 3 * m->node_count * sizeof(double));
}

void rbt_impulses_energies(const rbt_impulse_memory *memory, rbt_energies *e) {
    e->contact = 0;
    e->total = e->kinetic + e->elastic + e->gravity;
    if (!memory) return;
    e->work = memory->work;
    e->friction = memory->dissipation;
}

void rbt_impulses_add_forces(const rbt_model *m, const rbt_impulse_memory *memory, double *f) {
    const double *forces = (const double *)(read_notes(memory) + note_capacity(m));
    for (size_t i = 0; i < 3 * m->node_count; i++) f[i] += forces[i];
}

void rbt_impulses_forces(const rbt_impulses *s, const rbt_model *m, const rbt_impulse_memory *memory,
                         const rbt_state *state, double *f) {
    if (!s) rbt_force_contact(m, state->x, f, NULL);
    else if (memory) rbt_impulses_add_forces(m, memory, f);
}

bool rbt_impulses_accept(rbt_impulses *s, const rbt_state *state, char *text, size_t size) {
    return !s || rbt_step_contact_is_apart(s->contact, state->t, state->x, text, size);
}

double rbt_impulses_thickness(const rbt_impulses *s) { return s ? s->contact->thickness : 0; }

static int side_of(const rbt_step_contact *c, int32_t node) {
    return c->surface.obstacle[node] >= 0 ? -1 - c->surface.obstacle[node] : c->model->node_body[node];
}

static void point_of(const rbt_step_contact *c, const rbt_impulse_note *note, const double *x,
                     rbt_contact_point *to) {
    rbt_touch_kind kind = rbt_pair_key_kind(note->key);
    int first = rbt_pair_first(kind), count = rbt_pair_corners(kind);
    int32_t node[4] = {-1, -1, -1, -1};
    double corners[12];
    rbt_gap gap;
    rbt_pair_nodes(&c->primitives, note->key, node);
    for (int k = count; k < 4; k++) node[k] = -1;
    rbt_contact_gather(node, x, corners);
    rbt_gap_measure_any(kind, corners,
                        kind == RBT_TOUCH_WALL ? c->primitives.def.walls[note->key & 0x3fffffff].normal : NULL, &gap);
    *to = (rbt_contact_point){.count_a = first,
                              .count_b = count - first,
                              .gap = gap.distance - rbt_pair_inside(&c->primitives, note->key, node),
                              .force = note->force,
                              .body_a = side_of(c, node[0]),
                              .body_b = side_of(c, node[count - 1])};
    memcpy(to->nodes, node, sizeof to->nodes);
    memcpy(to->normal, gap.normal, sizeof to->normal);
    for (int k = 0; k < first; k++) rbt_add_scaled(to->point, -gap.weight[k], corners + 3 * k);
    rbt_add_scaled(to->point, 0.5 * gap.distance, gap.normal);
}

size_t rbt_impulses_points(rbt_impulses *s, const rbt_impulse_memory *memory, const rbt_state *state,
                           rbt_contact_point *points, size_t capacity) {
    rbt_step_contact *c = s->contact;
    memcpy(c->motion, state->x, 3 * c->model->node_count * sizeof(double));
    rbt_model_surface_place(&c->surface, state->t, c->motion);
    for (size_t i = 0; i < memory->count && i < capacity; i++)
        point_of(c, &read_notes(memory)[i], c->motion, &points[i]);
    return memory->count;
}

void rbt_impulses_describe(const rbt_impulses *s, rbt_text *json) {
    rbt_step_contact_describe(s->contact, json);
    rbt_text_add(json,
                 ", \"impulses\": {\"rounds\": %zu, \"sweeps\": %zu, \"newtons\": %zu, "
                 "\"most_nodes\": %zu}",
                 s->rounds, s->sweeps, s->newtons, s->most_nodes);
}
