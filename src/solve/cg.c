#include "solve/cg.h"

#include "base/memory.h"
#include "solve/ordering.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 1536, LANES = 8 };  // doubles per partial sum; accumulators inside one

struct rbt_cg {
    size_t n, chunk_count;  // doubles in a vector
    double *r, *z, *p, *q;  // (n)
    double *partial;        // (chunk_count)
};

rbt_cg *rbt_cg_new(size_t row_count, rbt_error *error) {
    const char *what = "conjugate gradients";
    rbt_cg *cg = rbt_array_new(1, sizeof *cg, what, error);
    if (!cg) return NULL;
    cg->n = 3 * row_count;
    cg->chunk_count = (cg->n + CHUNK - 1) / CHUNK;
    double **vectors[] = {&cg->r, &cg->z, &cg->p, &cg->q};
    bool good = (cg->partial = rbt_array_new(cg->chunk_count, sizeof(double), what, error)) != NULL;
    for (size_t i = 0; good && i < sizeof vectors / sizeof *vectors; i++)
        good = (*vectors[i] = rbt_array_new(row_count, 3 * sizeof(double), what, error)) != NULL;
    if (good) return cg;
    rbt_cg_free(cg);
    return NULL;
}

void rbt_cg_free(rbt_cg *cg) {
    if (!cg) return;
    free(cg->r);
    free(cg->z);
    free(cg->p);
    free(cg->q);
    free(cg->partial);
    free(cg);
}

// ---- sums in a fixed order ----

static double chunk_dot(const double *a, const double *b, size_t n) {
    double s[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) s[l] += a[i + l] * b[i + l];
    for (; i < n; i++) s[i % LANES] += a[i] * b[i];
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

static size_t chunk_size(const rbt_cg *cg, size_t c) { return c + 1 < cg->chunk_count ? CHUNK : cg->n - c * CHUNK; }

static double sum_partial(const rbt_cg *cg) {
    double sum = 0;
    for (size_t c = 0; c < cg->chunk_count; c++) sum += cg->partial[c];
    return sum;
}

static double dot(rbt_cg *cg, const double *a, const double *b) {
#pragma omp parallel for schedule(static)
    for (size_t c = 0; c < cg->chunk_count; c++)
        cg->partial[c] = chunk_dot(a + c * CHUNK, b + c * CHUNK, chunk_size(cg, c));
    return sum_partial(cg);
}

// ---- the steps of one iteration ----

static void clear_eliminated(const rbt_cg *cg, const unsigned char *keep, double *x) {
    if (!keep) return;
#pragma omp parallel for schedule(static)
    for (size_t n = 0; n < cg->n / 3; n++)
        if (!keep[n]) memset(x + 3 * n, 0, 3 * sizeof *x);
}

static void apply(const rbt_cg *cg, const rbt_operator *A, const unsigned char *keep, const double *x, double *y) {
    if (A) A->apply(A->self, x, y);
    else memcpy(y, x, cg->n * sizeof *y);
    clear_eliminated(cg, keep, y);
}

// r = b - A x, returns |r|
static double true_residual(rbt_cg *cg, const rbt_operator *A, const unsigned char *keep, const double *b,
                            const double *x) {
    apply(cg, A, keep, x, cg->q);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < cg->n; i++) cg->r[i] = keep && !keep[i / 3] ? 0 : b[i] - cg->q[i];
    return sqrt(dot(cg, cg->r, cg->r));
}

// p = z + beta p
static void turn(rbt_cg *cg, double beta) {
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < cg->n; i++) cg->p[i] = cg->z[i] + beta * cg->p[i];
}

