// The multifrontal factorisation: every shape of matrix, every instruction set, both precisions, any number of threads.
#include "base/threads.h"
#include "dense.h"
#include "grid_matrix.h"
#include "solve/cholesky.h"
#include "solve/frontal.h"
#include "solve/fused_solve.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random.h"
#include "sampled.h"

// ---- matrices ----

typedef enum shape { SPARSE, DENSE_ROWS, PIECES, ARROW, CHAIN, ISOLATED, FULL, SHAPES } shape;

static bool joined(shape kind, size_t i, size_t j, size_t n) {
    double near = unit();
    switch (kind) {
    case SPARSE: return near < 3.0 / (double)n;
    case DENSE_ROWS: return i % 17 == 5 || j == 3 || near < 2.0 / (double)n;
    case PIECES: return i % 5 == j % 5 && near < 15.0 / (double)n;
    case ARROW: return i == n - 1;
    case CHAIN: return j + 1 == i;
    case FULL: return true;
    default: return false;
    }
}

// Blocks of either size that are dominated by their diagonal
static rbt_block_matrix matrix_new(shape kind, size_t n, size_t block) {
    size_t *start = calloc(n + 1, sizeof *start), count = 0;
    int32_t *column = calloc(n * (n + 1) / 2, sizeof *column);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            if (joined(kind, i, j, n)) column[count++] = (int32_t)j;
        column[count++] = (int32_t)i;
        start[i + 1] = count;
    }
    size_t numbers = block * block;
    rbt_block_matrix A = {n, start, column, calloc(numbers * count, sizeof(double))};
    for (size_t i = 0; i < n; i++)
        for (size_t k = start[i]; k < start[i + 1]; k++) {
            size_t j = (size_t)column[k];
            double *own = A.value + numbers * (start[i + 1] - 1), *other = A.value + numbers * (start[j + 1] - 1);
            for (size_t r = 0; r < block; r++)
                for (size_t c = 0; c < block; c++) {
                    if (j == i) {
                        own[block * r + c] += r == c ? 0.1 : 0;
                        continue;
                    }
                    double value = 2 * unit() - 1;
                    A.value[numbers * k + block * r + c] = value;
                    own[block * r + r] += fabs(value);
                    other[block * c + c] += fabs(value);
                }
        }
    return A;
}

// ---- what rounding allows ----

// Cholesky: (A + E) x = b with |E| <= g |L| |L^T|, g = (3 n + 1) u (Higham, Accuracy and Stability, theorem 10.4), and
// (|L| |L^T|)_ij <= sqrt(a_ii a_jj). In single precision A and b are rounded first.
static bool residual_is_rounding(const rbt_block_matrix *A, const unsigned char *keep, const double *b,
                                 const double *x, double unit) {
    size_t n = 3 * A->row_count;
    double *product = malloc(n * sizeof *product), sum = 0;
    bool good = true;
    rbt_block_matrix_product(A, x, product);
    for (size_t i = 0; i < n; i++)
        if (keep[i / 3]) sum += sqrt(A->value[9 * (A->start[i / 3 + 1] - 1) + 4 * (i % 3)]) * fabs(x[i]);
    for (size_t i = 0; i < n; i++) {
        if (!keep[i / 3]) {
            good = good && x[i] == 0;
            continue;
        }
        double diagonal = sqrt(A->value[9 * (A->start[i / 3 + 1] - 1) + 4 * (i % 3)]);
        double allowed = unit * ((3 * (double)n + 6) * diagonal * sum + 2 * fabs(b[i]));
        good = good && fabs(b[i] - product[i]) <= allowed;
    }
    free(product);
    return good;
}

static int32_t *rows_kept(const unsigned char *keep, size_t n, size_t *count) {
    int32_t *rows = malloc((n + 1) * sizeof *rows);
    *count = 0;
    for (size_t i = 0; i < n; i++)
        if (keep[i]) rows[(*count)++] = (int32_t)i;
    return rows;
}

