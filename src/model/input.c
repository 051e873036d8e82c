#include "model/input.h"

#include "math/quaternion.h"
#include "math/vec3.h"
#include "model/materials.h"

#include <string.h>

typedef struct rbt_input_head {
    uint64_t node_count, guide_count, drag_count, region_count, body_count;
    uint64_t has_materials;
    double events;  // [s]
} rbt_input_head;

static size_t guide_count(const rbt_model *m) { return m->input->group_count + m->input->obstacle_count; }

// All but the forces
static size_t front_size(const rbt_model *m) {
    return sizeof(rbt_input_head) + guide_count(m) * sizeof(rbt_guide) + m->drag_count * sizeof(rbt_drag_spring) +
           m->region_count * sizeof(rbt_elasticity) + m->body_count * sizeof(rbt_damping_def);
}

static size_t block_size(const rbt_model *m) { return front_size(m) + 3 * m->node_count * sizeof(double); }

// ---- Guides

// ---- The block

rbt_guide *rbt_input_guide(const rbt_state *state, size_t number) {
    return (rbt_guide *)(void *)((char *)state->input + sizeof(rbt_input_head)) + number;
}

double *rbt_input_forces(const rbt_state *state) {
    const rbt_input_head *head = state->input;
    return (double *)(void *)(rbt_input_materials(state).damping + head->body_count);
}

rbt_drag_spring *rbt_input_springs(const rbt_state *state) {
    const rbt_input_head *head = state->input;
    return (rbt_drag_spring *)(void *)rbt_input_guide(state, head->guide_count);
}

rbt_material_values rbt_input_materials(const rbt_state *state) {
    const rbt_input_head *head = state->input;
    rbt_elasticity *regions = (rbt_elasticity *)(void *)(rbt_input_springs(state) + head->drag_count);
    return (rbt_material_values){regions, (rbt_damping_def *)(void *)(regions + head->region_count)};
}

bool rbt_input_drags(const rbt_state *state) {
    const rbt_input_head *head = state->input;
    for (size_t i = 0; state->input_size && i < head->drag_count; i++)
        if (rbt_input_springs(state)[i].stiffness > 0) return true;
    return false;
}

bool rbt_input_has_materials(const rbt_state *state) {
    return state->input_size && ((const rbt_input_head *)state->input)->has_materials;
}

void rbt_input_set_materials(const rbt_state *state, bool own) {
    ((rbt_input_head *)state->input)->has_materials = own;
}

double rbt_input_events(const rbt_state *state) {
    return state->input_size ? ((const rbt_input_head *)state->input)->events : -INFINITY;
}

void rbt_input_set_events(const rbt_state *state, double t) { ((rbt_input_head *)state->input)->events = t; }

bool rbt_input_make(const rbt_model *m, rbt_state *state, rbt_error *error) {
    if (state->input_size) return true;
    void *block = rbt_array_new(1, block_size(m), "forces", error);
    if (!block) return false;
    state->input = block;
    state->input_size = block_size(m);
    *(rbt_input_head *)block = (rbt_input_head){.node_count = m->node_count,
                                                .guide_count = guide_count(m),
                                                .drag_count = m->drag_count,
                                                .region_count = m->region_count,
                                                .body_count = m->body_count,
                                                .events = -INFINITY};
    for (size_t i = 0; i < guide_count(m); i++) rbt_input_guide(state, i)->turn[0] = 1;
    rbt_material_values values = rbt_input_materials(state);
    rbt_materials_get(m, &values);
    return true;
}

bool rbt_input_follow(const rbt_model *m, rbt_state *state, rbt_error *error) {
    rbt_state next = {0};
    if (!state->input_size) return true;
    if (!rbt_input_make(m, &next, error)) return false;
    memcpy(next.input, state->input, front_size(m));
    ((rbt_input_head *)next.input)->node_count = m->node_count;
    free(state->input);
    state->input = next.input;
    state->input_size = next.input_size;
    return true;
}

