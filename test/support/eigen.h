// The lowest eigenpairs of K u = lambda M u, M lumped: natural frequencies sqrt(lambda) and their shapes, by ARPACK's
// implicitly restarted Lanczos method in shift-invert mode (Lehoucq, Sorensen, Yang 1998). What the library's own
// modes (solve/modes.h) are compared with.
//
// Found are the pairs closest to the shift sigma. K - sigma M must be positive definite, so that they are the lowest.
// The closer sigma is to them, the fewer iterations: a free body has six eigenvalues at 0 and takes a small negative
// shift; a stepper that has factored M + h^2 K = h^2 (K - sigma M), sigma = -1/h^2, can lend that factor.
#ifndef TEST_SUPPORT_EIGEN_H
#define TEST_SUPPORT_EIGEN_H

#include "math/block_matrix.h"
#include "solve/cholesky.h"

typedef struct rbt_eigen_def {
    size_t count;        // eigenpairs
    double shift;        // sigma < lowest eigenvalue [1/s^2]
    double tolerance;    // relative accuracy of 1 / (lambda - sigma); 0: rounding. Loose ones may miss one of several
                         // equal eigenvalues
    int max_iterations;  // restarts
    rbt_cholesky *factor;  // of factor_scale (K - sigma M) with the same kept rows, or NULL: made here
    double factor_scale;
    const double *guess;  // (row_count x 3) a vector rich in the wanted shapes, or NULL
} rbt_eigen_def;

rbt_eigen_def rbt_eigen_def_default(void);  // 10 pairs, no shift, to rounding, 1000 restarts

typedef struct rbt_eigen rbt_eigen;  // work space; nothing is allocated by rbt_eigen_solve if a factor is lent

rbt_eigen *rbt_eigen_new(size_t row_count, const unsigned char *keep, size_t max_pairs, rbt_error *error);
void rbt_eigen_free(rbt_eigen *eigen);

// lambda (count), ascending; u (count x row_count x 3) with u_i^T M u_j = 1 if i = j, else 0, and 0 in rows that are
// not kept; residual (count) = |M^-1/2 (K u - lambda M u)|: an eigenvalue lies within that distance of lambda
// [1/s^2]. mass (row_count). The same bits every time. ARPACK keeps its state in static memory, so calls from
// several threads wait for each other.
bool rbt_eigen_solve(rbt_eigen *eigen, const rbt_eigen_def *def, const rbt_block_matrix *K, const double *mass,
                     double *lambda, double *u, double *residual, rbt_error *error);

#endif
