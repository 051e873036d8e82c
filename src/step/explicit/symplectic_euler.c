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
    bool judged;            // what follows is known
    double bound;           // longest stable step at rest, nothing touched [s]; infinite: the model's is far below it
    size_t node;            // where the mode lives that decides
    double touching_bound;  // the same with all obstacles touched
    size_t touching_node;
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

// Whether elements alone, each free in space, allow the step: no body is faster than its fastest element. Found with
// the model already, where the certificate takes as long as a hundred steps and more.
static bool is_short(const rbt_model *m) {
    double h = m->step;
    bool is = m->obstacles.count == 0;
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &m->bodies[b];
        double rate = 4 / (body->explicit_step * body->explicit_step), damping = body->damping.mass;
        damping += body->damping.stiffness * rate;
        is &= body->kind == RBT_SOLID && h * h * rate + 2 * h * damping < 3.6;
    }
    return is;
}

static bool judge(symplectic_euler *s) {
    const rbt_model *m = s->base.model;
    if (s->judged) return true;
    s->bound = s->touching_bound = INFINITY;
    if (!is_short(m)) {
        rbt_model untouched = *m;
        untouched.obstacles.count = 0;
        s->bound = s->touching_bound = rbt_stability_step_bound(&untouched, NULL, &s->node, NULL);
        s->touching_node = s->node;
        if (m->obstacles.count) s->touching_bound = rbt_stability_step_bound(m, NULL, &s->touching_node, NULL);
    }
    s->judged = !isnan(s->bound) && !isnan(s->touching_bound);
    return s->judged;
}

static rbt_outcome refuse(symplectic_euler *s, double h, rbt_step_report *report) {
    const rbt_model *m = s->base.model;
    if (!judge(s)) return RBT_OUT_OF_MEMORY;
    if (!(h > CERTAIN * s->bound)) return RBT_DONE;
    report->body = m->node_body[s->node];
    report->value = s->bound;
    snprintf(report->hint, sizeof report->hint,
             "a step of %.4g s is longer than %.4g s, the longest that is stable for symplectic-euler (found at node "
             "%zu); take a smaller step, imex or an implicit method",
             h, s->bound, s->node - m->bodies[report->body].node_begin);
    return RBT_UNSTABLE;
}

static bool warn(void *self, char text[320]) {
    symplectic_euler *s = self;
    const rbt_model *m = s->base.model;
    if (!judge(s) || !(m->step > s->touching_bound) || m->step > CERTAIN * s->bound) return false;
    bool at_rest = m->step > s->bound;
    size_t node = at_rest ? s->node : s->touching_node;
    snprintf(
        text, 320,
        "symplectic-euler: a step of %.4g s is longer than %.4g s, the longest that is certain to be stable %s of "
        "body \"%.80s\"; it may gain energy: take a smaller step, imex or an implicit method",
        m->step, at_rest ? s->bound : s->touching_bound, at_rest ? "at the nodes" : "where obstacles touch nodes",
        m->bodies[m->node_body[node]].name);
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
};
