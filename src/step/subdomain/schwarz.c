#include "step/subdomain/schwarz.h"

#include "base/threads.h"
#include "math/vector.h"
#include "solve/cg.h"
#include "step/core/method.h"
#include "step/subdomain/coarse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double TOLERANCE = 1e-9;
enum { MAX_ITERATIONS = 5000, USUAL_NODES = 2048 };

typedef struct schwarz {
    const rbt_model *model;
    rbt_arena *arena;
    rbt_subdomains subdomains;
    rbt_pieces pieces;
    rbt_coarse coarse;  // with several subdomains
    rbt_block_operator *product;
    unsigned char *constrained;  // (node_count)
    double *r, *z, *p, *q, *work;
} schwarz;

size_t rbt_schwarz_subdomains(size_t node_count, int asked) {
    return asked > 0 ? (size_t)asked : 1 + node_count / USUAL_NODES;
}

static void destroy(void *self) {
    schwarz *s = self;
    rbt_coarse_free(&s->coarse);
    rbt_subdomains_free(&s->subdomains);
    rbt_block_operator_free(s->product);
    rbt_arena_free(s->arena);
    free(s);
}

// ---- Setting up

static rbt_outcome analyse(void *self, const unsigned char *constrained, bool *changed) {
    schwarz *s = self;
    memcpy(s->constrained, constrained, s->model->node_count);
    return rbt_subdomains_analyse(&s->subdomains, constrained, changed);
}

static rbt_outcome factor(void *self, const double *x, rbt_step_report *report) {
    schwarz *s = self;
    rbt_outcome outcome = rbt_subdomains_factor(&s->subdomains, x, report);
    if (s->subdomains.count < 2) return outcome;
    bool bad = rbt_ranks_any(s->model, outcome != RBT_DONE);
    return bad ? outcome : rbt_coarse_factor(&s->coarse, x);
}

// ---- Solving

static void clear_constrained(const schwarz *s, double *y) {
    for (size_t n = 0; n < s->model->node_count; n++)
        if (s->constrained[n]) memset(y + 3 * n, 0, 3 * sizeof *y);
}

static void multiply(const schwarz *s, const double *x, double *y) {
    rbt_operator A = rbt_block_operator_of(s->product);
    A.apply(A.self, x, y);
    clear_constrained(s, y);
}

// z = D r + C (r - A D r); r and z are known in all nodes
static rbt_outcome precondition(schwarz *s) {
    size_t values = 3 * s->model->node_count;
    rbt_outcome outcome = rbt_subdomains_apply_symmetric(&s->subdomains, s->r, s->work, s->z);
    if (s->subdomains.count < 2) return outcome;
    multiply(s, s->z, s->work);
    rbt_vector_combine(values, s->work, s->r, -1, s->work);
    rbt_outcome coarse = rbt_coarse_add(&s->coarse, s->work, s->z);
    return outcome != RBT_DONE ? outcome : coarse;
}

// r = b - A y, at all nodes
static double residual(schwarz *s, const double *b, const double *y) {
    multiply(s, y, s->q);
    rbt_vector_combine(3 * s->model->node_count, s->r, b, -1, s->q);
    clear_constrained(s, s->r);
    rbt_ranks_share(s->model, s->r);
    return sqrt(rbt_ranks_dot(s->model, s->r, s->r));
}

static rbt_outcome give_up(rbt_step_report *report, rbt_outcome outcome, double left) {
    if (outcome == RBT_NOT_POSITIVE_DEFINITE)
        snprintf(report->hint, sizeof report->hint,
                 "conjugate gradients met a direction of negative curvature; take a smaller step or backward-euler");
    else if (outcome == RBT_NOT_CONVERGED)
        snprintf(report->hint, sizeof report->hint,
                 "conjugate gradients stopped at a residual of %.2g; take fewer subdomains or another solver", left);
    return outcome;
}

