// DOT, decomposed optimisation time integration (Li et al. 2019): L-BFGS around the factors of subdomains
// (subdomains.h).
//
// As published ("paper"): the factors are made once a step, of H where the step begins; the line search starts at the
// minimum of the quadratic model along p, within [0.1, 1]: -p.grad E / p^T H(x_n) p (eq. 14).
//
// "fast" has a coarse space beside the subdomains (coarse.h), and differs in three more points; in brackets what each
// one alone does to the mean iterations of the first 40 steps of the bunny and the horse stretched and twisted fast,
// and of the horse stretched slowly (one subdomain, stop test "characteristic", start "predictor"):
//   - H is taken where the iteration starts, which knows how the constrained nodes moved (9.5 -> 8.1, 26.5 -> 17.3,
//   16.6 -> 3.5);
//   - factors are made again within a step where that pays (lbfgs.h; 8.1, 17.3 -> 11.7, 3.5);
//   - the line search starts at 1: the model of a fresh H is too cautious (15.2 -> 8.1, 17.4 -> 11.7, 3.6 -> 3.5).
// Factors are of single precision in both: iterations stay within 3 %, factors and solves take about half the time.
// Where the largest and the smallest eigenvalue of H may differ by more than SINGLE_RANGE, which h^2 times stiffness
// over mass tells, single precision would lose the soft directions of stiff bodies: the factors are of double
// precision then. The paper's stop test does not ask for those.
#include "math/block_matrix.h"
#include "step/core/method.h"
#include "step/implicit/costs.h"
#include "step/implicit/lbfgs.h"
#include "step/subdomain/coarse.h"

#include <stdio.h>

typedef struct dot {
    rbt_objective *objective;
    bool fast;
    rbt_stop_test test;
    rbt_lbfgs lbfgs;
    int asked;  // number of subdomains that the scene asks for; -1: none
    rbt_subdomains subdomains;
    bool coarsens;  // our variant with several subdomains
    rbt_coarse coarse;
    rbt_costs costs;
    rbt_inverse D;
} dot;

static void destroy(void *self) {
    dot *s = self;
    rbt_coarse_free(&s->coarse);
    rbt_subdomains_free(&s->subdomains);
    rbt_lbfgs_free(&s->lbfgs);
    free(s);
}

// ---- How many subdomains

// Iterations of a step: some for what is not linear, the others until the subdomains agree, which takes the longer the
// more digits are asked for. With the coarse space their number hardly matters: a twisted bar of 16,592 nodes took 6.3,
// 6.8, 6.0 and 5.3 iterations a step with 4, 16, 64 and 128 of them by the characteristic test (without it 9 to 25),
// and 19, 21, 19 and 16 by the force test (25 to 110); horse7K 9.8 and 8.8, 26 and 25 with 8 and 24.
static double usual_iterations(rbt_stop_test test, double count) {
    if (!(count > 1)) return 4;
    return test == RBT_STOP_CHARACTERISTIC ? 7 : 20;
}

// What the factors of `count` subdomains take, in the unit of the other costs. Small fronts take their time for being
// put together rather than for flops, and the coarse space for its products with H. Of bunny5K, horse7K and bar17K, in
// single precision: 8.8, 14 and 178 ms with one, 6.8, 11 and 59 ms with eight of them.
static double factor_cost(const rbt_model *m, double flops, double fill, double count) {
    const double per_flop = 1.6e-11, per_entry = 3.6e-9, coarse = 2e-6;
    return per_flop * flops + per_entry * fill + (count > 1 ? coarse * (double)m->node_count : 0);
}

// With the coarse space an iteration has a product of H, too, which costs about half a gradient.
static double step_cost(const rbt_model *m, rbt_stop_test test, double flops, double fill, double count) {
    rbt_costs c = rbt_costs_estimate(m, flops, fill);
    double each = c.solve + (count > 1 ? 1.5 : 1) * c.gradient;
    return c.assemble + factor_cost(m, flops, fill, count) + usual_iterations(test, count) * each;
}

// Large bodies are divided by their nodes alone; the coarse space has six unknowns for each subdomain, and is solved by
// one thread.
enum { SMALLEST = 256, LARGE = 65536, MOST = 2048 };

static size_t count_of_large(size_t nodes) { return nodes / SMALLEST < MOST ? nodes / SMALLEST : MOST; }

