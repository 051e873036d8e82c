// Unsymmetric systems against dense elimination.
#include "dense.h"
#include "solve/lu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { N = 40 };

static size_t start[N + 1];
static int32_t column[N * N];
static double value[N * N];

// About six entries a row, scattered without symmetry, zeros on most of the diagonal: pivots must be looked for.
static rbt_general_matrix scattered(double phase) {
    size_t k = 0;
    for (int i = 0; i < N; i++) {
        start[i] = k;
        for (int j = 0; j < N; j++) {
            if (!((3 * i + 5 * j) % 7 == 0 || j == (i + 1) % N)) continue;
            column[k] = j;
            value[k++] = sin(phase + 2.3 * i + 1.7 * j) + (j == (i + 1) % N ? 3 : 0);
        }
    }
    start[N] = k;
    return (rbt_general_matrix){N, start, column, value};
}

static double *to_dense(const rbt_general_matrix *A) {
    double *D = calloc(A->row_count * A->row_count, sizeof *D);
    for (size_t i = 0; i < A->row_count; i++)
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
            D[i * A->row_count + (size_t)A->column[k]] = A->value[k];
    return D;
}

static void solves_and_refactors(void **state) {
    (void)state;
    rbt_general_matrix A = scattered(0);
    rbt_error error;
    rbt_lu *lu = rbt_lu_analyse(&A, &error);
    assert_non_null(lu);
    double b[N], x[N], y[N], product[N], first[N];
    for (int i = 0; i < N; i++) b[i] = cos(0.3 * i);
    for (int round = 0; round < 3; round++) {
        scattered(round % 2);
        assert_int_equal(rbt_lu_factor(lu, &A), RBT_FACTORED);
        assert_true(rbt_lu_condition(lu) > 1e-6);
        memset(value, 0, sizeof value);  // the factor has its own copy
        rbt_lu_solve(lu, b, x);
        scattered(round % 2);
        double *D = to_dense(&A);
        assert_true(dense_solve(D, N, b, y));
        assert_true(dense_distance(x, y, N) < 1e-12);
        rbt_general_matrix_product(&A, x, product);
        assert_true(dense_distance(product, b, N) < 1e-13);
        if (round == 0) memcpy(first, x, sizeof x);
        assert_true((dense_distance(first, x, N) > 1e-3) == (round == 1));
        free(D);
    }
    assert_memory_equal(first, x, sizeof x);
    rbt_lu_free(lu);
}

static void singular_is_an_answer(void **state) {
    (void)state;
    rbt_general_matrix A = scattered(0);
    rbt_lu *lu = rbt_lu_analyse(&A, NULL);
    for (size_t k = start[7]; k < start[8]; k++) value[k] = 0;  // an empty row
    assert_int_equal(rbt_lu_factor(lu, &A), RBT_FACTOR_SINGULAR);
    assert_true(rbt_lu_condition(lu) == 0);
    value[start[3]] = NAN;
    assert_int_equal(rbt_lu_factor(lu, &A), RBT_FACTOR_NOT_FINITE);
    scattered(0);
    assert_int_equal(rbt_lu_factor(lu, &A), RBT_FACTORED);
    rbt_lu_free(lu);

    // Equal rows up to rounding: no pivot is exactly zero.
    const size_t dense_start[] = {0, 3, 6, 9};
    const int32_t dense_column[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
    double dense[] = {0.1, 0.2, 0.3, 0.7, -0.4, 0.9, 0.1 + 0.7, 0.2 - 0.4, 0.3 + 0.9};
    rbt_general_matrix B = {3, dense_start, dense_column, dense};
    lu = rbt_lu_analyse(&B, NULL);
    assert_int_equal(rbt_lu_factor(lu, &B), RBT_FACTOR_SINGULAR);
    rbt_lu_free(lu);

    // A pattern that no values can save: the second column is empty.
    const size_t poor_start[] = {0, 1, 2};
    const int32_t poor_column[] = {0, 0};
    double poor[] = {1, 2};
    rbt_general_matrix C = {2, poor_start, poor_column, poor};
    lu = rbt_lu_analyse(&C, NULL);
    assert_non_null(lu);
    assert_int_equal(rbt_lu_factor(lu, &C), RBT_FACTOR_SINGULAR);
    rbt_lu_free(lu);
}

static void nothing_is_fine(void **state) {
    (void)state;
    const size_t none[] = {0};
    rbt_general_matrix A = {0, none, NULL, NULL};
    rbt_lu *lu = rbt_lu_analyse(&A, NULL);
    assert_non_null(lu);
    assert_int_equal(rbt_lu_factor(lu, &A), RBT_FACTORED);
    rbt_lu_solve(lu, NULL, NULL);
    rbt_lu_free(lu);
}

static void unsorted_columns_are_refused(void **state) {
    (void)state;
    const size_t bad_start[] = {0, 2, 3};
    const int32_t bad_column[] = {1, 0, 1};
    double bad[] = {1, 2, 3};
    rbt_general_matrix A = {2, bad_start, bad_column, bad};
    rbt_error error;
    assert_null(rbt_lu_analyse(&A, &error));
    assert_string_equal(error.message,
                        "a matrix of 2 unknowns cannot be analysed: its columns must ascend in every row");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(solves_and_refactors),
                                       cmocka_unit_test(singular_is_an_answer), cmocka_unit_test(nothing_is_fine),
                                       cmocka_unit_test(unsorted_columns_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
