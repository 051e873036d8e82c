// Products of blocks of long vectors: n numbers each, one vector after the other. Rows are cut into pieces that
// depend on the sizes alone; threads share the pieces, and sums are taken in the order of the pieces: the same bits
// for any number of threads.
#ifndef RBT_SOLVE_VECTORS_H
#define RBT_SOLVE_VECTORS_H

#include <stddef.h>

// Numbers of work space that a product of a with b vectors needs
size_t rbt_vectors_work(size_t n, size_t a, size_t b);

// C (a x b), columns one after the other: X^T Y
void rbt_vectors_inner(size_t n, size_t a, const double *X, size_t b, const double *Y, double *C, double *work);

// C = X^T W X and D = X^T Y, if the latter is symmetric, too: W (n) on the diagonal, X and Y of a vectors each, WX
// filled. One pass over the vectors, and a little more than half of the products; work as for a with 2 a vectors.
void rbt_vectors_inner_symmetric(size_t n, size_t a, const double *X, const double *weight, double *WX,
                                 const double *Y, double *C, double *D, double *work);

// Y (b vectors) = beta Y + alpha X C, X of a vectors, C (a x b) with columns `row` >= a apart
// With alpha 1 or -1, or beta 0, and beta 0 or 1, a row's bits do not depend on which other rows there are.
void rbt_vectors_combine(size_t n, double alpha, size_t a, const double *X, size_t row, const double *C, size_t b,
                         double beta, double *Y);

// Y = X C and WY = W Y, W (n) on the diagonal
void rbt_vectors_turn(size_t n, size_t a, const double *X, size_t row, const double *C, size_t b,
                      const double *weight, double *Y, double *WY);

#endif
