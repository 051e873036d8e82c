// The exponential Rosenbrock-Euler method (Chen, Ascher and Pai 2018): the equations of motion, linearised about the
// start of the step, are solved exactly.
//   w = (q, v),   w' = F(w) = (v, M^-1 f),   f = f_ext - dW/dx - D v,     w+ = w + h phi_1(h J) F(w)
//   J = [[0, I], [-M^-1 (K + K_contact), -M^-1 D]],   D = alpha M + beta K
// Held nodes are no unknowns. The force that grows as driven ones move, c = -K_fh v_h, adds h^2 phi_2(h J) (0, M^-1 c).
//
// J is only multiplied with (solve/phi.h), in variables that have the same size in a step: (sqrt(m) q / h, sqrt(m) v).
#include "rubato/methods.h"
#include "solve/phi.h"
#include "step/core/method.h"
#include "step/linearised/linearised.h"

#include <stdio.h>
#include <string.h>

#define OPTION(member, what) .name = #member, .kind = what, .offset = offsetof(rbt_ere_options, member)
static const rbt_field FIELDS[] = {
    {OPTION(tolerance, RBT_REAL), .fallback = {1e-6}, .flags = RBT_ABOVE, .max = 1,
     .doc = "Estimated error of the exponential beside the change that a step makes."},
    {OPTION(max_dimension, RBT_INT), .fallback = {80}, .min = 4, .max = 1000,
     .doc = "Vectors in the Krylov space; where they do not suffice, a step is gone in several parts."},
    {OPTION(max_products, RBT_INT), .fallback = {20000}, .min = 1, .max = 1e9, .unit = "products",
     .doc = "After so many products with the stiffness a step has not converged."},
};
static const rbt_record OPTIONS = {"ere options", "How the exponential is found.", sizeof(rbt_ere_options),
                                   RBT_FIELDS_WITH_COOKIE(FIELDS)};

rbt_ere_options rbt_ere_options_default(void) {
    rbt_ere_options options;
    rbt_record_default(&OPTIONS, &options);
    return options;
}

typedef struct ere {
    rbt_ere_options options;
    rbt_linearised base;  // forces, stiffness and mass; nothing is factored
    rbt_block_operator *stiffness;
    rbt_phi *phi;
    rbt_cholesky *mass;       // of a consistent M
    unsigned char *analysed;  // (node_count) constrained nodes of that factor
    double h;
    bool out_of_memory;
    double *b, *c, *y;      // (2 x node_count x 3) q, then v
    double *along, *force;  // (node_count x 3)
    double *root;           // (node_count) sqrt(m), 1 where there is no mass
} ere;

static void destroy(void *self) {
    ere *s = self;
    rbt_phi_free(s->phi);
    rbt_cholesky_free(s->mass);
    rbt_block_operator_free(s->stiffness);
    rbt_linearised_free(&s->base);
    free(s);
}

static void *create(const rbt_model *model, int solver, const void *options, rbt_error *error) {
    (void)solver;
    ere *s = rbt_array_new(1, sizeof *s, "a stepper", error);
    if (!s) return NULL;
    if (options) s->options = *(const rbt_ere_options *)options;
    else rbt_record_default(&OPTIONS, &s->options);
    size_t values = 3 * model->node_count;
    bool ok = rbt_linearised_init(&s->base, model, RBT_LINEAR_CHOLESKY, -1, error);
    rbt_arena *arena = s->base.arena;
    if (ok && !((s->b = rbt_arena_take(arena, 2 * values, sizeof(double))) &&
                (s->c = rbt_arena_take(arena, 2 * values, sizeof(double))) &&
                (s->y = rbt_arena_take(arena, 2 * values, sizeof(double))) &&
                (s->along = rbt_arena_take(arena, values, sizeof(double))) &&
                (s->force = rbt_arena_take(arena, values, sizeof(double))) &&
                (s->root = rbt_arena_take(arena, model->node_count, sizeof(double))) &&
                (s->analysed = rbt_arena_take(arena, model->node_count, 1))))
        ok = rbt_fail_memory(error, 8 * values * sizeof(double), "a stepper");
    ok = ok && (s->stiffness = rbt_block_operator_new(&s->base.stiffness.K, error)) &&
         (s->phi = rbt_phi_new(2 * values, (size_t)s->options.max_dimension, error));
    if (!ok) {
        destroy(s);
        return NULL;
    }
    for (size_t n = 0; n < model->node_count; n++) s->root[n] = model->mass[n] > 0 ? sqrt(model->mass[n]) : 1;
    return s;
}

