// Symplectic Euler: explicit, first order, conserves momenta, energy without drift while h < 2 / omega_max.
//   v+ = v + h M^-1 f(x, v, t),   x+ = x + h v+       (f: explicit.h)
// Steps that are not stable even at rest and without contact (stability.h, with the damping) are refused. Nothing is
// said against steps that are only too long where an obstacle is touched, or where strains make the material stiffer,
// but in a warning.
#include "step/explicit/explicit.h"
#include "step/explicit/stability.h"

#include <stdio.h>

// The bound is found from below and has what it may be short by taken off: 0.1 % and epsilon = 0.04, of h^2 without
// damping and of h where damping alone decides. A step beyond it by more than that is not stable, whatever the bound
// was short by.
static const double CERTAIN = 1.05;

typedef struct symplectic_euler {
    rbt_explicit base;
    bool judged;  // what follows is known
    rbt_stable_steps steps;
} symplectic_euler;

static void destroy(void *self) {
    symplectic_euler *s = self;
    rbt_explicit_free(&s->base);
    free(s);
}

static void *create(const rbt_model *model, int solver, const void *options, rbt_error *error) {
    (void)solver;
    (void)options;
    symplectic_euler *s = rbt_array_new(1, sizeof *s, "a stepper", error);
    if (s && rbt_explicit_init(&s->base, model, "symplectic-euler", error)) return s;
    free(s);
    return NULL;
}

// ---- Whether the step is stable

static bool judge(symplectic_euler *s) {
    s->judged = s->judged || rbt_stability_judge(s->base.model, &s->steps);
    return s->judged;
}

static rbt_outcome refuse(symplectic_euler *s, double h, rbt_step_report *report) {
    if (!judge(s)) return RBT_OUT_OF_MEMORY;
    if (!(h > CERTAIN * s->steps.bound)) return RBT_DONE;
    report->body = s->steps.body;
    report->value = s->steps.bound;
    snprintf(report->hint, sizeof report->hint,
             "a step of %.4g s is longer than %.4g s, the longest that is stable for symplectic-euler (found at node "
             "%zu); take a smaller step, imex or an implicit method",
             h, s->steps.bound, s->steps.node);
    return RBT_UNSTABLE;
}

static bool warn(void *self, char text[320]) {
    symplectic_euler *s = self;
    const rbt_model *m = s->base.model;
    const rbt_stable_steps *steps = &s->steps;
    if (!judge(s) || !(m->step > steps->touching_bound) || m->step > CERTAIN * steps->bound) return false;
    bool at_rest = m->step > steps->bound;
    snprintf(
        text, 320,
        "symplectic-euler: a step of %.4g s is longer than %.4g s, the longest that is certain to be stable %s of "
        "body \"%.80s\"; it may gain energy: take a smaller step, imex or an implicit method",
        m->step, at_rest ? steps->bound : steps->touching_bound,
        at_rest ? "at the nodes" : "where obstacles touch nodes",
        m->bodies[at_rest ? steps->body : steps->touching_body].name);
    return true;
}

// ---- The step

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
    symplectic_euler *s = self;
    rbt_explicit *base = &s->base;
    double h = rbt_step_length(base->model, state, until);
    RBT_STAGE("stability", refuse(s, h, report));         // h <= 2 / omega_max
    RBT_STAGE("force", forces(base, state));              // f = f_ext - dW/dx - D v
    RBT_STAGE("update", update(base, state, h, report));  // v += h M^-1 f, x += h v
    return RBT_DONE;
}

static bool on_ranks(int solver, const void *options) {
    (void)solver;
    (void)options;
    return true;
}

static rbt_step_work work(int solver) {
    (void)solver;
    return (rbt_step_work){.gradients = 1};
}

// Strains stiffen materials
static double choose_step(const rbt_model *model, const void *options, rbt_error *error) {
    (void)options;
    size_t node;
    double bound = rbt_stability_step_bound(model, NULL, &node, error);
    if (isnan(bound)) return 0;
    return bound < INFINITY ? 0.7 * bound : model->frame_interval;
}

const rbt_method RBT_SYMPLECTIC_EULER = {
    .name = "symplectic-euler",
    .alone = "bodies do not know contact",
    .doc = "explicit: forces at the start of the step, then new velocities move the nodes",
    .when = "small steps are no problem: soft bodies, coarse meshes, or a reference without numerical damping",
    .cheap_steps = true,
    .order = 1,
    .needs_lumped_mass = true,
    .undamped = true,
    .keeps_angular_momentum = true,
    .work = work,
    .choose_step = choose_step,
    .create = create,
    .destroy = destroy,
    .attempt = attempt,
    .warn = warn,
    .on_ranks = on_ranks,
};
