#include "solve/vectors.h"

#include <cblas.h>
#include <string.h>

enum { MOST_PIECES = 64, SHORTEST_PIECE = 768, LANES = 8, COLUMNS = 12, PARALLEL_FROM = 1 << 14 };

// At least as many rows as columns in all, so that partial results are fewer than what they are made of
static size_t piece_length(size_t n, size_t columns) {
    size_t length = (n + MOST_PIECES - 1) / MOST_PIECES;
    if (length < SHORTEST_PIECE) length = SHORTEST_PIECE;
    if (length < columns) length = columns;
    return (length + LANES - 1) / LANES * LANES;
}
static size_t piece_count(size_t n, size_t columns) {
    size_t length = piece_length(n, columns);
    return n ? (n + length - 1) / length : 1;
}

size_t rbt_vectors_work(size_t n, size_t a, size_t b) { return piece_count(n, a + b) * a * b; }

static void inner(int rows, int apart, size_t a, const double *X, size_t b, const double *Y, double *C) {
    if (b == 1) cblas_dgemv(CblasColMajor, CblasTrans, rows, (int)a, 1, X, apart, Y, 1, 0, C, 1);
    else
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)a, (int)b, rows, 1, X, apart, Y, apart, 0, C,
                    (int)a);
}

void rbt_vectors_inner(size_t n, size_t a, const double *X, size_t b, const double *Y, double *C, double *work) {
    size_t length = piece_length(n, a + b), pieces = piece_count(n, a + b);
#pragma omp parallel for schedule(static) if (n * (a + b) >= PARALLEL_FROM)
    for (size_t p = 0; p < pieces; p++) {
        size_t first = p * length, rows = n - first < length ? n - first : length;
        inner((int)rows, (int)n, a, X + first, b, Y + first, work + p * a * b);
    }
    memcpy(C, work, a * b * sizeof *C);
    for (size_t p = 1; p < pieces; p++)
        for (size_t i = 0; i < a * b; i++) C[i] += work[p * a * b + i];
}

// Columns of C in groups, each from the row of its first column on
static void inner_symmetric(int rows, int apart, size_t a, const double *X, const double *Y, double *C) {
    for (size_t first = 0; first < a; first += COLUMNS) {
        size_t columns = a - first < COLUMNS ? a - first : COLUMNS;
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)(a - first), (int)columns, rows, 1,
                    X + first * (size_t)apart, apart, Y + first * (size_t)apart, apart, 0, C + first * a + first,
                    (int)a);
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
#pragma omp parallel for schedule(static) if (2 * n * a >= PARALLEL_FROM)
    for (size_t p = 0; p < pieces; p++) {
        size_t first = p * length, rows = n - first < length ? n - first : length;
        weigh(rows, n, a, weight + first, X + first, WX + first);
        inner_symmetric((int)rows, (int)n, a, X + first, WX + first, work + 2 * p * a * a);
        inner_symmetric((int)rows, (int)n, a, X + first, Y + first, work + (2 * p + 1) * a * a);
    }
    sum_symmetric(pieces, 2 * a * a, a, work, C);
    sum_symmetric(pieces, 2 * a * a, a, work + a * a, D);
}

void rbt_vectors_combine(size_t n, double alpha, size_t a, const double *X, size_t row, const double *C, size_t b,
                         double beta, double *Y) {
    size_t length = piece_length(n, a + b), pieces = piece_count(n, a + b);
#pragma omp parallel for schedule(static) if (n * (a + b) >= PARALLEL_FROM)
    for (size_t p = 0; p < pieces; p++) {
        size_t first = p * length;
        int rows = (int)(n - first < length ? n - first : length), all = (int)n;
        if (b == 1)
            cblas_dgemv(CblasColMajor, CblasNoTrans, rows, (int)a, alpha, X + first, all, C, 1, beta, Y + first, 1);
        else
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, rows, (int)b, (int)a, alpha, X + first, all, C,
                        (int)row, beta, Y + first, all);
    }
}

void rbt_vectors_turn(size_t n, size_t a, const double *X, size_t row, const double *C, size_t b,
                      const double *weight, double *Y, double *WY) {
    size_t length = piece_length(n, a + b), pieces = piece_count(n, a + b);
#pragma omp parallel for schedule(static) if (n * (a + b) >= PARALLEL_FROM)
    for (size_t p = 0; p < pieces; p++) {
        size_t first = p * length, rows = n - first < length ? n - first : length;
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)b, (int)a, 1, X + first, (int)n, C,
                    (int)row, 0, Y + first, (int)n);
        weigh(rows, n, b, weight + first, Y + first, WY + first);
    }
}
