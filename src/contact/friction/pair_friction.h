// Coulomb friction of one pair with smoothed stick (Li et al. 2020), of a normal force N and a frame that were taken
// from some other state (lagged), so that it has an energy:
//   E = mu N f0(|u|),   u = T^T sum_i w_i (x_i - x_i^n)
//   f0'(y) = y/e (2 - y/e) for y < e,   1 beyond;   f0(0) = 0
// u is the tangential displacement of the nearest points against each other since x^n, the start of the step; T has
// two orthonormal tangents; e = h v_eps. The force -E' is opposite to u and its size mu N f0'(|u|) is at most mu N.
// E depends on the plane of the tangents, not on which two of it they are.
#ifndef RBT_CONTACT_FRICTION_PAIR_FRICTION_H
#define RBT_CONTACT_FRICTION_PAIR_FRICTION_H

#include "contact/distance/shape.h"

typedef struct rbt_pair_friction {
    int corners;
    double weight[4];      // 0 for corners that do not exist
    double tangent[2][3];  // orthonormal
    double limit;          // mu N [N]
    double smooth;         // e = h v_eps [m], > 0
} rbt_pair_friction;

// limit: mu N with the force of the pair (rbt_pair_barrier_contact).
void rbt_pair_friction_make(const rbt_gap_shape *shape, double limit, double smooth, rbt_pair_friction *pair);

// f0 [m] and f0'
double rbt_friction_potential(double y, double smooth);
double rbt_friction_share(double y, double smooth);

// move (12): x - x^n of the corners.
void rbt_pair_friction_slip(const rbt_pair_friction *pair, const double move[12], double u[2]);  // u [m]
double rbt_pair_friction_value(const rbt_pair_friction *pair, const double move[12]);            // E [J]
double rbt_pair_friction_gradient(const rbt_pair_friction *pair, const double move[12],          // returns E
                                  double gradient[12]);                                          // [N]

// Returns E. The energy is convex: the Hessian [N/m] (12 x 12) is the true one and positive semidefinite. At |u| = e,
// where f0'' is continuous, and at u = 0, where f0'' = 2/e, it is continuous as well.
double rbt_pair_friction_hessian(const rbt_pair_friction *pair, const double move[12], double gradient[12],
                                 double hessian[144]);

// The same with f0'/|u| in the place of f0'': the parabola through E with this Hessian is nowhere below E, since f0 is
// a concave function of |u|^2. Steps that are made with it never go beyond the kink at u = 0 and come back.
double rbt_pair_friction_secant(const rbt_pair_friction *pair, const double move[12], double gradient[12],
                                double hessian[144]);

#endif
