// Small dense symmetric matrices, row by row, by Jacobi's cyclic rotations: slow per number, but exact to rounding also
// for tiny and repeated eigenvalues.
#ifndef RBT_MATH_SYMMETRIC_H
#define RBT_MATH_SYMMETRIC_H

enum { RBT_SYMMETRIC_MOST = 12 };  // rows

// A (n x n) becomes diagonal: its eigenvalues, in no order. V (n x n): eigenvector k is column k; NULL: not wanted.
void rbt_symmetric_eigen(int n, double *A, double *V);

// Replaces the negative eigenvalues of A by 0; a matrix without one keeps its bits.
void rbt_symmetric_project(int n, double *A);

#endif
