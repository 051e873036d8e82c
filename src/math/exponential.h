// The exponential of a small dense matrix, row by row, by scaling and squaring with Pade's approximant of degree 13
// (Higham 2005): exact to rounding for any matrix whose exponential is well conditioned.
#ifndef RBT_MATH_EXPONENTIAL_H
#define RBT_MATH_EXPONENTIAL_H

#include <stdbool.h>
#include <stddef.h>

enum { RBT_EXPONENTIAL_WORK = 6 };  // matrices of work space

// A (n x n) becomes exp(A); work (RBT_EXPONENTIAL_WORK x n x n). False if numbers are beyond any size.
bool rbt_dense_exponential(size_t n, double *A, double *work);

// A x = b for `count` right-hand sides, b (n x count) row by row; A is overwritten by its factors, b by x. By
// elimination with row pivoting; false if A is singular.
bool rbt_dense_solve(size_t n, double *A, size_t count, double *b);

#endif
