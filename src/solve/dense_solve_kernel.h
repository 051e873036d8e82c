// The part of dense_kernel.h for solving with L; included by it, once per type. Here are the kernels for one right-hand
// side, which goes through L lane by lane; dense_sides_kernel.h has those for groups of them.
#include "solve/dense_sides_kernel.h"

static inline REAL *NAME(vector_rows)(const rbt_front *f, const rbt_front_vectors *v, const NAME(strip) * s) {
    return s->first < f->width ? (REAL *)v->x + s->first : (REAL *)v->y + (s->first - f->width_padded);
}

// y -= L x with one strip of L
static void NAME(multiply_vector)(size_t rows, size_t count, const REAL *L, const REAL *x, REAL *y) {
    switch (rows / LANES) {
    case 1: NAME(multiply_n)(1, 1, true, count, L, rows, x, 1, 0, y, 0); break;
    case 2: NAME(multiply_n)(2, 1, true, count, L, rows, x, 1, 0, y, 0); break;
#if defined(__AVX__)
    default: NAME(multiply_n)(3, 1, true, count, L, rows, x, 1, 0, y, 0); break;
#endif
    }
}

// rows -= L[columns from `first` to `end`] x
static void NAME(forward_strip)(const rbt_front *f, const rbt_front_vectors *v, const NAME(strip) * s, size_t first,
                                size_t end) {
    NAME(multiply_vector)
    (s->rows, end - first, s->L + first * s->rows, (const REAL *)v->x + first, NAME(vector_rows)(f, v, s));
}

// On the diagonal of L there are, for solving, the inverses of its triangles of one strip: M of this strip.
static void NAME(invert)(const rbt_front *f) {
    for (size_t begin = 0; begin < f->width; begin += STRIP) {
        NAME(strip) s = NAME(strip_at)(f, begin / STRIP);
        size_t columns = f->width - begin < STRIP ? f->width - begin : STRIP;
        REAL *M = s.L + begin * s.rows;
        // From the last column on; right of column j, M is inverted already.
        for (size_t j = columns - 1; j-- > 0;) {
            REAL sum[STRIP] = {0}, scale = -M[j * s.rows + j];
            for (size_t k = j + 1; k < columns; k++) {
                REAL entry = M[j * s.rows + k] * scale;
                for (size_t r = 0; r < s.rows; r++) sum[r] += M[k * s.rows + r] * entry;
            }
            for (size_t r = j + 1; r < s.rows; r++) M[j * s.rows + r] = sum[r];
        }
    }
}

static void NAME(forward)(const rbt_front *f, const rbt_front_vectors *v, size_t first) {
    if (v->width > 1) {
        NAME(forward_sides_of)(f, v, first);
        return;
    }
    size_t end = NAME(block_end)(f, first, RBT_SOLVE_BLOCK);
    for (size_t begin = first; begin < end; begin += STRIP) {
        NAME(strip) s = NAME(strip_at)(f, begin / STRIP);
        size_t columns = end - begin < STRIP ? end - begin : STRIP;
        NAME(forward_strip)(f, v, &s, first, begin);
        // x = M x
        REAL *x = (REAL *)v->x + begin, minus[STRIP];
        for (size_t r = 0; r < s.rows; r++) {
            minus[r] = -x[r];
            x[r] = 0;
        }
        NAME(multiply_vector)(s.rows, columns, s.L + begin * s.rows, minus, x);
    }
}

static void NAME(forward_strips)(const rbt_front *f, const rbt_front_vectors *v, size_t first, size_t end,
                                 size_t strip, size_t last) {
    if (v->width > 1) {
        NAME(piece) p = {f, v, strip, last};
        NAME(forward_sides_strips_of)(&p, first, end);
        return;
    }
    for (size_t i = strip; i < last; i++) {
        NAME(strip) s = NAME(strip_at)(f, i);
        NAME(forward_strip)(f, v, &s, first, end);
    }
}

// sums[k] += L[columns from `first` to `end`]^T times the rows of one strip, lane by lane
ALWAYS_INLINE void NAME(backward_strip_n)(int nv, const NAME(strip) * s, size_t first, size_t end, const REAL *y,
                                          VEC *sums) {
    VEC rows[VECTORS];
    const REAL *L = s->L + first * s->rows;
    for (int i = 0; i < nv; i++) rows[i] = NAME(load_vector)(y + i * LANES);
    for (size_t k = first; k < end; k++, L += s->rows) {
        __builtin_prefetch(L + AHEAD);
        __builtin_prefetch(L + AHEAD + s->rows - 1);
        VEC sum = NAME(load_vector)(L) * rows[0];
        for (int i = 1; i < nv; i++) sum += NAME(load_vector)(L + i * LANES) * rows[i];
        *sums++ += sum;
    }
}

static void NAME(backward_strip)(const NAME(strip) * s, size_t first, size_t end, const REAL *y, VEC *sums) {
    switch (s->rows / LANES) {
    case 1: NAME(backward_strip_n)(1, s, first, end, y, sums); break;
    case 2: NAME(backward_strip_n)(2, s, first, end, y, sums); break;
#if defined(__AVX__)
    default: NAME(backward_strip_n)(3, s, first, end, y, sums); break;
#endif
    }
}

static inline REAL NAME(total)(VEC v) {
    REAL sum = v[0];
    for (int l = 1; l < LANES; l++) sum += v[l];
    return sum;
}

