#include "solve/vectors.h"

#include "solve/vector_kernels.h"

#include <string.h>

enum { MAX_PIECES = 64, SHORTEST_PIECE = 768, LANES = 8, COLUMNS = 12, PARALLEL_FROM = 1 << 14 };

// At least as many rows as columns in all, so that partial results are fewer than what they are made of
static size_t piece_length(size_t n, size_t columns) {
    size_t length = (n + MAX_PIECES - 1) / MAX_PIECES;
    if (length < SHORTEST_PIECE) length = SHORTEST_PIECE;
    if (length < columns) length = columns;
    return (length + LANES - 1) / LANES * LANES;
}
static size_t piece_count(size_t n, size_t columns) {
    size_t length = piece_length(n, columns);
    return n ? (n + length - 1) / length : 1;
}

size_t rbt_vectors_work(size_t n, size_t a, size_t b) { return piece_count(n, a + b) * a * b; }

static const rbt_vector_kernels *kernels(void) {
    return rbt_vector_kernels_with(rbt_processor_set(RBT_DENSE_KERNELS));
}

void rbt_vectors_inner(size_t n, size_t a, const double *X, size_t b, const double *Y, double *C, double *work) {
    size_t length = piece_length(n, a + b), pieces = piece_count(n, a + b);
    const rbt_vector_kernels *kernel = kernels();
#pragma omp parallel for schedule(static) if (n * (a + b) >= PARALLEL_FROM)
    for (size_t p = 0; p < pieces; p++) {
        size_t first = p * length, rows = n - first < length ? n - first : length;
        kernel->inner(rows, n, a, X + first, b, Y + first, a, work + p * a * b);
    }
    memcpy(C, work, a * b * sizeof *C);
    for (size_t p = 1; p < pieces; p++)
        for (size_t i = 0; i < a * b; i++) C[i] += work[p * a * b + i];
}

// Columns of C in groups, each from the row of its first column on
static void inner_symmetric(const rbt_vector_kernels *kernel, size_t rows, size_t apart, size_t a, const double *X,
                            const double *Y, double *C) {
    for (size_t first = 0; first < a; first += COLUMNS) {
        size_t columns = a - first < COLUMNS ? a - first : COLUMNS;
        kernel->inner(rows, apart, a - first, X + first * apart, columns, Y + first * apart, a,
                      C + first * a + first);
    }
}

static void weigh(size_t rows, size_t apart, size_t a, const double *restrict weight, const double *restrict X,
                  double *restrict WX) {
    for (size_t l = 0; l < a; l++)
        for (size_t i = 0; i < rows; i++) WX[l * apart + i] = weight[i] * X[l * apart + i];
}

static void sum_symmetric(size_t pieces, size_t apart, size_t a, const double *part, double *C) {
    memcpy(C, part, a * a * sizeof *C);
    for (size_t p = 1; p < pieces; p++)
        for (size_t j = 0; j < a; j++)
            for (size_t i = j; i < a; i++) C[j * a + i] += part[p * apart + j * a + i];
    for (size_t j = 0; j < a; j++)
        for (size_t i = 0; i < j; i++) C[j * a + i] = C[i * a + j];
}

void rbt_vectors_inner_symmetric(size_t n, size_t a, const double *X, const double *weight, double *WX,
                                 const double *Y, double *C, double *D, double *work) {
    size_t length = piece_length(n, 2 * a), pieces = piece_count(n, 2 * a);
    const rbt_vector_kernels *kernel = kernels();
#pragma omp parallel for schedule(static) if (2 * n * a >= PARALLEL_FROM)
    for (size_t p = 0; p < pieces; p++) {
        size_t first = p * length, rows = n - first < length ? n - first : length;
        weigh(rows, n, a, weight + first, X + first, WX + first);
        inner_symmetric(kernel, rows, n, a, X + first, WX + first, work + 2 * p * a * a);
        inner_symmetric(kernel, rows, n, a, X + first, Y + first, work + (2 * p + 1) * a * a);
    }
    sum_symmetric(pieces, 2 * a * a, a, work, C);
    sum_symmetric(pieces, 2 * a * a, a, work + a * a, D);
}

void rbt_vectors_combine(size_t n, double alpha, size_t a, const double *X, size_t row, const double *C, size_t b,
                         double beta, double *Y) {
    size_t length = piece_length(n, a + b), pieces = piece_count(n, a + b);
    const rbt_vector_kernels *kernel = kernels();
#pragma omp parallel for schedule(static) if (n * (a + b) >= PARALLEL_FROM)
    for (size_t p = 0; p < pieces; p++) {
        size_t first = p * length, rows = n - first < length ? n - first : length;
        kernel->combine(rows, n, alpha, a, X + first, row, C, b, beta, Y + first);
    }
}

void rbt_vectors_turn(size_t n, size_t a, const double *X, size_t row, const double *C, size_t b,
                      const double *weight, double *Y, double *WY) {
    size_t length = piece_length(n, a + b), pieces = piece_count(n, a + b);
    const rbt_vector_kernels *kernel = kernels();
#pragma omp parallel for schedule(static) if (n * (a + b) >= PARALLEL_FROM)
    for (size_t p = 0; p < pieces; p++) {
        size_t first = p * length, rows = n - first < length ? n - first : length;
        kernel->combine(rows, n, 1, a, X + first, row, C, b, 0, Y + first);
        weigh(rows, n, b, weight + first, Y + first, WY + first);
    }
}
