// The matrix is handed to CHOLMOD already in the order of elimination, so that a factorisation copies each value once
// and CHOLMOD permutes nothing, neither there nor in a solve.
//
// The order is found on the graph of nodes (solve/ordering.h) and followed by CHOLMOD's postorder, which keeps the three
// unknowns of a node together: in the elimination tree they form a chain.
#include "solve/cholesky.h"

#include "base/memory.h"
#include "base/threads.h"
#include "solve/ordering.h"

#include <assert.h>
#include <cblas.h>
#include <cholmod.h>
#include <math.h>
#include <string.h>

enum { REFINEMENTS = 5 };
static const double UNSTABLE = 1e-10, EXACT = 1e-15;

struct rbt_cholesky {
    cholmod_common common;
    cholmod_sparse *A;                   // lower triangle by columns, in the order of elimination
    cholmod_factor *L, *LDL;             // L L^T; L D L^T, made when first asked for
    cholmod_factor *current;             // what solves, NULL if the last factorisation failed
    cholmod_dense *x, *work_y, *work_e;  // of solves without supernodes
    size_t block;                        // unknowns per row: 3, or 1 with three right-hand sides for each vector
    size_t row_count, kept_count;
    int32_t *rows;        // (kept_count) ascending; the vertices below are numbers into it
    int32_t *order;       // (kept_count) vertices in the order of elimination
    int32_t *place;       // (kept_count) position of each vertex in that order
    size_t *entry_start;  // (kept_count + 1) blocks of each column of blocks, the diagonal first
    size_t *source;       // (entry_start[kept_count]) 2 block + 1 if it is used transposed
    double *b, *r, *e;    // right-hand sides and residuals in the order of elimination, work space
    size_t b_capacity, r_capacity, e_capacity;
    double fill, flops;
};

void rbt_cholesky_free(rbt_cholesky *c) {
    if (!c) return;
    cholmod_l_free_sparse(&c->A, &c->common);
    cholmod_l_free_factor(&c->L, &c->common);
    cholmod_l_free_factor(&c->LDL, &c->common);
    cholmod_l_free_dense(&c->x, &c->common);
    cholmod_l_free_dense(&c->work_y, &c->common);
    cholmod_l_free_dense(&c->work_e, &c->common);
    cholmod_l_finish(&c->common);
    free(c->rows);
    free(c->order);
    free(c->place);
    free(c->entry_start);
    free(c->source);
    free(c->b);
    free(c->r);
    free(c->e);
    free(c);
}

// ---- analysis ----

// Sources of the lower triangle by columns of blocks, and A's pattern from them. Rows are visited in the order of
// elimination, so each column's rows ascend.
static void fill_pattern(rbt_cholesky *c, const size_t *row_start, const rbt_node_graph *g, const int32_t *order,
                         int32_t *entry_row, size_t *fill) {
    size_t n = c->kept_count, block = c->block;
    for (size_t p = 0; p < n; p++) c->place[order[p]] = (int32_t)p;
    for (int pass = 0; pass < 2; pass++) {
        memset(pass ? fill : c->entry_start, 0, (n + (pass ? 0 : 1)) * sizeof *fill);
        for (size_t q = 0; q < n; q++) {
            size_t v = (size_t)order[q], i = (size_t)g->row[v];
            if (!pass) c->entry_start[q + 1]++;
            else {
                size_t at = c->entry_start[q] + fill[q]++;
                c->source[at] = 2 * (row_start[i + 1] - 1);
                entry_row[at] = (int32_t)q;
            }
            for (size_t k = g->start[v]; k < g->start[v + 1]; k++) {
                size_t j = (size_t)g->neighbour[k], p = (size_t)c->place[j];
                if (p > q) continue;
                if (!pass) c->entry_start[p + 1]++;
                else {
                    size_t at = c->entry_start[p] + fill[p]++;
                    c->source[at] = 2 * g->block[k] + (v < j);
                    entry_row[at] = (int32_t)q;
                }
            }
        }
        for (size_t p = 0; !pass && p < n; p++) c->entry_start[p + 1] += c->entry_start[p];
    }
    SuiteSparse_long *start = c->A->p, *row = c->A->i, at = 0;
    for (size_t p = 0; p < n; p++)
        for (size_t r = 0; r < block; r++) {
            start[block * p + r] = at;
            for (size_t e = c->entry_start[p]; e < c->entry_start[p + 1]; e++)
                for (size_t s = e == c->entry_start[p] ? r : 0; s < block; s++)
                    row[at++] = (SuiteSparse_long)(block * (size_t)entry_row[e] + s);
        }
    start[block * n] = at;
}

