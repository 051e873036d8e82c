// Small dense symmetric matrices, row by row, by Jacobi's cyclic rotations: slow per number, but exact to rounding also
// for tiny and repeated eigenvalues.
#ifndef RBT_MATH_SYMMETRIC_H
#define RBT_MATH_SYMMETRIC_H

// A (n x n) becomes diagonal: its eigenvalues, in no order. V (n x n): eigenvector k is column k; NULL: not wanted.
void rbt_symmetric_eigen(int n, double *A, double *V);

#endif
