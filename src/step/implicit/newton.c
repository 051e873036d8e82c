// Projected Newton: z <- z - s H(z)^-1 grad E(z), with the length s halved until E does not increase. For a linear
// model the factor is kept from step to step. With contact: newton_contact.c.
#include "step/implicit/newton.h"

#include "math/vector.h"

typedef rbt_newton newton;

static void destroy(void *self) {
    newton *s = self;
    rbt_contact_drive_free(&s->drive);
    rbt_linear_free(&s->linear);
    rbt_search_free(&s->search);
    rbt_arena_free(s->arena);
    free(s);
}

static void *create(rbt_objective *objective, const rbt_implicit_options *options, rbt_error *error) {
    newton *s = rbt_array_new(1, sizeof *s, "a step solver", error);
    if (!s) return NULL;
    size_t values = 3 * objective->model->node_count;
    s->objective = objective;
    s->arena = rbt_arena_new();
    int kind = objective->pairs || !options ? RBT_LINEAR_CHOLESKY : options->linear;
    const rbt_block_matrix *A = objective->pairs ? &objective->pairs->matrix.A : &objective->H;
    if (s->arena &&
        rbt_linear_init_kind(&s->linear, objective->model, A, kind, options ? options->subdomains : -1, error) &&
        rbt_search_init(&s->search, objective, error)) {
        s->gradient = rbt_arena_take(s->arena, values, sizeof(double));
        s->direction = rbt_arena_take(s->arena, values, sizeof(double));
        s->linear.pattern = objective->pairs ? &objective->pairs->matrix.pattern : NULL;
        s->linear.core = objective->pairs ? &objective->H : NULL;
        bool ok = s->gradient && s->direction;
        if (!ok) rbt_fail_memory(error, 2 * values * sizeof(double), "a step solver");
        if (ok && (!objective->pairs ||
                   rbt_contact_drive_init(&s->drive, objective, &s->search, s->gradient, s->direction, error)))
            return s;
    }
    destroy(s);
    return NULL;
}

static rbt_outcome analyse(newton *s) {
    bool changed;
    rbt_outcome outcome = rbt_linear_analyse(&s->linear, s->objective->constrained, &changed);
    if (changed) s->factored_tau = 0;
    return outcome;
}

static rbt_outcome assemble(newton *s, const double *z) {
    rbt_objective_hessian(s->objective, z);
    return RBT_DONE;
}

static rbt_outcome solve_direction(newton *s, rbt_step_report *report) {  // p = -H^-1 grad E
    size_t values = 3 * s->objective->model->node_count;
    rbt_outcome outcome = rbt_linear_solve(&s->linear, s->gradient, s->direction, report);
    for (size_t i = 0; i < values; i++) s->direction[i] = -s->direction[i];
    return outcome;
}

static rbt_outcome line_search(newton *s, double *z, double *value, bool *found) {
    double slope = rbt_ranks_dot(s->objective->model, s->direction, s->gradient);
    *found = rbt_search_along(&s->search, s->direction, slope, 1, z, value, s->gradient) > 0;
    return RBT_DONE;
}

static rbt_outcome solve(void *self, const double *last, double *z, rbt_stop *stop, int max_iterations,
                         rbt_stages *stages, rbt_step_report *report) {
    newton *s = self;
    rbt_objective *o = s->objective;
    bool keep_factor = o->model->linear && !o->contact;  // H does not depend on z
    s->search.expected = 0;
    if (o->pairs) return rbt_newton_contact(s, last, z, stop, max_iterations, stages, report);
    report->stage = "start";
    double value = rbt_objective_gradient(o, z, s->gradient);
    if (!isfinite(value)) return rbt_solver_not_finite(o, z, s->gradient, report);
    for (int k = 0;; k++) {
        bool solved, found;
        rbt_outcome outcome = rbt_solver_judge(stop, z, s->gradient, k, max_iterations, &solved, stages, report);
        if (outcome != RBT_DONE || solved) return outcome;
        RBT_STAGE("analyse", analyse(s));
        if (!keep_factor || s->factored_tau != o->tau) {
            s->factored_tau = 0;
            RBT_STAGE("assemble", assemble(s, z));                          // H(z), projected
            RBT_STAGE("factor", rbt_linear_factor(&s->linear, z, report));  // H = L L^T
            s->factored_tau = o->tau;
        }
        RBT_STAGE("solve", solve_direction(s, report));
        RBT_STAGE("search", line_search(s, z, &value, &found));
        if (!found) return rbt_solver_no_descent(stop, z, s->gradient, report);
    }
}

static bool on_ranks(const rbt_implicit_options *options) { return rbt_linear_on_ranks(options->linear); }

static size_t subdomains(const rbt_model *model, const rbt_implicit_options *options) {
    return rbt_linear_subdomains(model, options->linear, options->subdomains);
}

static void describe(const void *self, rbt_text *json) {
    const rbt_linear_solver *other = &((const newton *)self)->linear.other;
    if (other->self && other->describe) other->describe(other->self, json);
}

static int labels(const void *self, int32_t *label) {
    const rbt_linear_solver *other = &((const newton *)self)->linear.other;
    return other->self && other->labels ? other->labels(other->self, label) : -1;
}

const rbt_step_solver RBT_NEWTON = {
    .name = "newton",
    .work = {.gradients = 4, .assemblies = 1.5, .factors = 1.5, .solves = 1.5},
    .doc = "projected Newton: few iterations, each with a factorisation of its own",
    .max_iterations = 300,
    .contact = true,
    .create = create,
    .destroy = destroy,
    .solve = solve,
    .describe = describe,
    .labels = labels,
    .on_ranks = on_ranks,
    .subdomains = subdomains,
};
