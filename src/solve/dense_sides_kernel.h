// The part of dense_kernel.h for solving with L for several right-hand sides at once; included by it, once per type.
//
// Those of a group lie side by side: each unknown has one to three vectors of them. An entry of L is then a factor of
// whole vectors, sums end without adding lanes, and unknowns are moved about in pieces of many bytes. Four unknowns
// times three vectors, or six times two, are summed in registers; 7 or 8 loads feed 12 multiply-adds.

// sum[i] += L's entry of row i and column k times x[k]; rows and columns of L are `row` and `column` apart
ALWAYS_INLINE void NAME(sum_products)(int nv, int rows, size_t count, const REAL *L, size_t row, size_t column,
                                      const REAL *x, VEC sum[SIDES_ROWS][SIDES_VECTORS]) {
    for (size_t k = 0; k < count; k++, L += column, x += nv * LANES) {
        VEC right[SIDES_VECTORS];
        for (int v = 0; v < nv; v++) right[v] = NAME(load_vector)(x + v * LANES);
        for (int i = 0; i < rows; i++)
            for (int v = 0; v < nv; v++) sum[i][v] += L[(size_t)i * row] * right[v];
    }
}

// A run of strips of a front, and the right-hand sides there
typedef struct NAME(piece) {
    const rbt_front *front;
    const rbt_front_vectors *v;
    size_t strip, last;  // strips
} NAME(piece);

typedef enum NAME(effect) { NAME(SUBTRACT), NAME(STORE) } NAME(effect);

ALWAYS_INLINE void NAME(finish_sums)(int nv, int rows, VEC sum[SIDES_ROWS][SIDES_VECTORS], NAME(effect) effect,
                                     REAL *to) {
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < nv; v++) {
            REAL *at = to + (i * nv + v) * LANES;
            NAME(store_vector)(at, effect == NAME(SUBTRACT) ? NAME(load_vector)(at) - sum[i][v] : sum[i][v]);
        }
}

// to -= or = L x for a number of rows; with rows and columns of L exchanged, L^T x for a number of columns
ALWAYS_INLINE void NAME(times_n)(int nv, int rows, size_t count, const REAL *L, size_t row, size_t column,
                                 const REAL *x, NAME(effect) effect, REAL *to) {
    VEC sum[SIDES_ROWS][SIDES_VECTORS] = {{{0}}};
    NAME(sum_products)(nv, rows, count, L, row, column, x, sum);
    NAME(finish_sums)(nv, rows, sum, effect, to);
}

// Unknowns of the rows of strip i, and how many of them there are without the padding
static inline REAL *NAME(side_rows)(const NAME(piece) * p, const NAME(strip) * s, size_t width, size_t *count) {
    const rbt_front *f = p->front;
    bool upper = s->first < f->width;
    size_t row = upper ? s->first : s->first - f->width_padded, left = (upper ? f->width : f->below) - row;
    *count = left < s->rows ? left : s->rows;
    return (REAL *)(upper ? p->v->x : p->v->y) + row * width;
}

// to -= or = L^T times the rows of a run of strips, for columns from `first` on
ALWAYS_INLINE void NAME(transposed_strips_n)(int nv, int columns, const NAME(piece) * p, size_t first,
                                             NAME(effect) effect, REAL *to) {
    VEC sum[SIDES_ROWS][SIDES_VECTORS] = {{{0}}};
    NAME(strip) s = NAME(strip_at)(p->front, p->strip);
    for (size_t i = p->strip; i < p->last; i++) {
        size_t count;
        const REAL *x = NAME(side_rows)(p, &s, (size_t)(nv * LANES), &count), *L = s.L + first * s.rows;
        size_t apart = s.rows;
        if (i + 1 < p->last) {
            s = NAME(strip_at)(p->front, i + 1);
            const char *soon = (const char *)(s.L + first * s.rows);
            for (size_t b = 0; b < (size_t)columns * s.rows * sizeof(REAL); b += 64) __builtin_prefetch(soon + b);
        }
        NAME(sum_products)(nv, columns, count, L, apart, 1, x, sum);
    }
    NAME(finish_sums)(nv, columns, sum, effect, to);
}