static bool no_memory(rbt_cholesky *c, rbt_error *error) {
    return rbt_fail(error, "not enough memory to analyse a matrix of %zu unknowns", c->block * c->kept_count);
}

// An order of the nodes, then CHOLMOD's postorder of it, which becomes part of the pattern.
static bool analyze_in_order(rbt_cholesky *c, const size_t *row_start, const rbt_node_graph *g, int32_t *order,
                             int32_t *entry_row, size_t *fill, rbt_error *error) {
    if (!rbt_order_nodes(g, order, error)) return false;
    fill_pattern(c, row_start, g, order, entry_row, fill);
    c->common.method[0].ordering = CHOLMOD_NATURAL;
    c->L = cholmod_l_analyze(c->A, &c->common);
    if (!c->L) return no_memory(c, error);
    c->fill = c->common.lnz;
    c->flops = c->common.fl;
    SuiteSparse_long *permutation = c->L->Perm;
    for (size_t p = 0; p < c->kept_count; p++) {
        size_t first = (size_t)permutation[c->block * p];
        assert(first % c->block == 0 && (size_t)permutation[c->block * (p + 1) - 1] == first + c->block - 1);
        c->order[p] = order[first / c->block];
    }
    fill_pattern(c, row_start, g, c->order, entry_row, fill);
    // The factor is that of the matrix as it now lies.
    for (size_t u = 0; u < c->L->n; u++) permutation[u] = (SuiteSparse_long)u;
    c->L->ordering = CHOLMOD_NATURAL;
    return true;
}

static bool analyze_graph(rbt_cholesky *c, const size_t *row_start, const rbt_node_graph *g, rbt_error *error) {
    const char *what = "the pattern of a matrix";
    c->kept_count = g->count;
    if (!g->count) return true;
    size_t below = g->start[g->count] / 2, entries = below + g->count, n = c->block * g->count;
    c->rows = rbt_array_new(g->count, sizeof *c->rows, what, error);
    c->order = rbt_array_new(g->count, sizeof *c->order, what, error);
    c->place = rbt_array_new(g->count, sizeof *c->place, what, error);
    c->entry_start = rbt_array_new(g->count + 1, sizeof *c->entry_start, what, error);
    c->source = rbt_array_new(entries, sizeof *c->source, what, error);
    if (!c->rows || !c->order || !c->place || !c->entry_start || !c->source) return false;
    memcpy(c->rows, g->row, g->count * sizeof *c->rows);
    c->A = cholmod_l_allocate_sparse(n, n, below * c->block * c->block + n * (c->block + 1) / 2, 1, 1, -1,
                                     CHOLMOD_REAL, &c->common);
    if (!c->A) return no_memory(c, error);
    int32_t *order = rbt_array_new(g->count, sizeof *order, what, error);
    int32_t *entry_row = rbt_array_new(entries, sizeof *entry_row, what, error);
    size_t *fill = rbt_array_new(g->count, sizeof *fill, what, error);
    bool good = order && entry_row && fill && analyze_in_order(c, row_start, g, order, entry_row, fill, error);
    free(order);
    free(entry_row);
    free(fill);
    return good;
}

// Takes over the graph.
static rbt_cholesky *analyze(size_t block, size_t row_count, const size_t *start, rbt_node_graph *graph,
                             rbt_error *error) {
    rbt_cholesky *c = rbt_array_new(1, sizeof *c, "a factorisation", error);
    bool good = c != NULL;
    if (good) {
        openblas_set_num_threads(1);
        cholmod_l_start(&c->common);
        c->common.print = 0;
        c->common.nmethods = 1;
        c->common.postorder = 1;
        c->block = block;
        c->row_count = row_count;
        good = analyze_graph(c, start, graph, error);
    }
    rbt_node_graph_free(graph);
    if (good) return c;
    rbt_cholesky_free(c);
    return NULL;
}

