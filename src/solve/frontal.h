// Multifrontal Cholesky factorisation L L^T (Duff and Reid 1983; Liu 1992): every supernode is a dense front, made of
// its entries of the matrix and of what its children leave to it. The columns that are eliminated go to L; the rest,
// a dense matrix, waits for the parent.
//
// Whole subtrees, chosen by their flops, are worked on by one thread each; in the fronts above them all threads share
// the dense work. Numbers are added in the order of the tree in either case, so that the bits of L and of solutions
// do not depend on the threads. Inside a parallel region one thread does it all.
#ifndef RBT_SOLVE_FRONTAL_H
#define RBT_SOLVE_FRONTAL_H

#include "solve/dense_kernels.h"
#include "solve/supernodes.h"

typedef struct rbt_frontal rbt_frontal;

typedef enum rbt_frontal_result { RBT_FRONTAL_DONE, RBT_FRONTAL_BAD_PIVOT, RBT_FRONTAL_NO_MEMORY } rbt_frontal_result;

// Blocks of the matrix by columns of nodes, in the order of elimination, from the diagonal down
typedef struct rbt_frontal_entries {
    const size_t *start;   // (node_count + 1)
    const int32_t *row;    // (start[node_count]) nodes, in the order of elimination
    const size_t *source;  // (start[node_count]) 2 block + 1 if it is used transposed
} rbt_frontal_entries;

// The tree and the entries are kept, not copied.
rbt_frontal *rbt_frontal_new(const rbt_supernodes *tree, const rbt_frontal_entries *entries,
                             const rbt_dense_kernels *kernels, rbt_error *error);
void rbt_frontal_free(rbt_frontal *frontal);

// Takes over the memory of another one, which has no factor then. For the same precision.
void rbt_frontal_inherit(rbt_frontal *frontal, rbt_frontal *former);

// value: all blocks. On RBT_FRONTAL_BAD_PIVOT, *node is where, in the order of elimination.
rbt_frontal_result rbt_frontal_factor(rbt_frontal *frontal, const double *value, size_t *node);

// x = A^-1 b for as many vectors, placed as `to` and `from` say; x may be b. False: no memory.
bool rbt_frontal_solve(rbt_frontal *frontal, const rbt_front_sides *from, const double *b, const rbt_front_sides *to,
                       double *x);

// Entries of A^-1 between nodes, which are numbers in the order of elimination (frontal_inverse.c): S (columns x block)
// vectors of (rows x block) numbers. False: no memory.
bool rbt_frontal_inverse(const rbt_frontal *frontal, size_t column_count, const int32_t *column, size_t row_count,
                         const int32_t *row, double *S);

#endif