// For a number of rows or columns that is known only now
ALWAYS_INLINE void NAME(times)(int nv, size_t rows, size_t count, const REAL *L, size_t row, size_t column,
                               const REAL *x, NAME(effect) effect, REAL *to) {
    switch (rows) {
    case 1: NAME(times_n)(nv, 1, count, L, row, column, x, effect, to); break;
    case 2: NAME(times_n)(nv, 2, count, L, row, column, x, effect, to); break;
    case 3: NAME(times_n)(nv, 3, count, L, row, column, x, effect, to); break;
    case 4: NAME(times_n)(nv, 4, count, L, row, column, x, effect, to); break;
    case 5: NAME(times_n)(nv, TILE(nv) < 5 ? 4 : 5, count, L, row, column, x, effect, to); break;
    default: NAME(times_n)(nv, TILE(nv), count, L, row, column, x, effect, to); break;
    }
}
ALWAYS_INLINE void NAME(transposed_strips)(int nv, size_t columns, const NAME(piece) * p, size_t first,
                                           NAME(effect) effect, REAL *to) {
    switch (columns) {
    case 1: NAME(transposed_strips_n)(nv, 1, p, first, effect, to); break;
    case 2: NAME(transposed_strips_n)(nv, 2, p, first, effect, to); break;
    case 3: NAME(transposed_strips_n)(nv, 3, p, first, effect, to); break;
    case 4: NAME(transposed_strips_n)(nv, 4, p, first, effect, to); break;
    case 5: NAME(transposed_strips_n)(nv, TILE(nv) < 5 ? 4 : 5, p, first, effect, to); break;
    default: NAME(transposed_strips_n)(nv, TILE(nv), p, first, effect, to); break;
    }
}

ALWAYS_INLINE size_t NAME(tile_rows)(int nv, size_t left) { return left < TILE(nv) ? left : TILE(nv); }

// rows -= L[columns from `first` to `end`] x
ALWAYS_INLINE void NAME(forward_sides_strip)(int nv, const NAME(piece) * p, size_t i, size_t first, size_t end) {
    NAME(strip) s = NAME(strip_at)(p->front, i);
    size_t width = (size_t)(nv * LANES), count;
    REAL *y = NAME(side_rows)(p, &s, width, &count);
    const REAL *x = (const REAL *)p->v->x + first * width, *L = s.L + first * s.rows;
    for (size_t r = 0; r < count; r += TILE(nv)) NAME(times)
    (nv, NAME(tile_rows)(nv, count - r), end - first, L + r, 1, s.rows, x, NAME(SUBTRACT), y + r * width);
}

ALWAYS_INLINE void NAME(forward_sides_strips)(int nv, const NAME(piece) * p, size_t first, size_t end) {
    for (size_t i = p->strip; i < p->last; i++)
        for (size_t k = first; k < end; k += RBT_SOLVE_REACH)
            NAME(forward_sides_strip)(nv, p, i, k, k + RBT_SOLVE_REACH < end ? k + RBT_SOLVE_REACH : end);
}

ALWAYS_INLINE void NAME(forward_sides)(int nv, const rbt_front *f, const rbt_front_vectors *v, size_t first) {
    size_t end = NAME(block_end)(f, first, RBT_SOLVE_BLOCK), width = (size_t)(nv * LANES);
    NAME(piece) p = {.front = f, .v = v};
    for (size_t begin = first; begin < end; begin += STRIP) {
        NAME(strip) s = NAME(strip_at)(f, begin / STRIP);
        size_t columns = end - begin < STRIP ? end - begin : STRIP;
        if (begin > first) NAME(forward_sides_strip)(nv, &p, begin / STRIP, first, begin);
        // x = M x, where M is 0 right of its diagonal
        REAL *x = (REAL *)v->x + begin * width, before[STRIP * SIDES_VECTORS * LANES];
        const REAL *M = s.L + begin * s.rows;
        memcpy(before, x, columns * width * sizeof(REAL));
        for (size_t r = 0; r < columns; r += TILE(nv)) {
            size_t rows = NAME(tile_rows)(nv, columns - r);
            NAME(times)(nv, rows, r + rows, M + r, 1, s.rows, before, NAME(STORE), x + r * width);
        }
    }
}

