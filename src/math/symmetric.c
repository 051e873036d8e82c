#include "math/symmetric.h"

#include <math.h>

// Rows and columns p, q of A and columns p, q of V turned such that A[p][q] = 0.
static void rotate(int n, double *A, double *V, int p, int q) {
    double off = A[n * p + q], tau = (A[n * q + q] - A[n * p + p]) / (2 * off);
    double t = copysign(1, tau) / (fabs(tau) + sqrt(1 + tau * tau)), c = 1 / sqrt(1 + t * t), s = t * c;
    for (int k = 0; k < n; k++) {
        double *row = A + n * k, kp = row[p], kq = row[q];
        row[p] = c * kp - s * kq;
        row[q] = s * kp + c * kq;
    }
    double *P = A + n * p, *Q = A + n * q;
    for (int k = 0; k < n; k++) {
        double pk = P[k], qk = Q[k];
        P[k] = c * pk - s * qk;
        Q[k] = s * pk + c * qk;
    }
    P[q] = Q[p] = 0;
    for (int k = 0; V && k < n; k++) {
        double *row = V + n * k, kp = row[p], kq = row[q];
        row[p] = c * kp - s * kq;
        row[q] = s * kp + c * kq;
    }
}

void rbt_symmetric_eigen(int n, double *A, double *V) {
    for (int i = 0; V && i < n * n; i++) V[i] = i % (n + 1) == 0;
    double size = 0;
    for (int i = 0; i < n * n; i++) size = fmax(size, fabs(A[i]));
    for (int sweep = 0; sweep < 30; sweep++) {
        double largest = 0;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                double off = fabs(A[n * p + q]);
                largest = fmax(largest, off);
                if (off > 1e-17 * size) rotate(n, A, V, p, q);
            }
        if (!(largest > 1e-15 * size)) return;
    }
}
