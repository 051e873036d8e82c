// Semi-implicit Euler: backward Euler with one linearisation per step (Baraff and Witkin 1998).
//   (M + h D + h^2 K) dv = h (f_ext - dW/dx - D v - h K v),   v+ = v + dv,   x+ = x + h v+,   D = alpha M + beta K
// Held nodes have a known dv; their columns go to the right-hand side and their rows are eliminated:
//   A = (1 + h alpha) M + h (h + beta) K + h^2 K_contact
//   A_ff dv_f = [h (f - alpha M v) - (1 + h alpha) M dv_held - h (h + beta) K (v + dv_held)]_f
// Contact is linearised about y = x + h v + h^2 f_ext / M, where the nodes are heading: a node that would be inside at the
// end of the step meets the obstacle in this step, not when it is already deep in it. With x+ - y = h dv - h^2 f_ext / M
//   f_contact(x+) ~ f_contact(y) + K_contact h^2 f_ext / M - h K_contact dv.
// K is the exact tangent. If A is not positive definite (strong compression), the step is an outcome: a shorter one
// is, since M dominates as h goes to 0.
#include "base/threads.h"
#include "math/vec3.h"
#include "model/force.h"
#include "model/mass.h"
#include "model/stiffness.h"
#include "step/linear.h"
#include "step/method.h"

#include <stdio.h>
#include <string.h>

typedef struct semi_implicit {
    const rbt_model *model;
    rbt_arena *arena;
    rbt_stiffness stiffness;
    rbt_mass mass;
    rbt_block_matrix A;  // pattern of K, values of its own
    rbt_linear linear;
    double factored_step;  // h of the factor, which a linear model without obstacles keeps; 0: none
    unsigned char *held;
    double *f, *rhs, *dv, *moved, *product, *ahead, *inertia;  // (node_count x 3)
    double *work;                                              // (2 x node_count x 3) of a linear model
    double *partial;                                           // (plan.slot_count x 3)
    double *contact;                                           // (node_count x 9), NULL without obstacles
} semi_implicit;

static void destroy(void *self) {
    semi_implicit *s = self;
    rbt_linear_free(&s->linear);
    rbt_stiffness_free(&s->stiffness);
    rbt_arena_free(s->arena);
    free(s);
}

static bool allocate(semi_implicit *s, const rbt_model *m) {
    size_t values = 3 * m->node_count;
    double **vectors[] = {&s->f, &s->rhs, &s->dv, &s->moved, &s->product, &s->ahead, &s->inertia};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = rbt_arena_take(s->arena, values, sizeof(double)))) return false;
    if (m->obstacles.count && !(s->contact = rbt_arena_take(s->arena, 9 * m->node_count, sizeof(double))))
        return false;
    if (m->linear && !(s->work = rbt_arena_take(s->arena, 2 * values, sizeof(double)))) return false;
    s->A = s->stiffness.K;
    return (s->partial = rbt_arena_take(s->arena, 3 * m->plan.slot_count, sizeof(double))) &&
           (s->A.value = rbt_arena_take(s->arena, 9 * s->A.start[s->A.row_count], sizeof(double))) &&
           (s->held = rbt_arena_take(s->arena, m->node_count, 1));
}

static void *create(const rbt_model *model, int solver, const void *options, rbt_error *error) {
    (void)options;
    semi_implicit *s = rbt_array_new(1, sizeof *s, "a stepper", error);
    if (!s) return NULL;
    s->model = model;
    s->arena = rbt_arena_new();
    if (!s->arena || !rbt_stiffness_build(&s->stiffness, model, error)) {
        destroy(s);
        return NULL;
    }
    if (model->linear) rbt_stiffness_assemble(&s->stiffness, model, RBT_TANGENT, model->X);
    if (!allocate(s, model)) rbt_fail_memory(error, rbt_arena_bytes(s->arena), "a stepper");
    else if (rbt_mass_build(&s->mass, s->arena, model, &s->stiffness.K, error) &&
             rbt_linear_init(&s->linear, model, &s->A, solver == 1, error))
        return s;
    destroy(s);
    return NULL;
}

static rbt_outcome forces(semi_implicit *s, const rbt_state *state, double h) {
    const rbt_model *m = s->model;
    rbt_force_external(m, state->t, state->x, state->v, s->f);
    if (s->contact) {
        for (size_t i = 0; i < 3 * m->node_count; i++) {
            s->ahead[i] = m->mass[i / 3] > 0 ? h * h * s->f[i] / m->mass[i / 3] : 0;
            s->moved[i] = state->x[i] + h * state->v[i] + s->ahead[i];
        }
        rbt_force_contact(m, s->moved, s->f, s->contact);
        for (size_t i = 0; i < 3 * m->node_count; i++) s->f[i] += rbt_dot(s->contact + 3 * i, s->ahead + 3 * (i / 3));
    }
    if (!m->linear) rbt_force_elastic(m, state->x, NULL, s->partial, s->f);
    else rbt_force_linear(m, &s->stiffness.K, state->x, s->work, s->f);
    return RBT_DONE;
}

