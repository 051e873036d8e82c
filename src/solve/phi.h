// Products of phi-functions of a large matrix with vectors, without the matrix:
//   y(h) = h phi_1(h J) b + h^2 phi_2(h J) c,   which is the solution of  y' = J y + b + t c,  y(0) = 0
// by Arnoldi's method. A part of the way, tau, is gone with
//   y(t + tau) = y + tau phi_1(tau J') (J y + b + t c),     J' = [[J, c], [0, 0]]: the ramp c as one more unknown
//   tau phi_1(tau J') r ~ tau |r| V_m phi_1(tau H_m) e_1,   J' V_m = V_m H_m + h_{m+1,m} v_{m+1} e_m^T
// and the first term that this leaves out, tau^2 |r| h_{m+1,m} [phi_2(tau H_m)]_{m,1} v_{m+1}, is added; the larger
// one of it and the next is the estimate of the error.
// The basis grows until the rest of the way can be gone at once; when it is as large as allowed, tau is shortened
// until the error is small enough, with the same basis (Niesen and Wright 2012 choose between the two by cost).
#ifndef RBT_SOLVE_PHI_H
#define RBT_SOLVE_PHI_H

#include "solve/cg.h"

typedef struct rbt_phi_def {
    rbt_operator J;        // y = J x, n numbers each
    double tolerance;      // of the error beside the size of y
    size_t max_dimension;  // of the basis, at most what rbt_phi_new was given
    int64_t max_products;  // with J
} rbt_phi_def;

typedef struct rbt_phi_report {
    bool finite;       // false: b, c or J hold numbers beyond any size
    bool converged;    // false: too many products, steps too short, or numbers beyond any size
    int64_t products;  // with J
    int64_t parts;     // of the way
    double error;      // sum of the estimates beside the size of y
    double reached;    // share of the way
} rbt_phi_report;

typedef struct rbt_phi rbt_phi;  // work space

rbt_phi *rbt_phi_new(size_t n, size_t max_dimension, rbt_error *error);
void rbt_phi_free(rbt_phi *phi);

// b, c and y (n numbers); c may be NULL: 0.
rbt_phi_report rbt_phi_solve(rbt_phi *phi, const rbt_phi_def *def, double h, const double *b, const double *c,
                             double *y);

#endif
