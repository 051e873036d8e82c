// The matrix of one number per pair of nodes that stands for the step's second derivative in projective methods:
//
//   A = (1 + tau alpha) M + (tau^2 + tau beta) L,    L = sum over tets of V w(mu, lambda) G G^T,
//
// G (4 x 3) the gradients of the corners' shape functions, w a modulus of the method's choice. It does not depend on
// positions, so it is factored once, and again only if the step or the constrained nodes change. Sheets and nets
// bring a third of the trace of their blocks of the stiffness at rest: as definite as that stiffness is.
#ifndef RBT_STEP_IMPLICIT_LAPLACIAN_H
#define RBT_STEP_IMPLICIT_LAPLACIAN_H

#include "math/scalar_matrix.h"
#include "solve/cholesky.h"
#include "step/implicit/objective.h"

typedef double (*rbt_modulus)(double mu, double lambda);

typedef struct rbt_laplacian {
    rbt_objective *objective;
    rbt_arena *arena;
    rbt_scalar_matrix A;
    double *stiffness;  // values of L
    rbt_cholesky *factor;
    double factored_tau;
    unsigned char *analysed, *keep;  // (node_count) constrained nodes at the analysis
} rbt_laplacian;

bool rbt_laplacian_init(rbt_laplacian *laplacian, rbt_objective *objective, rbt_modulus modulus, rbt_error *error);
void rbt_laplacian_free(rbt_laplacian *laplacian);

// Makes laplacian->factor that of the objective's tau and constrained nodes. `x`: where trouble would be reported.
rbt_outcome rbt_laplacian_prepare(rbt_laplacian *laplacian, const double *x, rbt_step_report *report);

#endif
