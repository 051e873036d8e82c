// The mollifier of two edges u = x1 - x0, v = x3 - x2 that are nearly parallel (Li et al. 2020, section 5.2):
//   e(c) = c/eps (2 - c/eps)   for c = |u x v|^2 < eps,   1 beyond
// and the energy e(c) E(d) of such a pair to second order.
#ifndef RBT_CONTACT_BARRIER_PARALLEL_EDGES_H
#define RBT_CONTACT_BARRIER_PARALLEL_EDGES_H

#include "contact/distance/shape.h"

typedef struct rbt_parallel_edges {
    double u[3], v[3];        // [m]
    double across[3];         // u x v [m^2]
    double e, slope, second;  // e(c), e'(c) [1/m^4], e''(c) [1/m^8]
} rbt_parallel_edges;

// False: c >= eps, e = 1, and nothing is measured.
bool rbt_parallel_edges_measure(const double x[12], double eps, rbt_parallel_edges *edges);

// c' (12)
void rbt_parallel_edges_gradient(const rbt_parallel_edges *edges, double gradient[12]);

// The Hessian (12 x 12) of e(c) E(d), of E and its derivatives by d; positive: without its negative eigenvalues.
void rbt_parallel_edges_hessian(const rbt_parallel_edges *edges, const rbt_gap_shape *shape, double value,
                                double slope, double second, bool positive, double hessian[144]);

#endif
