// Symplectic Euler: explicit, first order, conserves momenta, energy without drift while h < 2 / omega_max.
//   v+ = v + h M^-1 f(x, v, t),   x+ = x + h v+,     f = f_ext - dW/dx - D v,   D = alpha M + beta K
// A linear model's forces are K (x - X) with K assembled once. Otherwise the stiffness part of the damping needs K v by a central
// difference of forces along v:
//   K v ~ (f_int(x + s v) - f_int(x - s v)) / 2 s,   s = 1e-6 size / |v|max
#include "math/vec3.h"
#include "model/force.h"
#include "model/stiffness.h"
#include "step/method.h"

#include <string.h>

typedef struct symplectic_euler {
    const rbt_model *model;
    rbt_arena *arena;
    unsigned char *held;
    double *f, *partial;
    double *moved, *forward, *backward;  // for K v; NULL without stiffness damping
    rbt_stiffness stiffness;             // of a linear model, for the whole run
    double *work;                        // (2 x node_count x 3) beside it
} symplectic_euler;

static void destroy(void *self) {
    symplectic_euler *s = self;
    rbt_stiffness_free(&s->stiffness);
    rbt_arena_free(s->arena);
    free(s);
}

static void *create(const rbt_model *model, int solver, const void *options, rbt_error *error) {
    (void)solver;
    (void)options;
    for (size_t b = 0; b < model->body_count; b++)
        if (model->bodies[b].consistent_mass) {
            rbt_fail_path(error, NULL, "bodies",
                          "\"%s\" has a consistent mass, but symplectic-euler needs a mass per node; set "
                          "consistent_mass to false or take an implicit method",
                          model->bodies[b].name);
            return NULL;
        }
    symplectic_euler *s = rbt_array_new(1, sizeof *s, "a stepper", error);
    if (!s) return NULL;
    size_t values = 3 * model->node_count;
    bool damped = false;
    for (size_t b = 0; b < model->body_count; b++) damped |= model->bodies[b].damping.stiffness > 0;
    s->model = model;
    s->arena = rbt_arena_new();
    bool ok = s->arena && (s->held = rbt_arena_take(s->arena, model->node_count, 1)) &&
              (s->f = rbt_arena_take(s->arena, values, sizeof(double))) &&
              (s->partial = rbt_arena_take(s->arena, 3 * model->plan.slot_count, sizeof(double)));
    if (ok && model->linear) {
        ok = (s->work = rbt_arena_take(s->arena, 2 * values, sizeof(double))) &&
             rbt_stiffness_build(&s->stiffness, model, error);
        if (ok) rbt_stiffness_assemble(&s->stiffness, model, RBT_TANGENT, model->X);
    }
    if (ok && damped)
        ok = (s->moved = rbt_arena_take(s->arena, values, sizeof(double))) &&
             (s->forward = rbt_arena_take(s->arena, values, sizeof(double))) &&
             (s->backward = rbt_arena_take(s->arena, values, sizeof(double)));
    if (ok) return s;
    rbt_fail_memory(error, (values + 3 * model->plan.slot_count) * sizeof(double), "a stepper");
    destroy(s);
    return NULL;
}

static void add_elastic(symplectic_euler *s, const double *x, double *f) {
    if (s->model->linear) rbt_force_linear(s->model, &s->stiffness.K, x, s->work, f);
    else rbt_force_elastic(s->model, x, NULL, s->partial, f);
}

static void force_beside(symplectic_euler *s, const rbt_state *state, double along, double *f) {
    for (size_t i = 0; i < 3 * s->model->node_count; i++) s->moved[i] = state->x[i] + along * state->v[i];
    memset(f, 0, 3 * s->model->node_count * sizeof *f);
    add_elastic(s, s->moved, f);
}

static void add_damping(symplectic_euler *s, const rbt_state *state) {
    const rbt_model *m = s->model;
    double fastest = 0, size[3];
    for (size_t n = 0; n < m->node_count; n++) fastest = fmax(fastest, rbt_length(state->v + 3 * n));
    rbt_subtract(m->bodies[0].box_max, m->bodies[0].box_min, size);
    double along = fastest > 0 ? 1e-6 * rbt_length(size) / fastest : 0;
    if (s->moved && along > 0) {
        force_beside(s, state, along, s->forward);
        force_beside(s, state, -along, s->backward);
    }
    for (size_t n = 0; n < m->node_count; n++) {
        const rbt_damping_def *damping = &m->bodies[m->node_body[n]].damping;
        for (size_t i = 3 * n; i < 3 * n + 3; i++) {
            s->f[i] -= damping->mass * m->mass[n] * state->v[i];
            if (s->moved && along > 0) s->f[i] += damping->stiffness * (s->forward[i] - s->backward[i]) / (2 * along);
        }
    }
}

static rbt_outcome forces(symplectic_euler *s, const rbt_state *state) {
    rbt_force_external(s->model, state->t, state->x, state->v, s->f);
    add_elastic(s, state->x, s->f);
    rbt_force_contact(s->model, state->x, s->f, NULL);
    add_damping(s, state);
    return RBT_DONE;
}

static rbt_outcome update(symplectic_euler *s, rbt_state *state, double h, rbt_step_report *report) {
    const rbt_model *m = s->model;
    rbt_held_nodes(m, state->t, s->held);
    for (size_t n = 0; n < m->node_count; n++)
        if (!s->held[n]) rbt_add_scaled(state->v + 3 * n, h / m->mass[n], s->f + 3 * n);
    rbt_held_velocities(m, s->held, state->t, h, state->x, state->v);
    for (size_t i = 0; i < 3 * m->node_count; i++) state->x[i] += h * state->v[i];
    return rbt_check_motion(m, state, h, report);
}

static rbt_outcome attempt(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    symplectic_euler *s = self;
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
    .keeps_angular_momentum = true,
    .create = create,
    .destroy = destroy,
    .attempt = attempt,
};