// ---- M^-1

static rbt_outcome factor_mass(ere *s, const rbt_state *state, rbt_step_report *report) {
    rbt_linearised *base = &s->base;
    const rbt_model *m = base->model;
    if (!base->mass.matrix.value) return RBT_DONE;
    if (s->mass && memcmp(s->analysed, base->constrained, m->node_count) == 0) return RBT_DONE;
    rbt_cholesky_free(s->mass);
    memcpy(s->analysed, base->constrained, m->node_count);
    for (size_t n = 0; n < m->node_count; n++) base->linear.keep[n] = !base->constrained[n];
    size_t row = 0;
    s->mass = rbt_cholesky_analyse_scalar(&base->mass.matrix, base->linear.keep, NULL);
    if (!s->mass) return RBT_OUT_OF_MEMORY;
    rbt_factor_result result = rbt_cholesky_factor_scalar(s->mass, &base->mass.matrix, &row);
    if (result == RBT_FACTORED) return RBT_DONE;
    rbt_cholesky_free(s->mass);
    s->mass = NULL;
    if (result == RBT_FACTOR_NO_MEMORY) return RBT_OUT_OF_MEMORY;
    rbt_report_node(report, m, state->x, row);
    snprintf(report->hint, sizeof report->hint, "the mass matrix is singular there; take a lumped mass");
    return RBT_NOT_POSITIVE_DEFINITE;
}

// to (node_count x 3) = sqrt(m) M^-1 force, 0 in constrained nodes
static void accelerate(ere *s, const double *force, double *to) {
    const rbt_linearised *base = &s->base;
    const rbt_model *m = base->model;
    if (s->mass) {
        if (!rbt_cholesky_solve(s->mass, force, to)) s->out_of_memory = true;
        for (size_t i = 0; i < 3 * m->node_count; i++) to[i] *= s->root[i / 3];
    } else {
        for (size_t i = 0; i < 3 * m->node_count; i++)
            to[i] = base->constrained[i / 3] ? 0 : force[i] / s->root[i / 3];
    }
}

// ---- J

static void multiply(void *self, const double *x, double *y) {
    ere *s = self;
    const rbt_linearised *base = &s->base;
    const rbt_model *m = base->model;
    size_t values = 3 * m->node_count;
    const double *q = x, *v = x + values;
    double *dq = y, *dv = y + values;
    for (size_t i = 0; i < values; i++) {
        double beta = m->bodies[m->node_body[i / 3]].damping.stiffness;
        s->along[i] = (s->h * q[i] + beta * v[i]) / s->root[i / 3];
        dq[i] = v[i] / s->h;
    }
    rbt_operator K = rbt_block_operator_of(s->stiffness);
    K.apply(K.self, s->along, s->force);
    for (size_t n = 0; n < m->node_count; n++)
        for (size_t i = 3 * n; i < 3 * n + 3; i++) {
            double push = 0;
            for (size_t j = 0; base->contact && j < 3; j++)
                push += base->contact[3 * i + j] * s->h * q[3 * n + j] / s->root[n];
            s->force[i] = base->constrained[n] ? 0 : -s->force[i] - push;
        }
    accelerate(s, s->force, dv);
    for (size_t i = 0; i < values; i++) dv[i] -= m->bodies[m->node_body[i / 3]].damping.mass * v[i];
}

// ---- The stages

static rbt_outcome assemble(ere *s, const rbt_state *state) {
    rbt_linearised *base = &s->base;
    if (!base->model->linear) rbt_stiffness_assemble(&base->stiffness, base->model, RBT_TANGENT, state->x);
    return RBT_DONE;
}

// b = F(w), and c
static bool right_sides(ere *s, const rbt_state *state, double h) {
    rbt_linearised *base = &s->base;
    const rbt_model *m = base->model;
    size_t values = 3 * m->node_count;
    bool moves = false;
    rbt_linearised_right(base, state, h);
    for (size_t i = 0; i < values; i++) {
        bool constrained = base->constrained[i / 3];
        s->b[i] = constrained ? 0 : s->root[i / 3] * state->v[i] / h;
        // rhs = h f - h^2 K v, with the constrained nodes' new velocities in v and in D v
        s->force[i] = constrained ? 0 : base->rhs[i] / h + h * base->product[i];
        s->along[i] = constrained ? base->moved[i] : 0;
        moves |= s->along[i] != 0;
    }
    accelerate(s, s->force, s->b + values);
    if (!moves) return false;
    rbt_operator K = rbt_block_operator_of(s->stiffness);
    K.apply(K.self, s->along, s->force);
    for (size_t i = 0; i < values; i++) s->force[i] = base->constrained[i / 3] ? 0 : -s->force[i];
    memset(s->c, 0, values * sizeof(double));
    accelerate(s, s->force, s->c + values);
    return true;
}

