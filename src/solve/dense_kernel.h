// What dense_kernels.h declares, for numbers of type REAL and the instruction set that the including file is compiled
// for; included once per type, with REAL and NAME(name) defined. No include guard: that is its purpose.
//
// The inner loop keeps 3 vectors of rows times 4 columns in registers (2 x 4 with 16-byte vectors): 12 independent sums
// hide the latency of multiply-add, and 7 loads feed 12 of them.
#include "math/shuffle.h"
#include "solve/dense_kernels.h"

#include <math.h>
#include <string.h>

#ifndef RBT_DENSE_VECTOR
#define RBT_DENSE_VECTOR
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, VECTORS = 3 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32, VECTORS = 3 };
#else
enum { VECTOR_BYTES = 16, VECTORS = 2 };
#endif
enum { GROUP = RBT_COLUMN_GROUP, DEPTH = 192 };  // products that are summed before F is touched
enum { SIDES_ROWS = 6, SIDES_VECTORS = RBT_SIDES_VECTORS };
#define TILE(nv)      ((nv) == 3 ? 4 : SIDES_ROWS)  // unknowns whose so many vectors are summed in registers
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define DENSE_KERNELS(type)                                                                                          \
    {                                                                                                                \
        BYTES_##type, QUANTUM_##type, STRIP_##type, LANES_##type, clear_##type, enter_##type, add_##type,            \
            eliminate_##type, eliminate_strips_##type, subtract_##type, invert_##type, forward_##type,               \
            backward_##type, forward_strips_##type, backward_strips_##type, take_##type, read_sides_##type,          \
            write_sides_##type, gather_##type, add_vectors_##type, fused_count_##type, fused_fill_##type,            \
            fused_forward_##type, fused_backward_##type                                                              \
    }
#endif

#define VEC     NAME(vector)
#define LANES   NAME(LANES)
#define QUANTUM NAME(QUANTUM)
#define STRIP   NAME(STRIP)
#define AHEAD   NAME(AHEAD)

typedef REAL VEC __attribute__((vector_size(VECTOR_BYTES)));
enum {
    NAME(BYTES) = sizeof(REAL),
    LANES = VECTOR_BYTES / sizeof(REAL),
    STRIP = LANES * VECTORS,
    AHEAD = 2048 / sizeof(REAL),  // of what is read once
    QUANTUM = LANES < GROUP ? STRIP : LANES,
};

ALWAYS_INLINE VEC NAME(load_vector)(const REAL *p) {
    VEC v;
    memcpy(&v, p, sizeof v);
    return v;
}
ALWAYS_INLINE void NAME(store_vector)(REAL *p, VEC v) { memcpy(p, &v, sizeof v); }

// sum -= A B^T: A of nv vectors of rows and `count` columns a apart, fetched ahead if it is not in a cache; B's entry
// for column c of the sum and column k of A is B[c along + k b].
ALWAYS_INLINE void NAME(accumulate)(int nv, int columns, bool ahead, size_t count, const REAL *A, size_t a,
                                    const REAL *B, size_t b, size_t along, VEC sum[VECTORS][GROUP]) {
    for (size_t k = 0; k < count; k++, A += a, B += b) {
        if (ahead) {
            __builtin_prefetch(A + AHEAD);
            __builtin_prefetch(A + AHEAD + a - 1);
        }
        VEC row[VECTORS];
        for (int v = 0; v < nv; v++) row[v] = NAME(load_vector)(A + v * LANES);
        for (int c = 0; c < columns; c++)
            for (int v = 0; v < nv; v++) sum[v][c] -= row[v] * B[(size_t)c * along];
    }
}

ALWAYS_INLINE void NAME(load_tile)(int nv, int columns, const REAL *C, size_t c, VEC tile[VECTORS][GROUP]) {
    for (int j = 0; j < columns; j++)
        for (int v = 0; v < nv; v++) tile[v][j] = NAME(load_vector)(C + (size_t)j * c + v * LANES);
}
ALWAYS_INLINE void NAME(store_tile)(int nv, int columns, REAL *C, size_t c, VEC tile[VECTORS][GROUP]) {
    for (int j = 0; j < columns; j++)
        for (int v = 0; v < nv; v++) NAME(store_vector)(C + (size_t)j * c + v * LANES, tile[v][j]);
}

