// The part of dense_kernel.h for solving with L; included by it, once per type.

static inline REAL *NAME(vector_rows)(const rbt_front *f, const rbt_front_vectors *v, const NAME(strip) * s,
                                      size_t *apart) {
    bool upper = s->first < f->width;
    *apart = upper ? f->width_padded : f->below_padded;
    return upper ? (REAL *)v->x + s->first : (REAL *)v->y + (s->first - f->width_padded);
}

// rows -= L[columns from `first` to `end`] x
static void NAME(forward_strip)(const rbt_front *f, const rbt_front_vectors *v, const NAME(strip) * s, size_t first,
                                size_t end) {
    size_t along = f->width_padded, apart, count = end - first;
    const REAL *L = s->L + first * s->rows, *x = (const REAL *)v->x + first;
    REAL *y = NAME(vector_rows)(f, v, s, &apart);
    size_t a = s->rows;
    bool one = v->count == 1;
    switch (s->rows / LANES) {
    case 1:
        if (one) NAME(multiply_n)(1, 1, count, L, a, x, 1, along, y, apart);
        else NAME(multiply_n)(1, GROUP, count, L, a, x, 1, along, y, apart);
        break;
    case 2:
        if (one) NAME(multiply_n)(2, 1, count, L, a, x, 1, along, y, apart);
        else NAME(multiply_n)(2, GROUP, count, L, a, x, 1, along, y, apart);
        break;
#if defined(__AVX__)
    default:
        if (one) NAME(multiply_n)(3, 1, count, L, a, x, 1, along, y, apart);
        else NAME(multiply_n)(3, GROUP, count, L, a, x, 1, along, y, apart);
        break;
#endif
    }
}

static void NAME(forward)(const rbt_front *f, const rbt_front_vectors *v, size_t first) {
    size_t end = NAME(block_end)(f, first, RBT_SOLVE_BLOCK);
    for (size_t begin = first; begin < end; begin += STRIP) {
        NAME(strip) s = NAME(strip_at)(f, begin / STRIP);
        size_t columns = end - begin < STRIP ? end - begin : STRIP;
        NAME(forward_strip)(f, v, &s, first, begin);
        for (size_t j = 0; j < v->count; j++) {
            REAL *x = (REAL *)v->x + j * f->width_padded + begin;
            for (size_t c = 0; c < columns; c++) {
                const REAL *L = s.L + (begin + c) * s.rows;
                x[c] *= L[c];
                for (size_t r = c + 1; r < columns; r++) x[r] -= L[r] * x[c];
            }
        }
    }
}

static void NAME(forward_strips)(const rbt_front *f, const rbt_front_vectors *v, size_t first, size_t strip,
                                 size_t last) {
    size_t end = NAME(block_end)(f, first, RBT_SOLVE_BLOCK);
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
        VEC entry[VECTORS];
        for (int i = 0; i < nv; i++) entry[i] = NAME(load_vector)(L + i * LANES);
        for (int j = 0; j < vectors; j++) {
            VEC sum = entry[0] * rows[0][j];
            for (int i = 1; i < nv; i++) sum += entry[i] * rows[i][j];
            *sums++ += sum;
        }
    }
}

static void NAME(backward_strip)(const rbt_front *f, const rbt_front_vectors *v, const NAME(strip) * s, size_t first,
                                 size_t end, VEC *sums) {
    size_t apart;
    const REAL *y = NAME(vector_rows)(f, v, s, &apart);
    bool one = v->count == 1;
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

static void NAME(backward_strips)(const rbt_front *f, const rbt_front_vectors *v, size_t first, size_t strip,
                                  size_t last, void *result) {
    size_t end = NAME(block_end)(f, first, RBT_SOLVE_BLOCK), count = (end - first) * v->count;
    VEC sums[RBT_SOLVE_BLOCK * GROUP];
    memset(sums, 0, count * sizeof *sums);
    for (size_t i = strip; i < last; i++) {
        NAME(strip) s = NAME(strip_at)(f, i);
        NAME(backward_strip)(f, v, &s, first, end, sums);
    }
    for (size_t k = 0; k < count; k++) ((REAL *)result)[k] = NAME(total)(sums[k]);
}

static void NAME(backward)(const rbt_front *f, const rbt_front_vectors *v, size_t first, size_t sum_count,
                           const void *all_sums) {
    size_t end = NAME(block_end)(f, first, RBT_SOLVE_BLOCK), count = (end - first) * v->count;
    VEC sums[RBT_SOLVE_BLOCK * GROUP];
    memset(sums, 0, count * sizeof *sums);
    for (size_t i = 0; i < sum_count; i++)
        for (size_t k = 0; k < count; k++) sums[k][0] += ((const REAL *)all_sums)[i * count + k];
    for (size_t begin = first + (end - first - 1) / STRIP * STRIP;; begin -= STRIP) {
        NAME(strip) s = NAME(strip_at)(f, begin / STRIP);
        size_t columns = end - begin < STRIP ? end - begin : STRIP;
        for (size_t j = 0; j < v->count; j++) {
            REAL *x = (REAL *)v->x + j * f->width_padded + begin;
            for (size_t c = columns; c-- > 0;) {
                const REAL *L = s.L + (begin + c) * s.rows;
                REAL sum = x[c] - NAME(total)(sums[(begin - first + c) * v->count + j]);
                for (size_t r = c + 1; r < columns; r++) sum -= L[r] * x[r];
                x[c] = sum * L[c];
            }
        }
        if (begin == first) return;
        NAME(backward_strip)(f, v, &s, first, begin, sums);
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
