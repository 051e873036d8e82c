// What vector_kernels.h declares, for the instruction set that the including file is compiled for.
//
// Sums stay in registers: 4 x 3 products of vectors in `inner` (4 x 6 with 32 registers), 3 vectors of rows times 4
// columns in `combine`; 7 loads feed 12 multiply-adds.
#include "math/lane.h"
#include "solve/vector_kernels.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)
enum { LEFT = 4, RIGHT = 6 };
#else
enum { LEFT = 4, RIGHT = 3 };
#endif
enum { VECTORS = 3, GROUP = 4, DEPTH = 512 };  // DEPTH: rows of all vectors that stay in a cache meanwhile

// The first `count` < RBT_LANES numbers, and zeros
static inline rbt_lane load_part(const double *p, size_t count) {
    rbt_lane v = {0};
    memcpy(&v, p, count * sizeof *p);
    return v;
}

static inline double sum_of(rbt_lane v) {
    double sum = 0;
    for (int l = 0; l < RBT_LANES; l++) sum += v[l];
    return sum;
}

// ---- X^T Y

ALWAYS_INLINE void inner_n(int left, int right, size_t rows, size_t apart, const double *X, const double *Y, size_t c,
                           double *C, bool add) {
    rbt_lane sum[LEFT][RIGHT] = {{{0}}};
    size_t r = 0;
    for (; r + RBT_LANES <= rows; r += RBT_LANES) {
        rbt_lane x[LEFT];
        for (int i = 0; i < left; i++) x[i] = lane_load(X + (size_t)i * apart + r);
        for (int j = 0; j < right; j++) {
            rbt_lane y = lane_load(Y + (size_t)j * apart + r);
            for (int i = 0; i < left; i++) sum[i][j] += x[i] * y;
        }
    }
    if (r < rows)
        for (int j = 0; j < right; j++) {
            rbt_lane y = load_part(Y + (size_t)j * apart + r, rows - r);
            for (int i = 0; i < left; i++) sum[i][j] += load_part(X + (size_t)i * apart + r, rows - r) * y;
        }
    for (int j = 0; j < right; j++)
        for (int i = 0; i < left; i++) {
            double *to = C + (size_t)j * c + i;
            *to = (add ? *to : 0) + sum_of(sum[i][j]);
        }
}

static void inner_tile(size_t left, size_t right, size_t rows, size_t apart, const double *X, const double *Y,
                       size_t c, double *C, bool add) {
    if (left == LEFT && right == RIGHT) {
        inner_n(LEFT, RIGHT, rows, apart, X, Y, c, C, add);
        return;
    }
    for (size_t j = 0; j < right; j++) {
        if (left == LEFT) inner_n(LEFT, 1, rows, apart, X, Y + j * apart, c, C + j * c, add);
        else
            for (size_t i = 0; i < left; i++)
                inner_n(1, 1, rows, apart, X + i * apart, Y + j * apart, c, C + j * c + i, add);
    }
}

static void inner(size_t rows, size_t apart, size_t a, const double *X, size_t b, const double *Y, size_t c,
                  double *C) {
    for (size_t first = 0; first == 0 || first < rows; first += DEPTH) {
        size_t count = rows - first < DEPTH ? rows - first : DEPTH;
        for (size_t i = 0; i < a; i += LEFT)
            for (size_t j = 0; j < b; j += RIGHT)
                inner_tile(a - i < LEFT ? a - i : LEFT, b - j < RIGHT ? b - j : RIGHT, count, apart,
                           X + i * apart + first, Y + j * apart + first, c, C + j * c + i, first > 0);
    }
}

// ---- beta Y + alpha X C

// `part`: numbers of the last vector, RBT_LANES if it is whole
ALWAYS_INLINE void combine_n(int vectors, int columns, size_t part, size_t apart, double alpha, size_t a,
                             const double *X, size_t c, const double *C, double beta, double *Y) {
    rbt_lane sum[VECTORS][GROUP] = {{{0}}};
    for (size_t k = 0; k < a; k++) {
        rbt_lane x[VECTORS];
        const double *from = X + k * apart;
        for (int v = 0; v < vectors; v++)
            x[v] = part < RBT_LANES ? load_part(from, part) : lane_load(from + (size_t)v * RBT_LANES);
        for (int j = 0; j < columns; j++) {
            double factor = C[(size_t)j * c + k];
            for (int v = 0; v < vectors; v++) sum[v][j] += x[v] * factor;
        }
    }
    for (int j = 0; j < columns; j++)
        for (int v = 0; v < vectors; v++) {
            double *to = Y + (size_t)j * apart + (size_t)v * RBT_LANES;
            rbt_lane y = alpha * sum[v][j];
            if (beta != 0) y += beta * (part < RBT_LANES ? load_part(to, part) : lane_load(to));
            memcpy(to, &y, (part < RBT_LANES ? part : RBT_LANES) * sizeof *to);
        }
}

static void combine_rows(int vectors, size_t part, size_t apart, double alpha, size_t a, const double *X, size_t c,
                         const double *C, size_t b, double beta, double *Y) {
    size_t j = 0;
    for (; j + GROUP <= b; j += GROUP) {
        const double *from = C + j * c;
        double *to = Y + j * apart;
        if (vectors == VECTORS) combine_n(VECTORS, GROUP, RBT_LANES, apart, alpha, a, X, c, from, beta, to);
        else if (part == RBT_LANES) combine_n(1, GROUP, RBT_LANES, apart, alpha, a, X, c, from, beta, to);
        else combine_n(1, GROUP, part, apart, alpha, a, X, c, from, beta, to);
    }
    for (; j < b; j++) {
        const double *from = C + j * c;
        double *to = Y + j * apart;
        if (vectors == VECTORS) combine_n(VECTORS, 1, RBT_LANES, apart, alpha, a, X, c, from, beta, to);
        else if (part == RBT_LANES) combine_n(1, 1, RBT_LANES, apart, alpha, a, X, c, from, beta, to);
        else combine_n(1, 1, part, apart, alpha, a, X, c, from, beta, to);
    }
}

static void combine(size_t rows, size_t apart, double alpha, size_t a, const double *X, size_t c, const double *C,
                    size_t b, double beta, double *Y) {
    size_t r = 0;
    for (; r + VECTORS * RBT_LANES <= rows; r += VECTORS * RBT_LANES)
        combine_rows(VECTORS, RBT_LANES, apart, alpha, a, X + r, c, C, b, beta, Y + r);
    for (; r < rows; r += RBT_LANES)
        combine_rows(1, rows - r < RBT_LANES ? rows - r : RBT_LANES, apart, alpha, a, X + r, c, C, b, beta, Y + r);
}

#define VECTOR_KERNELS                                                                                               \
    { inner, combine }
