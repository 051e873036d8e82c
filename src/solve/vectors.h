// Products of blocks of long vectors: n numbers each, one vector after the other. Rows are cut into pieces that depend on the sizes
// alone; threads share the pieces, BLAS works on each with one thread, and sums are taken in the order of the pieces: the
// same bits for any number of threads. Blocks should be aligned alike in every run, since BLAS's bits depend on it.
#ifndef RBT_SOLVE_VECTORS_H
#define RBT_SOLVE_VECTORS_H

#include <stddef.h>

// Numbers of work space that a product of a with b vectors needs
size_t rbt_vectors_work(size_t n, size_t a, size_t b);

// C (a x b), columns one after the other: X^T Y
void rbt_vectors_inner(size_t n, size_t a, const double *X, size_t b, const double *Y, double *C, double *work);

// The same for X and Y of a vectors each whose product is symmetric: of C's triangles, right of the diagonal is filled from the
// other, and most of it is not computed.
void rbt_vectors_inner_symmetric(size_t n, size_t a, const double *X, const double *Y, double *C, double *work);

// Y (b vectors) = beta Y + alpha X C, X of a vectors, C (a x b) with columns `row` >= a apart
void rbt_vectors_combine(size_t n, double alpha, size_t a, const double *X, size_t row, const double *C, size_t b,
                         double beta, double *Y);

#endif
