// One-sided Jacobi (Hestenes 1958): the columns of F V are made orthogonal by plane rotations of V; their lengths are
// the singular values, to high relative accuracy, since F is never squared.
#include "math/svd3.h"

#include "math/vec3.h"

#include <float.h>
#include <string.h>

// Turns columns p and q of A and V such that those of A become orthogonal; false if they were.
static bool rotate_columns(double A[9], double V[9], int p, int q) {
    double a = 0, b = 0, c = 0;
    for (int i = 0; i < 9; i += 3) {
        a += A[i + p] * A[i + p];
        b += A[i + q] * A[i + q];
        c += A[i + p] * A[i + q];
    }
    if (fabs(c) <= DBL_EPSILON * sqrt(a * b) || c == 0) return false;
    double z = (b - a) / (2 * c), t = copysign(1, z) / (fabs(z) + sqrt(1 + z * z));
    double cosine = 1 / sqrt(1 + t * t), sine = cosine * t;
    for (int i = 0; i < 9; i += 3) {
        double x = A[i + p], y = A[i + q], v = V[i + p], w = V[i + q];
        A[i + p] = cosine * x - sine * y;
        A[i + q] = sine * x + cosine * y;
        V[i + p] = cosine * v - sine * w;
        V[i + q] = sine * v + cosine * w;
    }
    return true;
}

static double column_length(const double A[9], int j) {
    return sqrt(A[j] * A[j] + A[3 + j] * A[3 + j] + A[6 + j] * A[6 + j]);
}

// Swapping two columns and turning one round keeps V a rotation.
static void swap_columns(double A[9], int p, int q) {
    for (int i = 0; i < 9; i += 3) {
        double x = A[i + p];
        A[i + p] = A[i + q];
        A[i + q] = -x;
    }
}

static void get_column(const double A[9], int j, double c[3]) {
    for (int i = 0; i < 3; i++) c[i] = A[3 * i + j];
}
static void set_column(double A[9], int j, const double c[3]) {
    for (int i = 0; i < 3; i++) A[3 * i + j] = c[i];
}

void rbt_svd3(const double F[9], double U[9], double sigma[3], double V[9]) {
    double A[9], u[3], v[3], w[3];
    memcpy(A, F, sizeof A);
    for (int i = 0; i < 9; i++) V[i] = i % 4 == 0;
    for (int sweep = 0; sweep < 60; sweep++) {
        bool turned = rotate_columns(A, V, 0, 1);
        turned |= rotate_columns(A, V, 0, 2);
        turned |= rotate_columns(A, V, 1, 2);
        if (!turned) break;
    }
    static const int order[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    for (int k = 0; k < 3; k++) {
        int p = order[k][0], q = order[k][1];
        if (column_length(A, p) >= column_length(A, q)) continue;
        swap_columns(A, p, q);
        swap_columns(V, p, q);
    }
    for (int j = 0; j < 3; j++) sigma[j] = column_length(A, j);
    // The first two columns of U; where A is (nearly) of rank one or zero, any direction orthogonal to what is known.
    get_column(A, 0, u);
    rbt_normalize(u, u);
    get_column(A, 1, v);
    if (sigma[1] > DBL_MIN && sigma[1] > 1e-15 * sigma[0]) {
        for (int twice = 0; twice < 2; twice++) {  // once leaves what rounding made of a short v
            rbt_add_scaled(v, -rbt_dot(u, v), u);
            rbt_normalize(v, v);
        }
    } else {
        int least = fabs(u[0]) < fabs(u[1]) ? (fabs(u[0]) < fabs(u[2]) ? 0 : 2) : (fabs(u[1]) < fabs(u[2]) ? 1 : 2);
        double axis[3] = {least == 0, least == 1, least == 2};
        rbt_cross(u, axis, v);
        rbt_normalize(v, v);
    }
    rbt_cross(u, v, w);
    double third[3];
    get_column(A, 2, third);
    sigma[2] = rbt_dot(w, third);
    set_column(U, 0, u);
    set_column(U, 1, v);
    set_column(U, 2, w);
}