bool rbt_input_extend(const rbt_model *m, rbt_state *state, rbt_error *error) {
    if (!state->input_size) return true;
    const rbt_input_head *head = state->input;
    if (head->drag_count > m->drag_count)
        return rbt_fail(error, "the scene has fewer things that can be dragged than before");
    size_t more = (m->drag_count - head->drag_count) * sizeof(rbt_drag_spring);
    size_t kept = (size_t)((char *)(void *)rbt_input_materials(state).regions - (char *)state->input);
    char *block = rbt_array_new(1, state->input_size + more, "forces", error);
    if (!block) return false;
    memcpy(block, state->input, kept);
    memcpy(block + kept + more, (char *)state->input + kept, state->input_size - kept);
    ((rbt_input_head *)(void *)block)->drag_count = m->drag_count;
    free(state->input);
    state->input = block;
    state->input_size += more;
    return true;
}

void rbt_input_attach(const rbt_model *m, const rbt_state *state) {
    rbt_input *input = m->input;
    input->force = input->given = NULL;
    for (size_t i = 0; i < guide_count(m); i++) input->guides[i] = NULL;
    if (!state->input_size) return;
    const double *force = rbt_input_forces(state);
    for (size_t i = 0; !input->force && i < 3 * m->node_count; i++)
        if (force[i] != 0) input->force = input->given = force;
    for (size_t i = 0; i < guide_count(m); i++)
        if (rbt_input_guide(state, i)->used) input->guides[i] = rbt_input_guide(state, i);
}

void rbt_input_act(const rbt_model *m, const rbt_state *state, double h, double *force) {
    const rbt_drag_spring *springs = rbt_input_springs(state);
    memcpy(force, rbt_input_forces(state), 3 * m->node_count * sizeof *force);
    for (size_t k = 0; k < m->drag_count; k++) {
        const rbt_drag_target *target = &m->drag_targets[k];
        if (!(springs[k].stiffness > 0)) continue;
        double away[3] = {springs[k].point[0], springs[k].point[1], springs[k].point[2]};
        for (size_t i = 0; i < target->node_count; i++) {
            size_t n = (size_t)target->nodes[i];
            double share = m->mass[n] / target->mass;
            rbt_add_scaled(away, -share, state->x + 3 * n);
            rbt_add_scaled(away, -share * h / 2, state->v + 3 * n);
        }
        for (size_t i = 0; i < target->node_count; i++) {
            size_t n = (size_t)target->nodes[i];
            rbt_add_scaled(force + 3 * n, springs[k].stiffness * m->mass[n] / target->mass, away);
        }
    }
    m->input->force = force;
}

static bool is_sound(const rbt_guide *g) {
    double sum = 0, square = 0;
    for (int i = 0; i < 4; i++) square += g->turn[i] * g->turn[i];
    for (int i = 0; i < 3; i++) sum += g->offset[i] + g->velocity[i] + g->spin[i] + g->about[i];
    return isfinite(sum) && fabs(square - 1) < 1e-6 && isfinite(g->from) && g->until >= g->from;
}

bool rbt_input_is_sound(const rbt_model *m, const void *bytes, size_t size) {
    const rbt_state view = {.input = (void *)(uintptr_t)bytes, .input_size = size};
    rbt_input_head head;
    if (size != block_size(m)) return false;
    memcpy(&head, bytes, sizeof head);
    if (head.node_count != m->node_count || head.guide_count != guide_count(m) || head.drag_count != m->drag_count ||
        head.region_count != m->region_count || head.body_count != m->body_count || head.has_materials > 1 ||
        isnan(head.events))
        return false;
    for (size_t i = 0; i < head.drag_count; i++) {
        const rbt_drag_spring *s = &rbt_input_springs(&view)[i];
        if (!isfinite(s->point[0] + s->point[1] + s->point[2]) || !(s->stiffness >= 0 && isfinite(s->stiffness)))
            return false;
    }
    rbt_material_values values = rbt_input_materials(&view);
    if (!rbt_materials_are_sound(m, &values)) return false;
    for (size_t i = 0; i < head.guide_count; i++)
        if (!is_sound(rbt_input_guide(&view, i))) return false;
    for (size_t i = 0; i < 3 * m->node_count; i++)
        if (!isfinite(rbt_input_forces(&view)[i])) return false;
    return true;
}
