// L-BFGS around projective dynamics' matrix (Liu et al. 2017): D = (M + tau^2 L)^-1 with a scalar Laplacian L of
// modulus 2 mu + lambda that does not depend on positions, factored once and for all.
#include "step/implicit/laplacian.h"
#include "step/implicit/lbfgs.h"

typedef struct lbfgs_pd {
    rbt_lbfgs lbfgs;
    rbt_laplacian laplacian;
} lbfgs_pd;

static void destroy(void *self) {
    lbfgs_pd *s = self;
    rbt_laplacian_free(&s->laplacian);
    rbt_lbfgs_free(&s->lbfgs);
    free(s);
}

static double pressure_wave_modulus(double mu, double lambda) { return 2 * mu + lambda; }

static void *create(rbt_objective *objective, const rbt_implicit_options *options, rbt_error *error) {
    (void)options;
    lbfgs_pd *s = rbt_array_new(1, sizeof *s, "a step solver", error);
    if (!s) return NULL;
    if (rbt_lbfgs_init(&s->lbfgs, objective, error) &&
        rbt_laplacian_init(&s->laplacian, objective, pressure_wave_modulus, error))
        return s;
    destroy(s);
    return NULL;
}

static rbt_outcome apply(void *self, const double *q, double *r) {
    lbfgs_pd *s = self;
    return rbt_cholesky_solve(s->laplacian.factor, q, r) ? RBT_DONE : RBT_OUT_OF_MEMORY;
}

static rbt_outcome solve(void *self, const double *last, double *z, rbt_stop *stop, int max_iterations,
                         rbt_stages *stages, rbt_step_report *report) {
    lbfgs_pd *s = self;
    RBT_STAGE("factor", rbt_laplacian_prepare(&s->laplacian, last, report));  // M + tau^2 L, if anything changed
    return rbt_lbfgs_solve(&s->lbfgs, &(rbt_inverse){.self = s, .apply = apply}, last, z, stop, max_iterations,
                           stages, report);
}

const rbt_step_solver RBT_LBFGS_PD = {
    .name = "lbfgs-pd",
    .work = {.gradients = 60, .solves = 15},
    .doc = "L-BFGS around a Laplacian that is factored once for the whole run: cheap iterations, but many",
    .max_iterations = 1000,
    .share = 0.03,
    .create = create,
    .destroy = destroy,
    .solve = solve,
};
