#include "step/implicit/implicit_contact.h"

#include "math/vec3.h"
#include "step/contact/contact_multipliers.h"
#include "step/contact/contact_parts.h"

#include <string.h>

// ---- Memory

enum { PAIRS_PER_NODE = 4, MORE_PAIRS = 4096 };  // multipliers that there is room for

static size_t plain_size(const rbt_model *m) {
    return sizeof(rbt_contact_memory) + 3 * m->node_count * sizeof(double);
}

// Of multipliers: some for each node of a surface
static size_t capacity_of(const rbt_model *m) {
    size_t nodes = 0;
    for (size_t n = 0; n < m->node_count; n++)
        nodes += m->node_area[n] > 0 || m->bodies[m->node_body[n]].kind != RBT_SOLID;
    return PAIRS_PER_NODE * nodes + MORE_PAIRS;
}

size_t rbt_contact_memory_size(const rbt_model *m) {
    if (!m->contact.on) return 0;
    if (!m->contact.augmented) return plain_size(m);
    return plain_size(m) + sizeof(rbt_multiplier_memory) + capacity_of(m) * sizeof(rbt_pair_force);
}

static rbt_multiplier_memory *multipliers_of(const rbt_step_contact *c, const rbt_contact_memory *memory) {
    return (void *)((char *)(uintptr_t)memory + plain_size(c->model));
}

// A state that comes from a file may hold anything.
static bool load(rbt_step_contact *c, const rbt_contact_memory *memory) {
    const rbt_multiplier_memory *m = memory ? multipliers_of(c, memory) : NULL;
    size_t count = m && m->count <= capacity_of(c->model) ? m->count : 0;
    for (size_t i = 0; i < count; i++)
        if ((i && m->pairs[i].key <= m->pairs[i - 1].key) || !(m->pairs[i].force >= 0) ||
            !isfinite(m->pairs[i].force) || !rbt_pair_key_is_sound(&c->primitives, m->pairs[i].key))
            count = 0;
    return rbt_multipliers_set(c, m ? m->pairs : NULL, count);
}

static bool is_prescribed(const rbt_step_contact *c, size_t node) {
    return node >= c->model->node_count || c->constrained[node];
}

static void moved(const rbt_step_contact *c, const int32_t node[4], double move[12]) {
    double from[12];
    rbt_contact_gather(node, c->y, move);
    rbt_contact_gather(node, c->x0, from);
    for (int k = 0; k < 12; k++) move[k] -= from[k];
}

void rbt_contact_remember(const rbt_step_contact *c, rbt_contact_memory *memory) {
    for (size_t n = 0; n < c->node_count; n++) {
        if (!is_prescribed(c, n)) continue;
        for (size_t k = 3 * n; k < 3 * n + 3; k++) memory->work -= c->force[k] * (c->y[k] - c->x0[k]);
    }
    if (c->augmented) {
        rbt_multiplier_memory *m = multipliers_of(c, memory);
        m->count = rbt_multipliers_get(c, m->pairs, capacity_of(c->model));
    }
    memset(memory->friction, 0, 3 * c->model->node_count * sizeof(double));
    for (size_t i = 0; i < c->rubbing_count; i++) {
        const rbt_rubbing_pair *pair = &c->rubbing[i];
        double move[12], gradient[12];
        moved(c, pair->node, move);
        rbt_pair_friction_gradient(&pair->friction, move, gradient);
        for (int k = 0; k < 12; k++) memory->dissipation += gradient[k] * move[k];
        for (int k = 0; k < 4; k++)
            if (pair->node[k] >= 0 && (size_t)pair->node[k] < c->model->node_count)
                rbt_add_scaled(memory->friction + 3 * (size_t)pair->node[k], -1, gradient + 3 * k);
    }
}

void rbt_contact_give(const rbt_step_contact *c, const rbt_contact_memory *memory, rbt_contact_handover *to) {
    const rbt_multiplier_memory *m = multipliers_of(c, memory);
    to->work = memory->work;
    to->dissipation = memory->dissipation;
    to->count = m->count < to->capacity ? m->count : to->capacity;
    memcpy(to->pairs, m->pairs, to->count * sizeof *to->pairs);
}

void rbt_contact_take(const rbt_step_contact *c, rbt_contact_memory *memory, const rbt_contact_handover *from) {
    rbt_multiplier_memory *m = multipliers_of(c, memory);
    size_t capacity = capacity_of(c->model);
    memory->work += from->work;
    memory->dissipation += from->dissipation;
    m->count = from->count < capacity ? from->count : capacity;
    memcpy(m->pairs, from->pairs, m->count * sizeof *m->pairs);
}

// ---- Energy that contact must not give

double rbt_contact_stored(const rbt_step_contact *c) {
    double sum = 0;
    if (c->augmented) return 0;  // constraints store none
    for (size_t i = 0; i < c->active_count; i++) sum += c->active[i].value;
    return sum;
}

// [J] of a constraint, whose force has no energy to fall back on: what it does by making its gap wider
static double widened(const rbt_step_contact *c, const rbt_active_pair *active) {
    double corners[12];
    rbt_contact_gather(active->pair.node, c->y, corners);
    double force = rbt_pair_barrier_force(&active->pair.barrier, active->gap);
    return rbt_pair_barrier_share(&active->pair.barrier, corners) * force *
           (active->gap - rbt_contact_gap_of(&active->pair, c->x0));
}