static void NAME(backward_strips)(const rbt_front *f, const rbt_front_vectors *v, size_t first, size_t end,
                                  size_t strip, size_t last, void *result) {
    if (v->width > 1) {
        NAME(piece) p = {f, v, strip, last};
        NAME(backward_sides_strips_of)(&p, first, end, result);
        return;
    }
    VEC sums[RBT_SOLVE_REACH];
    memset(sums, 0, (end - first) * sizeof *sums);
    for (size_t i = strip; i < last; i++) {
        NAME(strip) s = NAME(strip_at)(f, i);
        NAME(backward_strip)(&s, first, end, NAME(vector_rows)(f, v, &s), sums);
    }
    REAL *to = result, *x = (REAL *)v->x + first;
    for (size_t k = 0; k < end - first; k++) {
        if (to) to[k] = NAME(total)(sums[k]);
        else x[k] -= NAME(total)(sums[k]);
    }
}

static void NAME(take)(const rbt_front_vectors *v, size_t first, size_t end, size_t count, const void *sums) {
    const REAL *sum = sums;
    for (size_t i = 0; i < count; i++)
        for (size_t k = first * v->width; k < end * v->width; k++) ((REAL *)v->x)[k] -= *sum++;
}

static void NAME(backward)(const rbt_front *f, const rbt_front_vectors *v, size_t first) {
    if (v->width > 1) {
        NAME(backward_sides_of)(f, v, first);
        return;
    }
    size_t end = NAME(block_end)(f, first, RBT_SOLVE_BLOCK);
    VEC sums[RBT_SOLVE_BLOCK];
    memset(sums, 0, (end - first) * sizeof *sums);
    for (size_t begin = first + (end - first - 1) / STRIP * STRIP;; begin -= STRIP) {
        NAME(strip) s = NAME(strip_at)(f, begin / STRIP);
        size_t columns = end - begin < STRIP ? end - begin : STRIP;
        // x = M^T (x - sums)
        REAL *x = (REAL *)v->x + begin, right[STRIP] = {0};
        VEC products[STRIP] = {{0}};
        for (size_t c = 0; c < columns; c++) right[c] = x[c] - NAME(total)(sums[begin - first + c]);
        NAME(backward_strip)(&s, begin, begin + columns, right, products);
        for (size_t c = 0; c < columns; c++) x[c] = NAME(total)(products[c]);
        if (begin == first) return;
        NAME(backward_strip)(&s, first, begin, x, sums);
    }
}

// ---- vectors ----

static inline size_t NAME(caller_row)(const rbt_front_sides *sides, size_t i) {
    return sides->spread * (sides->row ? (size_t)sides->row[i] : i);
}

ALWAYS_INLINE void NAME(read_node)(size_t block, size_t width, const double *from, const size_t *offset, size_t count,
                                   REAL *to) {
    for (size_t j = 0; j < count; j++)
        for (size_t r = 0; r < block; r++) to[r * width + j] = (REAL)from[offset[j] + r];
    for (size_t j = count; j < width; j++)
        for (size_t r = 0; r < block; r++) to[r * width + j] = 0;
}
static void NAME(read_sides)(const double *from, const rbt_front_sides *sides, size_t first, size_t last, size_t side,
                             size_t count, size_t width, void *to) {
    const size_t *offset = sides->offset + side;
    for (size_t i = first; i < last; i++) {
        REAL *out = (REAL *)to + (size_t)sides->place[i] * sides->block * width;
        const double *in = from + NAME(caller_row)(sides, i);
        if (sides->block == 3) NAME(read_node)(3, width, in, offset, count, out);
        else NAME(read_node)(sides->block, width, in, offset, count, out);
    }
}

ALWAYS_INLINE void NAME(write_node)(size_t block, size_t width, const REAL *from, const size_t *offset, size_t count,
                                    double *to) {
    for (size_t j = 0; j < count; j++)
        for (size_t r = 0; r < block; r++) to[offset[j] + r] = (double)from[r * width + j];
}
static void NAME(write_sides)(const void *from, const rbt_front_sides *sides, size_t first, size_t last, size_t side,
                              size_t count, size_t width, double *to) {
    const size_t *offset = sides->offset + side;
    for (size_t i = first; i < last; i++) {
        const REAL *in = (const REAL *)from + (size_t)sides->place[i] * sides->block * width;
        double *out = to + NAME(caller_row)(sides, i);
        if (sides->block == 3) NAME(write_node)(3, width, in, offset, count, out);
        else NAME(write_node)(sides->block, width, in, offset, count, out);
    }
}

static void NAME(gather)(const void *from, const int32_t *node, size_t count, size_t block, size_t width, void *to) {
    size_t each = block * width;
    for (size_t i = 0; i < count; i++) {
        const REAL *in = (const REAL *)from + each * (size_t)node[i];
        REAL *out = (REAL *)to + each * i;
        size_t k = 0;
        for (; k + LANES <= each; k += LANES) NAME(store_vector)(out + k, NAME(load_vector)(in + k));
        for (; k < each; k++) out[k] = in[k];
    }
}

static void NAME(add_vectors)(const rbt_front *f, const rbt_front_vectors *v, const rbt_front *child, const void *y,
                              const int32_t *relative, size_t block) {
    size_t count = child->below / block, split = f->width / block, each = block * v->width;
    for (size_t i = 0; i < count; i++) {
        size_t target = (size_t)relative[i];
        REAL *to = target < split ? (REAL *)v->x + each * target : (REAL *)v->y + each * (target - split);
        NAME(add_rows)(to, (const REAL *)y + each * i, each);
    }
}