// Rayleigh's factors of body b in A: mass (1 + h alpha), stiffness h (h + beta)
static double mass_factor(const rbt_model *m, size_t n, double h) {
    return 1 + h * m->bodies[m->node_body[n]].damping.mass;
}
static double stiffness_factor(const rbt_model *m, size_t n, double h) {
    return h * (h + m->bodies[m->node_body[n]].damping.stiffness);
}

static rbt_outcome assemble(semi_implicit *s, const rbt_state *state, double h) {
    const rbt_model *m = s->model;
    if (!m->linear) rbt_stiffness_assemble(&s->stiffness, m, RBT_TANGENT, state->x);
    const rbt_block_matrix *K = &s->stiffness.K;
#pragma omp parallel for schedule(static) if (m->node_count >= RBT_PARALLEL_FROM)
    for (size_t n = 0; n < m->node_count; n++) {
        double scale = stiffness_factor(m, n, h), *diagonal = s->A.value + 9 * (K->start[n + 1] - 1);
        for (size_t i = 9 * K->start[n]; i < 9 * K->start[n + 1]; i++) s->A.value[i] = scale * K->value[i];
        rbt_mass_add_row(&s->mass, n, mass_factor(m, n, h), &s->A);
        for (size_t i = 0; s->contact && i < 9; i++) diagonal[i] += h * h * s->contact[9 * n + i];
    }
    return RBT_DONE;
}

static rbt_outcome analyse(semi_implicit *s) {
    bool changed;
    rbt_outcome outcome = rbt_linear_analyse(&s->linear, s->held, &changed);
    if (changed) s->factored_step = 0;
    return outcome;
}

static rbt_outcome solve(semi_implicit *s, rbt_state *state, double h, rbt_step_report *report) {
    const rbt_model *m = s->model;
    size_t values = 3 * m->node_count;
    // moved = v, with the new velocity in held nodes: v + dv_held
    memcpy(s->moved, state->v, values * sizeof(double));
    rbt_held_velocities(m, s->held, state->t, h, state->x, s->moved);
    rbt_block_matrix_product(&s->stiffness.K, s->moved, s->product);
    // inertia = M (h alpha v + (1 + h alpha) dv_held)
    for (size_t i = 0; i < values; i++) {
        double factor_of_mass = mass_factor(m, i / 3, h);
        s->dv[i] = (factor_of_mass - 1) * state->v[i] + factor_of_mass * (s->moved[i] - state->v[i]);
    }
    rbt_mass_product(&s->mass, s->dv, s->inertia);
    for (size_t i = 0; i < values; i++)
        s->rhs[i] = s->held[i / 3] ? 0 : h * s->f[i] - s->inertia[i] - stiffness_factor(m, i / 3, h) * s->product[i];
    rbt_outcome outcome = rbt_linear_solve(&s->linear, s->rhs, s->dv, report);
    if (outcome != RBT_DONE) return outcome;
    rbt_block_matrix_product(&s->A, s->dv, s->product);
    double error = 0, size = 0;
    for (size_t i = 0; i < values; i++) {
        double r = s->held[i / 3] ? 0 : s->product[i] - s->rhs[i];
        error += r * r;
        size += s->rhs[i] * s->rhs[i];
    }
    report->residual = size > 0 ? sqrt(error / size) : 0;
    return RBT_DONE;
}

static rbt_outcome update(semi_implicit *s, rbt_state *state, double h, rbt_step_report *report) {
    for (size_t i = 0; i < 3 * s->model->node_count; i++) {
        state->v[i] = s->held[i / 3] ? s->moved[i] : state->v[i] + s->dv[i];
        state->x[i] += h * state->v[i];
    }
    return rbt_check_motion(s->model, state, h, report);
}

static rbt_outcome attempt(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    semi_implicit *s = self;
    double h = rbt_step_length(s->model, state, until);
    rbt_held_nodes(s->model, state->t, s->held);
    RBT_STAGE("force", forces(s, state, h));  // f = f_ext - dW/dx
    RBT_STAGE("analyse", analyse(s));         // ordering and fill, when nodes were released
    if (!s->model->linear || s->contact || s->factored_step != h) {
        s->factored_step = 0;
        RBT_STAGE("assemble", assemble(s, state, h));                          // K(x), A = M + h D + h^2 K
        RBT_STAGE("factor", rbt_linear_factor(&s->linear, state->x, report));  // A = L L^T
        s->factored_step = h;
    }
    RBT_STAGE("solve", solve(s, state, h, report));    // A dv = h (f - D v - h K v)
    RBT_STAGE("update", update(s, state, h, report));  // v += dv, x += h v
    return RBT_DONE;
}

static const char *solver_name(int i) { return i == 0 ? "cholesky" : i == 1 ? "cg" : NULL; }

const rbt_method RBT_SEMI_IMPLICIT = {
    .name = "semi-implicit",
    .doc = "backward Euler with one linearisation: one sparse solve per step",
    .when =
        "the fast default for stiff bodies and large steps; damps motion, and can diverge under strong compression",
    .order = 1,
    .solvers = solver_name,
    .create = create,
    .destroy = destroy,
    .attempt = attempt,
};