rbt_cholesky *rbt_cholesky_analyze(const rbt_block_matrix *A, const unsigned char *keep, rbt_error *error) {
    rbt_node_graph graph;
    if (!rbt_node_graph_build(&graph, A->row_count, A->start, A->column, keep, error)) return NULL;
    return analyze(3, A->row_count, A->start, &graph, error);
}

rbt_cholesky *rbt_cholesky_analyze_scalar(const rbt_scalar_matrix *A, const unsigned char *keep, rbt_error *error) {
    rbt_node_graph graph;
    if (!rbt_node_graph_build(&graph, A->row_count, A->start, A->column, keep, error)) return NULL;
    return analyze(1, A->row_count, A->start, &graph, error);
}

rbt_cholesky *rbt_cholesky_analyze_rows(const rbt_block_matrix *A, const int32_t *rows, size_t count,
                                        rbt_precision precision, rbt_error *error) {
    (void)precision;
    rbt_node_graph graph;
    if (!rbt_node_graph_build_rows(&graph, rows, count, A->start, A->column, error)) return NULL;
    return analyze(3, A->row_count, A->start, &graph, error);
}

// ---- factors ----

static void fill_values(rbt_cholesky *c, const double *from) {
    const SuiteSparse_long *start = c->A->p;
    double *value = c->A->x;
    size_t block = c->block;
#pragma omp parallel for schedule(static) if (c->kept_count >= RBT_PARALLEL_FROM)
    for (size_t p = 0; p < c->kept_count; p++)
        for (size_t r = 0; r < block; r++) {
            double *at = value + start[block * p + r];
            const double *diagonal = from + block * block * (c->source[c->entry_start[p]] / 2);
            for (size_t s = r; s < block; s++) *at++ = diagonal[block * s + r];
            for (size_t e = c->entry_start[p] + 1; e < c->entry_start[p + 1]; e++) {
                const double *B = from + block * block * (c->source[e] / 2);
                bool transposed = c->source[e] & 1;
                for (size_t s = 0; s < block; s++) *at++ = transposed ? B[block * r + s] : B[block * s + r];
            }
        }
}

// The first row, in the order of elimination, with a value that is not finite; false if there is none.
static bool find_not_finite(const rbt_cholesky *c, size_t *row) {
    const SuiteSparse_long *start = c->A->p;
    const double *value = c->A->x;
    for (size_t u = 0; u < c->A->ncol; u++)
        for (SuiteSparse_long k = start[u]; k < start[u + 1]; k++)
            if (!isfinite(value[k])) {
                *row = (size_t)c->rows[c->order[u / c->block]];
                return true;
            }
    return false;
}

static rbt_factor_result factor(rbt_cholesky *c, cholmod_factor *L, const double *value, rbt_factor_result bad_pivot,
                                size_t *row) {
    c->current = NULL;
    fill_values(c, value);
    c->common.status = CHOLMOD_OK;
    c->common.final_ll = L == c->L;  // small matrices are not supernodal: L L^T all the same
    if (!cholmod_l_factorize(c->A, L, &c->common) && c->common.status < 0) return RBT_FACTOR_NO_MEMORY;
    bool stopped = L->minor < L->n;
    // BLAS lets NaN pass as a pivot; then the estimate from the diagonal of L is 0.
    if (stopped || !(cholmod_l_rcond(L, &c->common) > 0)) {
        if (find_not_finite(c, row)) return RBT_FACTOR_NOT_FINITE;
        *row = (size_t)c->rows[c->order[(stopped ? L->minor : 0) / c->block]];
        return bad_pivot;
    }
    c->current = L;
    return RBT_FACTORED;
}

