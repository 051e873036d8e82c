#include "solve/cholesky.h"

#include "base/memory.h"

#include <cblas.h>
#include <cholmod.h>
#include <string.h>

struct rbt_cholesky {
    cholmod_common common;
    cholmod_sparse *A;  // upper triangle by columns: our rows, read as columns
    cholmod_factor *L;
    cholmod_dense *b, *x, *work_y, *work_e;
    size_t row_count, kept_count;
    int32_t *kept;   // (kept_count) block rows, ascending
    int32_t *place;  // (row_count) number among the kept, -1 if eliminated
    double fill, flops;
};

void rbt_cholesky_free(rbt_cholesky *c) {
    if (!c) return;
    cholmod_l_free_sparse(&c->A, &c->common);
    cholmod_l_free_factor(&c->L, &c->common);
    cholmod_l_free_dense(&c->b, &c->common);
    cholmod_l_free_dense(&c->x, &c->common);
    cholmod_l_free_dense(&c->work_y, &c->common);
    cholmod_l_free_dense(&c->work_e, &c->common);
    cholmod_l_finish(&c->common);
    free(c->kept);
    free(c->place);
    free(c);
}

static bool choose_rows(rbt_cholesky *c, size_t row_count, const unsigned char *keep, rbt_error *error) {
    c->row_count = row_count;
    c->kept = rbt_array_new(row_count, sizeof *c->kept, "the rows of a matrix", error);
    c->place = rbt_array_new(row_count, sizeof *c->place, "the rows of a matrix", error);
    if (!c->kept || !c->place) return false;
    for (size_t i = 0; i < row_count; i++) {
        c->place[i] = keep[i] ? (int32_t)c->kept_count : -1;
        if (keep[i]) c->kept[c->kept_count++] = (int32_t)i;
    }
    return true;
}

// Column 3 p + r of the upper triangle holds three rows for every kept block left of the diagonal, then r + 1 rows of
// the diagonal block.
static bool fill_pattern(rbt_cholesky *c, const rbt_block_matrix *pattern, rbt_error *error) {
    size_t entries = 0;
    for (size_t p = 0; p < c->kept_count; p++) {
        size_t i = (size_t)c->kept[p];
        for (size_t k = pattern->start[i]; k < pattern->start[i + 1]; k++)
            if (c->place[pattern->column[k]] >= 0) entries += (size_t)pattern->column[k] == i ? 6 : 9;
    }
    size_t n = 3 * c->kept_count;
    c->A = cholmod_l_allocate_sparse(n, n, entries, 1, 1, 1, CHOLMOD_REAL, &c->common);
    if (!c->A) return rbt_fail_memory(error, entries * 16, "a sparse matrix");
    SuiteSparse_long *start = c->A->p, *row = c->A->i, at = 0;
    for (size_t p = 0; p < c->kept_count; p++) {
        size_t i = (size_t)c->kept[p];
        for (int r = 0; r < 3; r++) {
            start[3 * p + (size_t)r] = at;
            for (size_t k = pattern->start[i]; k < pattern->start[i + 1]; k++) {
                int32_t q = c->place[pattern->column[k]];
                int rows = (size_t)pattern->column[k] == i ? r + 1 : 3;
                for (int s = 0; q >= 0 && s < rows; s++) row[at++] = 3 * q + s;
            }
        }
    }
    start[n] = at;
    return true;
}

static void fill_values(rbt_cholesky *c, const rbt_block_matrix *A) {
    const SuiteSparse_long *start = c->A->p;
    double *value = c->A->x;
#pragma omp parallel for schedule(static)
    for (size_t p = 0; p < c->kept_count; p++) {
        size_t i = (size_t)c->kept[p];
        for (int r = 0; r < 3; r++) {
            double *at = value + start[3 * p + (size_t)r];
            for (size_t k = A->start[i]; k < A->start[i + 1]; k++) {
                int rows = (size_t)A->column[k] == i ? r + 1 : 3;
                for (int s = 0; c->place[A->column[k]] >= 0 && s < rows; s++)
                    *at++ = A->value[9 * k + 3 * (size_t)r + (size_t)s];
            }
        }
    }
}

rbt_cholesky *rbt_cholesky_analyze(const rbt_block_matrix *pattern, const unsigned char *keep, rbt_error *error) {
    rbt_cholesky *c = rbt_array_new(1, sizeof *c, "a factorisation", error);
    if (!c) return NULL;
    openblas_set_num_threads(1);
    cholmod_l_start(&c->common);
    c->common.print = 0;
    c->common.nmethods = 1;
    c->common.method[0].ordering = CHOLMOD_METIS;
    c->common.postorder = 1;
    c->common.final_ll = 1;  // small matrices too: L L^T, so that a negative pivot is noticed
    if (!choose_rows(c, pattern->row_count, keep, error)) goto failed;
    if (!c->kept_count) return c;
    if (!fill_pattern(c, pattern, error)) goto failed;
    c->L = cholmod_l_analyze(c->A, &c->common);
    c->b = cholmod_l_zeros(3 * c->kept_count, 1, CHOLMOD_REAL, &c->common);
    if (!c->L || !c->b) {
        rbt_fail(error, "not enough memory to analyse a matrix of %zu unknowns", 3 * c->kept_count);
        goto failed;
    }
    c->fill = c->common.lnz;
    c->flops = c->common.fl;
    return c;
failed:
    rbt_cholesky_free(c);
    return NULL;
}

rbt_factor_result rbt_cholesky_factor(rbt_cholesky *c, const rbt_block_matrix *A, size_t *row) {
    if (!c->kept_count) return RBT_FACTORED;
    fill_values(c, A);
    c->common.status = CHOLMOD_OK;
    if (!cholmod_l_factorize(c->A, c->L, &c->common) && c->common.status < 0) return RBT_FACTOR_NO_MEMORY;
    if (c->L->minor < c->L->n || c->common.status == CHOLMOD_NOT_POSDEF) {
        const SuiteSparse_long *order = c->L->Perm;
        size_t minor = c->L->minor < c->L->n ? c->L->minor : 0;
        *row = (size_t)c->kept[order[minor] / 3];
        return RBT_FACTOR_INDEFINITE;
    }
    return RBT_FACTORED;
}

bool rbt_cholesky_solve(rbt_cholesky *c, const double *b, double *x) {
    memset(x, 0, 3 * c->row_count * sizeof *x);
    if (!c->kept_count) return true;
    double *reduced = c->b->x;
    for (size_t p = 0; p < c->kept_count; p++) memcpy(reduced + 3 * p, b + 3 * (size_t)c->kept[p], 3 * sizeof *b);
    if (!cholmod_l_solve2(CHOLMOD_A, c->L, c->b, NULL, &c->x, NULL, &c->work_y, &c->work_e, &c->common)) return false;
    const double *solution = c->x->x;
    for (size_t p = 0; p < c->kept_count; p++) memcpy(x + 3 * (size_t)c->kept[p], solution + 3 * p, 3 * sizeof *x);
    return true;
}

double rbt_cholesky_fill(const rbt_cholesky *c) { return c->fill; }
double rbt_cholesky_flops(const rbt_cholesky *c) { return c->flops; }
