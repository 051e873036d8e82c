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
        rbt_state_free(state);
        return false;
    }
    memcpy(state->x, model->x0, values * sizeof(double));
    memcpy(state->v, model->v0, values * sizeof(double));
    return true;
}

void rbt_state_free(rbt_state *state) {
    free(state->x);
    free(state->v);
    free(state->memory);
    free(state->cuts);
    *state = (rbt_state){0};
}

rbt_energies rbt_model_energies(const rbt_model *m, const rbt_state *state, double *energies) {
    rbt_energies e = {0};
    for (size_t n = 0; n < m->node_count; n++) {
        const double *x = state->x + 3 * n, *v = state->v + 3 * n;
        double spin[3];
        bool lumped = !m->bodies[m->node_body[n]].consistent_mass;
        if (lumped) e.kinetic += 0.5 * m->mass[n] * rbt_dot(v, v);
        e.gravity -= m->mass[n] * rbt_dot(m->gravity, x);
        if (m->node_area[n] > 0) e.contact += rbt_obstacles_node(&m->obstacles, x, m->node_area[n], NULL, NULL);
        rbt_cross(x, v, spin);
        rbt_add_scaled(e.momentum, m->mass[n], v);
        if (lumped) rbt_add_scaled(e.angular_momentum, m->mass[n], spin);
    }
    e.kinetic += rbt_mass_consistent_kinetic(m, state->x, state->v, e.angular_momentum);
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
