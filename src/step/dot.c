// DOT, decomposed optimisation time integration (Li et al. 2019): L-BFGS around the factors of subdomains (subdomains.h).
//
// As published ("paper"): the factors are made once a step, of H where the step begins; the line search starts at the minimum of
// the quadratic model along p, within [0.1, 1]: -p.grad E / p^T H(x_n) p (eq. 14).
//
// "fast" differs in four points, each measured by itself (iterations a step over the first 40 steps of the stretched and twisted
// bunny, the same for the horse, and the stretched horse; one subdomain):
//   H is taken where the iteration starts, which knows how the held nodes moved:       9.5 -> 8.1   26.5 -> 17.3   16.6 -> 3.5
//   factors are made anew within a step where that pays (lbfgs.h):                            8.1   17.3 -> 11.7           3.5
//   the line search starts at 1 (the model of a fresh H is too cautious): without     15.2 -> 8.1   17.4 -> 11.7    3.6 -> 3.5
//   the factors are of single precision: the same iterations to within 3 %, half the time in factors and solves
#include "math/block_matrix.h"
#include "math/vector.h"
#include "step/lbfgs.h"
#include "step/subdomains.h"

#include <stdio.h>

typedef struct costs {  // of the parts of a step on one core [s]; only their ratios matter
    double assemble, factor;
    double solve, gradient;  // in each iteration
} costs;

typedef struct dot {
    rbt_objective *objective;
    bool fast;
    rbt_lbfgs lbfgs;
    rbt_subdomains subdomains;
    costs costs;
} dot;

static void destroy(void *self) {
    dot *s = self;
    rbt_subdomains_free(&s->subdomains);
    rbt_lbfgs_free(&s->lbfgs);
    free(s);
}

// ---- How many subdomains

static costs estimate(const rbt_model *m, double flops, double fill) {
    const double per_flop = 4e-11, per_entry = 8e-10, element_gradient = 6e-8, element_assembly = 4e-7, node = 3e-8;
    double elements = (double)(m->tet_count ? m->tet_count : m->triangle_count + m->edge_count);
    return (costs){.assemble = element_assembly * elements,
                   .factor = per_flop * flops,
                   .solve = per_entry * fill,
                   .gradient = element_gradient * elements + node * (double)m->node_count};
}

// Iterations with `count` subdomains, over those with one; measured on bunny5K, horse7K and bar17K
static double growth(double count) { return pow(count, 0.35); }

static double step_cost(const costs *c, double count) {
    const double iterations = 8;
    return c->assemble + c->factor + iterations * growth(count) * (c->solve + c->gradient);
}

// The cost of factors is counted for few subdomains, of at most LARGEST nodes, and follows the laws of nested dissection for more
// of them: flops as the square of a solid's size, fill as its power 4/3 (of a sheet's 3/2 and, nearly, 1). The number of threads
// has no say: results would depend on it.
static bool choose_count(const rbt_objective *o, size_t *chosen, rbt_error *error) {
    enum { LARGEST = 16384, SMALLEST = 256 };
    const rbt_model *m = o->model;
    rbt_subdomains parts;
    bool solid = m->tet_count > 0, changed;
    double flops, fill, count = (double)(1 + m->node_count / LARGEST), least = INFINITY;
    if (!rbt_subdomains_init(&parts, m, &o->H, (size_t)count, RBT_SINGLE, error)) return false;
    bool analysed = rbt_subdomains_analyse(&parts, o->held, &changed) == RBT_DONE;
    if (analysed) rbt_subdomains_work(&parts, &flops, &fill);
    rbt_subdomains_free(&parts);
    if (!analysed) return rbt_fail_memory(error, m->node_count * sizeof(double), "subdomains");
    for (double more = 1; more == 1 || (double)m->node_count / (count * more) >= SMALLEST; more *= 2) {
        costs c = estimate(m, flops / (solid ? more : sqrt(more)), fill / (solid ? cbrt(more) : 1));
        double cost = step_cost(&c, count * more);
        if (cost >= least) continue;
        least = cost;
        *chosen = (size_t)(count * more);
    }
    return true;
}

static void *create(rbt_objective *objective, const rbt_solver_options *options, rbt_error *error) {
    dot *s = rbt_array_new(1, sizeof *s, "a step solver", error);
    if (!s) return NULL;
    s->objective = objective;
    s->fast = options->variant == RBT_DOT_FAST;
    size_t count = (size_t)(options->subdomains < 0 ? 1 : options->subdomains);
    if (rbt_lbfgs_init(&s->lbfgs, objective, error) &&
        (options->subdomains >= 0 || choose_count(objective, &count, error)) &&
        rbt_subdomains_init(&s->subdomains, objective->model, &objective->H, count, s->fast ? RBT_SINGLE : RBT_DOUBLE,
                            error))
        return s;
    destroy(s);
    return NULL;
}

// ---- The stages of a step

static rbt_outcome analyse(dot *s) {
    bool changed;
    double flops, fill;
    rbt_outcome outcome = rbt_subdomains_analyse(&s->subdomains, s->objective->held, &changed);
    if (outcome == RBT_DONE && changed) {
        rbt_subdomains_work(&s->subdomains, &flops, &fill);
        s->costs = estimate(s->objective->model, flops, fill);
    }
    return outcome;
}

static rbt_outcome assemble(dot *s, const double *z) {
    rbt_objective_hessian(s->objective, z);
    return RBT_DONE;
}

static rbt_outcome refresh(void *self, const double *z, rbt_stages *stages, rbt_step_report *report) {
    dot *s = self;
    RBT_STAGE("assemble", assemble(s, z));                                  // H(z), projected
    RBT_STAGE("factor", rbt_subdomains_factor(&s->subdomains, z, report));  // H_j = L_j L_j^T
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
    rbt_outcome outcome = refresh(s, s->fast ? z : last, stages, report);
    if (outcome != RBT_DONE) return outcome;
    rbt_inverse D = {.self = s, .apply = apply};
    if (s->fast) {
        const costs *c = &s->costs;
        D.refresh = refresh;
        D.refresh_cost = (c->assemble + c->factor) / (c->solve + c->gradient);
        D.refreshed_way = 3.5 * pow((double)s->subdomains.count, 0.65);  // of a stretched horse, nearly linear
    } else D.first_length = first_length;
    return rbt_lbfgs_solve(&s->lbfgs, &D, z, tolerance, max_iterations, stages, report);
}

const rbt_step_solver RBT_DOT = {
    .name = "dot",
    .doc = "L-BFGS around the factors of subdomains: large steps, large deformations, large meshes",
    .max_iterations = 1000,
    .create = create,
    .destroy = destroy,
    .solve = solve,
};