// The cost of one factor is counted, and that of more follows the laws of nested dissection: flops as the square of a
// solid's size, fill as its power 4/3 (of a sheet's 3/2 and, nearly, 1). The number of threads has no say: results
// would depend on it. With contact there are no more than memory asks for: what goes through many contacts from
// subdomain to subdomain takes up to ten times the iterations.
static bool choose_count(const rbt_objective *o, rbt_stop_test test, size_t *chosen, rbt_error *error) {
    const rbt_model *m = o->model;
    rbt_subdomains parts;
    bool solid = m->tet_count > 0, changed;
    double flops, fill, least = INFINITY;
    *chosen = 1 + m->node_count / LARGE;
    if (o->pairs) return true;
    if (m->node_count >= LARGE) *chosen = count_of_large(m->node_count);
    if (m->node_count >= LARGE) return true;
    if (!rbt_subdomains_init(&parts, m, &o->H, 1, RBT_SINGLE, error)) return false;
    bool analysed = rbt_subdomains_analyse(&parts, o->constrained, &changed) == RBT_DONE;
    if (analysed) rbt_subdomains_work(&parts, &flops, &fill);
    rbt_subdomains_free(&parts);
    if (!analysed) return rbt_fail_memory(error, m->node_count * sizeof(double), "subdomains");
    for (double count = 1; count == 1 || (double)m->node_count / count >= SMALLEST; count *= 2) {
        double cost =
            step_cost(m, test, flops / (solid ? count : sqrt(count)), fill / (solid ? cbrt(count) : 1), count);
        if (cost >= 0.9 * least) continue;  // more subdomains only if that clearly pays
        least = cost;
        *chosen = (size_t)count;
    }
    return true;
}

// Largest over smallest eigenvalue of H = M + tau^2 K: at most 1 + tau^2 max_n k_n / m_n, times a small number
static rbt_precision precision(const rbt_objective *o, rbt_stop_test test) {
    static const double SINGLE_RANGE = 1e5;  // leaves two of single precision's seven digits
    if (o->pairs) return RBT_DOUBLE;         // the barrier has no largest stiffness
    if (test == RBT_STOP_CHARACTERISTIC) return RBT_SINGLE;
    double h = o->model->step, most = 0;
    for (size_t n = 0; n < o->model->node_count; n++)
        if (o->model->mass[n] > 0 && rbt_ranks_owns(o->model, n)) most = fmax(most, o->stiff[n] / o->model->mass[n]);
    rbt_ranks_most(o->model, &most, 1);
    return h * h * most > SINGLE_RANGE ? RBT_DOUBLE : RBT_SINGLE;
}

// Factors that are made once a step know nothing of what comes into contact in it.
static bool check_variant(const rbt_objective *o, const rbt_implicit_options *options, rbt_error *error) {
    if (!o->pairs || options->variant == RBT_DOT_FAST) return true;
    return rbt_fail_path(error, NULL, "integrator.options.variant",
                         "the method as published knows no contact; take \"fast\", or leave \"contact\" out");
}

static void *create(rbt_objective *objective, const rbt_implicit_options *options, rbt_error *error) {
    dot *s = rbt_array_new(1, sizeof *s, "a step solver", error);
    if (!s) return NULL;
    s->objective = objective;
    s->fast = options->variant == RBT_DOT_FAST;
    s->test = (rbt_stop_test)options->stop;
    s->asked = options->subdomains;
    size_t count = (size_t)(options->subdomains < 0 ? 1 : options->subdomains);
    const rbt_block_matrix *A = objective->pairs ? &objective->pairs->matrix.A : &objective->H;
    if (check_variant(objective, options, error) && rbt_lbfgs_init(&s->lbfgs, objective, error) &&
        (objective->model->ranks || options->subdomains >= 0 || choose_count(objective, s->test, &count, error)) &&
        rbt_subdomains_init(&s->subdomains, objective->model, A, count, precision(objective, s->test), error)) {
        s->subdomains.contact = objective->pairs ? &objective->pairs->matrix : NULL;
        s->lbfgs.on_ranks = s->fast;
        s->coarsens = s->subdomains.count > 1 && s->fast;
        if (!s->coarsens ||
            rbt_coarse_init(&s->coarse, &objective->pieces, objective->constrained, &s->subdomains, error))
            return s;
    }
    destroy(s);
    return NULL;
}

// ---- The stages of a step

static rbt_outcome analyse(dot *s) {
    bool changed;
    double flops, fill;
    rbt_outcome outcome = rbt_subdomains_analyse(&s->subdomains, s->objective->constrained, &changed);
    if (outcome == RBT_DONE && changed) {
        rbt_subdomains_work(&s->subdomains, &flops, &fill);
        s->costs = rbt_costs_estimate(s->objective->model, flops, fill);
    }
    return outcome;
}