// C -= A B^T for one tile of C, which has columns c apart
ALWAYS_INLINE void NAME(multiply_n)(int nv, int columns, bool ahead, size_t count, const REAL *A, size_t a,
                                    const REAL *B, size_t b, size_t along, REAL *C, size_t c) {
    VEC sum[VECTORS][GROUP];
    for (int j = 0; j < columns && !ahead; j++) {  // the tile below will be next
        __builtin_prefetch(C + (size_t)j * c + STRIP, 1);
        __builtin_prefetch(C + (size_t)j * c + STRIP + STRIP - 1, 1);
    }
    NAME(load_tile)(nv, columns, C, c, sum);
    NAME(accumulate)(nv, columns, ahead, count, A, a, B, b, along, sum);
    NAME(store_tile)(nv, columns, C, c, sum);
}
static inline void NAME(multiply)(size_t rows, size_t count, const REAL *A, size_t a, const REAL *B, size_t b,
                                  REAL *C, size_t c) {
    switch (rows / LANES) {
    case 1: NAME(multiply_n)(1, GROUP, false, count, A, a, B, b, 1, C, c); break;
    case 2: NAME(multiply_n)(2, GROUP, false, count, A, a, B, b, 1, C, c); break;
#if defined(__AVX__)
    default: NAME(multiply_n)(3, GROUP, false, count, A, a, B, b, 1, C, c); break;
#endif
    }
}

// ---- where things are ----

typedef struct NAME(strip) {
    REAL *L;       // by columns, `rows` apart
    REAL *F;       // its rows in the panel
    size_t rows;   // with padding
    size_t first;  // row in the panel
    size_t columns;
} NAME(strip);

static NAME(strip) NAME(strip_at)(const rbt_front *f, size_t i) {
    size_t w = f->width, upper = (w + STRIP - 1) / STRIP, last = upper - 1;
    NAME(strip) s = {.columns = w};
    REAL *L = f->factor;
    if (i < upper) {
        s.first = i * STRIP;
        s.L = L + rbt_strips_before(STRIP, i);
        s.rows = i < last ? STRIP : f->width_padded - s.first;
        if (i < last) s.columns = s.first + STRIP;
    } else {
        size_t below = (i - upper) * STRIP, left = f->below_padded - below;
        s.first = f->width_padded + below;
        s.L = L + rbt_strips_before(STRIP, last) + (f->width_padded - last * STRIP + below) * w;
        s.rows = left < STRIP ? left : STRIP;
    }
    s.F = (REAL *)f->panel + s.first;
    return s;
}

// Row `first` of L11, where its entries are `*apart` apart
static const REAL *NAME(rows_at)(const rbt_front *f, size_t first, size_t *apart) {
    size_t i = first / STRIP, begin = i * STRIP;
    *apart = begin + STRIP < f->width ? STRIP : f->width_padded - begin;
    return (const REAL *)f->factor + rbt_strips_before(STRIP, i) + first % STRIP;
}

static inline size_t NAME(block_end)(const rbt_front *f, size_t first, size_t block) {
    return first + block < f->width ? first + block : f->width;
}

// Column c of F22, such that [row] is the entry of that row
static inline REAL *NAME(update_column)(const rbt_front *f, size_t c, size_t *height) {
    size_t i = c / STRIP, begin = i * STRIP;
    *height = f->below_padded - begin;
    return (REAL *)f->update + rbt_columns_before(STRIP, i, f->below_padded) + (c - begin) * *height - begin;
}

// ---- assembling ----

static void NAME(clear)(const rbt_front *f, size_t first, size_t last) {
    size_t height = f->width_padded + f->below_padded, w = f->width;
    // The columns that pad the panel and the update go with the last of them.
    if (first < w) {
        size_t end = last == w ? rbt_padded(w, GROUP) : last;
        for (size_t c = first; c < end; c++)
            memset((REAL *)f->panel + (c - f->panel_first) * height + first, 0, (height - first) * sizeof(REAL));
        return;
    }
    size_t end = last - w == f->below ? rbt_padded(f->below, GROUP) : last - w;
    for (size_t c = first - w; c < end; c++) {
        size_t rows;
        REAL *F = NAME(update_column)(f, c, &rows);
        memset(F + c / STRIP * STRIP, 0, rows * sizeof(REAL));
    }
}

