#include "step/implicit/midpoint.h"

#include "math/vec3.h"
#include "math/vector.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Of the kinetic and elastic energy: what a step of the midpoint rule may gain by itself.
static const double GAIN_SHARE = 0.1;

static double kinetic_energy(const rbt_model *m, const double *v) {
    double sum;
    rbt_terms terms;
    rbt_terms_begin(&terms, 1);
    for (size_t n = 0; n < m->node_count; n++)
        if (rbt_ranks_owns(m, n)) terms.value[0][rbt_terms_next(&terms)] = m->mass[n] * rbt_dot(v + 3 * n, v + 3 * n);
    rbt_terms_end(&terms, m, &sum);
    return 0.5 * sum;
}

rbt_outcome rbt_midpoint_check_gain(rbt_implicit *s, rbt_state *state, rbt_step_report *report) {
    rbt_objective *o = &s->objective;
    const rbt_model *m = o->model;
    const double *x = s->base, *y = state->x;
    double before = rbt_energy_elastic(m, x, o->energies), after = rbt_energy_elastic(m, y, o->energies);
    memset(o->force, 0, 3 * m->node_count * sizeof *o->force);
    rbt_force_elastic(m, s->z, NULL, o->partial, o->force);
    rbt_vector_combine(3 * m->node_count, o->product, y, -1, x);
    double given = -rbt_ranks_dot(m, o->force, o->product);
    double gain = fmax(0, after - before - given);
    if (o->pairs) gain += rbt_contact_balance(o->pairs, s->stored, state->v);
    double first = kinetic_energy(m, s->velocity) + before, last = kinetic_energy(m, state->v) + after - gain;
    double rounding = rbt_objective_rounding(o, 0) / (o->tau * o->tau);
    if (gain <= GAIN_SHARE * fmax(first, last) + rounding) return RBT_DONE;
    report->body = report->element = -1;
    report->element_kind = NULL;
    snprintf(
        report->hint, sizeof report->hint,
        "at %g s the midpoint rule would gain %.3g J in a step, where the bodies have %.3g J; take a smaller step or "
        "backward-euler",
        state->t, gain, fmax(first, last));
    return RBT_UNSTABLE;
}

// Of the midpoint rule: e_v = h^3/24 v''' - h M^-1 (f(z) - f(z - h^2/8 x'')), f the elastic forces. h^3/12 v''' is
// there, whose sign is the other one.
int rbt_midpoint_refine_error(void *self, const rbt_state *state, double h, int order, double *ex, double *ev) {
    rbt_implicit *s = self;
    rbt_objective *o = &s->objective;
    const rbt_model *m = o->model;
    size_t values = 3 * m->node_count;
    (void)ex;
    if (s->damped) return order;
    for (size_t i = 0; i < values; i++) {
        s->other[i] = s->z[i] - (o->constrained[i / 3] ? 0 : h / 8 * (state->v[i] - s->velocity[i]));
        o->force[i] = o->product[i] = 0;
    }
    rbt_force_elastic(m, s->z, NULL, o->partial, o->force);
    rbt_force_elastic(m, s->other, NULL, o->partial, o->product);
    for (size_t i = 0; i < values; i++) {
        double mass = m->mass[i / 3];
        ev[i] = 0.5 * ev[i] - (mass > 0 ? h * (o->force[i] - o->product[i]) / mass : 0);
    }
    return order;
}
