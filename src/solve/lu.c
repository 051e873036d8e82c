// KLU takes columns. Rows read as columns are the transpose, and it solves with the transpose of what it factored.
#include "solve/lu.h"

#include "base/memory.h"
#include "solve/ordering.h"

#include <assert.h>
#include <float.h>
#include <klu.h>
#include <math.h>
#include <string.h>

enum { REFINEMENTS = 3 };

struct rbt_lu {
    size_t n;
    int *start, *index;  // (n + 1), (entries)
    double *value;       // kept for the refinement
    double *residual;    // (n)
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
    double condition;
};

void rbt_lu_free(rbt_lu *lu) {
    if (!lu) return;
    klu_free_numeric(&lu->numeric, &lu->common);
    klu_free_symbolic(&lu->symbolic, &lu->common);
    free(lu->start);
    free(lu->index);
    free(lu->value);
    free(lu->residual);
    free(lu);
}

// ---- analysis ----

static bool copy_pattern(rbt_lu *lu, const rbt_general_matrix *A, rbt_error *error) {
    const char *what = "a sparse matrix";
    size_t n = A->row_count, entries = A->start[n];
    if (n >= INT32_MAX || entries > INT32_MAX)
        return rbt_fail(error, "a matrix of %zu entries cannot be analysed: at most %d can", entries, INT32_MAX);
    for (size_t i = 0; i < n; i++)
        for (size_t k = A->start[i] + 1; k < A->start[i + 1]; k++)
            if (A->column[k] <= A->column[k - 1])
                return rbt_fail(
                    error, "a matrix of %zu unknowns cannot be analysed: its columns must ascend in every row", n);
    lu->n = n;
    lu->start = rbt_array_new(n + 1, sizeof *lu->start, what, error);
    lu->index = rbt_array_new(entries, sizeof *lu->index, what, error);
    lu->value = rbt_array_new(entries, sizeof *lu->value, what, error);
    lu->residual = rbt_array_new(n, sizeof *lu->residual, what, error);
    if (!lu->start || !lu->index || !lu->value || !lu->residual) return false;
    for (size_t i = 0; i <= n; i++) lu->start[i] = (int)A->start[i];
    for (size_t k = 0; k < entries; k++) lu->index[k] = A->column[k];
    return true;
}

typedef struct pattern {
    size_t *start;
    int32_t *column;
} pattern;

static bool pattern_init(pattern *p, size_t rows, size_t entries, rbt_error *error) {
    p->start = rbt_array_new(rows + 1, sizeof *p->start, "a sparse matrix", error);
    p->column = rbt_array_new(entries, sizeof *p->column, "a sparse matrix", error);
    return p->start && p->column;
}

static void pattern_free(pattern *p) {
    free(p->start);
    free(p->column);
}

// Rows are visited in order, so the columns of each row of the transpose ascend. What begins at start[j] is filled
// through start[j + 1].
static void transpose(const rbt_general_matrix *A, pattern *T) {
    size_t n = A->row_count, before = 0;
    for (size_t k = 0; k < A->start[n]; k++) T->start[A->column[k] + 1]++;
    for (size_t j = 0; j < n; j++) {
        size_t count = T->start[j + 1];
        T->start[j + 1] = before;
        before += count;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++) T->column[T->start[A->column[k] + 1]++] = (int32_t)i;
}

// Left of the diagonal of A + A^T: of both rows i what is less than i, merged
static void join_lower(const rbt_general_matrix *A, const pattern *T, pattern *lower) {
    size_t at = 0;
    for (size_t i = 0; i < A->row_count; i++) {
        size_t k = A->start[i], l = T->start[i];
        for (;;) {
            size_t own = k < A->start[i + 1] ? (size_t)A->column[k] : i;
            size_t other = l < T->start[i + 1] ? (size_t)T->column[l] : i;
            size_t next = own < other ? own : other;
            if (next >= i) break;
            k += own == next;
            l += other == next;
            lower->column[at++] = (int32_t)next;
        }
        lower->start[i + 1] = at;
    }
}

// By the pattern of A + A^T alone: the order must not depend on the values of one moment.
static bool find_order(const rbt_general_matrix *A, int32_t *order, rbt_error *error) {
    size_t n = A->row_count;
    pattern T = {0}, lower = {0};
    rbt_node_graph graph;
    unsigned char *keep = rbt_array_new(n, 1, "a sparse matrix", error);
    bool good = keep && pattern_init(&T, n, A->start[n], error) && pattern_init(&lower, n, A->start[n], error);
    if (good) {
        memset(keep, 1, n);
        transpose(A, &T);
        join_lower(A, &T, &lower);
        good = rbt_node_graph_build(&graph, n, lower.start, lower.column, keep, error);
    }
    pattern_free(&T);
    pattern_free(&lower);
    free(keep);
    if (!good) return false;
    good = rbt_order_nodes(&graph, order, error);
    rbt_node_graph_free(&graph);
    return good;
}