static void NAME(enter)(const rbt_front *f, const rbt_front_entries *entries, size_t first, size_t last) {
    enum { SOON = 12 };  // blocks are far apart in memory
    size_t height = f->width_padded + f->below_padded, block = entries->block, gap = f->width_padded - f->width;
    size_t end = entries->start[last / block];
    for (size_t column = first; column < last; column += block) {
        REAL *C = (REAL *)f->panel + (column - f->panel_first) * height;
        for (size_t e = entries->start[column / block]; e < entries->start[column / block + 1]; e++) {
            if (e + SOON < end) {
                const double *next = entries->value + block * block * (entries->source[e + SOON] / 2);
                __builtin_prefetch(next);
                __builtin_prefetch(next + block * block - 1);
            }
            const double *B = entries->value + block * block * (entries->source[e] / 2);
            size_t row = block * (size_t)entries->row[e], transposed = entries->source[e] & 1;
            REAL *to = C + row + (row < f->width ? 0 : gap);
            if (block == 1) *to = (REAL)*B;
            else
                for (size_t c = 0; c < 3; c++)
                    for (size_t r = 0; r < 3; r++)
                        to[c * height + r] = (REAL)(transposed ? B[3 * c + r] : B[3 * r + c]);
        }
    }
}

ALWAYS_INLINE void NAME(add_rows)(REAL *restrict to, const REAL *restrict from, size_t count) {
    for (; count >= LANES; count -= LANES, to += LANES, from += LANES)
        NAME(store_vector)(to, NAME(load_vector)(to) + NAME(load_vector)(from));
    for (size_t r = 0; r < count; r++) to[r] += from[r];
}

// Run by run of rows that stay together
static void NAME(add)(const rbt_front *f, const rbt_front *child, const int32_t *relative, size_t block, size_t first,
                      size_t last) {
    size_t height = f->width_padded + f->below_padded, split = f->width / block, count = child->below / block;
    size_t begin = 0, end, columns = 0, unused;
    while (begin < count && block * (size_t)relative[begin] < first) begin++;
    for (end = begin; end < count && block * (size_t)relative[end] < last;) end++;
    // Rows of the child, and of the front: those of the panel, those below it
    const REAL *from[RBT_PANEL_BLOCK];
    REAL *panel[RBT_PANEL_BLOCK], *below[RBT_PANEL_BLOCK];
    for (size_t j = begin; j < end; j++)
        for (size_t c = 0; c < block; c++, columns++) {
            size_t column = block * (size_t)relative[j] + c;
            from[columns] = NAME(update_column)(child, block * j + c, &unused);
            if (column < f->width) {
                panel[columns] = (REAL *)f->panel + (column - f->panel_first) * height;
                below[columns] = panel[columns] + f->width_padded;
            } else panel[columns] = below[columns] = NAME(update_column)(f, column - f->width, &unused);
        }
    for (size_t node = begin, next; columns && node < count; node = next) {
        size_t target = (size_t)relative[node];
        for (next = node + 1; next < count && (size_t)relative[next] == target + (next - node); next++)
            if ((size_t)relative[next] == split) break;
        REAL **to = target < split ? panel : below;
        size_t row = block * (target < split ? target : target - split);
        for (size_t j = begin, k = 0; j < end && j < next; j++)
            for (size_t c = 0; c < block; c++, k++) {
                size_t skip = j < node ? 0 : block * (j - node) + c;  // rows above the diagonal
                NAME(add_rows)(to[k] + row + skip, from[k] + block * node + skip, block * (next - node) - skip);
            }
    }
}

// ---- eliminating ----

// tile = tile L^-T with the lower triangle L whose rows are `apart` apart in its columns; reciprocals on the diagonal
ALWAYS_INLINE void NAME(divide)(int nv, const REAL *L, size_t apart, VEC tile[VECTORS][GROUP]) {
    for (int c = 0; c < GROUP; c++) {
        for (int b = 0; b < c; b++)
            for (int v = 0; v < nv; v++) tile[v][c] -= tile[v][b] * L[(size_t)b * apart + (size_t)c];
        for (int v = 0; v < nv; v++) tile[v][c] *= L[(size_t)c * apart + (size_t)c];
    }
}

