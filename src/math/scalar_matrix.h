// Sparse matrices of plain numbers.
#ifndef RBT_MATH_SCALAR_MATRIX_H
#define RBT_MATH_SCALAR_MATRIX_H

#include <stddef.h>
#include <stdint.h>

// Symmetric, one number per pair of nodes (a Laplacian): the entries (i, j) with j <= i, row by row, columns
// ascending; the diagonal is the last of its row. It acts on each of the three components of a node alike.
typedef struct rbt_scalar_matrix {
    size_t row_count;
    const size_t *start;    // (row_count + 1)
    const int32_t *column;  // (start[row_count])
    double *value;          // (start[row_count])
} rbt_scalar_matrix;

// Any square matrix: all entries, row by row, columns ascending.
typedef struct rbt_general_matrix {
    size_t row_count;
    const size_t *start;    // (row_count + 1)
    const int32_t *column;  // (start[row_count])
    double *value;          // (start[row_count])
} rbt_general_matrix;

// y = A x, both (row_count x 3). Serial: the order of the sums is part of the result.
void rbt_scalar_matrix_product(const rbt_scalar_matrix *A, const double *x, double *y);

// y = A x, both (row_count).
void rbt_general_matrix_product(const rbt_general_matrix *A, const double *x, double *y);

#endif
