#include "energy/stiffening.h"

#include "energy/invariant_material.h"
#include "math/vec3.h"

static const double FIRST = 0.01;  // radius of level 0
static const double GAPS = 1.02;   // for what lies between samples: directions are 4 degrees apart at most

typedef struct derivatives {
    double d1, d2, d3, d4, d11, d22, d33;
} derivatives;

static rbt_psi psi_of(const rbt_stiffening *s, const rbt_lane_invariants *I) {
    rbt_lane mu = lane_of(s->mu), lambda = lane_of(s->lambda);
    switch (s->material->id) {
#define CASE(name, ...)                                                                                              \
    case RBT_TET_##name: return psi_##name(mu, lambda, I);
        RBT_MATERIAL_LIST(CASE, CASE, RBT_NO_MATERIAL)
#undef CASE
    default: return psi_corotational(mu, lambda, I);  // linear elasticity does not stiffen; turned, it is this
    }
}

static derivatives derive(const rbt_stiffening *s, const double x[3]) {
    double I1 = 0, I2 = 0, I4 = 0;
    for (int i = 0; i < 3; i++) {
        I1 += x[i];
        I2 += x[i] * x[i];
        I4 += x[i] * x[i] * x[i] * x[i];
    }
    rbt_lane_invariants I = {lane_of(I1), lane_of(I2), lane_of(x[0] * x[1] * x[2]), lane_of(I4), lane_of(0)};
    rbt_psi p = psi_of(s, &I);
    return (derivatives){p.d1[0], p.d2[0], p.d3[0], p.d4[0], p.d11[0], p.d22[0], p.d33[0]};
}

// The blocks of H: A (3 x 3), flips and twists
static void blocks(const derivatives *d, const double x[3], double A[9], double flip[3], double twist[3]) {
    double c[3] = {x[1] * x[2], x[2] * x[0], x[0] * x[1]};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            A[3 * i + j] = d->d11 + 4 * d->d22 * x[i] * x[j] + d->d33 * c[i] * c[j] +
                           (i == j ? 2 * d->d2 + 12 * d->d4 * x[i] * x[i] : d->d3 * x[3 - i - j]);
    for (int k = 0; k < 3; k++) {
        double a = x[(k + 1) % 3], b = x[(k + 2) % 3], sum = a + b;
        double turning = d->d1 == 0 ? 0 : sum > 0 ? 2 * d->d1 / sum : d->d1 < 0 ? -INFINITY : INFINITY;
        flip[k] = 2 * d->d2 - d->d3 * x[k] + 4 * d->d4 * (a * a + a * b + b * b);
        twist[k] = 2 * d->d2 + d->d3 * x[k] + 4 * d->d4 * (a * a - a * b + b * b) + turning;
    }
}

// Eigenvalues of a symmetric 3 x 3 matrix, descending (Viete's cosines)
static void eigenvalues(const double A[9], double lambda[3]) {
    double mean = (A[0] + A[4] + A[8]) / 3, a = A[0] - mean, b = A[4] - mean, c = A[8] - mean;
    double off = A[1] * A[1] + A[2] * A[2] + A[5] * A[5], p = sqrt((a * a + b * b + c * c + 2 * off) / 6);
    double det = a * (b * c - A[5] * A[5]) - A[1] * (A[1] * c - A[5] * A[2]) + A[2] * (A[1] * A[5] - b * A[2]);
    double turn = p > 0 ? det / (2 * p * p * p) : 0, angle = acos(turn > 1 ? 1 : turn < -1 ? -1 : turn) / 3;
    lambda[0] = mean + 2 * p * cos(angle);
    lambda[2] = mean + 2 * p * cos(angle + 2 * acos(-1) / 3);
    lambda[1] = 3 * mean - lambda[0] - lambda[2];
}

rbt_stiffening rbt_stiffening_law(const rbt_material *material, double mu, double lambda) {
    rbt_stiffening s = {.material = material, .mu = mu, .lambda = lambda};
    double flip[3], twist[3], one[3] = {1, 1, 1};
    derivatives d = derive(&s, one);
    blocks(&d, one, s.A, flip, twist);
    s.flip = flip[0];
    s.twist = twist[0];
    return s;
}