// G of implicit_contact.h, without friction
static double gained(const rbt_step_contact *c, double before) {
    double sum = rbt_contact_stored(c) - before, move[12];
    for (size_t i = 0; i < c->active_count; i++) {
        moved(c, c->active[i].pair.node, move);
        for (int k = 0; k < 12; k++) sum -= c->gradients[12 * i + (size_t)k] * move[k];
        if (c->augmented) sum -= widened(c, &c->active[i]);
    }
    return sum;
}

// d (all nodes x 3): the change of velocity for s = 1
static void find_brake(const rbt_step_contact *c, double *d) {
    memset(d, 0, 3 * c->node_count * sizeof *d);
    for (size_t i = 0; i < c->active_count; i++) {
        const rbt_contact_pair *pair = &c->active[i].pair;
        double corners[12], move[12], slip[3] = {0};
        rbt_gap_shape shape;
        rbt_contact_gather(pair->node, c->y, corners);
        double force = rbt_pair_barrier_contact(&pair->barrier, corners, &shape);
        int count = rbt_pair_corners(pair->barrier.kind);
        moved(c, pair->node, move);
        for (int k = 0; k < count; k++) rbt_add_scaled(slip, shape.gap.weight[k], move + 3 * k);
        rbt_add_scaled(slip, -rbt_dot(slip, shape.gap.normal), shape.gap.normal);
        for (int k = 0; k < count; k++) {
            size_t n = (size_t)pair->node[k];
            if (!is_prescribed(c, n) && c->model->mass[n] > 0)
                rbt_add_scaled(d + 3 * n, -c->h * force * shape.gap.weight[k] / c->model->mass[n], slip);
        }
    }
}

double rbt_contact_balance(const rbt_step_contact *c, double before, double *v) {
    double gain = gained(c, before), *d = c->motion, along = 0, square = 0;
    if (!(gain > 0) || !c->active_count) return 0;
    find_brake(c, d);
    for (size_t i = 0; i < 3 * c->model->node_count; i++) {
        along += c->model->mass[i / 3] * v[i] * d[i];
        square += 0.5 * c->model->mass[i / 3] * d[i] * d[i];
    }
    if (!(square > 0)) return 0;  // no free node slips
    if (!(along < 0)) return gain;
    // square s^2 + along s + gain = 0, or as little energy as there can be
    double root = along * along - 4 * square * gain,
           s = root > 0 ? 2 * gain / (sqrt(root) - along) : -along / (2 * square);
    for (size_t i = 0; i < 3 * c->model->node_count; i++) v[i] += s * d[i];
    return fmax(0, gain + s * (along + s * square));
}

// ---- Questions about a state

bool rbt_contact_look(rbt_step_contact *c, const rbt_state *state, const rbt_contact_memory *memory) {
    return (!c->augmented || load(c, memory)) && rbt_step_contact_look(c, state->t, state->x);
}

static int side_of(const rbt_step_contact *c, int32_t node) {
    return c->surface.obstacle[node] >= 0 ? -1 - c->surface.obstacle[node] : c->model->node_body[node];
}

static void point_of(const rbt_step_contact *c, const rbt_active_pair *active, double force, rbt_contact_point *to) {
    const int32_t *node = active->pair.node;
    double corners[12];
    rbt_gap_shape shape;
    rbt_contact_gather(node, c->y, corners);
    rbt_pair_barrier_contact(&active->pair.barrier, corners, &shape);
    rbt_touch_kind kind = active->pair.barrier.kind;
    int first = rbt_pair_first(kind), count = rbt_pair_corners(kind);
    *to = (rbt_contact_point){.count_a = first,
                              .count_b = count - first,
                              .gap = shape.gap.distance - rbt_pair_inside(&c->primitives, active->pair.key, node),
                              .force = force,
                              .body_a = side_of(c, node[0]),
                              .body_b = side_of(c, node[count - 1])};
    memcpy(to->nodes, node, sizeof to->nodes);
    memcpy(to->normal, shape.gap.normal, sizeof to->normal);
    for (int k = 0; k < first; k++) rbt_add_scaled(to->point, -shape.gap.weight[k], corners + 3 * k);
    rbt_add_scaled(to->point, 0.5 * shape.gap.distance, shape.gap.normal);
}

size_t rbt_contact_points(rbt_step_contact *c, const rbt_state *state, const rbt_contact_memory *memory,
                          rbt_contact_point *points, size_t capacity) {
    size_t count = 0;
    if (!rbt_contact_look(c, state, memory) || !rbt_step_contact_normal_forces(c)) return 0;
    for (size_t i = 0; i < c->active_count; i++) {
        if (!(c->lagged[i] > 0)) continue;
        if (count < capacity) point_of(c, &c->active[i], c->lagged[i], &points[count]);
        count++;
    }
    return count;
}

void rbt_contact_add_forces(rbt_step_contact *c, const rbt_state *state, const rbt_contact_memory *memory,
                            double *f) {
    if (!rbt_contact_look(c, state, memory)) return;
    for (size_t i = 0; i < 3 * c->model->node_count; i++) f[i] += c->force[i] + (memory ? memory->friction[i] : 0);
}

double rbt_contact_energy_at(rbt_step_contact *c, const rbt_state *state, const rbt_contact_memory *memory) {
    return rbt_contact_look(c, state, memory) ? rbt_contact_stored(c) : NAN;
}