static void check_matrix(const rbt_block_matrix *A, unsigned eliminate_every) {
    size_t n = 3 * A->row_count, count, row;
    unsigned char *keep = malloc(A->row_count);
    double *b = malloc(n * sizeof *b), *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    for (size_t i = 0; i < A->row_count; i++) keep[i] = !eliminate_every || i % eliminate_every == 0;
    int32_t *rows = rows_kept(keep, A->row_count, &count);
    for (size_t i = 0; i < n; i++) b[i] = 2 * unit() - 1;
    for (int single = 0; single < 2; single++) {
        rbt_cholesky *c = rbt_cholesky_analyse_rows(A, rows, count, single ? RBT_SINGLE : RBT_DOUBLE, NULL);
        assert_non_null(c);
        assert_int_equal(rbt_cholesky_factor(c, A, &row), RBT_FACTORED);
        assert_true(rbt_cholesky_solve(c, b, x));
        assert_true(residual_is_rounding(A, keep, b, x, single ? FLT_EPSILON / 2 : DBL_EPSILON / 2));
        assert_true(rbt_cholesky_solve_rows(c, b, y));
        for (size_t i = 0; i < count; i++) assert_memory_equal(x + 3 * rows[i], y + 3 * i, 3 * sizeof *y);
        rbt_cholesky_free(c);
    }
    if (n <= 150) {
        double *D = dense_of_blocks(A);
        rbt_cholesky *c = rbt_cholesky_analyse(A, keep, NULL);
        assert_int_equal(rbt_cholesky_factor(c, A, &row), RBT_FACTORED);
        assert_true(rbt_cholesky_solve(c, b, x));
        dense_eliminate(D, n, keep, 1);
        for (size_t i = 0; i < n; i++) b[i] = keep[i / 3] ? b[i] : 0;
        assert_true(dense_solve(D, n, b, y));
        assert_true(dense_distance(x, y, n) < 1e-11);
        rbt_cholesky_free(c);
        free(D);
    }
    free(keep), free(rows), free(b), free(x), free(y);
}

static void every_shape(void **state) {
    (void)state;
    const size_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 23, 31, 33, 47, 50, 64, 97, 130, 257};
    for (int kind = 0; kind < SHAPES; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            if (sizes[s] > 130 && kind == FULL) continue;
            rbt_block_matrix A = matrix_new((shape)kind, sizes[s], 3);
            check_matrix(&A, 0);
            check_matrix(&A, 3);  // most rows eliminated
            grid_matrix_free(&A);
        }
}

static void grids(void **state) {
    (void)state;
    const size_t sizes[][3] = {{40, 1, 1}, {30, 20, 1}, {8, 8, 8}, {60, 5, 5}, {15, 14, 14}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        rbt_block_matrix A = grid_matrix_new(sizes[s][0], sizes[s][1], sizes[s][2], 0.05);
        check_matrix(&A, 0);
        grid_matrix_free(&A);
    }
}

// ---- every instruction set ----

typedef struct fronts {
    rbt_node_graph graph;
    rbt_supernodes tree;
    size_t *start, *source;
    int32_t *row, *place;
    rbt_frontal *frontal;
} fronts;

// As the matrix lies: every node joined with the ones below it in the order of elimination
static void fronts_init(fronts *f, const rbt_block_matrix *A, size_t block, const rbt_dense_kernels *kernels) {
    size_t n = A->row_count, count = 0;
    unsigned char *keep = malloc(n);
    int32_t *order = malloc(n * sizeof *order);
    memset(keep, 1, n);
    assert_true(rbt_node_graph_build(&f->graph, n, A->start, A->column, keep, NULL));
    assert_true(rbt_order_nodes(&f->graph, order, NULL));
    assert_true(rbt_supernodes_build(&f->tree, &f->graph, order, block, NULL));
    f->start = calloc(n + 1, sizeof *f->start);
    f->source = calloc(A->start[n], sizeof *f->source);
    f->row = calloc(A->start[n], sizeof *f->row);
    f->place = calloc(n, sizeof *f->place);
    for (size_t p = 0; p < n; p++) f->place[f->tree.order[p]] = (int32_t)p;
    for (size_t p = 0; p < n; p++) {
        size_t v = (size_t)f->tree.order[p];
        f->source[count] = 2 * (A->start[v + 1] - 1);
        f->row[count++] = (int32_t)p;
        for (size_t k = f->graph.start[v]; k < f->graph.start[v + 1]; k++) {
            size_t other = (size_t)f->graph.neighbour[k];
            if ((size_t)f->place[other] < p) continue;
            f->source[count] = 2 * f->graph.block[k] + (other < v);
            f->row[count++] = f->place[other];
        }
        f->start[p + 1] = count;
    }
    rbt_frontal_entries entries = {f->start, f->row, f->source};
    f->frontal = rbt_frontal_new(&f->tree, &entries, kernels, NULL);
    assert_non_null(f->frontal);
    free(keep), free(order);
}

static void fronts_free(fronts *f) {
    rbt_frontal_free(f->frontal);
    rbt_supernodes_free(&f->tree);
    rbt_node_graph_free(&f->graph);
    free(f->start), free(f->source), free(f->row), free(f->place);
}

enum { MAX_SIDES = 31 };  // more than two of the widest groups of double precision

