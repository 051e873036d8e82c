#include "math/exponential.h"

#include <math.h>
#include <string.h>

bool rbt_dense_solve(size_t n, double *A, size_t count, double *b) {
    for (size_t p = 0; p < n; p++) {
        size_t best = p;
        for (size_t i = p + 1; i < n; i++)
            if (fabs(A[i * n + p]) > fabs(A[best * n + p])) best = i;
        if (!(fabs(A[best * n + p]) > 0) || !isfinite(A[best * n + p])) return false;
        for (size_t j = 0; best != p && j < n; j++) {
            double swap = A[p * n + j];
            A[p * n + j] = A[best * n + j];
            A[best * n + j] = swap;
        }
        for (size_t j = 0; best != p && j < count; j++) {
            double swap = b[p * count + j];
            b[p * count + j] = b[best * count + j];
            b[best * count + j] = swap;
        }
        for (size_t i = p + 1; i < n; i++) {
            double factor = A[i * n + p] / A[p * n + p];
            if (factor == 0) continue;
            for (size_t j = p + 1; j < n; j++) A[i * n + j] -= factor * A[p * n + j];
            for (size_t j = 0; j < count; j++) b[i * count + j] -= factor * b[p * count + j];
        }
    }
    for (size_t i = n; i-- > 0;)
        for (size_t j = 0; j < count; j++) {
            double sum = b[i * count + j];
            for (size_t k = i + 1; k < n; k++) sum -= A[i * n + k] * b[k * count + j];
            b[i * count + j] = sum / A[i * n + i];
        }
    return true;
}

static void multiply(size_t n, const double *A, const double *B, double *C) {
    memset(C, 0, n * n * sizeof *C);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            double a = A[i * n + k];
            if (a == 0) continue;
            for (size_t j = 0; j < n; j++) C[i * n + j] += a * B[k * n + j];
        }
}

static double norm_of_columns(size_t n, const double *A) {
    double most = 0;
    for (size_t j = 0; j < n; j++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += fabs(A[i * n + j]);
        if (!isfinite(sum)) return sum;
        most = fmax(most, sum);
    }
    return most;
}

// r_13(A) = (V - U)^-1 (V + U), U odd and V even in A; the coefficients are (26 - k)! 13! / (26! k! (13 - k)!),
// scaled to integers. U = A (A6 (b13 A6 + b11 A4 + b9 A2) + b7 A6 + b5 A4 + b3 A2 + b1), V likewise without the
// factor A.
static const double B[14] = {64764752532480000,
                             32382376266240000,
                             7771770303897600,
                             1187353796428800,
                             129060195264000,
                             10559470521600,
                             670442572800,
                             33522128640,
                             1323241920,
                             40840800,
                             960960,
                             16380,
                             182,
                             1};
static const double LARGEST = 5.371920351148152;  // norm up to which the approximant is exact to rounding

static bool pade(size_t n, double *A, double *work) {
    size_t nn = n * n;
    double *A2 = work, *A4 = work + nn, *A6 = work + 2 * nn, *U = work + 3 * nn, *V = work + 4 * nn,
           *outer = work + 5 * nn;
    multiply(n, A, A, A2);
    multiply(n, A2, A2, A4);
    multiply(n, A2, A4, A6);
    for (size_t i = 0; i < nn; i++) outer[i] = B[13] * A6[i] + B[11] * A4[i] + B[9] * A2[i];
    multiply(n, A6, outer, V);
    for (size_t i = 0; i < nn; i++) V[i] += B[7] * A6[i] + B[5] * A4[i] + B[3] * A2[i] + (i % (n + 1) ? 0 : B[1]);
    multiply(n, A, V, U);
    for (size_t i = 0; i < nn; i++) outer[i] = B[12] * A6[i] + B[10] * A4[i] + B[8] * A2[i];
    multiply(n, A6, outer, V);
    for (size_t i = 0; i < nn; i++) V[i] += B[6] * A6[i] + B[4] * A4[i] + B[2] * A2[i] + (i % (n + 1) ? 0 : B[0]);
    for (size_t i = 0; i < nn; i++) {
        A[i] = V[i] + U[i];
        V[i] -= U[i];
    }
    return rbt_dense_solve(n, V, n, A);
}

bool rbt_dense_exponential(size_t n, double *A, double *work) {
    double norm = norm_of_columns(n, A);
    int squarings = 0;
    if (!isfinite(norm)) return false;
    if (norm > LARGEST) frexp(norm / LARGEST, &squarings);
    for (size_t i = 0; i < n * n; i++) A[i] = ldexp(A[i], -squarings);
    if (!pade(n, A, work)) return false;
    for (int k = 0; k < squarings; k++) {
        multiply(n, A, A, work);
        memcpy(A, work, n * n * sizeof *A);
    }
    return isfinite(norm_of_columns(n, A));
}
