// The state of a model, and what can be measured on it.
#include "math/vec3.h"
#include "model/force.h"

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
    *state = (rbt_state){0};
}

rbt_energies rbt_model_energies(const rbt_model *m, const rbt_state *state) {
    rbt_energies e = {0};
    for (size_t n = 0; n < m->node_count; n++) {
        const double *x = state->x + 3 * n, *v = state->v + 3 * n;
        double spin[3];
        e.kinetic += 0.5 * m->mass[n] * rbt_dot(v, v);
        e.gravity -= m->mass[n] * rbt_dot(m->gravity, x);
        if (m->node_area[n] > 0) e.contact += rbt_obstacles_node(&m->obstacles, x, m->node_area[n], NULL, NULL);
        rbt_cross(x, v, spin);
        rbt_add_scaled(e.momentum, m->mass[n], v);
        rbt_add_scaled(e.angular_momentum, m->mass[n], spin);
    }
    double *energies = calloc(m->plan.chunk_count + 1, sizeof *energies);
    e.elastic = energies ? rbt_energy_elastic(m, state->x, energies) : NAN;
    free(energies);
    e.total = e.kinetic + e.elastic + e.gravity + e.contact;
    return e;
}

void rbt_model_von_mises(const rbt_model *m, const double *x, double *stress) {
    for (size_t g = 0; g < m->group_count; g++)
        if (m->groups[g].type == &RBT_TETS) rbt_tet_group_von_mises(&m->groups[g], x, stress);
}