// x = A^-1 x for vectors in the order of elimination, one behind the other
static void solve_ordered(const fronts *f, size_t block, size_t count, double *x) {
    size_t nodes = f->tree.node_count, offset[MAX_SIDES];
    int32_t *place = malloc(nodes * sizeof *place);
    for (size_t p = 0; p < nodes; p++) place[p] = (int32_t)p;
    for (size_t j = 0; j < count; j++) offset[j] = j * block * nodes;
    rbt_front_sides sides = {.count = count, .block = block, .offset = offset, .place = place, .spread = block};
    assert_true(rbt_frontal_solve(f->frontal, &sides, x, &sides, x));
    free(place);
}

static void turn(void *b, size_t step, size_t first, size_t count, const double *x, double *right) {
    (void)x;
    if (!step) memcpy(right, (const double *)b + first, count * sizeof *right);
}

// The same for one vector, by a fused sequence of one solve
static void solve_in_fused(const fronts *f, double *x) {
    int32_t *order = malloc(f->tree.node_count * sizeof *order);
    for (size_t p = 0; p < f->tree.node_count; p++) order[p] = (int32_t)p;
    rbt_fused_solve *s = rbt_fused_solve_new(f->frontal, order, 1, NULL);
    assert_non_null(s);
    double *b = calloc(s->length, sizeof *b);
    for (size_t p = 0; p < s->node_count; p++) memcpy(b + s->place[p], x + 3 * p, 3 * sizeof *b);
    rbt_team alone = rbt_team_alone();
    rbt_fused_solve_run(s, &alone, 1, turn, b);
    for (size_t p = 0; p < s->node_count; p++) memcpy(x + 3 * p, s->x + s->place[p], 3 * sizeof *b);
    rbt_fused_solve_free(s);
    free(b), free(order);
}

// Solutions of one set of instructions against those of plain code, for 1 to MAX_SIDES right-hand sides
static void instruction_sets_agree(void **state) {
    (void)state;
    for (size_t block = 1; block <= 3; block += 2)
        for (size_t nodes = 30; nodes <= 510; nodes += 96) {
            rbt_block_matrix A = matrix_new(nodes < 130 ? FULL : SPARSE, nodes, block);
            size_t n = block * nodes, bad;
            double *b = malloc(MAX_SIDES * n * sizeof *b), *reference = malloc(MAX_SIDES * n * sizeof *b);
            for (size_t i = 0; i < MAX_SIDES * n; i++) b[i] = 2 * unit() - 1;
            for (int single = 0; single < 2; single++)
                for (int set = RBT_PLAIN; set < RBT_INSTRUCTION_SETS; set++) {
                    const rbt_dense_kernels *kernels = rbt_dense_kernels_with((rbt_instruction_set)set, single);
                    if (!kernels) continue;
                    fronts f;
                    fronts_init(&f, &A, block, kernels);
                    assert_int_equal(rbt_frontal_factor(f.frontal, A.value, &bad), RBT_FRONTAL_DONE);
                    for (size_t count = 1; count <= MAX_SIDES; count += count < 6 ? 1 : 6) {
                        double *x = malloc(count * n * sizeof *x);
                        memcpy(x, b, count * n * sizeof *x);
                        solve_ordered(&f, block, count, x);
                        if (!single && set == RBT_PLAIN) memcpy(reference, x, count * n * sizeof *x);
                        else assert_true(dense_distance(x, reference, count * n) < (single ? 1e-4 : 1e-12));
                        free(x);
                    }
                    if (!single && block == 3) {
                        double *x = malloc(n * sizeof *x);
                        memcpy(x, b, n * sizeof *x);
                        solve_in_fused(&f, x);
                        assert_true(dense_distance(x, reference, n) < 1e-12);
                        free(x);
                    }
                    // In a column that has everything below it, a bad pivot is found where it is.
                    A.value[block * block * (A.start[nodes / 2 + 1] - 1)] *= -1;
                    assert_int_equal(rbt_frontal_factor(f.frontal, A.value, &bad), RBT_FRONTAL_BAD_PIVOT);
                    assert_int_equal(bad, f.place[nodes / 2]);
                    A.value[block * block * (A.start[nodes / 2 + 1] - 1)] *= -1;
                    fronts_free(&f);
                }
            free(b), free(reference);
            grid_matrix_free(&A);
        }
}

// ---- threads ----

// Factor and solve; results one behind the other: one vector, four vectors
static void solve_all(rbt_cholesky *c, const rbt_block_matrix *A, const double *b, double *x) {
    size_t row, n = 3 * A->row_count;
    assert_int_equal(rbt_cholesky_factor(c, A, &row), RBT_FACTORED);
    assert_true(rbt_cholesky_solve(c, b, x));
    assert_true(rbt_cholesky_solve_many(c, 4, b, x + n));
}

