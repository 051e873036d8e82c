// The state of a model, and what can be measured on it.
#include "math/vec3.h"
#include "model/force.h"
#include "model/mass.h"

#include <string.h>

bool rbt_state_init(rbt_state *state, const rbt_model *model, rbt_error *error) {
    *state = (rbt_state){.node_count = model->node_count};
    size_t values = 3 * model->node_count;
    state->x = rbt_array_new(values, sizeof(double), "positions", error);
    state->v = rbt_array_new(values, sizeof(double), "velocities", error);
    if (!state->x || !state->v) {
        rbt_state_clear(state);
        return false;
    }
    memcpy(state->x, model->x0, values * sizeof(double));
    memcpy(state->v, model->v0, values * sizeof(double));
    return true;
}

void rbt_state_clear(rbt_state *state) {
    free(state->x);
    free(state->v);
    free(state->memory);
    free(state->cuts);
    free(state->input);
    free(state->watch);
    *state = (rbt_state){0};
}

static bool copy_bytes(void **to, size_t *size, const void *from, size_t bytes, const char *what, rbt_error *error) {
    if (*size != bytes) {
        free(*to);
        *size = 0;
        *to = bytes ? rbt_array_new(bytes, 1, what, error) : NULL;
        if (bytes && !*to) return false;
        *size = bytes;
    }
    if (bytes) memcpy(*to, from, bytes);
    return true;
}

bool rbt_state_copy(rbt_state *to, const rbt_state *from, rbt_error *error) {
    rbt_state next = *from;
    size_t bytes = 3 * from->node_count * sizeof(double), x_size = 3 * to->node_count * sizeof(double),
           v_size = x_size;
    void *x = to->x, *v = to->v;
    bool good = copy_bytes(&x, &x_size, from->x, bytes, "positions", error) &
                copy_bytes(&v, &v_size, from->v, bytes, "velocities", error) &
                copy_bytes(&to->memory, &to->memory_size, from->memory, from->memory_size, "memory", error) &
                copy_bytes(&to->cuts, &to->cuts_size, from->cuts, from->cuts_size, "cuts", error) &
                copy_bytes(&to->input, &to->input_size, from->input, from->input_size, "forces", error);
    next.x = x, next.v = v, next.memory = to->memory, next.cuts = to->cuts, next.input = to->input;
    next.watch = to->watch, next.watch_size = to->watch_size;
    *to = next;
    if (!good) rbt_state_clear(to);
    return good;
}

bool rbt_state_has_room(const rbt_state *to, const rbt_state *from) {
    return to->node_count == from->node_count && to->memory_size == from->memory_size &&
           to->cuts_size == from->cuts_size && to->input_size == from->input_size;
}

bool rbt_state_reserve_watch(rbt_state *state, size_t bytes, rbt_error *error) {
    if (state->watch_size == bytes) return true;
    free(state->watch);
    state->watch_size = 0;
    state->watch = rbt_array_new(bytes, 1, "a state", error);
    if (state->watch) state->watch_size = bytes;
    return state->watch;
}

double rbt_model_diagonal(const rbt_model *m) {
    double most[6], across[3];  // of x, and of -x
    for (size_t i = 0; i < 6; i++) most[i] = -INFINITY;
    for (size_t i = 0; i < 3 * m->node_count; i++) {
        most[i % 3] = fmax(most[i % 3], m->x0[i]);
        most[3 + i % 3] = fmax(most[3 + i % 3], -m->x0[i]);
    }
    rbt_ranks_most(m, most, 6);
    for (size_t i = 0; i < 3; i++) across[i] = most[i] + most[3 + i];
    return m->node_count ? rbt_length(across) : 0;
}

