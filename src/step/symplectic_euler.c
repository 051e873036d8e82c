// Symplectic Euler: explicit, first order, conserves momenta, energy without drift while h < 2 / omega_max.
//   v+ = v + h M^-1 f(x, v, t),   x+ = x + h v+       (f: explicit.h)
#include "step/explicit.h"

static void destroy(void *self) {
    rbt_explicit_free(self);
    free(self);
}

static void *create(const rbt_model *model, int solver, const void *options, rbt_error *error) {
    (void)solver;
    (void)options;
    rbt_explicit *s = rbt_array_new(1, sizeof *s, "a stepper", error);
    if (s && rbt_explicit_init(s, model, "symplectic-euler", error)) return s;
    free(s);
    return NULL;
}

static rbt_outcome forces(rbt_explicit *s, const rbt_state *state) {
    rbt_explicit_external(s, state);
    rbt_explicit_elastic(s, state);
    rbt_explicit_contact_and_damping(s, state);
    return RBT_DONE;
}

static rbt_outcome update(rbt_explicit *s, rbt_state *state, double h, rbt_step_report *report) {
    rbt_explicit_velocities(s, state, h, NULL);
    for (size_t i = 0; i < 3 * s->model->node_count; i++) state->x[i] += h * state->v[i];
    return rbt_check_motion(s->model, state, h, report);
}

static rbt_outcome attempt(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    rbt_explicit *s = self;
    double h = rbt_step_length(s->model, state, until);
    RBT_STAGE("force", forces(s, state));              // f = f_ext - dW/dx - D v
    RBT_STAGE("update", update(s, state, h, report));  // v += h M^-1 f, x += h v
    return RBT_DONE;
}

const rbt_method RBT_SYMPLECTIC_EULER = {
    .name = "symplectic-euler",
    .doc = "explicit: forces at the start of the step, then new velocities move the nodes",
    .when = "small steps are no problem: soft bodies, coarse meshes, or a reference without numerical damping",
    .order = 1,
    .needs_lumped_mass = true,
    .keeps_angular_momentum = true,
    .create = create,
    .destroy = destroy,
    .attempt = attempt,
};