static rbt_outcome assemble(dot *s, const double *z) {
    rbt_objective_hessian(s->objective, z);
    return RBT_DONE;
}

static rbt_outcome make(void *self, const double *z, rbt_stages *stages, rbt_step_report *report) {
    dot *s = self;
    RBT_STAGE("assemble", assemble(s, z));                                   // H(z), projected
    RBT_STAGE("factor", rbt_subdomains_factor(&s->subdomains, z, report));   // H_j = L_j L_j^T
    if (s->coarsens) RBT_STAGE("factor", rbt_coarse_factor(&s->coarse, z));  // Z^T H Z
    return RBT_DONE;
}

// With contact: of its matrix
static rbt_outcome factor(void *self, const double *z, rbt_stages *stages, rbt_step_report *report) {
    dot *s = self;
    RBT_STAGE("analyse", analyse(s));
    s->D.making_cost = rbt_costs_making(&s->costs, true);
    RBT_STAGE("factor", rbt_subdomains_factor(&s->subdomains, z, report));
    if (s->coarsens) RBT_STAGE("factor", rbt_coarse_factor(&s->coarse, z));
    return RBT_DONE;
}

static rbt_outcome apply(void *self, const double *q, double *r) {
    dot *s = self;
    if (s->coarsens) return rbt_coarse_apply(&s->coarse, &s->subdomains, q, r);
    return rbt_subdomains_apply(&s->subdomains, q, r);
}

static double first_length(void *self, const double *p, double slope) {
    dot *s = self;
    double curvature = rbt_block_matrix_form(&s->objective->H, p);
    return curvature > 0 ? fmin(fmax(-slope / curvature, 0.1), 1) : 1;
}

static rbt_outcome solve(void *self, const double *last, double *z, rbt_stop *stop, int max_iterations,
                         rbt_stages *stages, rbt_step_report *report) {
    dot *s = self;
    s->D = (rbt_inverse){.self = s, .make = make, .factor = factor, .apply = apply};
    if (!s->objective->pairs) RBT_STAGE("analyse", analyse(s));
    if (s->fast) {
        s->D.making_cost = rbt_costs_making(&s->costs, false);
        s->D.usual_iterations = usual_iterations(s->test, (double)s->subdomains.count);
        if (s->objective->pairs) s->D.usual_iterations = fmax(s->D.usual_iterations, RBT_LBFGS_CONTACT_ITERATIONS);
    } else {
        s->D.place = last;
        s->D.first_length = first_length;
    }
    return rbt_lbfgs_solve(&s->lbfgs, &s->D, last, z, stop, max_iterations, stages, report);
}

static int labels(const void *self, int32_t *label) {
    const rbt_subdomains *d = &((const dot *)self)->subdomains;
    if (!d->member_start) return -1;
    for (size_t n = 0; n < d->model->node_count; n++) label[n] = -1;
    for (size_t j = d->count; j-- > 0;)
        for (size_t i = d->member_start[j]; i < d->member_start[j + 1]; i++) label[d->members[i]] = (int32_t)j;
    return RBT_LABEL_SUBDOMAIN;
}

static void describe(const void *self, rbt_text *json) {
    const dot *s = self;
    rbt_text_add(json, "\"subdomains\": %zu", s->subdomains.count);
    if (s->asked < 0) rbt_text_add(json, ", \"subdomains_asked\": \"auto\"");
    else rbt_text_add(json, ", \"subdomains_asked\": %d", s->asked);
}

static bool on_ranks(const rbt_implicit_options *options) { return options->variant == RBT_DOT_FAST; }

static size_t subdomains(const rbt_model *model, const rbt_implicit_options *options) {
    size_t count = 1;
    rbt_objective objective;
    if (options->subdomains > 0) return (size_t)options->subdomains;
    if (model->node_count >= LARGE) return count_of_large(model->node_count);
    if (!rbt_objective_init(&objective, model, NULL)) return 1;
    choose_count(&objective, (rbt_stop_test)options->stop, &count, NULL);
    rbt_objective_free(&objective);
    return count;
}

const rbt_step_solver RBT_DOT = {
    .name = "dot",
    .work = {.gradients = 9, .assemblies = 1, .factors = 0.3, .solves = 4},
    .doc = "L-BFGS around the factors of subdomains: large steps, large deformations, large meshes",
    .max_iterations = 1000,
    .contact = true,
    .create = create,
    .destroy = destroy,
    .solve = solve,
    .describe = describe,
    .labels = labels,
    .on_ranks = on_ranks,
    .subdomains = subdomains,
};
