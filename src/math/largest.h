// The largest eigenvalue of many small symmetric matrices, RBT_W at a time in lanes: Householder's tridiagonal form,
// then Laguerre's method from above.
#ifndef RBT_MATH_LARGEST_H
#define RBT_MATH_LARGEST_H

#include "math/lanes.h"

enum { RBT_MAX_LARGEST = 12 };  // rows

typedef double rbt_small_batch[RBT_MAX_LARGEST][RBT_MAX_LARGEST][RBT_W];

// A[i][j][lane], i, j < n, of which the lower half is read; destroyed. largest[lane]: to rounding, or above it by at
// most 1e-11 of the matrix's size.
void rbt_small_largest(int n, rbt_small_batch A, double largest[RBT_W]);

// The same for one tridiagonal matrix of any size: diagonal d (n) and, beside it, e (n - 1).
double rbt_tridiagonal_largest(int n, const double *d, const double *e);

#endif
