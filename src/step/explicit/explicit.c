#include "step/explicit/explicit.h"

#include "math/vec3.h"

#include <string.h>

void rbt_explicit_free(rbt_explicit *s) {
    rbt_stiffness_free(&s->stiffness);
    rbt_arena_free(s->arena);
    *s = (rbt_explicit){0};
}

static bool allocate(rbt_explicit *s, const rbt_model *model, rbt_error *error) {
    size_t values = 3 * model->node_count;
    bool damped = false;
    for (size_t b = 0; b < model->body_count; b++) damped |= model->bodies[b].damping.stiffness > 0;
    bool ok = s->arena && (s->constrained = rbt_arena_take(s->arena, model->node_count, 1)) &&
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
    return ok;
}

bool rbt_explicit_init(rbt_explicit *s, const rbt_model *model, const char *method, rbt_error *error) {
    for (size_t b = 0; b < model->body_count; b++)
        if (model->bodies[b].consistent_mass)
            return rbt_fail_path(error, NULL, "bodies",
                                 "\"%s\" has a consistent mass, but %s needs a mass per node; set "
                                 "consistent_mass to false or take an implicit method",
                                 model->bodies[b].name, method);
    *s = (rbt_explicit){.model = model, .arena = rbt_arena_new()};
    if (allocate(s, model, error)) return true;
    rbt_explicit_free(s);
    return rbt_fail_memory(error, 3 * (model->node_count + model->plan.slot_count) * sizeof(double), "a stepper");
}

static void add_elastic(rbt_explicit *s, const double *x, double *f) {
    if (s->model->linear) rbt_force_linear(s->model, &s->stiffness.K, x, s->work, f);
    else rbt_force_elastic(s->model, x, NULL, s->partial, f);
}

static void force_beside(rbt_explicit *s, const rbt_state *state, double along, double *f) {
    for (size_t i = 0; i < 3 * s->model->node_count; i++) s->moved[i] = state->x[i] + along * state->v[i];
    memset(f, 0, 3 * s->model->node_count * sizeof *f);
    add_elastic(s, s->moved, f);
}

static void add_damping(rbt_explicit *s, const rbt_state *state) {
    const rbt_model *m = s->model;
    bool damped = s->moved != NULL;
    for (size_t b = 0; b < m->body_count; b++) damped |= m->bodies[b].damping.mass > 0;
    if (!damped) return;
    double fastest = 0, size[3];
    for (size_t n = 0; n < m->node_count; n++) fastest = fmax(fastest, rbt_length(state->v + 3 * n));
    rbt_ranks_most(m, &fastest, 1);
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

void rbt_explicit_external(rbt_explicit *s, const rbt_state *state) {
    rbt_force_external(s->model, state->t, state->x, state->v, s->f);
}

void rbt_explicit_elastic(rbt_explicit *s, const rbt_state *state) { add_elastic(s, state->x, s->f); }

void rbt_explicit_contact_and_damping(rbt_explicit *s, const rbt_state *state) {
    rbt_force_contact(s->model, state->x, s->f, NULL);
    add_damping(s, state);
    rbt_ranks_share(s->model, s->f);
}

void rbt_explicit_velocities(rbt_explicit *s, rbt_state *state, double h, const unsigned char *skip) {
    const rbt_model *m = s->model;
    rbt_constrained_nodes(m, state->t, s->constrained);
    for (size_t n = 0; n < m->node_count; n++)
        if (!s->constrained[n] && !(skip && skip[n])) rbt_add_scaled(state->v + 3 * n, h / m->mass[n], s->f + 3 * n);
    rbt_constrained_velocities(m, s->constrained, state->t, h, state->x, state->v);
}
