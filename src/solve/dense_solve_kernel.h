// The part of dense_kernel.h for solving with L; included by it, once per type.

static inline REAL *NAME(vector_rows)(const rbt_front *f, const rbt_front_vectors *v, const NAME(strip) * s,
                                      size_t *apart) {
    bool upper = s->first < f->width;
    *apart = upper ? f->width_padded : f->below_padded;
    return upper ? (REAL *)v->x + s->first : (REAL *)v->y + (s->first - f->width_padded);
}

// y -= L x with one strip of L and one vector or a group of them, `along` and `apart` apart
static void NAME(multiply_vectors)(size_t rows, size_t vectors, size_t count, const REAL *L, const REAL *x,
                                   size_t along, REAL *y, size_t apart) {
    bool one = vectors == 1;
    switch (rows / LANES) {
    case 1:
        if (one) NAME(multiply_n)(1, 1, true, count, L, rows, x, 1, along, y, apart);
        else NAME(multiply_n)(1, GROUP, true, count, L, rows, x, 1, along, y, apart);
        break;
    case 2:
        if (one) NAME(multiply_n)(2, 1, true, count, L, rows, x, 1, along, y, apart);
        else NAME(multiply_n)(2, GROUP, true, count, L, rows, x, 1, along, y, apart);
        break;
#if defined(__AVX__)
    default:
        if (one) NAME(multiply_n)(3, 1, true, count, L, rows, x, 1, along, y, apart);
        else NAME(multiply_n)(3, GROUP, true, count, L, rows, x, 1, along, y, apart);
        break;
#endif
    }
}

// rows -= L[columns from `first` to `end`] x
static void NAME(forward_strip)(const rbt_front *f, const rbt_front_vectors *v, const NAME(strip) * s, size_t first,
                                size_t end) {
    size_t apart;
    REAL *y = NAME(vector_rows)(f, v, s, &apart);
    NAME(multiply_vectors)
    (s->rows, v->count, end - first, s->L + first * s->rows, (const REAL *)v->x + first, f->width_padded, y, apart);
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
    size_t end = NAME(block_end)(f, first, RBT_SOLVE_BLOCK), apart = f->width_padded;
    for (size_t begin = first; begin < end; begin += STRIP) {
        NAME(strip) s = NAME(strip_at)(f, begin / STRIP);
        size_t columns = end - begin < STRIP ? end - begin : STRIP;
        NAME(forward_strip)(f, v, &s, first, begin);
        // x = M x
        REAL *x = (REAL *)v->x + begin, minus[GROUP * STRIP];
        for (size_t j = 0; j < v->count; j++)
            for (size_t r = 0; r < s.rows; r++) {
                minus[j * STRIP + r] = -x[j * apart + r];
                x[j * apart + r] = 0;
            }
        NAME(multiply_vectors)(s.rows, v->count, columns, s.L + begin * s.rows, minus, STRIP, x, apart);
    }
}

static void NAME(forward_strips)(const rbt_front *f, const rbt_front_vectors *v, size_t first, size_t end,
                                 size_t strip, size_t last) {
    for (size_t i = strip; i < last; i++) {
        NAME(strip) s = NAME(strip_at)(f, i);
        NAME(forward_strip)(f, v, &s, first, end);
    }
}

// sums[k] += L[columns from `first` to `end`]^T times the rows of one strip, lane by lane
ALWAYS_INLINE void NAME(backward_strip_n)(int nv, int vectors, const NAME(strip) * s, size_t first, size_t end,
                                          const REAL *y, size_t apart, VEC *sums) {
    VEC rows[VECTORS][GROUP];
    const REAL *L = s->L + first * s->rows;
    NAME(load_tile)(nv, vectors, y, apart, rows);
    for (size_t k = first; k < end; k++, L += s->rows) {
        __builtin_prefetch(L + AHEAD);
        __builtin_prefetch(L + AHEAD + s->rows - 1);
        VEC entry[VECTORS];
        for (int i = 0; i < nv; i++) entry[i] = NAME(load_vector)(L + i * LANES);
        for (int j = 0; j < vectors; j++) {
            VEC sum = entry[0] * rows[0][j];
            for (int i = 1; i < nv; i++) sum += entry[i] * rows[i][j];
            *sums++ += sum;
        }
    }
}

