// The sparse factorisation against dense elimination.
#include "solve/cholesky.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N = 6 };

// A ring of nodes with a chord; the diagonal blocks dominate by `shift`.
static size_t start[N + 1];
static int32_t column[3 * N];
static double value[9 * 3 * N];

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

static void to_dense(const rbt_block_matrix *A, double D[3 * N][3 * N]) {
    memset(D, 0, 9 * N * N * sizeof(double));
    for (int i = 0; i < N; i++)
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
            for (int r = 0; r < 9; r++) {
                int row = 3 * i + r / 3, col = 3 * A->column[k] + r % 3;
                D[row][col] = D[col][row] = A->value[9 * k + (size_t)r];
            }
}

static void dense_solve(double D[3 * N][3 * N], const unsigned char *keep, const double *b, double *x) {
    double M[3 * N][3 * N + 1];
    for (int i = 0; i < 3 * N; i++) {
        for (int j = 0; j < 3 * N; j++) M[i][j] = keep[i / 3] && keep[j / 3] ? D[i][j] : i == j;
        M[i][3 * N] = keep[i / 3] ? b[i] : 0;
    }
    for (int p = 0; p < 3 * N; p++)
        for (int i = 0; i < 3 * N; i++) {
            if (i == p) continue;
            double f = M[i][p] / M[p][p];
            for (int j = p; j <= 3 * N; j++) M[i][j] -= f * M[p][j];
        }
    for (int i = 0; i < 3 * N; i++) x[i] = M[i][3 * N] / M[i][i];
}

static void solves_with_rows_left_out(void **state) {
    (void)state;
    rbt_block_matrix A = ring(6);
    static double D[3 * N][3 * N];
    to_dense(&A, D);
    const unsigned char patterns[3][N] = {{1, 1, 1, 1, 1, 1}, {0, 1, 1, 0, 1, 1}, {0, 0, 0, 0, 0, 0}};
    for (int p = 0; p < 3; p++) {
        rbt_error error;
        rbt_cholesky *c = rbt_cholesky_analyze(&A, patterns[p], &error);
        assert_non_null(c);
        size_t row;
        assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTORED);
        double b[3 * N], x[3 * N], y[3 * N];
        for (int i = 0; i < 3 * N; i++) b[i] = cos(i);
        assert_true(rbt_cholesky_solve(c, b, x));
        dense_solve(D, patterns[p], b, y);
        for (int i = 0; i < 3 * N; i++) assert_true(fabs(x[i] - y[i]) < 1e-13);
        rbt_cholesky_free(c);
    }
}

static void refactors_with_new_values(void **state) {
    (void)state;
    rbt_block_matrix A = ring(6);
    const unsigned char keep[N] = {1, 1, 1, 1, 1, 1};
    rbt_cholesky *c = rbt_cholesky_analyze(&A, keep, NULL);
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
    const unsigned char keep[N] = {1, 1, 1, 1, 1, 1};
    rbt_cholesky *c = rbt_cholesky_analyze(&A, keep, NULL);
    size_t row = 99;
    assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTOR_INDEFINITE);
    assert_true(row < N);
    ring(6);  // and the next matrix is none the worse for it
    assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTORED);
    rbt_cholesky_free(c);
}

static void product_is_symmetric(void **state) {
    (void)state;
    rbt_block_matrix A = ring(6);
    static double D[3 * N][3 * N];
    to_dense(&A, D);
    double x[3 * N], y[3 * N];
    for (int i = 0; i < 3 * N; i++) x[i] = sin(3.0 * i);
    rbt_block_matrix_product(&A, x, y);
    for (int i = 0; i < 3 * N; i++) {
        double sum = 0;
        for (int j = 0; j < 3 * N; j++) sum += D[i][j] * x[j];
        assert_true(fabs(sum - y[i]) < 1e-13);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_with_rows_left_out), cmocka_unit_test(refactors_with_new_values),
        cmocka_unit_test(indefinite_is_an_answer), cmocka_unit_test(product_is_symmetric)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
