// Sparse Cholesky factorisation of symmetric block matrices through CHOLMOD: METIS ordering and symbolic analysis
// once, then factor as often as the values change. Rows that are not kept are eliminated (their unknowns are 0).
//
// OpenBLAS is pinned to one thread: the bits of a supernodal factor depend on how many BLAS uses.
#ifndef RBT_SOLVE_CHOLESKY_H
#define RBT_SOLVE_CHOLESKY_H

#include "base/error.h"
#include "math/block_matrix.h"

typedef enum rbt_factor_result { RBT_FACTORED, RBT_FACTOR_INDEFINITE, RBT_FACTOR_NO_MEMORY } rbt_factor_result;

typedef struct rbt_cholesky rbt_cholesky;

rbt_cholesky *rbt_cholesky_analyze(const rbt_block_matrix *pattern, const unsigned char *keep, rbt_error *error);
void rbt_cholesky_free(rbt_cholesky *cholesky);

// The matrix must have the analysed pattern. With RBT_FACTOR_INDEFINITE, *row is the block row where it showed.
rbt_factor_result rbt_cholesky_factor(rbt_cholesky *cholesky, const rbt_block_matrix *A, size_t *row);

// A x = b over all rows (row_count x 3); entries of b in rows that are not kept are ignored, those of x become 0.
bool rbt_cholesky_solve(rbt_cholesky *cholesky, const double *b, double *x);

// Non-zeros of the factor and flops of one factorisation, as analysed.
double rbt_cholesky_fill(const rbt_cholesky *cholesky);
double rbt_cholesky_flops(const rbt_cholesky *cholesky);

#endif