// From y until |r| <= limit
static rbt_outcome iterate(schwarz *s, const double *b, double *y, double size, double limit, double whole,
                           rbt_step_report *report) {
    size_t values = 3 * s->model->node_count;
    double rz = 0, checked = size;
    bool fresh = true;
    for (int k = 0; size > limit; k++) {
        if (k == MAX_ITERATIONS) return give_up(report, RBT_NOT_CONVERGED, size / whole);
        rbt_outcome outcome = precondition(s);
        double before = rz;
        rz = rbt_ranks_dot(s->model, s->r, s->z);
        if (rbt_ranks_any(s->model, outcome != RBT_DONE)) return RBT_OUT_OF_MEMORY;
        if (!isfinite(rz)) return RBT_NOT_FINITE;
        if (rz <= 0) return give_up(report, RBT_NOT_POSITIVE_DEFINITE, 0);
        rbt_vector_combine(values, s->p, s->z, fresh ? 0 : rz / before, s->p);
        multiply(s, s->p, s->q);
        double curvature = rbt_ranks_dot(s->model, s->p, s->q);
        if (!isfinite(curvature)) return RBT_NOT_FINITE;
        if (curvature <= 0) return give_up(report, RBT_NOT_POSITIVE_DEFINITE, 0);
        rbt_vector_add_scaled(values, y, rz / curvature, s->p);
        rbt_vector_add_scaled(values, s->r, -rz / curvature, s->q);
        rbt_ranks_share(s->model, s->r);
        size = sqrt(rbt_ranks_dot(s->model, s->r, s->r));
        report->statistics[RBT_STAT_ITERATIONS]++;
        if (!isfinite(size)) return RBT_NOT_FINITE;
        fresh = size <= limit;
        if (!fresh) continue;
        size = residual(s, b, y);  // the recurrence drifts away from y
        if (size > limit && size > 0.5 * checked) return give_up(report, RBT_NOT_CONVERGED, size / whole);
        checked = size;
    }
    return RBT_DONE;
}

static rbt_outcome solve(void *self, const double *b, double *y, rbt_step_report *report) {
    schwarz *s = self;
    size_t values = 3 * s->model->node_count;
    memset(y, 0, values * sizeof *y);
    memset(s->p, 0, values * sizeof *y);
    rbt_vector_copy(values, s->r, b);
    clear_constrained(s, s->r);
    rbt_ranks_share(s->model, s->r);
    double whole = sqrt(rbt_ranks_dot(s->model, s->r, s->r)), size = whole;
    if (!isfinite(whole)) return RBT_NOT_FINITE;
    if (whole == 0) return RBT_DONE;
    if (s->subdomains.count > 1) {
        if (rbt_coarse_add(&s->coarse, s->r, y) != RBT_DONE) return RBT_OUT_OF_MEMORY;
        size = residual(s, b, y);
    }
    rbt_outcome outcome = iterate(s, b, y, size, TOLERANCE * whole, whole, report);
    if (outcome == RBT_DONE) report->statistics[RBT_STAT_RESIDUAL] = size > 0 ? residual(s, b, y) / whole : 0;
    return outcome;
}

static void describe(const void *self, rbt_text *json) {
    const schwarz *s = self;
    const rbt_subdomains *d = &s->subdomains;
    double entries = 0;  // of this rank's
    for (size_t j = 0; j < d->count; j++)
        if (d->factor[j]) entries += rbt_cholesky_fill(d->factor[j]);
    rbt_text_add(json,
                 "\"subdomains\": %zu, \"coarse_unknowns\": %zu, \"factor_entries\": %.0f, "
                 "\"coarse_factor_entries\": %.0f",
                 d->count, 6 * s->coarse.count, entries, s->coarse.factor ? rbt_cholesky_fill(s->coarse.factor) : 0);
}

static int labels(const void *self, int32_t *label) {
    const rbt_subdomains *d = &((const schwarz *)self)->subdomains;
    for (size_t n = 0; n < d->model->node_count; n++) label[n] = d->homes[d->home_start[n]];
    return RBT_LABEL_SUBDOMAIN;
}

bool rbt_schwarz_new(const rbt_model *m, const rbt_block_matrix *A, size_t subdomains, rbt_linear_solver *solver,
                     rbt_error *error) {
    schwarz *s = rbt_array_new(1, sizeof *s, "a linear solver", error);
    if (!s) return false;
    *s = (schwarz){.model = m, .arena = rbt_arena_new()};
    double **vectors[] = {&s->r, &s->z, &s->p, &s->q, &s->work};
    bool good = s->arena && (s->constrained = rbt_arena_take(s->arena, m->node_count, 1));
    for (size_t i = 0; good && i < sizeof vectors / sizeof *vectors; i++)
        good = (*vectors[i] = rbt_arena_take(s->arena, 3 * m->node_count, sizeof(double))) != NULL;
    if (!good) rbt_fail_memory(error, 15 * m->node_count * sizeof(double), "a linear solver");
    good =
        good && (s->product = rbt_block_operator_new(A, error)) &&
        rbt_subdomains_init(&s->subdomains, m, A, subdomains, RBT_DOUBLE, error) &&
        rbt_pieces_find(&s->pieces, s->arena, m, error) &&
        (s->subdomains.count < 2 || rbt_coarse_init(&s->coarse, &s->pieces, s->constrained, &s->subdomains, error));
    *solver = (rbt_linear_solver){s, analyse, factor, solve, destroy, describe, labels};
    if (!good) destroy(s);
    return good;
}
