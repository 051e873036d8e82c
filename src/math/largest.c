#include "math/largest.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

enum { MOST = RBT_MAX_LARGEST, MAX_STEPS = 40 };

#define LANES for (int l = 0; l < RBT_W; l++)

// Rows and columns k + 1 .. n - 1 are reflected so that column k ends with its first entry: v = x - beta e_1, H =
// |v|^2 / 2, p = A v / H, q = p - (v.p / 2H) v,  A -= v q^T + q v^T. Of A the lower half is used.
static void reflect(int n, int k, rbt_small_batch A, double e[RBT_W]) {
    double v[MOST][RBT_W], p[MOST][RBT_W], H[RBT_W] = {0}, kappa[RBT_W] = {0};
    for (int i = k + 1; i < n; i++) LANES {
            v[i][l] = A[i][k][l];
            H[l] += v[i][l] * v[i][l];
        }
    LANES {
        double norm = sqrt(H[l]);
        e[l] = v[k + 1][l] > 0 ? -norm : norm;
        H[l] -= v[k + 1][l] * e[l];
        v[k + 1][l] -= e[l];
        H[l] = H[l] > DBL_MIN ? 1 / H[l] : 0;
    }
    for (int i = k + 1; i < n; i++) {
        double sum[RBT_W] = {0};
        for (int j = k + 1; j <= i; j++) LANES sum[l] += A[i][j][l] * v[j][l];
        for (int j = i + 1; j < n; j++) LANES sum[l] += A[j][i][l] * v[j][l];
        LANES {
            p[i][l] = sum[l] * H[l];
            kappa[l] += 0.5 * p[i][l] * v[i][l] * H[l];
        }
    }
    for (int i = k + 1; i < n; i++) LANES p[i][l] -= kappa[l] * v[i][l];
    for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j <= i; j++) LANES A[i][j][l] -= v[i][l] * p[j][l] + p[i][l] * v[j][l];
}

// One step of Laguerre from x above all roots of p(x) = det(T - x I), which it never passes, towards the largest:
//   x -= n / (S1 + sqrt((n - 1) (n S2 - S1^2))),      S1 = p'/p = sum 1 / (x - root),  S2 = -S1' = sum 1 / (x - root)^2
// With the pivots q_i = d_i - x - w_i, w_i = e_i^2 / q_{i-1}, p is their product, S1 the sum of r_i = q_i' / q_i and
// S2 that of r_i^2 - s_i, s_i = q_i'' / q_i. A pivot that is not negative says that x is there to rounding. Whether
// any lane still moves.
static bool descend(int n, double d[MOST][RBT_W], double square[MOST][RBT_W], const double low[RBT_W],
                    double x[RBT_W]) {
    double q[RBT_W], r[RBT_W], s[RBT_W] = {0}, S1[RBT_W], S2[RBT_W], most[RBT_W];
    bool moves = false;
    LANES {
        most[l] = d[0][l] - x[l];
        q[l] = most[l] < 0 ? 1 / most[l] : -1;  // its inverse
        S1[l] = r[l] = -q[l];
        S2[l] = r[l] * r[l];
    }
    for (int i = 1; i < n; i++) LANES {
            double w = square[i - 1][l] * q[l], pivot = d[i][l] - x[l] - w;
            most[l] = pivot > most[l] ? pivot : most[l];
            q[l] = pivot < 0 ? 1 / pivot : -1;
            double bend = w * (s[l] - 2 * r[l] * r[l]) * q[l];
            r[l] = (w * r[l] - 1) * q[l];
            s[l] = bend;
            S1[l] += r[l];
            S2[l] += r[l] * r[l] - bend;
        }
    LANES {
        double spread = (n - 1) * (n * S2[l] - S1[l] * S1[l]), by = n / (S1[l] + sqrt(spread > 0 ? spread : 0));
        by = most[l] < 0 && by < x[l] - low[l] ? by : 0;
        x[l] -= by;
        moves |= by > 1e-13 * fabs(x[l]);
    }
    return moves;
}

void rbt_small_largest(int n, rbt_small_batch A, double largest[RBT_W]) {
    double d[MOST][RBT_W], e[MOST][RBT_W] = {0}, low[RBT_W], high[RBT_W], before[RBT_W] = {0};
    for (int k = 0; k + 2 < n; k++) reflect(n, k, A, e[k]);
    if (n > 1) LANES e[n - 2][l] = A[n - 1][n - 2][l];
    LANES low[l] = high[l] = A[0][0][l];
    for (int i = 0; i < n; i++) LANES {
            d[i][l] = A[i][i][l];
            double after = i + 1 < n ? fabs(e[i][l]) : 0, reach = d[i][l] + before[l] + after;
            low[l] = d[i][l] > low[l] ? d[i][l] : low[l];
            high[l] = reach > high[l] ? reach : high[l];
            before[l] = after;
            e[i][l] *= e[i][l];
        }
    LANES largest[l] = high[l];
    for (int step = 0; step < MAX_STEPS && descend(n, d, e, low, largest); step++) continue;
}

double rbt_tridiagonal_largest(int n, const double *d, const double *e) {
    double low = d[0], high = d[0];
    for (int i = 0; i < n; i++) {
        double reach = d[i] + (i ? fabs(e[i - 1]) : 0) + (i + 1 < n ? fabs(e[i]) : 0);
        low = fmax(low, d[i]);
        high = fmax(high, reach);
    }
    for (int step = 0; step < 60; step++) {
        double middle = 0.5 * (low + high), q = d[0] - middle;
        int i = 1;
        for (; i < n && q < 0; i++) q = d[i] - middle - e[i - 1] * e[i - 1] / fmin(q, -DBL_MIN);
        if (q < 0) high = middle;
        else low = middle;
    }
    return high;
}