// Columns `column` ... of one group in a strip that lies below their own rows
ALWAYS_INLINE void NAME(finish_n)(int nv, const NAME(strip) * s, size_t first, size_t column, size_t columns,
                                  const REAL *B, size_t b, const REAL *T, size_t t, size_t height) {
    VEC tile[VECTORS][GROUP];
    NAME(load_tile)(nv, GROUP, s->F + (column - first) * height, height, tile);
    NAME(accumulate)
    (nv, GROUP, false, column - first, s->L + first * s->rows, s->rows, B + first * b, b, 1, tile);
    NAME(divide)(nv, T, t, tile);
    for (size_t c = 0; c < columns; c++)
        for (int v = 0; v < nv; v++) NAME(store_vector)(s->L + (column + c) * s->rows + v * LANES, tile[v][c]);
}

// What the columns before a block take from it in one strip, up to column `end`, for products from `k` to `stop`
static void NAME(subtract_before)(const rbt_front *f, const NAME(strip) * s, size_t first, size_t end, size_t k,
                                  size_t stop) {
    size_t height = f->width_padded + f->below_padded, apart;
    for (size_t column = first; column < end; column += GROUP) {
        const REAL *B = NAME(rows_at)(f, column, &apart);
        NAME(multiply)
        (s->rows, stop - k, s->L + k * s->rows, s->rows, B + k * apart, apart, s->F + (column - first) * height,
         height);
    }
}

// The triangle of a group in its own rows, T, `t` apart: identity where the group is past the last column.
static void NAME(read_triangle)(const rbt_front *f, size_t column, size_t columns, REAL T[GROUP * GROUP]) {
    size_t apart;
    const REAL *D = NAME(rows_at)(f, column, &apart) + column * apart;
    for (size_t c = 0; c < GROUP; c++)
        for (size_t r = 0; r < GROUP; r++)
            T[c * GROUP + r] = c < columns && r < columns ? D[c * apart + r] : (REAL)(c == r);
}

static void NAME(finish)(const rbt_front *f, const NAME(strip) * s, size_t first, size_t end) {
    size_t height = f->width_padded + f->below_padded, apart;
    for (size_t column = first; column < end; column += GROUP) {
        size_t columns = end - column < GROUP ? end - column : GROUP;
        const REAL *B = NAME(rows_at)(f, column, &apart), *T = B + column * apart;
        size_t t = apart;
        REAL padded[GROUP * GROUP];
        if (columns < GROUP) {
            NAME(read_triangle)(f, column, columns, padded);
            T = padded;
            t = GROUP;
        }
        switch (s->rows / LANES) {
        case 1: NAME(finish_n)(1, s, first, column, columns, B, apart, T, t, height); break;
        case 2: NAME(finish_n)(2, s, first, column, columns, B, apart, T, t, height); break;
#if defined(__AVX__)
        default: NAME(finish_n)(3, s, first, column, columns, B, apart, T, t, height); break;
#endif
        }
    }
}

// Cholesky of the lower triangle of one group: D by columns, `d` apart; reciprocals on the diagonal. Returns the column
// that fails.
static size_t NAME(factor_triangle)(REAL *D, size_t d, size_t columns) {
    for (size_t c = 0; c < columns; c++) {
        for (size_t b = 0; b < c; b++)
            for (size_t r = c; r < columns; r++) D[c * d + r] -= D[b * d + r] * D[b * d + c];
        REAL pivot = D[c * d + c];
        if (!(pivot > 0 && pivot < (REAL)INFINITY)) return c;
        REAL inverse = 1 / (REAL)sqrt((double)pivot);
        D[c * d + c] = inverse;
        for (size_t r = c + 1; r < columns; r++) D[c * d + r] *= inverse;
    }
    return columns;
}

