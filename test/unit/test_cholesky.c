// The sparse factorisations against dense elimination.
#include "base/threads.h"
#include "count_malloc.h"
#include "dense.h"
#include "grid_matrix.h"
#include "solve/cholesky.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { N = 6 };

// A ring of nodes with a chord; the diagonal blocks dominate by `shift`.
static size_t start[N + 1];
static int32_t column[3 * N];
static double value[9 * 3 * N];
static const unsigned char ALL[N] = {1, 1, 1, 1, 1, 1};

static rbt_block_matrix ring(double shift) {
    size_t k = 0;
    for (int i = 0; i < N; i++) {
        start[i] = k;
        for (int j = 0; j <= i; j++) {
            bool joined = j == i || j == i - 1 || (i == N - 1 && j == 0) || (i == 4 && j == 1);
            if (!joined) continue;
            column[k] = j;
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) {
                    double off = sin(1.0 + 3 * i + 7 * j + 2 * r + (i == j ? 2 * c : 5 * c));
                    value[9 * k + (size_t)(3 * r + c)] =
                        i == j ? 0.3 * (off + sin(1.0 + 10 * i + 2 * c + 2 * r)) : off;
                }
            if (i == j)
                for (int r = 0; r < 3; r++) {
                    for (int c = 0; c < r; c++)
                        value[9 * k + (size_t)(3 * c + r)] = value[9 * k + (size_t)(3 * r + c)];
                    value[9 * k + (size_t)(4 * r)] += shift;
                }
            k++;
        }
    }
    start[N] = k;
    return (rbt_block_matrix){N, start, column, value};
}

static void solves_with_rows_left_out(void **state) {
    (void)state;
    rbt_block_matrix A = ring(6);
    const unsigned char patterns[4][N] = {
        {1, 1, 1, 1, 1, 1}, {0, 1, 1, 0, 1, 1}, {0, 0, 0, 0, 1, 0}, {0, 0, 0, 0, 0, 0}};
    for (int p = 0; p < 4; p++) {
        rbt_error error;
        rbt_cholesky *c = rbt_cholesky_analyse(&A, patterns[p], &error);
        assert_non_null(c);
        size_t row;
        assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTORED);
        double b[3 * N], x[3 * N], y[3 * N], *D = dense_of_blocks(&A);
        for (int i = 0; i < 3 * N; i++) b[i] = cos(i);
        assert_true(rbt_cholesky_solve(c, b, x));
        dense_eliminate(D, 3 * N, patterns[p], 1);
        for (int i = 0; i < 3 * N; i++) b[i] = patterns[p][i / 3] ? b[i] : 0;
        assert_true(dense_solve(D, 3 * N, b, y));
        assert_true(dense_distance(x, y, 3 * N) < 1e-13);
        assert_true(rbt_cholesky_solve(c, b, b));  // in place
        assert_memory_equal(b, x, sizeof x);
        free(D);
        rbt_cholesky_free(c);
    }
}

static void refactors_with_new_values(void **state) {
    (void)state;
    rbt_block_matrix A = ring(6);
    rbt_cholesky *c = rbt_cholesky_analyse(&A, ALL, NULL);
    double b[3 * N], first[3 * N], second[3 * N], third[3 * N];
    for (int i = 0; i < 3 * N; i++) b[i] = i - 4;
    size_t row;
    rbt_cholesky_factor(c, &A, &row);
    rbt_cholesky_solve(c, b, first);
    ring(9);
    rbt_cholesky_factor(c, &A, &row);
    rbt_cholesky_solve(c, b, second);
    assert_true(fabs(first[0] - second[0]) > 1e-3);
    ring(6);
    rbt_cholesky_factor(c, &A, &row);
    rbt_cholesky_solve(c, b, third);
    assert_memory_equal(first, third, sizeof first);
    rbt_cholesky_free(c);
}

static void indefinite_is_an_answer(void **state) {
    (void)state;
    rbt_block_matrix A = ring(-1);
    rbt_cholesky *c = rbt_cholesky_analyse(&A, ALL, NULL);
    size_t row = 99;
    assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTOR_INDEFINITE);
    assert_true(row < N);
    ring(6);  // and the next matrix is none the worse for it
    assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTORED);
    value[9 * (start[4] - 1)] = -1;  // one bad diagonal block is named, not the one where elimination notices last
    assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTOR_INDEFINITE);
    assert_int_equal(row, 3);
    rbt_cholesky_free(c);
}