double rbt_stiffening_at(const rbt_stiffening *s, const double sigma[3]) {
    double A[9], flip[3], twist[3], lambda[3];
    if (!s->material->survives_inversion && !(sigma[0] * sigma[1] * sigma[2] > 0)) return INFINITY;
    derivatives d = derive(s, sigma);
    blocks(&d, sigma, A, flip, twist);
    for (int i = 0; i < 9; i++) A[i] -= s->A[i];
    eigenvalues(A, lambda);
    double most = lambda[0];
    for (int k = 0; k < 3; k++) most = fmax(most, fmax(flip[k] - s->flip, twist[k] - s->twist));
    return fmax(most, 0) / s->A[0];
}

// The least stretch is the volume over the others: an eigenvalue of C loses it, and its sign.
double rbt_stiffening_of(const rbt_stiffening *s, const double F[9]) {
    double C[9], normal[3], square[3];
    for (int i = 0; i < 9; i++)
        C[i] = F[i / 3] * F[i % 3] + F[3 + i / 3] * F[3 + i % 3] + F[6 + i / 3] * F[6 + i % 3];
    eigenvalues(C, square);
    rbt_cross(F, F + 3, normal);
    double J = rbt_dot(F + 6, normal), sigma[3] = {sqrt(fmax(square[0], 0)), sqrt(fmax(square[1], 0)), 0};
    if (!isfinite(J) || !isfinite(square[0])) return INFINITY;
    if (sigma[0] * sigma[1] > 0) sigma[2] = J / (sigma[0] * sigma[1]);
    return rbt_stiffening_at(s, sigma);
}

// ---- The table

// At principal strains C_i - 1 of this length in a direction; where C_i would be negative it is 0, which is nearer.
static double stiffening_along(const rbt_stiffening *s, const double direction[3], double radius) {
    double sigma[3];
    for (int k = 0; k < 3; k++) sigma[k] = sqrt(fmax(1 + radius * direction[k], 0));
    return rbt_stiffening_at(s, sigma);
}

// Directions of sorted strains, as the order of stretches does not matter: around the axis (1, 1, 1) from (2, -1, -1)
// to (1, 1, -2); and those in which one or two strains are all there is.
static double most_at(const rbt_stiffening *s, double radius) {
    enum { ALONG = 48, AROUND = 8 };
    static const double CORNERS[4][3] = {{1, 0, 0}, {0, 0, -1}, {1, 1, 0}, {0, -1, -1}};
    const double pi = acos(-1);
    double most = 0, d[3];
    for (int i = 0; i <= ALONG; i++)
        for (int j = 0; j <= AROUND; j++) {
            double theta = pi * i / ALONG, phi = pi / 3 * j / AROUND, axis = cos(theta) / sqrt(3);
            double first = sin(theta) * cos(phi) / sqrt(6), second = sin(theta) * sin(phi) / sqrt(2);
            d[0] = axis + 2 * first;
            d[1] = axis - first + second;
            d[2] = axis - first - second;
            most = fmax(most, stiffening_along(s, d, radius));
        }
    for (int c = 0; c < 4; c++) {
        rbt_normalize(CORNERS[c], d);
        most = fmax(most, stiffening_along(s, d, radius));
    }
    return most;
}

void rbt_stiffening_tabulate(const rbt_stiffening *s, rbt_stiffening_table *table) {
    double most = 0;
    for (int level = 0; level < RBT_STIFFENING_LEVELS; level++) {
        double radius = FIRST * pow(2, level / 4.0);
        most = !s->material->survives_inversion && radius >= 1 ? INFINITY : fmax(most, GAPS * most_at(s, radius));
        table->most[level] = most;
    }
}

double rbt_stiffening_radius(const rbt_stiffening_table *table, double allowed) {
    int level = -1;
    while (level + 1 < RBT_STIFFENING_LEVELS && table->most[level + 1] <= allowed) level++;
    return level < 0 ? 0 : FIRST * pow(2, level / 4.0);
}
