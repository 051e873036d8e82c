#include "math/vector.h"

#include <math.h>

// Shorter vectors than PARALLEL_FROM fit into one core's cache: waking other threads costs more than it saves.
enum { PARALLEL_FROM = 1 << 17, MAX_PIECES = 256, SHORTEST_PIECE = 2048, LANES = 8 };

static size_t piece_length(size_t n) {
    size_t length = (n + MAX_PIECES - 1) / MAX_PIECES;
    length = (length + LANES - 1) / LANES * LANES;
    return length < SHORTEST_PIECE ? SHORTEST_PIECE : length;
}

// Eight sums side by side, which the compiler keeps in vector registers
static double dot_piece(size_t n, const double *a, const double *b) {
    double sum[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) sum[l] += a[i + l] * b[i + l];
    for (size_t l = 0; i < n; i++, l++) sum[l] += a[i] * b[i];
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

double rbt_vector_dot(size_t n, const double *a, const double *b) {
    size_t length = piece_length(n), pieces = (n + length - 1) / length;
    double part[MAX_PIECES], sum = 0;
#pragma omp parallel for schedule(static) if (n >= PARALLEL_FROM)
    for (size_t p = 0; p < pieces; p++) {
        size_t first = p * length, count = n - first < length ? n - first : length;
        part[p] = dot_piece(count, a + first, b + first);
    }
    for (size_t p = 0; p < pieces; p++) sum += part[p];
    return sum;
}

double rbt_vector_norm(size_t n, const double *a) { return sqrt(rbt_vector_dot(n, a, a)); }

void rbt_vector_copy(size_t n, double *to, const double *from) {
#pragma omp parallel for simd schedule(static) if (parallel : n >= PARALLEL_FROM)
    for (size_t i = 0; i < n; i++) to[i] = from[i];
}

void rbt_vector_add_scaled(size_t n, double *y, double s, const double *x) {
#pragma omp parallel for simd schedule(static) if (parallel : n >= PARALLEL_FROM)
    for (size_t i = 0; i < n; i++) y[i] += s * x[i];
}

void rbt_vector_combine(size_t n, double *z, const double *x, double s, const double *y) {
#pragma omp parallel for simd schedule(static) if (parallel : n >= PARALLEL_FROM)
    for (size_t i = 0; i < n; i++) z[i] = x[i] + s * y[i];
}