static void nan_is_an_answer(void **state) {
    (void)state;
    for (size_t size = 2; size <= 6; size += 4) {
        rbt_block_matrix A = grid_matrix_new(size, size, size, 0.1);
        unsigned char *keep = malloc(A.row_count);
        memset(keep, 1, A.row_count);
        rbt_cholesky *c = rbt_cholesky_analyse(&A, keep, NULL);
        const double bad[] = {NAN, INFINITY};
        for (int i = 0; i < 2; i++) {
            size_t row = 99, at = A.start[6] - 1;  // the diagonal block of row 5
            double good = A.value[9 * at + 8];
            A.value[9 * at + 8] = bad[i];
            assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTOR_NOT_FINITE);
            assert_int_equal(row, 5);
            A.value[9 * at + 8] = good;
            assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTORED);
        }
        rbt_cholesky_free(c);
        free(keep);
        grid_matrix_free(&A);
    }
}

// A body large enough for supernodes, some rows left out: dense answer, several right-hand sides, the same bits for
// any number of threads.
static void solves_many_with_any_threads(void **state) {
    (void)state;
    enum { VECTORS = 5 };
    rbt_block_matrix A = grid_matrix_new(5, 4, 5, 0.05);
    size_t n = 3 * A.row_count, bytes = n * sizeof(double);
    unsigned char *keep = malloc(A.row_count);
    double *b = malloc(VECTORS * bytes), *x = malloc(VECTORS * bytes), *y = malloc(bytes), *D = dense_of_blocks(&A);
    double *first = malloc(VECTORS * bytes);
    for (size_t i = 0; i < A.row_count; i++) keep[i] = i % 7 != 3;
    grid_vector(b, VECTORS * n);
    for (size_t i = 0; i < VECTORS * n; i++) b[i] = keep[i % n / 3] ? b[i] : 0;
    dense_eliminate(D, n, keep, 1);
    const int threads[] = {1, 2, 3, 8};
    for (int t = 0; t < 4; t++) {
        rbt_threads_set(threads[t]);
        rbt_cholesky *c = rbt_cholesky_analyse(&A, keep, NULL);
        size_t row;
        assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTORED);
        assert_true(rbt_cholesky_solve_many(c, VECTORS, b, x));
        if (t == 0) memcpy(first, x, VECTORS * bytes);
        assert_memory_equal(first, x, VECTORS * bytes);
        for (size_t v = 0; v < VECTORS && t == 0; v++) {
            assert_true(dense_solve(D, n, b + v * n, y));
            assert_true(dense_distance(y, x + v * n, n) < 1e-11);
            assert_true(rbt_cholesky_solve(c, b + v * n, y));
            assert_true(dense_distance(y, x + v * n, n) < 1e-12);
        }
        rbt_cholesky_free(c);
    }
    rbt_threads_set(0);
    free(keep), free(b), free(x), free(y), free(D), free(first);
    grid_matrix_free(&A);
}

// Listed rows are the principal sub-matrix: the same as leaving all others out.
static void rows_are_a_principal_submatrix(void **state) {
    (void)state;
    rbt_block_matrix A = grid_matrix_new(5, 4, 5, 0.05);
    size_t n = 3 * A.row_count, count = 0, row;
    unsigned char *keep = malloc(A.row_count);
    int32_t *rows = malloc(A.row_count * sizeof *rows);
    double *b = malloc(n * sizeof *b), *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    for (size_t i = 0; i < A.row_count; i++) {
        keep[i] = i % 3 != 1;
        if (keep[i]) rows[count++] = (int32_t)i;
    }
    grid_vector(b, n);
    rbt_cholesky *kept = rbt_cholesky_analyse(&A, keep, NULL);
    rbt_cholesky *listed = rbt_cholesky_analyse_rows(&A, rows, count, RBT_DOUBLE, NULL);
    assert_int_equal(rbt_cholesky_factor(kept, &A, &row), RBT_FACTORED);
    assert_int_equal(rbt_cholesky_factor(listed, &A, &row), RBT_FACTORED);
    assert_true(rbt_cholesky_solve(kept, b, x));
    assert_true(rbt_cholesky_solve_rows(listed, b, y));
    for (size_t i = 0; i < count; i++) assert_memory_equal(x + 3 * rows[i], y + 3 * i, 3 * sizeof *y);
    assert_true(rbt_cholesky_solve(listed, b, y));
    assert_memory_equal(x, y, n * sizeof *y);
    A.value[9 * (A.start[rows[7] + 1] - 1)] = -1;
    assert_int_equal(rbt_cholesky_factor(listed, &A, &row), RBT_FACTOR_INDEFINITE);
    assert_int_equal(row, rows[7]);
    rbt_cholesky_free(kept);
    rbt_cholesky_free(listed);
    free(keep), free(rows), free(b), free(x), free(y);
    grid_matrix_free(&A);
}

