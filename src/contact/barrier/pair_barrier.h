// The energy of one pair, which grows as the gap closes and is 0 where it is wide.
//   E(x) = scale e(c) b(d),   d = distance(x) - inside,   for 0 < d < dhat;   0 beyond;   infinite for d <= 0
//   e(c) = c/eps (2 - c/eps),   c = |(x1 - x0) x (x3 - x2)|^2,   for two edges with c < eps;   1 for all others
// Of a barrier (Li et al. 2020; lengths and areas as in Li et al. 2023) b grows without bound,
//   b(d) = -dhat (s - 1)^2 ln s,   s = d / dhat,
// of a parabola (step/contact/contact_multipliers.h) it is, with u = dhat - d and w = entry,
//   b(d) = u^3 / (6 w)   for u < w,   u (u - w)/2 + w^2/6   beyond,
// and below `net` in addition net times the barrier with `net` for its dhat. All are twice continuously differentiable.
// The mollifier e makes E continuously differentiable where edges are
// parallel: there the direction of the nearest points jumps, and E and its gradient are 0. Distances are those of
// contact/distance/shape.h.
#ifndef RBT_CONTACT_BARRIER_PAIR_BARRIER_H
#define RBT_CONTACT_BARRIER_PAIR_BARRIER_H

#include "contact/distance/shape.h"

typedef struct rbt_pair_barrier {
    rbt_touch_kind kind;
    bool parabola;          // in place of the barrier
    signed char part[2];    // of two edges: 0 for the edge, 1 and 2 for one of its ends alone
    double inside;          // radii and minimum gap: the distance at which the pair touches [m]
    double dhat;            // the energy acts on gaps below it [m], > 0
    double entry;           // of a parabola: w [m], > 0
    double net;             // of a parabola: below this gap a barrier helps it [m]; 0: none
    double scale;           // of a barrier stiffness times area [N], of a parabola its stiffness [N/m]
    double parallel;        // eps [m^4] of the mollifier, 1e-3 |E1|^2 |E2|^2 of rest lengths; 0: none
    double wall_normal[3];  // unit, to the free side; of a wall only
} rbt_pair_barrier;

// ---- The function of the gap, of a barrier

double rbt_barrier(double d, double dhat);         // b [m]
double rbt_barrier_slope(double d, double dhat);   // b' <= 0; -infinity for d <= 0
double rbt_barrier_second(double d, double dhat);  // b'' >= 0 [1/m]; infinity for d <= 0
static inline double rbt_barrier_force(double d, double dhat) { return -rbt_barrier_slope(d, dhat); }  // per scale

// ---- The pair
//
// x: corners (x 3). gradient (12) and hessian (12 x 12, symmetric to the bit) have rows of 0 for corners that do not
// exist.

// E [J]
double rbt_pair_barrier_value(const rbt_pair_barrier *pair, const double x[12]);

// Returns E. The gradient [N] is 0 where E is 0 or infinite.
double rbt_pair_barrier_gradient(const rbt_pair_barrier *pair, const double x[12], double gradient[12]);

// Returns E. The Hessian [N/m] is positive semidefinite and never below the true one, H >= E''; 0 where E is 0 or
// infinite.
double rbt_pair_barrier_hessian(const rbt_pair_barrier *pair, const double x[12], double gradient[12],
                                double hessian[144]);

// The true E'', which may be indefinite. Returns E.
double rbt_pair_barrier_exact_hessian(const rbt_pair_barrier *pair, const double x[12], double gradient[12],
                                      double hessian[144]);

// d [m]
double rbt_pair_barrier_gap(const rbt_pair_barrier *pair, const double x[12]);

// u at which a parabola has this force [m]
double rbt_parabola_depth(double m, double w, double force);

// -scale b'(d) [N] and scale b''(d) [N/m] for a gap d > 0 [m], without the mollifier
double rbt_pair_barrier_force(const rbt_pair_barrier *pair, double d);
double rbt_pair_barrier_stiffness(const rbt_pair_barrier *pair, double d);

// e(c)
double rbt_pair_barrier_share(const rbt_pair_barrier *pair, const double x[12]);

// The normal force N = -scale e(c) b'(d) [N], 0 or infinite where E is, and the shape that friction needs.
double rbt_pair_barrier_contact(const rbt_pair_barrier *pair, const double x[12], rbt_gap_shape *shape);

#endif
