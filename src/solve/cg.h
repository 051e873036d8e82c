// Preconditioned conjugate gradients (Hestenes and Stiefel 1952) for symmetric positive definite systems on nodes.
//
// Vectors are (row_count x 3). Sums are taken in blocks of a fixed size and in a fixed order, so any number of
// threads gives the same bits.
#ifndef RBT_SOLVE_CG_H
#define RBT_SOLVE_CG_H

#include "base/error.h"
#include "math/block_matrix.h"

#include <stddef.h>

// y = A x, both (row_count x 3), not overlapping. apply may use self as work space.
typedef struct rbt_operator {
    void (*apply)(void *self, const double *x, double *y);
    void *self;
} rbt_operator;

typedef enum rbt_cg_outcome {
    RBT_CG_CONVERGED,
    RBT_CG_NOT_CONVERGED,  // too many iterations, or the residual no longer falls
    RBT_CG_INDEFINITE,     // a direction p with p^T A p <= 0, or a residual r with r^T P r <= 0
    RBT_CG_NOT_FINITE,     // a NaN or an infinity in A, b or the preconditioner
} rbt_cg_outcome;

typedef struct rbt_cg_report {
    rbt_cg_outcome outcome;
    int iterations;
    double residual;  // |b - A x| / |b|, from x itself and not from the recurrence
    // With RBT_CG_INDEFINITE: p^T A p / p^T p, not below the lowest eigenvalue; 0 if P was at fault
    double curvature;
} rbt_cg_report;

typedef struct rbt_cg rbt_cg;  // work space

rbt_cg *rbt_cg_new(size_t row_count, rbt_error *error);
void rbt_cg_free(rbt_cg *cg);

// Improves x until |b - A x| <= tolerance |b|. Rows with keep = 0 are eliminated: b is ignored there and x becomes 0;
// keep may be NULL. Without a preconditioner (P NULL) the residual itself is taken. x is the last iterate whatever
// the outcome, except that RBT_CG_NOT_FINITE leaves it at 0.
rbt_cg_report rbt_cg_solve(rbt_cg *cg, const rbt_operator *A, const rbt_operator *P, const unsigned char *keep,
                           const double *b, double *x, double tolerance, int max_iterations);

// ---- block matrices as operators, in parallel ----

typedef struct rbt_block_operator rbt_block_operator;

// Reads A's arrays at every product: the values may change, and all must outlive it.
rbt_block_operator *rbt_block_operator_new(const rbt_block_matrix *A, rbt_error *error);
void rbt_block_operator_free(rbt_block_operator *product);
rbt_operator rbt_block_operator_of(rbt_block_operator *product);

#endif