// A grid Laplacian: three components at once, equal to the block matrix L (x) I.
static void scalar_matrix_acts_on_each_component(void **state) {
    (void)state;
    rbt_block_matrix B = grid_matrix_new(5, 5, 4, 0);
    size_t n = 3 * B.row_count, blocks = B.start[B.row_count];
    rbt_scalar_matrix L = {B.row_count, B.start, B.column, calloc(blocks, sizeof(double))};
    memset(B.value, 0, 9 * blocks * sizeof(double));
    for (size_t i = 0; i < L.row_count; i++)
        for (size_t k = L.start[i]; k < L.start[i + 1]; k++) {
            L.value[k] = (size_t)L.column[k] == i ? 30 + 0.1 * (double)i : -1 - 0.01 * (double)(k % 17);
            for (size_t r = 0; r < 9; r += 4) B.value[9 * k + r] = L.value[k];
        }
    unsigned char *keep = malloc(L.row_count);
    double *b = malloc(2 * n * sizeof *b), *x = malloc(2 * n * sizeof *x), *y = malloc(2 * n * sizeof *y);
    for (size_t i = 0; i < L.row_count; i++) keep[i] = i % 5 != 0;
    grid_vector(b, 2 * n);
    rbt_cholesky *scalar = rbt_cholesky_analyse_scalar(&L, keep, NULL);
    rbt_cholesky *blocked = rbt_cholesky_analyse(&B, keep, NULL);
    size_t row;
    assert_int_equal(rbt_cholesky_factor_scalar(scalar, &L, &row), RBT_FACTORED);
    assert_int_equal(rbt_cholesky_factor(blocked, &B, &row), RBT_FACTORED);
    assert_true(rbt_cholesky_fill(scalar) * 5 < rbt_cholesky_fill(blocked));
    assert_true(rbt_cholesky_solve_many(scalar, 2, b, x));
    assert_true(rbt_cholesky_solve_many(blocked, 2, b, y));
    assert_true(dense_distance(x, y, 2 * n) < 1e-14);
    double *p = malloc(n * sizeof *p), *q = malloc(n * sizeof *q);
    rbt_scalar_matrix_product(&L, x, p);
    rbt_block_matrix_product(&B, x, q);
    assert_true(dense_distance(p, q, n) < 1e-13);
    for (size_t i = 0; i < n; i++) assert_true(!keep[i / 3] || fabs(p[i] - b[i]) < 1e-13);
    L.value[L.start[8] - 1] = -1;
    assert_int_equal(rbt_cholesky_factor_scalar(scalar, &L, &row), RBT_FACTOR_INDEFINITE);
    assert_int_equal(row, 7);
    rbt_cholesky_free(scalar);
    rbt_cholesky_free(blocked);
    free(keep), free(b), free(x), free(y), free(p), free(q), free(L.value);
    grid_matrix_free(&B);
}

// Indefinite: the dense answer, and as many negative pivots as eigenvalues.
static void indefinite_is_solved(void **state) {
    (void)state;
    rbt_block_matrix A = grid_matrix_new(3, 3, 3, -0.9);
    size_t n = 3 * A.row_count, row, negative = 0;
    unsigned char keep[27];
    double *D = dense_of_blocks(&A), b[81], x[81], y[81], lambda[81], residual;
    memset(keep, 1, sizeof keep);
    keep[4] = 0;
    grid_vector(b, n);
    for (int i = 12; i < 15; i++) b[i] = 0;
    dense_eliminate(D, n, keep, 1);
    dense_eigenvalues(D, n, lambda);
    for (size_t i = 0; i < n; i++) negative += lambda[i] < 0;
    assert_true(negative > 2 && negative < n / 2);
    rbt_cholesky *c = rbt_cholesky_analyse(&A, keep, NULL);
    assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTOR_INDEFINITE);
    for (int repeat = 0; repeat < 2; repeat++) {
        assert_int_equal(rbt_cholesky_factor_indefinite(c, &A, &row), RBT_FACTORED);
        assert_int_equal(rbt_cholesky_negative_count(c), negative);
        assert_int_equal(rbt_cholesky_solve_indefinite(c, b, x, &residual), RBT_SOLVED);
        assert_true(residual < 1e-14);
        assert_true(dense_solve(D, n, b, y));
        assert_true(dense_distance(x, y, n) < 1e-10);
    }
    for (size_t i = 0; i < A.row_count; i++)
        for (size_t r = 0; r < 9; r += 4) A.value[9 * (A.start[i + 1] - 1) + r] += 1;  // and back to L L^T
    assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTORED);
    assert_int_equal(rbt_cholesky_negative_count(c), 0);
    assert_int_equal(rbt_cholesky_solve_indefinite(c, b, x, &residual), RBT_SOLVED);
    rbt_cholesky_free(c);
    free(D);
    grid_matrix_free(&A);
}

