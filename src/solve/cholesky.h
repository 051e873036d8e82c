// Sparse factorisation of symmetric matrices: ordering and symbolic analysis once, then factor as often as the values
// change. Rows that are not kept are eliminated (their unknowns are 0).
//
// Vectors are (row_count x 3) for both kinds of matrices: one of 3x3 blocks, and one of numbers, which acts on each
// of the three components alike. After the first factorisation and the first solve of a kind nothing is allocated; more
// threads than before need more space.
//
// L L^T is our own multifrontal code (solve/frontal.h): the same bits for any number of threads, and one factor per
// thread may be made at once. CHOLMOD's numeric phase starts OpenMP teams inside and calls a BLAS that yields and locks
// (160 ms for the bunny in a run, against 45 alone), its bits depend on the threads of BLAS, and it has no single
// precision. Factorisation and solve in ms, one thread, AVX2, the best of 4 runs; CHOLMOD 3.0 with the same order and
// OpenBLAS, with one thread each, which suits it best:
//                            non-zeros  flops    double         single         CHOLMOD
//   bunny, 4,670 nodes        2.1e6     6.3e8    23.6  1.8      14.2  0.9      44.8  3.2
//   horse, 7,476 nodes        3.3e6     1.0e9    39.2  3.0      22.6  2.0      72.9  5.4
//   solid bar, 17,315 nodes   2.1e7     2.0e10    588   25       303   13       754   26
// Two threads took 12.7, 20.4 and 327 ms to factor where one took 24.1, 38.2 and 610. A solve is bound by the memory
// that L is read from; four right-hand sides at once take 3.3, 6.7 and 28 ms (CHOLMOD 6.5, 10.0 and 52).
#ifndef RBT_SOLVE_CHOLESKY_H
#define RBT_SOLVE_CHOLESKY_H

#include "base/error.h"
#include "math/block_matrix.h"
#include "math/scalar_matrix.h"
#include "solve/fused_solve.h"
#include "solve/more_blocks.h"
#include "solve/result.h"

typedef struct rbt_cholesky rbt_cholesky;

typedef enum rbt_precision {
    RBT_DOUBLE,
    RBT_SINGLE,  // factor and solves in single precision, for preconditioners: half the memory moved, twice the flops
} rbt_precision;

// Only the pattern is looked at. keep (row_count): 0 for rows to eliminate.
rbt_cholesky *rbt_cholesky_analyse(const rbt_block_matrix *pattern, const unsigned char *keep, rbt_error *error);
rbt_cholesky *rbt_cholesky_analyse_scalar(const rbt_scalar_matrix *pattern, const unsigned char *keep,
                                          rbt_error *error);

// The same for a matrix whose pattern changes again and again around that of a core (solve/more_blocks.h), with the
// same rows kept. `former`, the factorisation before, or NULL, gives its memory and is freed, whatever comes of it.
rbt_cholesky *rbt_cholesky_analyse_more(rbt_cholesky *former, const rbt_core_order *core,
                                        const rbt_block_matrix *pattern, const unsigned char *keep, rbt_error *error);

// The principal sub-matrix of the rows listed (ascending); memory and time in proportion to `count`, so that many small
// sub-matrices of one large matrix can be factored.
rbt_cholesky *rbt_cholesky_analyse_rows(const rbt_block_matrix *pattern, const int32_t *rows, size_t count,
                                        rbt_precision precision, rbt_error *error);
void rbt_cholesky_free(rbt_cholesky *cholesky);

// A = L L^T. The matrix must have the analysed pattern. Unless RBT_FACTORED or RBT_FACTOR_NO_MEMORY, *row is the row
// where it showed, and there is no factor to solve with. In single precision a pivot beyond its range is a bad one,
// too.
rbt_factor_result rbt_cholesky_factor(rbt_cholesky *cholesky, const rbt_block_matrix *A, size_t *row);
rbt_factor_result rbt_cholesky_factor_scalar(rbt_cholesky *cholesky, const rbt_scalar_matrix *A, size_t *row);

// A = L D L^T, D diagonal with either sign and no pivoting: exact for almost every indefinite matrix, but small
// pivots lose digits, so solve with rbt_cholesky_solve_indefinite, which notices. Plain loops on one thread
// (solve/ldl.h): many times slower than rbt_cholesky_factor.
rbt_factor_result rbt_cholesky_factor_indefinite(rbt_cholesky *cholesky, const rbt_block_matrix *A, size_t *row);

// Negative pivots of the last rbt_cholesky_factor_indefinite: as many as A has negative eigenvalues (Sylvester).
size_t rbt_cholesky_negative_count(const rbt_cholesky *cholesky);

// A x = b over all rows with the last factor; entries of b in rows that are not kept are ignored, those of x become
// 0. x may be b. False: no memory.
bool rbt_cholesky_solve(rbt_cholesky *cholesky, const double *b, double *x);

// For a factor of listed rows: x (count x 3) are the unknowns of these rows only, in the order they were listed; b is
// over all rows of the matrix.
bool rbt_cholesky_solve_rows(rbt_cholesky *cholesky, const double *b, double *x);

// The same as rbt_cholesky_solve for `count` vectors, one after the other in b and x: faster than one by one, equal
// up to rounding.
bool rbt_cholesky_solve_many(rbt_cholesky *cholesky, size_t count, const double *b, double *x);

// Entries of A^-1 between rows, all of them kept: S is (3 columns) vectors of (3 rows) numbers. For a
// factor L L^T of blocks in double precision. Time in proportion to the fronts above these rows. False: no memory.
bool rbt_cholesky_inverse(const rbt_cholesky *cholesky, size_t column_count, const int32_t *column, size_t row_count,
                          const int32_t *row, double *S);

// A fused sequence of solves (solve/fused_solve.h) with the last factor L L^T of blocks, in double precision and with
// all rows kept, which is no longer needed for it.
rbt_fused_solve *rbt_cholesky_fused(const rbt_cholesky *cholesky, size_t members, rbt_error *error);

// Solves, refines and judges: *residual = |b - A x| / (|A| |x| + |b|) in the maximum norm, about 1e-16 for a stable
// factor; RBT_SOLVE_UNSTABLE if it stays above 1e-10. With a factor L L^T, which needs neither, it only solves: 0.
rbt_solve_result rbt_cholesky_solve_indefinite(rbt_cholesky *cholesky, const double *b, double *x, double *residual);

// Non-zeros of the factor and flops of one factorisation L L^T, as analysed.
double rbt_cholesky_fill(const rbt_cholesky *cholesky);
double rbt_cholesky_flops(const rbt_cholesky *cholesky);

#endif