static void same_bits_with_any_threads(void **state) {
    (void)state;
    rbt_block_matrix A = grid_matrix_new(14, 12, 13, 0.05);
    size_t n = 3 * A.row_count, bytes = 5 * n * sizeof(double), count;
    unsigned char *keep = malloc(A.row_count);
    for (size_t i = 0; i < A.row_count; i++) keep[i] = i % 29 != 3;
    int32_t *rows = rows_kept(keep, A.row_count, &count);
    double *b = malloc(4 * n * sizeof *b), *first = malloc(bytes), *x = malloc(bytes);
    grid_vector(b, 4 * n);
    for (int single = 0; single < 2; single++) {
        rbt_cholesky *c = rbt_cholesky_analyse_rows(&A, rows, count, single ? RBT_SINGLE : RBT_DOUBLE, NULL);
        rbt_threads_set(1);
        solve_all(c, &A, b, first);
        const int threads[] = {2, 3, 8};
        for (int t = 0; t < 3; t++) {
            rbt_threads_set(threads[t]);
            memset(x, 0, bytes);
            solve_all(c, &A, b, x);
            assert_memory_equal(x, first, bytes);
        }
        // Inside a parallel region, one factor per thread
        rbt_cholesky *other = rbt_cholesky_analyse_rows(&A, rows, count, single ? RBT_SINGLE : RBT_DOUBLE, NULL);
        double *y = malloc(bytes);
        rbt_threads_set(2);
#pragma omp parallel for
        for (int t = 0; t < 2; t++) solve_all(t ? other : c, &A, b, t ? y : x);
        assert_memory_equal(x, first, bytes);
        assert_memory_equal(y, first, bytes);
        rbt_cholesky_free(c);
        rbt_cholesky_free(other);
        free(y);
    }
    rbt_threads_set(0);
    free(keep), free(rows), free(b), free(first), free(x);
    grid_matrix_free(&A);
}

// The same row for any number of threads: the first in the order of elimination, wherever in the tree
static void bad_rows_are_named_with_any_threads(void **state) {
    (void)state;
    rbt_block_matrix A = grid_matrix_new(12, 12, 12, 0.05);
    size_t n = A.row_count;
    unsigned char *keep = malloc(n);
    memset(keep, 1, n);
    rbt_cholesky *c = rbt_cholesky_analyse(&A, keep, NULL);
    for (size_t i = 7; i < n; i += SAMPLED(191, 955)) {
        double *diagonal = A.value + 9 * (A.start[i + 1] - 1), good = diagonal[4],
               next = A.value[9 * (A.start[n] - 1)];
        for (int threads = 1; threads <= 3; threads++) {
            size_t row = n;
            rbt_threads_set(threads);
            diagonal[4] = -good;
            assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTOR_INDEFINITE);
            assert_int_equal(row, i);
            diagonal[4] = NAN;
            assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTOR_NOT_FINITE);
            assert_int_equal(row, i);
            diagonal[4] = good;
            assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTORED);
        }
        // Two bad rows: the same one of them
        size_t named[3];
        for (int threads = 1; threads <= 3; threads++) {
            rbt_threads_set(threads);
            diagonal[4] = -good;
            A.value[9 * (A.start[n] - 1)] = -next;
            assert_int_equal(rbt_cholesky_factor(c, &A, &named[threads - 1]), RBT_FACTOR_INDEFINITE);
            diagonal[4] = good;
            A.value[9 * (A.start[n] - 1)] = next;
        }
        assert_true((named[0] == i || named[0] == n - 1) && named[1] == named[0] && named[2] == named[0]);
    }
    rbt_threads_set(0);
    rbt_cholesky_free(c);
    free(keep);
    grid_matrix_free(&A);
}

// A long bar has many small fronts above the tasks. Whatever of them fails, no member of the team waits for one that
// has left.
static void bad_rows_keep_nobody_waiting(void **state) {
    (void)state;
    rbt_block_matrix A = grid_matrix_new(300, 3, 4, 0.05);
    size_t n = A.row_count;
    unsigned char *keep = malloc(n);
    memset(keep, 1, n);
    rbt_cholesky *c = rbt_cholesky_analyse(&A, keep, NULL);
    for (size_t i = 5; i < n; i += SAMPLED(31, 211)) {
        double *diagonal = A.value + 9 * (A.start[i + 1] - 1), good = diagonal[4];
        size_t row = n;
        diagonal[4] = -good;
        rbt_threads_set(2 + (int)(i % 2));
        assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTOR_INDEFINITE);
        assert_int_equal(row, i);
        diagonal[4] = good;
    }
    rbt_threads_set(0);
    rbt_cholesky_free(c);
    free(keep);
    grid_matrix_free(&A);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape),
        cmocka_unit_test(grids),
        cmocka_unit_test(instruction_sets_agree),
        cmocka_unit_test(same_bits_with_any_threads),
        cmocka_unit_test(bad_rows_are_named_with_any_threads),
        cmocka_unit_test(bad_rows_keep_nobody_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