// Zero diagonals but for `tiny`, all three nodes joined: a fine matrix, but without pivoting its digits are lost.
// Refinement brings them back at 1e-9 and cannot at 1e-17; a zero pivot is named.
static void growth_is_noticed(void **state) {
    (void)state;
    const size_t three_start[] = {0, 1, 3, 6};
    const int32_t three_column[] = {0, 0, 1, 0, 1, 2};
    const unsigned char keep[] = {1, 1, 1};
    double three[54] = {0}, x[9], y[9], residual;
    const double b[9] = {1, 2, 3, 0.1, 0.7, 0.9, -2, 0, 1};
    rbt_block_matrix A = {3, three_start, three_column, three};
    rbt_cholesky *c = rbt_cholesky_analyse(&A, keep, NULL);
    for (size_t r = 0; r < 3; r++) {
        three[9 + 4 * r] = 1 + 0.3 * (double)r;
        three[27 + 4 * r] = 0.7 - 0.1 * (double)r;
        three[36 + 4 * r] = 1.1 + 0.2 * (double)r;
    }
    const double tiny[] = {1e-9, 1e-17, 0};
    for (int i = 0; i < 3; i++) {
        for (size_t r = 0; r < 9; r += 4) three[r] = three[18 + r] = three[45 + r] = tiny[i];
        size_t row = 99;
        rbt_factor_result result = rbt_cholesky_factor_indefinite(c, &A, &row);
        if (tiny[i] == 0) {
            assert_int_equal(result, RBT_FACTOR_SINGULAR);
            assert_true(row < 3);
            continue;
        }
        assert_int_equal(result, RBT_FACTORED);
        rbt_solve_result solved = rbt_cholesky_solve_indefinite(c, b, x, &residual);
        assert_int_equal(solved, i == 0 ? RBT_SOLVED : RBT_SOLVE_UNSTABLE);
        assert_true(i == 0 ? residual < 1e-14 : residual > 1e-10);
        double *D = dense_of_blocks(&A);
        assert_true(dense_solve(D, 9, b, y));
        assert_true((dense_distance(x, y, 9) < 1e-12) == (i == 0));
        free(D);
    }
    rbt_cholesky_free(c);
}

static void nothing_is_allocated_after_the_first_solve(void **state) {
    (void)state;
    rbt_block_matrix A = grid_matrix_new(6, 6, 6, 0.1);
    size_t n = 3 * A.row_count, row;
    unsigned char *keep = malloc(A.row_count);
    double *b = malloc(8 * n * sizeof *b), *x = malloc(8 * n * sizeof *x);
    memset(keep, 1, A.row_count);
    grid_vector(b, 8 * n);
    rbt_cholesky *c = rbt_cholesky_analyse(&A, keep, NULL);
    assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTORED);
    assert_true(rbt_cholesky_solve_many(c, 8, b, x));
    assert_true(rbt_cholesky_solve(c, b, x));
    size_t before = malloc_count;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTORED);
        assert_true(rbt_cholesky_solve(c, b, x));
        assert_true(rbt_cholesky_solve_many(c, 8, b, x));
    }
    assert_int_equal(malloc_count, before);
    rbt_cholesky_free(c);
    free(keep), free(b), free(x);
    grid_matrix_free(&A);
}

static void product_is_symmetric(void **state) {
    (void)state;
    rbt_block_matrix A = ring(6);
    double *D = dense_of_blocks(&A), x[3 * N], y[3 * N];
    for (int i = 0; i < 3 * N; i++) x[i] = sin(3.0 * i);
    rbt_block_matrix_product(&A, x, y);
    for (int i = 0; i < 3 * N; i++) {
        double sum = 0;
        for (int j = 0; j < 3 * N; j++) sum += D[i * 3 * N + j] * x[j];
        assert_true(fabs(sum - y[i]) < 1e-13);
    }
    free(D);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(solves_with_rows_left_out),
                                       cmocka_unit_test(refactors_with_new_values),
                                       cmocka_unit_test(indefinite_is_an_answer),
                                       cmocka_unit_test(nan_is_an_answer),
                                       cmocka_unit_test(solves_many_with_any_threads),
                                       cmocka_unit_test(rows_are_a_principal_submatrix),
                                       cmocka_unit_test(scalar_matrix_acts_on_each_component),
                                       cmocka_unit_test(indefinite_is_solved),
                                       cmocka_unit_test(growth_is_noticed),
                                       cmocka_unit_test(nothing_is_allocated_after_the_first_solve),
                                       cmocka_unit_test(product_is_symmetric)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
