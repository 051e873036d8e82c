#include "contact/friction/pair_friction.h"

#include "math/vec3.h"

#include <string.h>

void rbt_pair_friction_make(const rbt_gap_shape *shape, double limit, double smooth, rbt_pair_friction *pair) {
    pair->corners = shape->corners;
    memcpy(pair->weight, shape->gap.weight, sizeof pair->weight);
    memcpy(pair->tangent, shape->tangent, sizeof pair->tangent);
    pair->limit = limit;
    pair->smooth = smooth;
}

// f0(y) = y^2/e (1 - y/(3 e)) for y < e,   y - e/3 beyond
double rbt_friction_potential(double y, double smooth) {
    double ratio = y / smooth;
    return ratio < 1 ? y * ratio * (1 - ratio / 3) : y - smooth / 3;
}

double rbt_friction_share(double y, double smooth) {
    double ratio = y / smooth;
    return ratio < 1 ? ratio * (2 - ratio) : 1;
}

void rbt_pair_friction_slip(const rbt_pair_friction *pair, const double move[12], double u[2]) {
    double slip[3] = {0};
    for (int i = 0; i < pair->corners; i++) rbt_add_scaled(slip, pair->weight[i], move + 3 * i);
    for (int j = 0; j < 2; j++) u[j] = rbt_dot(pair->tangent[j], slip);
}

double rbt_pair_friction_value(const rbt_pair_friction *pair, const double move[12]) {
    double u[2];
    rbt_pair_friction_slip(pair, move, u);
    return pair->limit * rbt_friction_potential(sqrt(u[0] * u[0] + u[1] * u[1]), pair->smooth);
}

// f0'(y)/y, which is (2 - y/e)/e below e: no division by a small y
static double share_by_slip(double y, double smooth) { return y < smooth ? (2 - y / smooth) / smooth : 1 / y; }

// E' = mu N f0'/|u| sum_j u_j t_j w_i
static double put_gradient(const rbt_pair_friction *pair, const double u[2], double y, double *gradient) {
    double factor = pair->limit * share_by_slip(y, pair->smooth), force[3];
    for (int k = 0; k < 3; k++) force[k] = factor * (u[0] * pair->tangent[0][k] + u[1] * pair->tangent[1][k]);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) gradient[3 * i + k] = pair->weight[i] * force[k];
    return pair->limit * rbt_friction_potential(y, pair->smooth);
}

double rbt_pair_friction_gradient(const rbt_pair_friction *pair, const double move[12], double gradient[12]) {
    double u[2];
    rbt_pair_friction_slip(pair, move, u);
    return put_gradient(pair, u, sqrt(u[0] * u[0] + u[1] * u[1]), gradient);
}

// As a function of u the energy has the Hessian, with the unit vector a = u/|u| and a' perpendicular to it,
//   mu N (f0'' a a^T + f0'/|u| a' a'^T),   f0'' = 2 (1 - |u|/e)/e below e, 0 beyond.
// Both eigenvalues are never negative, so this is its own positive part. At u = 0 both are 2/e, and any a will do.
static double put_hessian(const rbt_pair_friction *pair, const double move[12], bool secant, double gradient[12],
                          double hessian[144]) {
    double u[2];
    rbt_pair_friction_slip(pair, move, u);
    double e = pair->smooth, y = sqrt(u[0] * u[0] + u[1] * u[1]), energy = put_gradient(pair, u, y, gradient);
    double a[2] = {y > 0 ? u[0] / y : 1, y > 0 ? u[1] / y : 0};
    double aside = pair->limit * share_by_slip(y, e);
    double along = secant ? aside : pair->limit * (y < e ? 2 * (1 - y / e) / e : 0);
    double P[3][3];
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) {
            double ak = a[0] * pair->tangent[0][k] + a[1] * pair->tangent[1][k];
            double al = a[0] * pair->tangent[0][l] + a[1] * pair->tangent[1][l];
            double bk = a[0] * pair->tangent[1][k] - a[1] * pair->tangent[0][k];
            double bl = a[0] * pair->tangent[1][l] - a[1] * pair->tangent[0][l];
            P[k][l] = along * (ak * al) + aside * (bk * bl);
        }
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 4; j++)
                for (int l = 0; l < 3; l++)
                    hessian[12 * (3 * i + k) + 3 * j + l] = pair->weight[i] * pair->weight[j] * P[k][l];
    return energy;
}

double rbt_pair_friction_hessian(const rbt_pair_friction *pair, const double move[12], double gradient[12],
                                 double hessian[144]) {
    return put_hessian(pair, move, false, gradient, hessian);
}

double rbt_pair_friction_secant(const rbt_pair_friction *pair, const double move[12], double gradient[12],
                                double hessian[144]) {
    return put_hessian(pair, move, true, gradient, hessian);
}
