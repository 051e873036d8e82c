// L-BFGS around the inverse of the whole projected second derivative of E, factored once a step where the step begins:
// D = H(x_n)^-1. With contact it is factored where the iteration begins, and again where pairs come or go
// (lbfgs_contact.c).
#include "step/core/linear.h"
#include "step/implicit/costs.h"
#include "step/implicit/lbfgs.h"

typedef struct lbfgs_h {
    rbt_objective *objective;
    rbt_lbfgs lbfgs;
    rbt_linear linear;
    rbt_inverse D;
} lbfgs_h;

static void destroy(void *self) {
    lbfgs_h *s = self;
    rbt_linear_free(&s->linear);
    rbt_lbfgs_free(&s->lbfgs);
    free(s);
}

static void *create(rbt_objective *objective, const rbt_implicit_options *options, rbt_error *error) {
    (void)options;
    lbfgs_h *s = rbt_array_new(1, sizeof *s, "a step solver", error);
    if (!s) return NULL;
    s->objective = objective;
    const rbt_block_matrix *A = objective->pairs ? &objective->pairs->matrix.A : &objective->H;
    if (rbt_lbfgs_init(&s->lbfgs, objective, error) &&
        rbt_linear_init(&s->linear, objective->model, A, false, error)) {
        s->linear.pattern = objective->pairs ? &objective->pairs->matrix.pattern : NULL;
        return s;
    }
    destroy(s);
    return NULL;
}

static rbt_outcome analyse(lbfgs_h *s) {
    bool changed;
    return rbt_linear_analyse(&s->linear, s->objective->constrained, &changed);
}

static rbt_outcome assemble(lbfgs_h *s, const double *last) {
    rbt_objective_hessian(s->objective, last);
    return RBT_DONE;
}

// With contact: of its matrix
static rbt_outcome factor(void *self, const double *z, rbt_stages *stages, rbt_step_report *report) {
    lbfgs_h *s = self;
    RBT_STAGE("analyse", analyse(s));
    rbt_costs costs = rbt_costs_estimate(s->objective->model, rbt_cholesky_flops(s->linear.cholesky),
                                         rbt_cholesky_fill(s->linear.cholesky));
    s->D.making_cost = rbt_costs_making(&costs, true);
    RBT_STAGE("factor", rbt_linear_factor(&s->linear, z, report));
    return RBT_DONE;
}

static rbt_outcome make(void *self, const double *z, rbt_stages *stages, rbt_step_report *report) {
    lbfgs_h *s = self;
    RBT_STAGE("analyse", analyse(s));
    RBT_STAGE("assemble", assemble(s, z));                          // H(z), projected
    RBT_STAGE("factor", rbt_linear_factor(&s->linear, z, report));  // H = L L^T
    return RBT_DONE;
}

static rbt_outcome apply(void *self, const double *q, double *r) {
    lbfgs_h *s = self;
    return rbt_cholesky_solve(s->linear.cholesky, q, r) ? RBT_DONE : RBT_OUT_OF_MEMORY;
}

static rbt_outcome solve(void *self, const double *last, double *z, rbt_stop *stop, int max_iterations,
                         rbt_stages *stages, rbt_step_report *report) {
    lbfgs_h *s = self;
    s->D = (rbt_inverse){.self = s, .make = make, .factor = factor, .apply = apply, .place = last};
    if (s->objective->pairs) {
        s->D.place = NULL;
        s->D.usual_iterations = RBT_LBFGS_CONTACT_ITERATIONS;
    }
    return rbt_lbfgs_solve(&s->lbfgs, &s->D, last, z, stop, max_iterations, stages, report);
}

const rbt_step_solver RBT_LBFGS_H = {
    .name = "lbfgs-h",
    .work = {.gradients = 8, .assemblies = 1, .factors = 1, .solves = 4},
    .doc = "L-BFGS around the whole matrix of the step's start, factored once a step",
    .max_iterations = 1000,
    .share = 0.5,
    .contact = true,
    .create = create,
    .destroy = destroy,
    .solve = solve,
};
