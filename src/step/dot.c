// DOT, decomposed optimisation time integration (Li et al. 2019): L-BFGS around the factors of subdomains (subdomains.h), made
// once a step where the step begins. The line search starts at the minimum of the quadratic model along p, within [0.1, 1]:
// -p.grad E / p^T H(x_n) p (eq. 14).
#include "math/block_matrix.h"
#include "math/vector.h"
#include "step/lbfgs.h"
#include "step/subdomains.h"

typedef struct dot {
    rbt_objective *objective;
    const rbt_solver_options *options;
    rbt_lbfgs lbfgs;
    rbt_subdomains subdomains;
} dot;

static void destroy(void *self) {
    dot *s = self;
    rbt_subdomains_free(&s->subdomains);
    rbt_lbfgs_free(&s->lbfgs);
    free(s);
}

static void *create(rbt_objective *objective, const rbt_solver_options *options, rbt_error *error) {
    dot *s = rbt_array_new(1, sizeof *s, "a step solver", error);
    if (!s) return NULL;
    s->objective = objective;
    s->options = options;
    size_t count = options->subdomains < 0 ? 2 : (size_t)options->subdomains;
    if (rbt_lbfgs_init(&s->lbfgs, objective, error) &&
        rbt_subdomains_init(&s->subdomains, objective->model, &objective->H, count, RBT_DOUBLE, error))
        return s;
    destroy(s);
    return NULL;
}

static rbt_outcome analyse(dot *s) {
    bool changed;
    return rbt_subdomains_analyse(&s->subdomains, s->objective->held, &changed);
}

static rbt_outcome assemble(dot *s, const double *last) {
    rbt_objective_hessian(s->objective, last);
    return RBT_DONE;
}

static rbt_outcome apply(void *self, const double *q, double *r) {
    dot *s = self;
    return rbt_subdomains_apply(&s->subdomains, q, r);
}

static double first_length(void *self, const double *gradient, const double *p) {
    dot *s = self;
    double slope = rbt_vector_dot(3 * s->objective->model->node_count, p, gradient);
    double curvature = rbt_block_matrix_form(&s->objective->H, p);
    return curvature > 0 ? fmin(fmax(-slope / curvature, 0.1), 1) : 1;
}

static rbt_outcome solve(void *self, const double *last, double *z, double tolerance, int max_iterations,
                         rbt_stages *stages, rbt_step_report *report) {
    dot *s = self;
    RBT_STAGE("analyse", analyse(s));
    RBT_STAGE("assemble", assemble(s, last));                                  // H(x_n), projected
    RBT_STAGE("factor", rbt_subdomains_factor(&s->subdomains, last, report));  // H_j = L_j L_j^T
    return rbt_lbfgs_solve(&s->lbfgs, &(rbt_inverse){s, apply, first_length}, z, tolerance, max_iterations, stages,
                           report);
}

const rbt_step_solver RBT_DOT = {
    .name = "dot",
    .doc = "L-BFGS around the factors of subdomains: large steps, large deformations, large meshes",
    .max_iterations = 1000,
    .create = create,
    .destroy = destroy,
    .solve = solve,
};
