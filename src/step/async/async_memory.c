// What the memory of a state holds of async-contact: positions, velocities and ticks of the tracks, work, and how far
// hinges have flowed.
#include "step/async/async_stepper.h"

#include <string.h>

size_t rbt_async_memory_size(const rbt_model *m) {
    return sizeof(rbt_async_head) + 7 * m->node_count * sizeof(double) + rbt_clocks_memory(m) * sizeof(double);
}

int64_t rbt_async_ticks_of(const rbt_async_stepper *s, double t) {
    double steps = t / s->model->step, whole = nearbyint(steps);
    if (fabs(steps - whole) <= 1e-6 * fmax(1, 1e-6 * whole)) return (int64_t)whole << RBT_TICK_BITS;
    double below = floor(steps);
    return ((int64_t)below << RBT_TICK_BITS) + (int64_t)nearbyint(ldexp(steps - below, RBT_TICK_BITS));
}

double rbt_async_time_of(const rbt_async_stepper *s, int64_t t) { return rbt_clocks_time(&s->clocks, &s->tracks, t); }

typedef struct memory_parts {
    rbt_async_head *head;
    double *x, *v, *flow;
    int64_t *t;
} memory_parts;

static memory_parts parts_of(const rbt_async_stepper *s, const rbt_state *state) {
    size_t n = s->model->node_count;
    memory_parts p = {.head = state->memory};
    p.x = (double *)(p.head + 1);
    p.v = p.x + 3 * n;
    p.t = (int64_t *)(void *)(p.v + 3 * n);
    p.flow = (double *)(void *)(p.t + n);
    return p;
}

static bool same_memory(const rbt_async_stepper *s, const memory_parts *p) {
    size_t n = s->model->node_count;
    return memcmp(p->head, &s->head, sizeof s->head) == 0 && memcmp(p->t, s->tracks.t, n * sizeof *p->t) == 0 &&
           memcmp(p->x, s->tracks.x, 3 * n * sizeof *p->x) == 0 &&
           memcmp(p->v, s->tracks.v, 3 * n * sizeof *p->v) == 0 &&
           memcmp(p->flow, s->flow, s->clocks.memory_count * sizeof *p->flow) == 0;
}

void rbt_async_drive(rbt_async_stepper *s, int64_t t) {
    t = t >> RBT_TICK_BITS << RBT_TICK_BITS;
    rbt_async_surface_drive(&s->surface, &s->tracks, t, rbt_async_time_of(s, t), s->model->step);
}

bool rbt_async_load(rbt_async_stepper *s, const rbt_state *state) {
    size_t n = s->model->node_count;
    memory_parts p = parts_of(s, state);
    int64_t t = rbt_async_ticks_of(s, state->t);
    if (s->synchronised && s->end == t && same_memory(s, &p)) return true;
    s->head = *p.head;
    bool stored = s->head.step == s->model->step;
    memcpy(s->tracks.x, stored ? p.x : state->x, 3 * n * sizeof *p.x);
    memcpy(s->tracks.v, stored ? p.v : state->v, 3 * n * sizeof *p.v);
    memcpy(s->flow, p.flow, s->clocks.memory_count * sizeof *p.flow);
    rbt_clocks_recall(&s->clocks, s->flow);
    for (size_t i = 0; i < n; i++) s->tracks.t[i] = stored ? p.t[i] : t;
    if (s->touching) rbt_async_drive(s, t);
    if (!stored) s->head = (rbt_async_head){.step = s->model->step, .work = s->head.work};
    s->now = s->next = t - 1;
    s->end = t;
    s->synchronised = true;
    rbt_constrained_nodes(s->model, rbt_async_time_of(s, t), s->clocks.constrained);
    for (size_t i = 0; i < n; i++) s->tracks.inverse_mass[i] = s->clocks.constrained[i] ? 0 : 1 / s->model->mass[i];
    if (!s->touching) return true;
    s->contact.stall.found = s->contact.out_of_memory = s->slow = false;
    s->step = -1;
    s->synchronised = rbt_contact_window(&s->contact, t);
    return s->synchronised;
}

void rbt_async_store(const rbt_async_stepper *s, rbt_state *state, int64_t end) {
    size_t n = s->model->node_count;
    memory_parts p = parts_of(s, state);
    *p.head = s->head;
    memcpy(p.x, s->tracks.x, 3 * n * sizeof *p.x);
    memcpy(p.v, s->tracks.v, 3 * n * sizeof *p.v);
    memcpy(p.t, s->tracks.t, n * sizeof *p.t);
    memcpy(p.flow, s->flow, s->clocks.memory_count * sizeof *p.flow);
    memcpy(state->v, s->tracks.v, 3 * n * sizeof *p.v);
    for (size_t i = 0; i < n; i++) rbt_track_at(&s->tracks, i, end, state->x + 3 * i);
}
