// Second derivatives are made in 9 numbers a pair, not in 12, because nothing changes if all corners move by the same:
// y_k = sum_i BASIS_ki delta_i for the first three rows of an orthonormal basis whose fourth is (1, 1, 1, 1)/2. Its
// eigenvalues are those of the 12 x 12 matrix without three that are 0.
#include "contact/barrier/parallel_edges.h"

#include "math/symmetric.h"
#include "math/vec3.h"

#include <string.h>

#define HALF_ROOT 0.70710678118654752440

static const double BASIS[3][4] = {
    {-HALF_ROOT, HALF_ROOT, 0, 0}, {0, 0, -HALF_ROOT, HALF_ROOT}, {-0.5, -0.5, 0.5, 0.5}};

bool rbt_parallel_edges_measure(const double x[12], double eps, rbt_parallel_edges *edges) {
    rbt_subtract(x + 3, x, edges->u);
    rbt_subtract(x + 9, x + 6, edges->v);
    rbt_cross(edges->u, edges->v, edges->across);
    double c = rbt_dot(edges->across, edges->across), ratio = c / eps;
    if (!(c < eps)) return false;
    edges->e = ratio * (2 - ratio);
    edges->slope = 2 * (1 - ratio) / eps;
    edges->second = -2 / (eps * eps);
    return true;
}

// c = |u|^2 |v|^2 - (u . v)^2:   dc/du = 2 v x (u x v),   dc/dv = 2 (u x v) x u
static void by_edges(const rbt_parallel_edges *edges, double du[3], double dv[3]) {
    rbt_cross(edges->v, edges->across, du);
    rbt_cross(edges->across, edges->u, dv);
    for (int k = 0; k < 3; k++) du[k] *= 2, dv[k] *= 2;
}

void rbt_parallel_edges_gradient(const rbt_parallel_edges *edges, double gradient[12]) {
    double du[3], dv[3];
    by_edges(edges, du, dv);
    for (int k = 0; k < 3; k++) {
        gradient[k] = -du[k], gradient[3 + k] = du[k];
        gradient[6 + k] = -dv[k], gradient[9 + k] = dv[k];
    }
}

// M += s c'', in the nine numbers, of which u = sqrt(2) y_0 and v = sqrt(2) y_1:
//   c_uu = 2 (|v|^2 I - v v^T),   c_vv = 2 (|u|^2 I - u u^T),   c_uv = 4 u v^T - 2 v u^T - 2 (u . v) I
static void add_second_of_c(const rbt_parallel_edges *edges, double s, double M[81]) {
    const double *u = edges->u, *v = edges->v;
    double uu = rbt_dot(u, u), vv = rbt_dot(v, v), uv = rbt_dot(u, v);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double same = i == j, mixed = 4 * s * (2 * u[i] * v[j] - v[i] * u[j] - same * uv);
            M[9 * i + j] += 4 * s * (same * vv - v[i] * v[j]);
            M[9 * (3 + i) + 3 + j] += 4 * s * (same * uu - u[i] * u[j]);
            M[9 * i + 3 + j] += mixed;
            M[9 * (3 + j) + i] += mixed;
        }
}

// M += s (a b^T + b a^T) / 2
static void add_product(double s, const double a[9], const double b[9], double M[81]) {
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++) M[9 * i + j] += 0.5 * s * (a[i] * b[j] + b[i] * a[j]);
}

// The row sum_i weight_i direction . delta_i in the nine numbers
static void reduce(const double weight[4], const double direction[3], double row[9]) {
    for (int k = 0; k < 3; k++) {
        double share = 0;
        for (int i = 0; i < 4; i++) share += BASIS[k][i] * weight[i];
        for (int a = 0; a < 3; a++) row[3 * k + a] = share * direction[a];
    }
}

// M without its negative eigenvalues
static void make_positive(double M[81]) {
    double values[9], work[27], V[81];
    memcpy(V, M, sizeof V);
    bool found = rbt_symmetric_pairs(9, V, values, work);
    memset(M, 0, 81 * sizeof *M);
    for (int k = 0; found && k < 9; k++)
        if (values[k] > 0) add_product(values[k], V + 9 * k, V + 9 * k, M);
}

// hessian = BASIS^T M BASIS; what is above the diagonal is copied, so that rounding does not make it unsymmetric.
static void expand(const double M[81], double hessian[144]) {
    double half[9][12];
    for (int r = 0; r < 9; r++)
        for (int i = 0; i < 4; i++)
            for (int a = 0; a < 3; a++) {
                const double *m = M + 9 * r + a;
                half[r][3 * i + a] = BASIS[0][i] * m[0] + BASIS[1][i] * m[3] + BASIS[2][i] * m[6];
            }
    for (int i = 0; i < 12; i++)
        for (int j = 0, a = i % 3; j < 12; j++) {
            const double(*h)[12] = half + a;
            double sum = BASIS[0][i / 3] * h[0][j] + BASIS[1][i / 3] * h[3][j] + BASIS[2][i / 3] * h[6][j];
            hessian[12 * i + j] = j < i ? hessian[12 * j + i] : sum;
        }
}

// (e E)'' = E (e'' c' c'^T + e' c'') + e' E' (c' g^T + g c'^T) + e (E'' g g^T + E' d''),   g = d'
void rbt_parallel_edges_hessian(const rbt_parallel_edges *edges, const rbt_gap_shape *shape, double value,
                                double slope, double second, bool positive, double hessian[144]) {
    const rbt_gap *gap = &shape->gap;
    double M[81] = {0}, g[9], c[9] = {0}, tau[9], theta[9];
    reduce(gap->weight, gap->normal, g);
    by_edges(edges, c, c + 3);
    for (int a = 0; a < 6; a++) c[a] *= 2 * HALF_ROOT;
    add_second_of_c(edges, value * edges->slope, M);
    add_product(value * edges->second, c, c, M);
    add_product(2 * edges->slope * slope, c, g, M);
    add_product(edges->e * second, g, g, M);
    for (int j = 0; j < 2; j++) {
        reduce(gap->weight, shape->tangent[j], tau);
        reduce(shape->slope[j], gap->normal, theta);
        if (j < shape->sliding) {
            add_product(-2 * edges->e * slope, tau, theta, M);
            add_product(-edges->e * slope * gap->distance, theta, theta, M);
        } else add_product(edges->e * slope / gap->distance, tau, tau, M);
    }
    if (positive) make_positive(M);
    expand(M, hessian);
}