// One group in the strip that has its diagonal: columns `column` ...; rows above the diagonal become 0.
static size_t NAME(finish_diagonal)(const rbt_front *f, const NAME(strip) * s, size_t first, size_t column,
                                    size_t columns) {
    size_t height = f->width_padded + f->below_padded, apart, above = column - s->first;
    const REAL *B = NAME(rows_at)(f, column, &apart);
    REAL *F = s->F + (column - first) * height;
    NAME(multiply)
    (s->rows, column - first, s->L + first * s->rows, s->rows, B + first * apart, apart, F, height);
    size_t done = NAME(factor_triangle)(F + above, height, columns);
    if (done < columns) return column + done;
    for (size_t c = 0; c < columns; c++) {
        REAL *L = s->L + (column + c) * s->rows, *from = F + c * height;
        for (size_t r = 0; r < above + c; r++) L[r] = 0;
        for (size_t r = above + c; r < above + columns; r++) L[r] = from[r];
        for (size_t r = above + columns; r < s->rows; r++) {
            REAL sum = from[r];
            for (size_t b = 0; b < c; b++) sum -= L[r - (c - b) * s->rows] * F[b * height + above + c];
            L[r] = sum * from[above + c];
        }
    }
    return f->width;
}

static size_t NAME(eliminate)(const rbt_front *f) {
    size_t first = f->panel_first, end = NAME(block_end)(f, first, RBT_PANEL_BLOCK);
    for (size_t begin = first; begin < end; begin += STRIP) {
        NAME(strip) s = NAME(strip_at)(f, begin / STRIP);
        size_t stop = begin + STRIP < end ? begin + STRIP : end;
        for (size_t k = 0; k < first; k += DEPTH)
            NAME(subtract_before)(f, &s, first, stop, k, k + DEPTH < first ? k + DEPTH : first);
        NAME(finish)(f, &s, first, begin);
        for (size_t column = begin; column < stop; column += GROUP) {
            size_t columns = stop - column < GROUP ? stop - column : GROUP;
            size_t bad = NAME(finish_diagonal)(f, &s, first, column, columns);
            if (bad < f->width) return bad;
        }
    }
    return f->width;
}

static void NAME(eliminate_strips)(const rbt_front *f, size_t strip, size_t last) {
    size_t first = f->panel_first, end = NAME(block_end)(f, first, RBT_PANEL_BLOCK);
    for (size_t k = 0; k < first; k += DEPTH)
        for (size_t i = strip; i < last; i++) {
            NAME(strip) s = NAME(strip_at)(f, i);
            NAME(subtract_before)(f, &s, first, end, k, k + DEPTH < first ? k + DEPTH : first);
        }
    for (size_t i = strip; i < last; i++) {
        NAME(strip) s = NAME(strip_at)(f, i);
        NAME(finish)(f, &s, first, end);
    }
}

static void NAME(subtract)(const rbt_front *f, size_t first, size_t last) {
    size_t w = f->width, upper = (w + STRIP - 1) / STRIP, strips = (f->below + STRIP - 1) / STRIP;
    for (size_t k = 0; k < w; k += DEPTH) {
        size_t count = w - k < DEPTH ? w - k : DEPTH;
        for (size_t i = first / STRIP; i < strips; i++) {
            NAME(strip) s = NAME(strip_at)(f, upper + i);
            size_t row = i * STRIP, end = row + s.rows < last ? row + s.rows : last;
            for (size_t column = first; column < end; column += STRIP) {
                NAME(strip) b = NAME(strip_at)(f, upper + column / STRIP);
                size_t stop = end - column < STRIP ? end - column : STRIP, height;
                REAL *F = NAME(update_column)(f, column, &height) + row;
                const REAL *A = s.L + k * s.rows, *B = b.L + k * b.rows;
                for (size_t c = 0; c < stop; c += GROUP) {
                    size_t skip = column == row ? c / LANES * LANES : 0;  // rows above the diagonal
                    NAME(multiply)
                    (s.rows - skip, count, A + skip, s.rows, B + c, b.rows, F + c * height + skip, height);
                }
            }
        }
    }
}

#include "solve/dense_solve_kernel.h"

#include "solve/dense_fused_kernel.h"

#undef VEC
#undef LANES
#undef QUANTUM
#undef STRIP
#undef AHEAD
