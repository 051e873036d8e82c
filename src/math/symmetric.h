// Dense symmetric matrices.
#ifndef RBT_MATH_SYMMETRIC_H
#define RBT_MATH_SYMMETRIC_H

#include <stdbool.h>
#include <stddef.h>

// By Jacobi's cyclic rotations, row by row: slow per number, but exact to rounding also for tiny and repeated
// eigenvalues. A (n x n) becomes diagonal: its eigenvalues, in no order. V (n x n): eigenvector k is column k; NULL:
// not wanted.
void rbt_symmetric_eigen(int n, double *A, double *V);

// By Householder's tridiagonal form and implicit QL (Golub and Van Loan, sections 8.3.1 and 8.3.3), about 10 n^3
// operations: errors of some units of rounding of the largest eigenvalue. Values ascend; vector k takes the place of
// column k of A (n x n, by columns). work (3 n). False: no convergence, as with numbers that are none.
bool rbt_symmetric_pairs(size_t n, double *A, double *values, double *work);

#endif
