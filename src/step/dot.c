// DOT, decomposed optimisation time integration (Li et al. 2019): L-BFGS around the factors of subdomains (subdomains.h).
//
// As published ("paper"): the factors are made once a step, of H where the step begins; the line search starts at the minimum of
// the quadratic model along p, within [0.1, 1]: -p.grad E / p^T H(x_n) p (eq. 14).
//
// "fast" differs in four points; in brackets what each one alone does to the mean iterations of the first 40 steps of the bunny and
// the horse stretched and twisted fast, and of the horse stretched slowly (one subdomain):
//   - it starts from motion without outside forces where that is better (choose_start), 8.1 -> 3.8, 13.3 -> 8.8, 3.5 -> 2.1;
//   - H is taken where the iteration starts, which knows how the held nodes moved (9.5 -> 8.1, 26.5 -> 17.3, 16.6 -> 3.5);
//   - factors are made anew within a step where that pays (lbfgs.h; 8.1, 17.3 -> 11.7, 3.5);
//   - the line search starts at 1: the model of a fresh H is too cautious (15.2 -> 8.1, 17.4 -> 11.7, 3.6 -> 3.5).
// Factors are of single precision in both: iterations stay within 3 %, factors and solves take about half the time.
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
    rbt_arena *arena;
    double *other_start;  // (node_count x 3)
} dot;

static void destroy(void *self) {
    dot *s = self;
    rbt_subdomains_free(&s->subdomains);
    rbt_lbfgs_free(&s->lbfgs);
    rbt_arena_free(s->arena);
    free(s);
}

// ---- How many subdomains

static costs estimate(const rbt_model *m, double flops, double fill) {
    const double per_flop = 2.5e-11, per_entry = 8e-10, element_gradient = 6e-8, element_assembly = 3.4e-7,
                 node = 3e-8;
    double elements = (double)(m->tet_count ? m->tet_count : m->triangle_count + m->edge_count);
    return (costs){.assemble = element_assembly * elements,
                   .factor = per_flop * flops,
                   .solve = per_entry * fill,
                   .gradient = element_gradient * elements + node * (double)m->node_count};
}

// Of a step with that many subdomains: 4 for what is not linear, the others until the subdomains agree. Fits bunny5K (3.8, 9.8,
// 10.1 with 1, 2, 8), horse7K (2.1, 7.9, 12.9) and bar17K (0.9, 7.3, 10.1 and 14.1 with 32) of the authors.
static double usual_iterations(double count) { return count > 1 ? 4 + 4 * pow(count, 0.3) : 4; }

static double step_cost(const costs *c, double count) {
    return c->assemble + c->factor + usual_iterations(count) * (c->solve + c->gradient);
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
        if (cost >= 0.9 * least) continue;  // more subdomains only if that clearly pays
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
    s->arena = rbt_arena_new();
    s->other_start = s->arena ? rbt_arena_take(s->arena, 3 * objective->model->node_count, sizeof(double)) : NULL;
    size_t count = (size_t)(options->subdomains < 0 ? 1 : options->subdomains);
    if (!s->other_start) rbt_fail_memory(error, 3 * objective->model->node_count * sizeof(double), "a step solver");
    else if (rbt_lbfgs_init(&s->lbfgs, objective, error) &&
             (options->subdomains >= 0 || choose_count(objective, &count, error)) &&
             rbt_subdomains_init(&s->subdomains, objective->model, &objective->H, count, RBT_SINGLE, error))
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

// The better of the start given, which outside forces have already moved as if nothing held the nodes together, and of motion
// without them: most of the time forces are balanced by stress.
static rbt_outcome choose_start(dot *s, double *z) {
    rbt_objective *o = s->objective;
    size_t nodes = o->model->node_count;
    for (size_t i = 0; i < 3 * nodes; i++) s->other_start[i] = o->held[i / 3] ? z[i] : o->target[i];
    if (rbt_objective_value(o, s->other_start) < rbt_objective_value(o, z))
        rbt_vector_copy(3 * nodes, z, s->other_start);
    return RBT_DONE;
}

static rbt_outcome assemble(dot *s, const double *z) {
    rbt_objective_hessian(s->objective, z);
    return RBT_DONE;
}

static rbt_outcome make(void *self, const double *z, rbt_stages *stages, rbt_step_report *report) {
    dot *s = self;
    RBT_STAGE("assemble", assemble(s, z));                                  // H(z), projected
    RBT_STAGE("factor", rbt_subdomains_factor(&s->subdomains, z, report));  // H_j = L_j L_j^T
    return RBT_DONE;
}

static rbt_outcome apply(void *self, const double *q, double *r) {
    dot *s = self;
    return rbt_subdomains_apply(&s->subdomains, q, r);
}

static double first_length(void *self, const double *p, double slope) {
    dot *s = self;
    double curvature = rbt_block_matrix_form(&s->objective->H, p);
    return curvature > 0 ? fmin(fmax(-slope / curvature, 0.1), 1) : 1;
}

static rbt_outcome solve(void *self, const double *last, double *z, double tolerance, int max_iterations,
                         rbt_stages *stages, rbt_step_report *report) {
    dot *s = self;
    rbt_inverse D = {.self = s, .make = make, .apply = apply};
    RBT_STAGE("analyse", analyse(s));
    if (s->fast) {
        const costs *c = &s->costs;
        D.making_cost = (c->assemble + c->factor) / (c->solve + c->gradient);
        D.usual_iterations = usual_iterations((double)s->subdomains.count);
        RBT_STAGE("start", choose_start(s, z));
    } else {
        D.place = last;
        D.first_length = first_length;
    }
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
