// Symmetric sparse matrix of 3x3 blocks: the blocks (i, j) with j <= i, row by row, columns ascending; the diagonal
// block is the last of its row. Blocks are stored row by row, 9 doubles each.
#ifndef RBT_MATH_BLOCK_MATRIX_H
#define RBT_MATH_BLOCK_MATRIX_H

#include <stddef.h>
#include <stdint.h>

typedef struct rbt_block_matrix {
    size_t row_count;
    const size_t *start;    // (row_count + 1)
    const int32_t *column;  // (start[row_count])
    double *value;          // (start[row_count] x 9)
} rbt_block_matrix;

// y = A x, both (row_count x 3). Serial: the order of the sums is part of the result.
void rbt_block_matrix_product(const rbt_block_matrix *A, const double *x, double *y);

// x^T A x, on several threads: summed over pieces that depend on the size alone.
double rbt_block_matrix_form(const rbt_block_matrix *A, const double *x);

#endif
