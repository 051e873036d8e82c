// Entries of A^-1 between a few rows against whole solves: any rows, any number of them, any number of threads.
#include "base/threads.h"
#include "grid_matrix.h"
#include "solve/cholesky.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

// Both ways solve with the same L, backward stable: x is off by (3 n + 1) u kappa |x| at most each (Higham, Accuracy
// and Stability, theorem 10.4). Eigenvalues of the matrix are between its shift and twice its largest diagonal
// (Gershgorin, for what is a sum of v v^T over pairs of nodes).
static double allowed(const rbt_block_matrix *A, double shift) {
    double largest = 0;
    for (size_t i = 0; i < A->row_count; i++)
        for (size_t k = 0; k < 3; k++) largest = fmax(largest, A->value[9 * (A->start[i + 1] - 1) + 4 * k]);
    return 2 * (9 * (double)A->row_count + 1) * DBL_EPSILON * 6 * largest / shift;
}

// `count` different rows that are kept, in any order
static size_t choose(size_t n, const unsigned char *keep, size_t count, int32_t *rows) {
    size_t chosen = 0;
    for (size_t tries = 0; chosen < count && tries < 100 * count; tries++) {
        size_t row = (size_t)(unit() * (double)n) % n;
        bool good = keep[row];
        for (size_t i = 0; i < chosen; i++) good = good && rows[i] != (int32_t)row;
        if (good) rows[chosen++] = (int32_t)row;
    }
    return chosen;
}

static void check(size_t nx, size_t ny, size_t nz, size_t columns, size_t more, unsigned eliminate_every) {
    const double shift = 0.05;
    rbt_block_matrix A = grid_matrix_new(nx, ny, nz, shift);
    size_t n = A.row_count, row;
    unsigned char *keep = malloc(n);
    for (size_t i = 0; i < n; i++) keep[i] = !eliminate_every || i % eliminate_every != 0;
    int32_t *rows = malloc((columns + more) * sizeof *rows);
    size_t row_count = choose(n, keep, columns + more, rows);
    if (columns > row_count) columns = row_count;
    rbt_cholesky *c = rbt_cholesky_analyse(&A, keep, NULL);
    assert_non_null(c);
    assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTORED);
    size_t height = 3 * row_count, numbers = 3 * columns * height;
    double *S = malloc((numbers + 1) * sizeof *S), *again = malloc((numbers + 1) * sizeof *S);
    double *b = calloc(3 * n, sizeof *b), *x = malloc(3 * n * sizeof *x), most = allowed(&A, shift);
    rbt_threads_set(1);
    assert_true(rbt_cholesky_inverse(c, columns, rows, row_count, rows, S));
    for (size_t j = 0; j < 3 * columns; j++) {
        size_t at = 3 * (size_t)rows[j / 3] + j % 3;
        double size = 0;
        b[at] = 1;
        assert_true(rbt_cholesky_solve(c, b, x));
        b[at] = 0;
        for (size_t i = 0; i < 3 * n; i++) size += x[i] * x[i];
        for (size_t i = 0; i < height; i++)
            assert_true(fabs(S[j * height + i] - x[3 * (size_t)rows[i / 3] + i % 3]) <= most * sqrt(size));
    }
    static const int threads[] = {2, 3, 8};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        rbt_threads_set(threads[t]);
        assert_true(rbt_cholesky_inverse(c, columns, rows, row_count, rows, again));
        assert_memory_equal(S, again, numbers * sizeof *S);
    }
    rbt_threads_set(0);
    rbt_cholesky_free(c);
    free(keep), free(rows), free(S), free(again), free(b), free(x);
    grid_matrix_free(&A);
}

static void entries_are_those_of_solves(void **state) {
    (void)state;
    for (size_t columns = 1; columns < 12; columns++) {
        check(1, 1, 1, columns, 0, 0);
        check(4, 3, 2, columns, 3, 0);
        check(40, 1, 1, columns, 5, 3);
        check(9, 8, 7, columns, 9, 0);
    }
    check(9, 8, 7, 60, 40, 5);
    check(60, 5, 5, 33, 20, 0);
    check(14, 13, 12, 25, 100, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(entries_are_those_of_solves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