static bool analyse(rbt_lu *lu, const rbt_general_matrix *A, rbt_error *error) {
    if (!copy_pattern(lu, A, error)) return false;
    if (!lu->n) return true;
    int32_t *order = rbt_array_new(lu->n, sizeof *order, "a sparse matrix", error);
    bool good = order && find_order(A, order, error);
    if (good) {
        lu->symbolic = klu_analyze_given((int)lu->n, lu->start, lu->index, order, order, &lu->common);
        good = lu->symbolic;
        if (!good) rbt_fail(error, "not enough memory to analyse a matrix of %zu unknowns", lu->n);
    }
    free(order);
    return good;
}

rbt_lu *rbt_lu_analyse(const rbt_general_matrix *A, rbt_error *error) {
    rbt_lu *lu = rbt_array_new(1, sizeof *lu, "a factorisation", error);
    if (!lu) return NULL;
    klu_defaults(&lu->common);
    // Our matrices do not fall into triangles of blocks, and an order for the rows alone would spoil their symmetry.
    lu->common.btf = 0;
    lu->common.scale = 1;  // by the sums of the magnitudes
    if (analyse(lu, A, error)) return lu;
    rbt_lu_free(lu);
    return NULL;
}

// ---- numbers ----

rbt_factor_result rbt_lu_factor(rbt_lu *lu, const rbt_general_matrix *A) {
    assert(A->row_count == lu->n);
    lu->condition = 0;
    klu_free_numeric(&lu->numeric, &lu->common);
    if (!lu->n) return RBT_FACTORED;
    size_t entries = (size_t)lu->start[lu->n];
    memcpy(lu->value, A->value, entries * sizeof *lu->value);
    for (size_t k = 0; k < entries; k++)
        if (!isfinite(lu->value[k])) return RBT_FACTOR_NOT_FINITE;
    lu->numeric = klu_factor(lu->start, lu->index, lu->value, lu->symbolic, &lu->common);
    int status = lu->common.status;
    if (lu->numeric && status == KLU_OK && klu_rcond(lu->symbolic, lu->numeric, &lu->common) &&
        lu->common.rcond > DBL_EPSILON) {
        lu->condition = lu->common.rcond;
        return RBT_FACTORED;
    }
    klu_free_numeric(&lu->numeric, &lu->common);
    return status == KLU_OK || status == KLU_SINGULAR ? RBT_FACTOR_SINGULAR : RBT_FACTOR_NO_MEMORY;
}

// r = b - A x. Returns the largest |r_i| beside the bound of the rounding errors of computing it,
//   (entries of the row + 1) eps (|A| |x| + |b|)_i
static double find_residual(const rbt_lu *lu, const double *b, const double *x, double *r) {
    double worst = 0;
    for (size_t i = 0; i < lu->n; i++) {
        double sum = b[i], size = fabs(b[i]);
        for (int k = lu->start[i]; k < lu->start[i + 1]; k++) {
            double product = lu->value[k] * x[lu->index[k]];
            sum -= product;
            size += fabs(product);
        }
        r[i] = sum;
        if (sum != 0) worst = fmax(worst, fabs(sum) / ((lu->start[i + 1] - lu->start[i] + 1) * DBL_EPSILON * size));
    }
    return worst;
}

static void solve_once(rbt_lu *lu, double *x) {
    int done = klu_tsolve(lu->symbolic, lu->numeric, (int)lu->n, 1, x, &lu->common);
    assert(done);
    (void)done;
}

void rbt_lu_solve(rbt_lu *lu, const double *b, double *x) {
    if (!lu->n) return;
    assert(lu->numeric);
    memcpy(x, b, lu->n * sizeof *x);
    solve_once(lu, x);
    double last = INFINITY;
    for (int i = 0; i < REFINEMENTS; i++) {
        double error = find_residual(lu, b, x, lu->residual);
        if (!(error > 1 && error < 0.5 * last)) return;
        last = error;
        solve_once(lu, lu->residual);
        for (size_t k = 0; k < lu->n; k++) x[k] += lu->residual[k];
    }
}

double rbt_lu_condition(const rbt_lu *lu) { return lu->condition; }
