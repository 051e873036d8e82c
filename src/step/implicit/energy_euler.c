#include "step/implicit/energy_euler.h"

#include <math.h>
#include <stdio.h>

// Of energy-euler where something touches. An impact shorter than a few steps leaves most of its energy in vibrations
// faster than steps can tell, which hold it for good at 1/2; here they lose two thirds of it in each step, and the
// energy goes to the motion that can be told: a ball bounces on.
static const double TOUCHING_IMPLICITNESS = 0.75;

double rbt_energy_euler_whole(const rbt_implicit *s) { return isnan(s->theta) ? TOUCHING_IMPLICITNESS : s->theta; }

bool rbt_energy_euler_init(rbt_implicit *s, const void *options, rbt_error *error) {
    rbt_energy_euler_options standard = rbt_energy_euler_options_default();
    const rbt_energy_euler_options *own = options ? options : &standard;
    if (s->rule != RBT_RULE_ENERGY_EULER) return true;
    s->theta = own->implicitness;
    s->kept = own->energy == RBT_ENERGY_KEPT;
    const rbt_model *m = s->objective.model;
    for (size_t b = 0; b < m->body_count; b++) {
        char path[64];
        if (!m->bodies[b].consistent_mass) continue;
        snprintf(path, sizeof path, "bodies[%zu].consistent_mass", b);
        return rbt_fail_path(
            error, NULL, path,
            "energy-euler keeps the momenta of masses on nodes; leave \"consistent_mass\" out, or take "
            "implicit-midpoint");
    }
    return rbt_energy_leash_init(&s->leash, &s->objective, own->decay, error);
}

static bool touches_penalty(const rbt_objective *o, const double *x) {
    const rbt_model *m = o->model;
    for (size_t n = 0; o->contact && n < m->node_count; n++)
        if (m->node_area[n] > 0 && rbt_obstacles_node(&m->obstacles, x + 3 * n, m->node_area[n], NULL, NULL) > 0)
            return true;
    return false;
}

void rbt_energy_euler_choose(rbt_implicit *s, const rbt_state *state, bool damped) {
    const rbt_objective *o = &s->objective;
    if (s->rule != RBT_RULE_ENERGY_EULER) return;
    bool touches = (o->pairs && o->pairs->active_count) || touches_penalty(o, state->x);
    s->theta_now = !isnan(s->theta) ? s->theta : touches ? TOUCHING_IMPLICITNESS : 0.5;
    if (damped) s->theta_now = 1;
}

void rbt_energy_euler_update(rbt_implicit *s, rbt_state *state, double h) {
    const rbt_objective *o = &s->objective;
    double theta = s->theta_now;
    rbt_energy_leash_forces(&s->leash, state->x, s->other);
    for (size_t i = 0; theta < 1 && i < 3 * state->node_count; i++)
        if (!o->constrained[i / 3])
            state->v[i] = s->velocity[i] + (state->x[i] - s->base[i] - h * s->velocity[i]) / (theta * h) +
                          (1 - theta) * h * s->other[i];
}