rbt_factor_result rbt_cholesky_factor(rbt_cholesky *c, const rbt_block_matrix *A, size_t *row) {
    assert(c->block == 3 && A->row_count == c->row_count);
    return c->kept_count ? factor(c, c->L, A->value, RBT_FACTOR_INDEFINITE, row) : RBT_FACTORED;
}

rbt_factor_result rbt_cholesky_factor_scalar(rbt_cholesky *c, const rbt_scalar_matrix *A, size_t *row) {
    assert(c->block == 1 && A->row_count == c->row_count);
    return c->kept_count ? factor(c, c->L, A->value, RBT_FACTOR_INDEFINITE, row) : RBT_FACTORED;
}

rbt_factor_result rbt_cholesky_factor_indefinite(rbt_cholesky *c, const rbt_block_matrix *A, size_t *row) {
    assert(c->block == 3 && A->row_count == c->row_count);
    if (!c->kept_count) return RBT_FACTORED;
    if (!c->LDL) {
        int supernodal = c->common.supernodal;
        c->common.supernodal = CHOLMOD_SIMPLICIAL;
        c->common.postorder = 0;
        c->LDL = cholmod_l_analyze(c->A, &c->common);
        c->common.supernodal = supernodal;
        if (!c->LDL) return RBT_FACTOR_NO_MEMORY;
    }
    return factor(c, c->LDL, A->value, RBT_FACTOR_SINGULAR, row);
}

size_t rbt_cholesky_negative_count(const rbt_cholesky *c) {
    size_t count = 0;
    if (!c->LDL || c->current != c->LDL) return 0;
    const SuiteSparse_long *start = c->LDL->p;
    const double *value = c->LDL->x;
    for (size_t u = 0; u < c->LDL->n; u++) count += value[start[u]] < 0;  // D is where L would have its 1
    return count;
}

// ---- solving ----

static cholmod_dense dense_view(double *values, size_t rows, size_t columns) {
    return (cholmod_dense){.nrow = rows,
                           .ncol = columns,
                           .nzmax = rows * columns,
                           .d = rows,
                           .x = values,
                           .xtype = CHOLMOD_REAL,
                           .dtype = CHOLMOD_DOUBLE};
}

// right = A^-1 right, `columns` right-hand sides in the order of elimination
static bool solve_in_place(rbt_cholesky *c, double *right, size_t columns) {
    cholmod_factor *L = c->current;
    assert(L);
    cholmod_dense B = dense_view(right, L->n, columns);
    if (!L->is_super) {
        if (!cholmod_l_solve2(CHOLMOD_A, L, &B, NULL, &c->x, NULL, &c->work_y, &c->work_e, &c->common)) return false;
        memcpy(right, c->x->x, L->n * columns * sizeof *right);
        return true;
    }
    size_t gathered = L->maxesize * columns + 1;  // never none: CHOLMOD wants an array
    if (!rbt_array_reserve((void **)&c->e, &c->e_capacity, gathered, sizeof *c->e, "right-hand sides", NULL))
        return false;
    cholmod_dense E = dense_view(c->e, gathered, 1);
    return cholmod_l_super_lsolve(L, &B, &E, &c->common) && cholmod_l_super_ltsolve(L, &B, &E, &c->common);
}

// Component i of vector v in row p: unknown i of the row if it has three, else the right-hand side i.
static size_t ordered_index(const rbt_cholesky *c, size_t p, size_t v, size_t i) {
    size_t n = c->block * c->kept_count;
    return n * (v * (3 / c->block) + i / c->block) + c->block * p + i % c->block;
}

static bool gather(rbt_cholesky *c, size_t count, const double *b) {
    size_t values = 3 * c->kept_count * count;
    if (!rbt_array_reserve((void **)&c->b, &c->b_capacity, values, sizeof *c->b, "right-hand sides", NULL))
        return false;
    for (size_t v = 0; v < count; v++)
        for (size_t p = 0; p < c->kept_count; p++) {
            const double *from = b + 3 * (v * c->row_count + (size_t)c->rows[c->order[p]]);
            for (size_t i = 0; i < 3; i++) c->b[ordered_index(c, p, v, i)] = from[i];
        }
    return true;
}

