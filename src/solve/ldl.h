// Multifrontal factorisation A = L D L^T of symmetric matrices, D diagonal with either sign, without pivoting, along
// the tree of supernodes of the Cholesky factorisation. By one thread, with loops that the compiler vectorises;
// everything is allocated at the beginning.
//
// Vectors are in the order of elimination, `block` numbers of each node.
#ifndef RBT_SOLVE_LDL_H
#define RBT_SOLVE_LDL_H

#include "solve/frontal.h"

typedef struct rbt_ldl rbt_ldl;

// The tree and the entries are kept, not copied.
rbt_ldl *rbt_ldl_new(const rbt_supernodes *tree, const rbt_frontal_entries *entries, rbt_error *error);
void rbt_ldl_free(rbt_ldl *ldl);

// value: all blocks; they are copied. Of blocks on the diagonal the lower triangle counts. False if a pivot is 0 or
// not finite: *node is where, in the order of elimination.
bool rbt_ldl_factor(rbt_ldl *ldl, const double *value, size_t *node);

// x = A^-1 x
void rbt_ldl_solve(rbt_ldl *ldl, double *x);

// Negative pivots of the last factor
size_t rbt_ldl_negative_count(const rbt_ldl *ldl);

// r = b - A x; returns |r| / (|A| |x| + |b|) in the maximum norm, infinite if anything is not finite.
double rbt_ldl_residual(const rbt_ldl *ldl, const double *b, const double *x, double *r);

#endif
