// The exact highest frequency of one tet, in closed form.
//
// With g_a the gradient of corner a's shape function, K = V B^T C B and m = rho V / 4 at each corner, the non-zero
// eigenvalues of M^-1 K are those of the map sigma -> (4 / rho) C B B^T sigma on the symmetric stresses, and
//   B B^T sigma = sum_a sym(sigma g_a g_a^T) = (sigma S + S sigma) / 2,   S = sum_a g_a g_a^T  (3 x 3)
// In the axes of S, with eigenvalues s_1 >= s_2 >= s_3, the shears stand alone: mu (s_i + s_j). The normal stresses
// couple through lambda: 2 mu diag(s) + lambda sqrt(s) sqrt(s)^T, whose characteristic polynomial needs only the
// invariants e_1, e_2, e_3 of S:
//   z^3 - (lambda + 2 mu) e_1 z^2 + 4 mu (lambda + mu) e_2 z - 4 mu^2 (3 lambda + 2 mu) e_3 = 0
// omega^2 = (4 / rho) max(z_max, mu (s_1 + s_2)); the shear can win only if lambda < 0, where s_1 + s_2 = e_1 - s_3
// comes from the like cubic of S itself.
//
// The least step over all tets is safe for the whole body: by Rayleigh's quotient, the assembled x^T K x / x^T M x is
// a weighted mean of the tets' quotients, so it never exceeds the largest of them (B. M. Irons, G. Treharne, "A bound
// theorem in eigenvalues and its practical applications", 1971; I. Fried, "Bounds on the extremal eigenvalues of the
// finite element stiffness and mass matrices", 1972). Fixing nodes only lowers it.
#include "mesh/core/stable_step.h"

#include "math/vec3.h"

#include <math.h>
#include <string.h>

// Largest and smallest root of z^3 - a z^2 + b z - c, all of whose roots are real (Viete's cosines).
static void extreme_roots(double a, double b, double c, double *largest, double *smallest) {
    double middle = a / 3, p = middle * middle - b / 3, q = middle * (middle * middle - b / 2) + c / 2;
    double radius = p > 0 ? sqrt(p) : 0, turn = radius > 0 ? q / (p * radius) : 1;
    double angle = acos(turn > 1 ? 1 : turn < -1 ? -1 : turn) / 3;
    *largest = middle + 2 * radius * cos(angle);
    *smallest = middle + 2 * radius * cos(angle + 2 * M_PI / 3);
}

// Invariants of S. The gradients are the area vectors of the faces over 3 V, so with d = det(e1, e2, e3) = 6 V:
// g_1 = e2 x e3 / d and so on, g_0 = -(g_1 + g_2 + g_3). e_3 = det S = 4 / d^2 holds because S = G (I + 1 1^T) G^T.
static bool gradient_invariants(const double X[4][3], double e[3]) {
    double E[3][3], g[4][3], S[6] = {0};
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++) E[a][i] = X[a + 1][i] - X[0][i];
    for (int a = 0; a < 3; a++) rbt_cross(E[(a + 1) % 3], E[(a + 2) % 3], g[a + 1]);
    double d = rbt_dot(E[0], g[1]);
    if (!(fabs(d) > 0) || !isfinite(d)) return false;
    for (int i = 0; i < 3; i++) g[0][i] = -(g[1][i] + g[2][i] + g[3][i]);
    for (int a = 0; a < 4; a++) {
        for (int i = 0; i < 3; i++) g[a][i] /= d;
        S[0] += g[a][0] * g[a][0];
        S[1] += g[a][1] * g[a][1];
        S[2] += g[a][2] * g[a][2];
        S[3] += g[a][1] * g[a][2];
        S[4] += g[a][2] * g[a][0];
        S[5] += g[a][0] * g[a][1];
    }
    e[0] = S[0] + S[1] + S[2];
    e[1] = S[0] * S[1] - S[5] * S[5] + S[1] * S[2] - S[3] * S[3] + S[2] * S[0] - S[4] * S[4];
    e[2] = 4 / (d * d);
    return isfinite(e[0]) && isfinite(e[1]) && isfinite(e[2]);
}

double rbt_tet_stable_step(const double X[4][3], double young, double poisson, double density) {
    if (!(young > 0 && density > 0 && poisson > -1 && poisson < 0.5)) return 0;
    double mu = young / (2 * (1 + poisson)), lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    double e[3], z, s, unused;
    if (!gradient_invariants(X, e)) return 0;
    extreme_roots((lambda + 2 * mu) * e[0], 4 * mu * (lambda + mu) * e[1], 4 * mu * mu * (3 * lambda + 2 * mu) * e[2],
                  &z, &unused);
    if (lambda < 0) {
        extreme_roots(e[0], e[1], e[2], &unused, &s);
        z = fmax(z, mu * (e[0] - s));
    }
    double step = sqrt(density / z);  // 2 / omega = 2 / sqrt(4 z / rho)
    return isfinite(step) ? step : 0;
}

void rbt_stable_steps(const double *nodes, const int32_t *tets, size_t tet_count, double young, double poisson,
                      double density, double *steps) {
    for (size_t t = 0; t < tet_count; t++) {
        double X[4][3];
        for (int a = 0; a < 4; a++) memcpy(X[a], nodes + 3 * (size_t)tets[4 * t + (size_t)a], sizeof X[a]);
        steps[t] = rbt_tet_stable_step((const double(*)[3])X, young, poisson, density);
    }
}

void rbt_step_histogram_fill(const double *steps, size_t count, rbt_step_histogram *histogram) {
    *histogram = (rbt_step_histogram){.smallest = -1};
    for (size_t t = 0; t < count; t++) {
        if (!(steps[t] > 0)) {
            histogram->none_count++;
            continue;
        }
        if (histogram->smallest < 0 || steps[t] < histogram->min) {
            histogram->min = steps[t];
            histogram->smallest = (int64_t)t;
        }
        if (steps[t] > histogram->max) histogram->max = steps[t];
    }
    if (histogram->smallest < 0) return;
    double range = log(histogram->max / histogram->min);
    for (int b = 0; b <= RBT_HISTOGRAM_BINS; b++)
        histogram->edge[b] = histogram->min * exp(range * b / RBT_HISTOGRAM_BINS);
    histogram->edge[RBT_HISTOGRAM_BINS] = histogram->max;
    for (size_t t = 0; t < count; t++) {
        if (!(steps[t] > 0)) continue;
        int bin = 0;
        while (range > 1e-9 && bin < RBT_HISTOGRAM_BINS - 1 && steps[t] >= histogram->edge[bin + 1]) bin++;
        histogram->count[bin]++;
    }
}
