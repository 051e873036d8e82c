// The part of dense_kernel.h for a fused sequence of solves (solve/fused_solve.h); included by it, once per type.
//
// P of a front is stored by groups of columns, the last group first, each from the first row that is not 0 on: of
// every vector of rows the columns of the group, one after the other. Both ways read it from its begin to its end.
static size_t NAME(fused_count)(const rbt_front *f) {
    size_t count = 0;
    for (size_t first = 0; first < f->width; first += GROUP)
        count += (f->width_padded + f->below_padded - first / LANES * LANES) * GROUP;
    return count;
}

// Column j of P is what the way up makes of a right-hand side e_j.
static void NAME(fused_fill)(const rbt_front *f, void *work, void *P) {
    size_t rows = f->width_padded + f->below_padded, upper = (f->width + STRIP - 1) / STRIP;
    size_t strips = upper + (f->below + STRIP - 1) / STRIP;
    REAL *x = work, *to = P;
    rbt_front_vectors v = {.width = 1, .x = x, .y = x + f->width_padded};
    for (size_t first = (f->width - 1) / GROUP * GROUP;; first -= GROUP) {
        size_t start = first / LANES * LANES;
        for (size_t c = 0; c < GROUP; c++) {
            memset(x, 0, rows * sizeof *x);
            if (first + c < f->width) {
                x[first + c] = 1;
                for (size_t begin = 0; begin < f->width; begin += RBT_SOLVE_BLOCK) {
                    size_t end = NAME(block_end)(f, begin, RBT_SOLVE_BLOCK);
                    NAME(forward)(f, &v, begin);
                    NAME(forward_strips)(f, &v, begin, end, (end + STRIP - 1) / STRIP, upper);
                }
                NAME(forward_strips)(f, &v, 0, f->width, upper, strips);
            }
            for (size_t i = start; i < rows; i++)
                to[((i - start) / LANES * GROUP + c) * LANES + (i - start) % LANES] = x[i];
        }
        to += (rows - start) * GROUP;
        if (!first) return;
    }
}

ALWAYS_INLINE void NAME(fused_ahead)(const REAL *from) {
    for (size_t i = 0; i < GROUP * LANES; i += 64 / sizeof *from) __builtin_prefetch(from + AHEAD + i);
}

// t = P t, from the last group on: those before it do not need what it overwrites.
static void NAME(fused_forward)(const rbt_front *f, const void *P, void *vector) {
    size_t rows = f->width_padded + f->below_padded;
    REAL *t = vector;
    const REAL *from = P;
    for (size_t first = (f->width - 1) / GROUP * GROUP;; first -= GROUP) {
        REAL x[GROUP];
        memcpy(x, t + first, sizeof x);
        memset(t + first, 0, sizeof x);
        for (size_t i = first / LANES * LANES; i < rows; i += LANES, from += GROUP * LANES) {
            VEC sum = NAME(load_vector)(t + i);
            NAME(fused_ahead)(from);
            for (size_t c = 0; c < GROUP; c++) sum += NAME(load_vector)(from + c * LANES) * x[c];
            NAME(store_vector)(t + i, sum);
        }
        if (!first) return;
    }
}

// Sums over the lanes of each vector, side by side
ALWAYS_INLINE void NAME(fused_totals)(const VEC sums[GROUP], REAL *to) {
#if defined(__AVX__) && !defined(__AVX512F__)
    if (sizeof(REAL) == sizeof(double)) {  // half as many instructions
        typedef double four __attribute__((vector_size(32)));
        four a, b, c, d;
        memcpy(&a, &sums[0], sizeof a), memcpy(&b, &sums[1], sizeof b);
        memcpy(&c, &sums[2], sizeof c), memcpy(&d, &sums[3], sizeof d);
        four ab =
            RBT_SHUFFLE(rbt_order_4_doubles, a, b, 0, 4, 2, 6) + RBT_SHUFFLE(rbt_order_4_doubles, a, b, 1, 5, 3, 7);
        four cd =
            RBT_SHUFFLE(rbt_order_4_doubles, c, d, 0, 4, 2, 6) + RBT_SHUFFLE(rbt_order_4_doubles, c, d, 1, 5, 3, 7);
        four all = RBT_SHUFFLE(rbt_order_4_doubles, ab, cd, 0, 1, 4, 5) +
                   RBT_SHUFFLE(rbt_order_4_doubles, ab, cd, 2, 3, 6, 7);
        memcpy(to, &all, sizeof all);
        return;
    }
#endif
    for (size_t c = 0; c < GROUP; c++) to[c] = NAME(total)(sums[c]);
}

// x = P^T t
static void NAME(fused_backward)(const rbt_front *f, const void *P, const void *vector, void *x) {
    size_t rows = f->width_padded + f->below_padded;
    const REAL *t = vector, *from = P;
    REAL *to = x;
    for (size_t first = (f->width - 1) / GROUP * GROUP;; first -= GROUP) {
        VEC even[GROUP] = {{0}}, odd[GROUP] = {{0}};
        size_t i = first / LANES * LANES;
        for (; i + LANES < rows; i += 2 * LANES, from += 2 * GROUP * LANES) {
            VEC a = NAME(load_vector)(t + i), b = NAME(load_vector)(t + i + LANES);
            NAME(fused_ahead)(from);
            NAME(fused_ahead)(from + GROUP * LANES);
            for (size_t c = 0; c < GROUP; c++) even[c] += NAME(load_vector)(from + c * LANES) * a;
            for (size_t c = 0; c < GROUP; c++) odd[c] += NAME(load_vector)(from + (GROUP + c) * LANES) * b;
        }
        for (; i < rows; i += LANES, from += GROUP * LANES)
            for (size_t c = 0; c < GROUP; c++)
                even[c] += NAME(load_vector)(from + c * LANES) * NAME(load_vector)(t + i);
        for (size_t c = 0; c < GROUP; c++) even[c] += odd[c];
        NAME(fused_totals)(even, to + first);
        if (!first) return;
    }
}
