// Products of blocks of vectors that lie one after the other, `apart` numbers from one to the next, once per
// instruction set. Ours rather than a BLAS's: the same bits for every BLAS and alignment, and no memory asked for
// inside (OpenBLAS's small products allocate, and do not look whether they got it).
#ifndef RBT_SOLVE_VECTOR_KERNELS_H
#define RBT_SOLVE_VECTOR_KERNELS_H

#include "base/processor.h"

#include <stddef.h>

typedef struct rbt_vector_kernels {
    // C (a x b, columns c apart) = X^T Y over `rows` numbers of a and b vectors
    void (*inner)(size_t rows, size_t apart, size_t a, const double *X, size_t b, const double *Y, size_t c,
                  double *C);
    // Y (b vectors) = beta Y + alpha X C, X of a vectors, C (a x b) with columns c apart
    void (*combine)(size_t rows, size_t apart, double alpha, size_t a, const double *X, size_t c, const double *C,
                    size_t b, double beta, double *Y);
} rbt_vector_kernels;

// NULL if the processor does not have the instruction set.
const rbt_vector_kernels *rbt_vector_kernels_with(rbt_instruction_set set);

extern const rbt_vector_kernels RBT_VECTOR_KERNELS_PLAIN, RBT_VECTOR_KERNELS_AVX2, RBT_VECTOR_KERNELS_AVX512;

#endif
