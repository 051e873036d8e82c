// Preconditioners for conjugate gradients on matrices of 3x3 blocks: made once for a pattern and a set of kept rows,
// factored in place whenever the values change. As operators they give 0 in rows that are not kept.
#ifndef RBT_SOLVE_PRECONDITION_H
#define RBT_SOLVE_PRECONDITION_H

#include "math/block_matrix.h"
#include "solve/cg.h"
#include "solve/result.h"

// Block Jacobi: the inverses of the diagonal blocks.
typedef struct rbt_jacobi rbt_jacobi;

rbt_jacobi *rbt_jacobi_new(size_t row_count, const unsigned char *keep, rbt_error *error);
void rbt_jacobi_free(rbt_jacobi *jacobi);
// RBT_FACTORED, or RBT_FACTOR_INDEFINITE / RBT_FACTOR_NOT_FINITE with the *row whose diagonal block shows it.
rbt_factor_result rbt_jacobi_factor(rbt_jacobi *jacobi, const rbt_block_matrix *A, size_t *row);
rbt_operator rbt_jacobi_of(rbt_jacobi *jacobi);

// Incomplete Cholesky without fill, IC(0): A + shift diag(A) ~ L L^T, L with the pattern of A. The shift is 0 if that
// works and else the first of 0.001, 0.002, 0.004, … that does (Manteuffel 1980); diag(A) are the diagonal blocks.
typedef struct rbt_incomplete rbt_incomplete;

rbt_incomplete *rbt_incomplete_analyse(const rbt_block_matrix *pattern, const unsigned char *keep, rbt_error *error);
void rbt_incomplete_free(rbt_incomplete *incomplete);
// As rbt_jacobi_factor: fails only where a diagonal block itself is at fault.
rbt_factor_result rbt_incomplete_factor(rbt_incomplete *incomplete, const rbt_block_matrix *A, size_t *row);
double rbt_incomplete_shift(const rbt_incomplete *incomplete);
rbt_operator rbt_incomplete_of(rbt_incomplete *incomplete);

#endif
