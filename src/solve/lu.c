// UMFPACK takes columns. Rows read as columns are the transpose, and it solves with the transpose of what it
// factored.
#include "solve/lu.h"

#include "base/memory.h"
#include "solve/metis_lock.h"

#include <assert.h>
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <umfpack.h>

struct rbt_lu {
    size_t n;
    SuiteSparse_long *start, *index, *work_index;
    double *value, *work;  // value: kept for the refinement
    void *symbolic, *numeric;
    double control[UMFPACK_CONTROL], info[UMFPACK_INFO];
    double condition;
};

void rbt_lu_free(rbt_lu *lu) {
    if (!lu) return;
    umfpack_dl_free_symbolic(&lu->symbolic);
    umfpack_dl_free_numeric(&lu->numeric);
    free(lu->start);
    free(lu->index);
    free(lu->work_index);
    free(lu->value);
    free(lu->work);
    free(lu);
}

static bool copy_pattern(rbt_lu *lu, const rbt_general_matrix *A, rbt_error *error) {
    const char *what = "a sparse matrix";
    size_t n = A->row_count, entries = A->start[n];
    lu->n = n;
    lu->start = rbt_array_new(n + 1, sizeof *lu->start, what, error);
    lu->index = rbt_array_new(entries, sizeof *lu->index, what, error);
    lu->value = rbt_array_new(entries, sizeof *lu->value, what, error);
    lu->work_index = rbt_array_new(n, sizeof *lu->work_index, what, error);
    lu->work = rbt_array_new(n, 5 * sizeof *lu->work, what, error);  // as much as refinement takes
    if (!lu->start || !lu->index || !lu->value || !lu->work_index || !lu->work) return false;
    for (size_t i = 0; i <= n; i++) lu->start[i] = (SuiteSparse_long)A->start[i];
    for (size_t k = 0; k < entries; k++) lu->index[k] = A->column[k];
    return true;
}

rbt_lu *rbt_lu_analyse(const rbt_general_matrix *A, rbt_error *error) {
    rbt_lu *lu = rbt_array_new(1, sizeof *lu, "a factorisation", error);
    if (!lu) return NULL;
    openblas_set_num_threads(1);
    umfpack_dl_defaults(lu->control);
    lu->control[UMFPACK_PRL] = 0;
    // Our matrices are symmetric in their pattern, with large diagonals: two to three times as fast as what UMFPACK
    // chooses by itself
    lu->control[UMFPACK_STRATEGY] = UMFPACK_STRATEGY_SYMMETRIC;
    lu->control[UMFPACK_ORDERING] = UMFPACK_ORDERING_METIS;
    lu->control[UMFPACK_IRSTEP] = 1;
    if (copy_pattern(lu, A, error)) {
        SuiteSparse_long n = (SuiteSparse_long)lu->n, status = UMFPACK_OK;
        // Without values: the order must not depend on those of one moment.
        rbt_metis_lock();
        if (n) status = umfpack_dl_symbolic(n, n, lu->start, lu->index, NULL, &lu->symbolic, lu->control, lu->info);
        rbt_metis_unlock();
        if (status == UMFPACK_OK) return lu;
        if (status == UMFPACK_ERROR_out_of_memory)
            rbt_fail(error, "not enough memory to analyse a matrix of %zu unknowns", lu->n);
        else
            rbt_fail(error, "a matrix of %zu unknowns cannot be analysed: its columns must ascend in every row",
                     lu->n);
    }
    rbt_lu_free(lu);
    return NULL;
}

rbt_factor_result rbt_lu_factor(rbt_lu *lu, const rbt_general_matrix *A) {
    assert(A->row_count == lu->n);
    lu->condition = 0;
    umfpack_dl_free_numeric(&lu->numeric);
    if (!lu->n) return RBT_FACTORED;
    size_t entries = (size_t)lu->start[lu->n];
    memcpy(lu->value, A->value, entries * sizeof *lu->value);
    for (size_t k = 0; k < entries; k++)
        if (!isfinite(lu->value[k])) return RBT_FACTOR_NOT_FINITE;
    SuiteSparse_long status =
        umfpack_dl_numeric(lu->start, lu->index, lu->value, lu->symbolic, &lu->numeric, lu->control, lu->info);
    if (status == UMFPACK_OK && lu->info[UMFPACK_RCOND] > DBL_EPSILON) {
        lu->condition = lu->info[UMFPACK_RCOND];
        return RBT_FACTORED;
    }
    umfpack_dl_free_numeric(&lu->numeric);
    return status == UMFPACK_OK || status == UMFPACK_WARNING_singular_matrix ? RBT_FACTOR_SINGULAR
                                                                             : RBT_FACTOR_NO_MEMORY;
}

void rbt_lu_solve(rbt_lu *lu, const double *b, double *x) {
    if (!lu->n) return;
    assert(lu->numeric);
    SuiteSparse_long status = umfpack_dl_wsolve(UMFPACK_At, lu->start, lu->index, lu->value, x, b, lu->numeric,
                                                lu->control, lu->info, lu->work_index, lu->work);
    assert(status == UMFPACK_OK);
    (void)status;
}

double rbt_lu_condition(const rbt_lu *lu) { return lu->condition; }