// to -= or = L^T times the rows of a run of strips, for the columns from `first` to `end`
ALWAYS_INLINE void NAME(backward_sides_strips)(int nv, const NAME(piece) * p, size_t first, size_t end,
                                               NAME(effect) effect, REAL *to) {
    size_t width = (size_t)(nv * LANES);
    for (size_t k = first; k < end; k += TILE(nv))
        NAME(transposed_strips)(nv, NAME(tile_rows)(nv, end - k), p, k, effect, to + (k - first) * width);
}

ALWAYS_INLINE void NAME(backward_sides)(int nv, const rbt_front *f, const rbt_front_vectors *v, size_t first) {
    size_t end = NAME(block_end)(f, first, RBT_SOLVE_BLOCK), width = (size_t)(nv * LANES);
    NAME(piece) p = {.front = f, .v = v, .last = (end - 1) / STRIP + 1};
    for (size_t begin = first + (end - first - 1) / STRIP * STRIP;; begin -= STRIP) {
        NAME(strip) s = NAME(strip_at)(f, begin / STRIP);
        size_t columns = end - begin < STRIP ? end - begin : STRIP;
        REAL *x = (REAL *)v->x + begin * width, before[STRIP * SIDES_VECTORS * LANES];
        const REAL *M = s.L + begin * s.rows;
        p.strip = begin / STRIP + 1;
        if (p.strip < p.last) NAME(backward_sides_strips)(nv, &p, begin, begin + columns, NAME(SUBTRACT), x);
        // x = M^T x
        memcpy(before, x, columns * width * sizeof(REAL));
        for (size_t c = 0; c < columns; c += TILE(nv)) NAME(times)
        (nv, NAME(tile_rows)(nv, columns - c), columns - c, M + c * s.rows + c, s.rows, 1, before + c * width,
         NAME(STORE), x + c * width);
        if (begin == first) return;
    }
}

// One vector of right-hand sides, two or three
static void NAME(forward_sides_of)(const rbt_front *f, const rbt_front_vectors *v, size_t first) {
    switch (v->width / LANES) {
    case 1: NAME(forward_sides)(1, f, v, first); break;
    case 2: NAME(forward_sides)(2, f, v, first); break;
    default: NAME(forward_sides)(3, f, v, first); break;
    }
}
static void NAME(backward_sides_of)(const rbt_front *f, const rbt_front_vectors *v, size_t first) {
    switch (v->width / LANES) {
    case 1: NAME(backward_sides)(1, f, v, first); break;
    case 2: NAME(backward_sides)(2, f, v, first); break;
    default: NAME(backward_sides)(3, f, v, first); break;
    }
}
static void NAME(forward_sides_strips_of)(const NAME(piece) * p, size_t first, size_t end) {
    switch (p->v->width / LANES) {
    case 1: NAME(forward_sides_strips)(1, p, first, end); break;
    case 2: NAME(forward_sides_strips)(2, p, first, end); break;
    default: NAME(forward_sides_strips)(3, p, first, end); break;
    }
}
static void NAME(backward_sides_strips_of)(const NAME(piece) * p, size_t first, size_t end, void *sums) {
    NAME(effect) effect = sums ? NAME(STORE) : NAME(SUBTRACT);
    REAL *to = sums ? sums : (REAL *)p->v->x + first * p->v->width;
    switch (p->v->width / LANES) {
    case 1: NAME(backward_sides_strips)(1, p, first, end, effect, to); break;
    case 2: NAME(backward_sides_strips)(2, p, first, end, effect, to); break;
    default: NAME(backward_sides_strips)(3, p, first, end, effect, to); break;
    }
}