double rbt_model_tet_energy(const rbt_model *m, size_t t) {
    const int32_t *n = m->tets + 4 * t;
    const rbt_material_def *material = &m->regions[m->tet_region[t]].material;
    double nu = material->poisson, modulus = material->young * (1 - nu) / ((1 + nu) * (1 - 2 * nu));
    double volume = rbt_tet_volume(m->X + 3 * (size_t)n[0], m->X + 3 * (size_t)n[1], m->X + 3 * (size_t)n[2],
                                   m->X + 3 * (size_t)n[3]);
    return fabs(modulus * volume);
}

double rbt_model_energy_rounding(const rbt_model *m) {
    double sum = m->sheet_energy;
    for (size_t t = 0; t < m->tet_count; t++) sum += rbt_model_tet_energy(m, t);
    return 1e-14 * sum;
}

rbt_energies rbt_model_energies(const rbt_model *m, const rbt_state *state, rbt_sum *energies) {
    enum { KINETIC, GRAVITY, CONTACT, MOMENTUM, ANGULAR = MOMENTUM + 3, TERMS = ANGULAR + 3 };
    rbt_energies e = {0};
    rbt_terms terms;
    double total[TERMS];
    rbt_terms_begin(&terms, TERMS);
    for (size_t n = 0; n < m->node_count; n++) {
        const double *x = state->x + 3 * n, *v = state->v + 3 * n;
        double spin[3];
        if (!rbt_ranks_owns(m, n)) continue;
        size_t at = rbt_terms_next(&terms);
        bool lumped = !m->bodies[m->node_body[n]].consistent_mass;
        terms.value[KINETIC][at] = lumped ? 0.5 * m->mass[n] * rbt_dot(v, v) : 0;
        terms.value[GRAVITY][at] = -m->mass[n] * rbt_dot(m->gravity, x);
        terms.value[CONTACT][at] =
            m->node_area[n] > 0 ? rbt_obstacles_node(&m->obstacles, x, m->node_area[n], NULL, NULL) : 0;
        rbt_cross(x, v, spin);
        for (size_t k = 0; k < 3; k++) {
            terms.value[MOMENTUM + k][at] = m->mass[n] * v[k];
            terms.value[ANGULAR + k][at] = lumped ? m->mass[n] * spin[k] : 0;
        }
    }
    rbt_mass_consistent_kinetic(m, state->x, state->v, &terms, KINETIC, ANGULAR);
    rbt_terms_end(&terms, m, total);
    e.kinetic = total[KINETIC];
    e.gravity = total[GRAVITY];
    e.contact = total[CONTACT];
    memcpy(e.momentum, total + MOMENTUM, sizeof e.momentum);
    memcpy(e.angular_momentum, total + ANGULAR, sizeof e.angular_momentum);
    e.elastic = rbt_energy_elastic(m, state->x, energies);
    e.total = e.kinetic + e.elastic + e.gravity + e.contact;
    e.work = NAN;
    return e;
}

void rbt_model_von_mises(const rbt_model *m, const double *x, double *stress) {
    for (size_t g = 0; g < m->group_count; g++)
        if (m->groups[g].type == &RBT_TETS) rbt_tet_group_von_mises(&m->groups[g], x, stress);
}

void rbt_model_shell_von_mises(const rbt_model *m, const double *x, double *stress) {
    memset(stress, 0, m->triangle_count * sizeof *stress);
    for (size_t g = 0; g < m->group_count; g++)
        if (m->groups[g].type == &RBT_MEMBRANES) rbt_membrane_group_von_mises(&m->groups[g], x, stress);
}

const char *rbt_body_element(const rbt_body *body) {
    static const char *const names[RBT_BODY_KINDS] = {"tet", "triangle", "edge", "particle"};
    return names[body->kind];
}

size_t rbt_body_element_count(const rbt_body *body) {
    switch (body->kind) {
    case RBT_SHELL: return body->triangle_end - body->triangle_begin;
    case RBT_PARTICLES: return body->node_end - body->node_begin;
    case RBT_NET: return body->edge_end - body->edge_begin;
    default: return body->tet_end - body->tet_begin;
    }
}