static void NAME(backward_strip)(size_t vectors, const NAME(strip) * s, size_t first, size_t end, const REAL *y,
                                 size_t apart, VEC *sums) {
    bool one = vectors == 1;
    switch (s->rows / LANES) {
    case 1:
        if (one) NAME(backward_strip_n)(1, 1, s, first, end, y, apart, sums);
        else NAME(backward_strip_n)(1, GROUP, s, first, end, y, apart, sums);
        break;
    case 2:
        if (one) NAME(backward_strip_n)(2, 1, s, first, end, y, apart, sums);
        else NAME(backward_strip_n)(2, GROUP, s, first, end, y, apart, sums);
        break;
#if defined(__AVX__)
    default:
        if (one) NAME(backward_strip_n)(3, 1, s, first, end, y, apart, sums);
        else NAME(backward_strip_n)(3, GROUP, s, first, end, y, apart, sums);
        break;
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
    VEC sums[RBT_SOLVE_REACH * GROUP];
    memset(sums, 0, (end - first) * v->count * sizeof *sums);
    for (size_t i = strip; i < last; i++) {
        NAME(strip) s = NAME(strip_at)(f, i);
        size_t apart;
        const REAL *y = NAME(vector_rows)(f, v, &s, &apart);
        NAME(backward_strip)(v->count, &s, first, end, y, apart, sums);
    }
    for (size_t k = 0; k < (end - first) * v->count; k++) ((REAL *)result)[k] = NAME(total)(sums[k]);
}

static void NAME(take)(const rbt_front *f, const rbt_front_vectors *v, size_t first, size_t end, size_t count,
                       const void *sums) {
    const REAL *sum = sums;
    for (size_t i = 0; i < count; i++)
        for (size_t k = first; k < end; k++)
            for (size_t j = 0; j < v->count; j++) ((REAL *)v->x)[j * f->width_padded + k] -= *sum++;
}

static void NAME(backward)(const rbt_front *f, const rbt_front_vectors *v, size_t first) {
    size_t end = NAME(block_end)(f, first, RBT_SOLVE_BLOCK), apart = f->width_padded;
    VEC sums[RBT_SOLVE_BLOCK * GROUP];
    memset(sums, 0, (end - first) * v->count * sizeof *sums);
    for (size_t begin = first + (end - first - 1) / STRIP * STRIP;; begin -= STRIP) {
        NAME(strip) s = NAME(strip_at)(f, begin / STRIP);
        size_t columns = end - begin < STRIP ? end - begin : STRIP;
        // x = M^T (x - sums)
        REAL *x = (REAL *)v->x + begin, right[GROUP * STRIP] = {0};
        VEC products[STRIP * GROUP] = {{0}};
        for (size_t c = 0; c < columns; c++)
            for (size_t j = 0; j < v->count; j++)
                right[j * STRIP + c] = x[j * apart + c] - NAME(total)(sums[(begin - first + c) * v->count + j]);
        NAME(backward_strip)(v->count, &s, begin, begin + columns, right, STRIP, products);
        for (size_t c = 0; c < columns; c++)
            for (size_t j = 0; j < v->count; j++) x[j * apart + c] = NAME(total)(products[c * v->count + j]);
        if (begin == first) return;
        NAME(backward_strip)(v->count, &s, first, begin, x, apart, sums);
    }
}

// ---- vectors ----

static void NAME(load)(const double *from, size_t stride, size_t count, size_t padded, size_t vectors, void *to) {
    for (size_t j = 0; j < vectors; j++) {
        REAL *x = (REAL *)to + j * padded;
        for (size_t i = 0; i < count; i++) x[i] = (REAL)from[j * stride + i];
        for (size_t i = count; i < padded; i++) x[i] = 0;
    }
}

static void NAME(store)(const void *from, size_t padded, size_t count, size_t vectors, double *to, size_t stride) {
    for (size_t j = 0; j < vectors; j++)
        for (size_t i = 0; i < count; i++) to[j * stride + i] = (double)((const REAL *)from)[j * padded + i];
}

static void NAME(gather)(const double *from, size_t stride, const int32_t *node, size_t count, size_t block,
                         size_t padded, size_t vectors, void *to) {
    for (size_t j = 0; j < vectors; j++) {
        REAL *y = (REAL *)to + j * padded;
        const double *x = from + j * stride;
        for (size_t i = 0; i < count; i++)
            for (size_t r = 0; r < block; r++) y[block * i + r] = (REAL)x[block * (size_t)node[i] + r];
        for (size_t i = block * count; i < padded; i++) y[i] = 0;
    }
}

static void NAME(add_vectors)(const rbt_front *f, const rbt_front_vectors *v, const rbt_front *child, const void *y,
                              const int32_t *relative, size_t block) {
    size_t count = child->below / block, split = f->width / block;
    for (size_t j = 0; j < v->count; j++) {
        const REAL *from = (const REAL *)y + j * child->below_padded;
        REAL *x = (REAL *)v->x + j * f->width_padded, *below = (REAL *)v->y + j * f->below_padded;
        for (size_t i = 0; i < count; i++) {
            size_t target = (size_t)relative[i];
            REAL *to = target < split ? x + block * target : below + block * (target - split);
            for (size_t r = 0; r < block; r++) to[r] += from[block * i + r];
        }
    }
}
