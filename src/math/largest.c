#include "math/largest.h"

#include <float.h>
#include <math.h>

enum { MOST = RBT_LARGEST_MOST, HALVINGS = 38 };

#define LANES for (int l = 0; l < RBT_W; l++)

// Rows and columns k + 1 .. n - 1 are reflected so that column k ends with its first entry: v = x - beta e_1, H = |v|^2 / 2,
// p = A v / H, q = p - (v.p / 2H) v,  A -= v q^T + q v^T
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
        for (int j = k + 1; j < n; j++) LANES sum[l] += A[i][j][l] * v[j][l];
        LANES {
            p[i][l] = sum[l] * H[l];
            kappa[l] += 0.5 * p[i][l] * v[i][l] * H[l];
        }
    }
    for (int i = k + 1; i < n; i++) LANES p[i][l] -= kappa[l] * v[i][l];
    for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j < n; j++) LANES A[i][j][l] -= v[i][l] * p[j][l] + p[i][l] * v[j][l];
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
    for (int step = 0; step < HALVINGS; step++) {
        double middle[RBT_W], q[RBT_W], most[RBT_W];
        LANES {
            middle[l] = 0.5 * (low[l] + high[l]);
            q[l] = most[l] = d[0][l] - middle[l];
        }
        for (int i = 1; i < n; i++) LANES {
                double pivot = fabs(q[l]) > DBL_MIN ? q[l] : -DBL_MIN;
                q[l] = d[i][l] - middle[l] - e[i - 1][l] / pivot;
                most[l] = q[l] > most[l] ? q[l] : most[l];
            }
        LANES {  // all pivots negative: middle is above every eigenvalue
            low[l] = most[l] < 0 ? low[l] : middle[l];
            high[l] = most[l] < 0 ? middle[l] : high[l];
        }
    }
    LANES largest[l] = high[l];
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
