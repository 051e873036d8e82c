// Block matrices on a grid of nodes, every node joined with those around it, for tests of the solvers.
#ifndef TEST_SUPPORT_GRID_MATRIX_H
#define TEST_SUPPORT_GRID_MATRIX_H

#include "math/block_matrix.h"
#include "math/scalar_matrix.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static inline bool grid_joined(size_t a, size_t b, size_t nx, size_t ny) {
    long dx = (long)(a % nx) - (long)(b % nx), dy = (long)(a / nx % ny) - (long)(b / nx % ny);
    long dz = (long)(a / nx / ny) - (long)(b / nx / ny);
    return labs(dx) <= 1 && labs(dy) <= 1 && labs(dz) <= 1;
}

static inline void grid_pattern(size_t nx, size_t ny, size_t nz, size_t **start, int32_t **column) {
    size_t n = nx * ny * nz, k = 0;
    *start = calloc(n + 1, sizeof **start);
    *column = calloc(14 * n, sizeof **column);
    for (size_t i = 0; i < n; i++) {
        size_t reach = nx * ny + nx + 1;
        for (size_t j = i > reach ? i - reach : 0; j <= i; j++)
            if (grid_joined(i, j, nx, ny)) (*column)[k++] = (int32_t)j;
        (*start)[i + 1] = k;
    }
}

// Sums of v v^T over pairs of nodes, v = (a, -a) with a different for each pair, plus shift times the identity:
// positive definite for shift > 0; with a shift below 0 as many eigenvalues are negative as lie below -shift without
// it.
static inline rbt_block_matrix grid_matrix_new(size_t nx, size_t ny, size_t nz, double shift) {
    size_t *start;
    int32_t *column;
    grid_pattern(nx, ny, nz, &start, &column);
    size_t n = nx * ny * nz;
    rbt_block_matrix A = {n, start, column, calloc(9 * start[n], sizeof(double))};
    for (size_t i = 0; i < n; i++)
        for (size_t k = start[i]; k < start[i + 1]; k++) {
            size_t j = (size_t)column[k];
            double a[3] = {sin(1.0 + (double)(3 * i + 7 * j)), cos(2.0 * (double)i + 0.3 * (double)j), 0.5};
            for (size_t r = 0; r < 9; r++) {
                double value = a[r / 3] * a[r % 3] + (r % 4 == 0 ? 0.2 : 0);
                if (j == i) {
                    A.value[9 * k + r] += r % 4 == 0 ? shift : 0;
                    continue;
                }
                A.value[9 * k + r] = -value;
                A.value[9 * (start[i + 1] - 1) + r] += value;
                A.value[9 * (start[j + 1] - 1) + r] += value;
            }
        }
    return A;
}

static inline void grid_matrix_free(rbt_block_matrix *A) {
    free((void *)A->start);
    free((void *)A->column);
    free(A->value);
}

static inline void grid_vector(double *x, size_t count) {
    for (size_t i = 0; i < count; i++) x[i] = sin(1 + 0.7 * (double)i);
}

#endif
