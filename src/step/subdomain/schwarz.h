// Conjugate gradients around the factors of subdomains, with a coarse space: additive Schwarz in two levels (Smith,
// Bjørstad and Gropp 1996), deflated as in Tang, Nabben, Vuik and Erlangga 2009 (A-DEF2).
//
//   z = D r + C (r - A D r),      D = B S^T diag(A_1^-1, ..., A_s^-1) S B,     C = Z (Z^T A Z)^-1 Z^T
//
// D as in subdomains.h, but with B the root of that one, so that it is symmetric; C as in coarse.h. The iteration
// begins at C b, from where the residual stays without a part in Z, and D with its correction by C is symmetric.
#ifndef RBT_STEP_SUBDOMAIN_SCHWARZ_H
#define RBT_STEP_SUBDOMAIN_SCHWARZ_H

#include "step/core/linear.h"

// How many subdomains a model of so many nodes is divided into unless told (asked -1)
size_t rbt_schwarz_subdomains(size_t node_count, int asked);

bool rbt_schwarz_new(const rbt_model *model, const rbt_block_matrix *A, size_t subdomains, rbt_linear_solver *solver,
                     rbt_error *error);

#endif