static void scatter(const rbt_cholesky *c, size_t count, const double *from, double *x) {
    memset(x, 0, 3 * c->row_count * count * sizeof *x);
    for (size_t v = 0; v < count; v++)
        for (size_t n = 0; n < c->kept_count; n++) {
            double *to = x + 3 * (v * c->row_count + (size_t)c->rows[n]);
            for (size_t i = 0; i < 3; i++) to[i] = from[ordered_index(c, (size_t)c->place[n], v, i)];
        }
}

bool rbt_cholesky_solve_many(rbt_cholesky *c, size_t count, const double *b, double *x) {
    if (!c->kept_count || !count) {
        memset(x, 0, 3 * c->row_count * count * sizeof *x);
        return true;
    }
    if (!gather(c, count, b) || !solve_in_place(c, c->b, count * 3 / c->block)) return false;
    scatter(c, count, c->b, x);
    return true;
}

bool rbt_cholesky_solve_rows(rbt_cholesky *c, const double *b, double *x) {
    if (!c->kept_count) return true;
    if (!gather(c, 1, b) || !solve_in_place(c, c->b, 3 / c->block)) return false;
    for (size_t n = 0; n < c->kept_count; n++)
        for (size_t i = 0; i < 3; i++) x[3 * n + i] = c->b[ordered_index(c, (size_t)c->place[n], 0, i)];
    return true;
}

bool rbt_cholesky_solve(rbt_cholesky *c, const double *b, double *x) { return rbt_cholesky_solve_many(c, 1, b, x); }

static double largest(const double *values, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, isnan(values[i]) ? INFINITY : fabs(values[i]));
    return most;
}

// r = b - A x, and its size beside those of A, x and b
static double backward_error(rbt_cholesky *c, const double *x, double norm) {
    size_t n = c->A->ncol;
    double one[2] = {1, 0}, minus[2] = {-1, 0};
    cholmod_dense X = dense_view((double *)x, n, 1), R = dense_view(c->r, n, 1);
    memcpy(c->r, c->b, n * sizeof *c->r);
    if (!cholmod_l_sdmult(c->A, 0, minus, one, &X, &R, &c->common)) return INFINITY;
    double size = norm * largest(x, n) + largest(c->b, n), error = largest(c->r, n);
    return error == 0 ? 0 : isfinite(size) && isfinite(error) ? error / size : INFINITY;
}

rbt_solve_result rbt_cholesky_solve_indefinite(rbt_cholesky *c, const double *b, double *x, double *residual) {
    size_t n = 3 * c->kept_count;
    *residual = 0;
    if (!n) {
        memset(x, 0, 3 * c->row_count * sizeof *x);
        return RBT_SOLVED;
    }
    assert(c->block == 3);
    // r holds the residual and, behind it, the solution so far.
    if (!rbt_array_reserve((void **)&c->r, &c->r_capacity, 2 * n, sizeof *c->r, "residuals", NULL) ||
        !gather(c, 1, b))
        return RBT_SOLVE_NO_MEMORY;
    double *solution = c->r + n, norm = cholmod_l_norm_sparse(c->A, 0, &c->common), last = INFINITY;
    memcpy(solution, c->b, n * sizeof *solution);
    if (!solve_in_place(c, solution, 1)) return RBT_SOLVE_NO_MEMORY;
    *residual = backward_error(c, solution, norm);
    for (int i = 0; i<REFINEMENTS && * residual> EXACT && *residual < 0.5 * last; i++) {
        last = *residual;
        if (!solve_in_place(c, c->r, 1)) return RBT_SOLVE_NO_MEMORY;
        for (size_t u = 0; u < n; u++) solution[u] += c->r[u];
        *residual = backward_error(c, solution, norm);
    }
    scatter(c, 1, solution, x);
    return *residual <= UNSTABLE ? RBT_SOLVED : RBT_SOLVE_UNSTABLE;
}

double rbt_cholesky_fill(const rbt_cholesky *c) { return c->fill; }
double rbt_cholesky_flops(const rbt_cholesky *c) { return c->flops; }
