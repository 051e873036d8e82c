// Sparse LU factorisation of unsymmetric square matrices through KLU, with row pivoting: ordering and symbolic
// analysis once, then factor as often as the values change. One thread, without BLAS; nothing is allocated by a
// solve.
#ifndef RBT_SOLVE_LU_H
#define RBT_SOLVE_LU_H

#include "base/error.h"
#include "math/scalar_matrix.h"
#include "solve/result.h"

typedef struct rbt_lu rbt_lu;

// Only the pattern is looked at. A pattern that is singular whatever its values are (an empty row or column, say) is
// found by rbt_lu_factor.
rbt_lu *rbt_lu_analyse(const rbt_general_matrix *pattern, rbt_error *error);
void rbt_lu_free(rbt_lu *lu);

// The matrix must have the analysed pattern; its values are copied. RBT_FACTORED, RBT_FACTOR_SINGULAR (a pivot is
// zero beside the largest, to rounding), RBT_FACTOR_NOT_FINITE or RBT_FACTOR_NO_MEMORY.
rbt_factor_result rbt_lu_factor(rbt_lu *lu, const rbt_general_matrix *A);

// A x = b with the last factor, refined until the residual is at rounding. b and x (row_count) may not overlap.
void rbt_lu_solve(rbt_lu *lu, const double *b, double *x);

// Smallest beside largest pivot of the last factor: a rough guess of 1 / condition number; 0 if singular.
double rbt_lu_condition(const rbt_lu *lu);

#endif
