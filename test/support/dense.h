// Dense references for the sparse solvers: matrices are (n x n) row by row. Slow, simple, for small n.
#ifndef TEST_SUPPORT_DENSE_H
#define TEST_SUPPORT_DENSE_H

#include "math/block_matrix.h"
#include "math/scalar_matrix.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline double *dense_of_blocks(const rbt_block_matrix *A) {
    size_t n = 3 * A->row_count;
    double *D = calloc(n * n + 1, sizeof *D);
    for (size_t i = 0; i < A->row_count; i++)
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
            for (size_t r = 0; r < 9; r++) {
                size_t row = 3 * i + r / 3, column = 3 * (size_t)A->column[k] + r % 3;
                D[row * n + column] = D[column * n + row] = A->value[9 * k + r];
            }
    return D;
}

// Rows and columns of nodes that are not kept become those of the identity, times `diagonal`.
static inline void dense_eliminate(double *D, size_t n, const unsigned char *keep, double diagonal) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (!keep[i / 3] || !keep[j / 3]) D[i * n + j] = i == j ? diagonal : 0;
}

// D x = b by elimination with row pivoting; false if a pivot is zero.
static inline bool dense_solve(const double *D, size_t n, const double *b, double *x) {
    double *A = malloc(n * n * sizeof *A);
    bool good = true;
    memcpy(A, D, n * n * sizeof *A);
    memcpy(x, b, n * sizeof *x);
    for (size_t p = 0; p < n && good; p++) {
        size_t best = p;
        for (size_t i = p + 1; i < n; i++)
            if (fabs(A[i * n + p]) > fabs(A[best * n + p])) best = i;
        good = A[best * n + p] != 0;
        for (size_t j = 0; j < n; j++) {
            double swap = A[p * n + j];
            A[p * n + j] = A[best * n + j];
            A[best * n + j] = swap;
        }
        double swap = x[p];
        x[p] = x[best];
        x[best] = swap;
        for (size_t i = p + 1; i < n && good; i++) {
            double f = A[i * n + p] / A[p * n + p];
            for (size_t j = p; j < n; j++) A[i * n + j] -= f * A[p * n + j];
            x[i] -= f * x[p];
        }
    }
    for (size_t i = n; good && i-- > 0;) {
        for (size_t j = i + 1; j < n; j++) x[i] -= A[i * n + j] * x[j];
        x[i] /= A[i * n + i];
    }
    free(A);
    return good;
}

static inline int dense_compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Eigenvalues of symmetric D, ascending, by Jacobi's rotations.
static inline void dense_eigenvalues(const double *D, size_t n, double *lambda) {
    double *A = malloc(n * n * sizeof *A), off = 1, size = 0;
    memcpy(A, D, n * n * sizeof *A);
    for (size_t i = 0; i < n * n; i++) size += A[i] * A[i];
    for (int sweep = 0; sweep < 40 && off > 1e-30 * size; sweep++) {
        off = 0;
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                double a = A[p * n + q];
                off += a * a;
                if (a == 0) continue;
                double theta = (A[q * n + q] - A[p * n + p]) / (2 * a);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (size_t k = 0; k < n; k++) {
                    double x = A[k * n + p], y = A[k * n + q];
                    A[k * n + p] = c * x - s * y;
                    A[k * n + q] = s * x + c * y;
                }
                for (size_t k = 0; k < n; k++) {
                    double x = A[p * n + k], y = A[q * n + k];
                    A[p * n + k] = c * x - s * y;
                    A[q * n + k] = s * x + c * y;
                }
            }
    }
    for (size_t i = 0; i < n; i++) lambda[i] = A[i * n + i];
    qsort(lambda, n, sizeof *lambda, dense_compare);
    free(A);
}

static inline double dense_distance(const double *x, const double *y, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, isnan(x[i]) || isnan(y[i]) ? INFINITY : fabs(x[i] - y[i]));
    return most;
}

// LAPACK's eigenvalues of a general matrix
extern void dgeev_(const char *left, const char *right, const int *n, double *A, const int *lda, double *real,
                   double *imaginary, double *vl, const int *ldvl, double *vr, const int *ldvr, double *work,
                   const int *size, int *info, size_t, size_t);

// The largest modulus of D's eigenvalues; D is destroyed. Infinite if they were not found.
static inline double dense_radius(double *D, size_t n) {
    int N = (int)n, size = 16 * N, info, one = 1;
    double *real = calloc(n, sizeof *real), *imaginary = calloc(n, sizeof *imaginary), none, radius = 0;
    double *work = calloc((size_t)size, sizeof *work);
    dgeev_("N", "N", &N, D, &N, real, imaginary, &none, &one, &none, &one, work, &size, &info, 1, 1);
    for (size_t i = 0; i < n; i++) radius = fmax(radius, hypot(real[i], imaginary[i]));
    free(real);
    free(imaginary);
    free(work);
    return info ? INFINITY : radius;
}

#endif