// x += alpha p, r -= alpha q, returns |r|
static double advance(rbt_cg *cg, double alpha, double *x) {
#pragma omp parallel for schedule(static)
    for (size_t c = 0; c < cg->chunk_count; c++) {
        size_t size = chunk_size(cg, c);
        double *r = cg->r + c * CHUNK, *y = x + c * CHUNK;
        const double *p = cg->p + c * CHUNK, *q = cg->q + c * CHUNK;
        for (size_t i = 0; i < size; i++) {
            y[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        cg->partial[c] = chunk_dot(r, r, size);
    }
    return sqrt(sum_partial(cg));
}

// Iterates from x with r = b - A x of length `size`, until |r| <= limit.
static rbt_cg_outcome iterate(rbt_cg *cg, const rbt_operator *A, const rbt_operator *P, const unsigned char *keep,
                              const double *b, double *x, double size, double limit, int most,
                              rbt_cg_report *report) {
    double rz = 0, checked = size;  // checked: the last residual that was computed from x
    bool fresh = true;              // p starts again
    while (size > limit) {
        if (report->iterations == most) return RBT_CG_NOT_CONVERGED;
        apply(cg, P, keep, cg->r, cg->z);
        double before = rz;
        rz = dot(cg, cg->r, cg->z);
        if (!isfinite(rz)) return RBT_CG_NOT_FINITE;
        if (rz <= 0) return RBT_CG_INDEFINITE;
        turn(cg, fresh ? 0 : rz / before);
        apply(cg, A, keep, cg->p, cg->q);
        double curvature = dot(cg, cg->p, cg->q);
        if (!isfinite(curvature)) return RBT_CG_NOT_FINITE;
        if (curvature <= 0) {
            report->curvature = curvature / dot(cg, cg->p, cg->p);
            return RBT_CG_INDEFINITE;
        }
        size = advance(cg, rz / curvature, x);
        report->iterations++;
        if (!isfinite(size)) return RBT_CG_NOT_FINITE;
        fresh = size <= limit;
        if (!fresh) continue;
        size = true_residual(cg, A, keep, b, x);  // the recurrence drifts away from x
        if (size > limit && size > 0.5 * checked) return RBT_CG_NOT_CONVERGED;
        checked = size;
    }
    return RBT_CG_CONVERGED;
}

rbt_cg_report rbt_cg_solve(rbt_cg *cg, const rbt_operator *A, const rbt_operator *P, const unsigned char *keep,
                           const double *b, double *x, double tolerance, int max_iterations) {
    rbt_cg_report report = {0};
    clear_eliminated(cg, keep, x);
    memset(cg->p, 0, cg->n * sizeof *cg->p);
    memcpy(cg->r, b, cg->n * sizeof *b);
    clear_eliminated(cg, keep, cg->r);
    double length = sqrt(dot(cg, cg->r, cg->r)), size = length;
    if (length > 0) size = true_residual(cg, A, keep, b, x);
    else memset(x, 0, cg->n * sizeof *x);
    if (!isfinite(length) || !isfinite(size)) report.outcome = RBT_CG_NOT_FINITE;
    else report.outcome = iterate(cg, A, P, keep, b, x, size, tolerance * length, max_iterations, &report);
    if (report.outcome == RBT_CG_NOT_FINITE) {
        memset(x, 0, cg->n * sizeof *x);
        report.residual = 1;
    } else if (length > 0) {
        report.residual = true_residual(cg, A, keep, b, x) / length;
    }
    return report;
}

// ---- block matrices ----

// y_i gathers row i in the order of its columns: the stored blocks up to the diagonal, then those below it in column
// i, transposed. Every block is read twice, but rows are independent.
struct rbt_block_operator {
    rbt_block_matrix A;
    rbt_node_graph graph;
};

rbt_block_operator *rbt_block_operator_new(const rbt_block_matrix *A, rbt_error *error) {
    rbt_block_operator *o = rbt_array_new(1, sizeof *o, "a product", error);
    unsigned char *all = rbt_array_new(A->row_count, 1, "a product", error);
    if (o && all) {
        memset(all, 1, A->row_count);
        o->A = *A;
        if (rbt_node_graph_build(&o->graph, A->row_count, A->start, A->column, all, error)) {
            free(all);
            return o;
        }
    }
    free(all);
    free(o);
    return NULL;
}

void rbt_block_operator_free(rbt_block_operator *o) {
    if (!o) return;
    rbt_node_graph_free(&o->graph);
    free(o);
}

static void multiply(const double *B, const double *x, double *y) {
    for (int r = 0; r < 3; r++) y[r] += B[3 * r] * x[0] + B[3 * r + 1] * x[1] + B[3 * r + 2] * x[2];
}

static void multiply_transposed(const double *B, const double *x, double *y) {
    for (int c = 0; c < 3; c++) y[c] += B[c] * x[0] + B[3 + c] * x[1] + B[6 + c] * x[2];
}

static void block_product(void *self, const double *x, double *y) {
    const rbt_block_operator *o = self;
    const rbt_block_matrix *A = &o->A;
    const rbt_node_graph *g = &o->graph;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < A->row_count; i++) {
        double sum[3] = {0};
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
            multiply(A->value + 9 * k, x + 3 * (size_t)A->column[k], sum);
        // the row's own blocks come first in the list of its edges, without the diagonal
        for (size_t k = g->start[i] + A->start[i + 1] - A->start[i] - 1; k < g->start[i + 1]; k++)
            multiply_transposed(A->value + 9 * g->block[k], x + 3 * (size_t)g->neighbour[k], sum);
        memcpy(y + 3 * i, sum, sizeof sum);
    }
}

rbt_operator rbt_block_operator_of(rbt_block_operator *o) { return (rbt_operator){block_product, o}; }