// Where the force is largest, or no number at all
static rbt_outcome report_force(const ere *s, const rbt_state *state, rbt_step_report *report) {
    const rbt_model *m = s->base.model;
    const double *f = s->base.f;
    size_t worst = 0;
    for (size_t i = 1; i < 3 * m->node_count; i++)
        if (!(fabs(f[i]) <= fabs(f[worst]))) worst = i;
    rbt_report_node(report, m, state->x, worst / 3);
    snprintf(report->hint, sizeof report->hint,
             "the force on node %zu is %.3g N; check forces, speeds and driven nodes, or take a smaller step",
             worst / 3 - m->bodies[m->node_body[worst / 3]].node_begin, f[worst]);
    return RBT_NOT_FINITE;
}

static rbt_outcome exponential(ere *s, const rbt_state *state, double h, rbt_step_report *report) {
    s->h = h;
    s->out_of_memory = false;
    bool ramp = right_sides(s, state, h);
    rbt_phi_def def = {.J = {multiply, s},
                       .tolerance = s->options.tolerance,
                       .max_dimension = (size_t)s->options.max_dimension,
                       .max_products = s->options.max_products};
    rbt_phi_report result = rbt_phi_solve(s->phi, &def, h, s->b, ramp ? s->c : NULL, s->y);
    report->statistics[RBT_STAT_ITERATIONS] += result.products;
    report->statistics[RBT_STAT_SUBSTEPS] += result.parts;
    report->statistics[RBT_STAT_RESIDUAL] = result.error;
    if (s->out_of_memory) return RBT_OUT_OF_MEMORY;
    if (result.converged) return RBT_DONE;
    if (!result.finite) return report_force(s, state, report);
    report->value = result.reached;
    snprintf(
        report->hint, sizeof report->hint,
        "%lld products with the stiffness reached %.2g of the step: the body is too stiff for it; take siere or a "
        "smaller step",
        (long long)result.products, result.reached);
    return RBT_NOT_CONVERGED;
}

static rbt_outcome update(const ere *s, rbt_state *state, double h, rbt_step_report *report) {
    const rbt_linearised *base = &s->base;
    size_t values = 3 * base->model->node_count;
    for (size_t i = 0; i < values; i++) {
        bool constrained = base->constrained[i / 3];
        state->x[i] += constrained ? h * base->moved[i] : h * s->y[i] / s->root[i / 3];
        state->v[i] = constrained ? base->moved[i] : state->v[i] + s->y[values + i] / s->root[i / 3];
    }
    return rbt_check_motion(base->model, state, h, report);
}

static rbt_outcome attempt(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    ere *s = self;
    double h = rbt_step_length(s->base.model, state, until);
    RBT_STAGE("force", rbt_linearised_forces(&s->base, state, 0));  // f = f_ext - dW/dx, contact where the nodes are
    RBT_STAGE("factor", factor_mass(s, state, report));             // M = L L^T, if it is not diagonal
    RBT_STAGE("assemble", assemble(s, state));                      // K(x)
    RBT_STAGE("exponential", exponential(s, state, h, report));     // h phi_1(h J) F
    RBT_STAGE("update", update(s, state, h, report));
    return RBT_DONE;
}

// ---- The table

static const char *solver_name(int i) { return i == 0 ? "krylov" : NULL; }

const rbt_method RBT_ERE = {
    .name = "ere",
    .alone = "bodies do not know contact",
    .doc = "exponential Rosenbrock-Euler: the linearised equations of motion solved exactly, no matrix factored",
    .when =
        "soft bodies whose whole motion should be kept, fast vibrations included; its cost grows with the stiffness",
    .order = 2,
    .damped_order = 1,  // J leaves out how D changes with x
    .solvers = solver_name,
    .options = &OPTIONS,
    .create = create,
    .destroy = destroy,
    .attempt = attempt,
};
