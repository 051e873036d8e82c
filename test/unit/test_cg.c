// Conjugate gradients and their preconditioners against dense elimination.
#include "base/threads.h"
#include "count_malloc.h"
#include "dense.h"
#include "grid_matrix.h"
#include "solve/precondition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef struct problem {
    rbt_block_matrix A;
    size_t n;
    unsigned char *keep;
    double *b, *x;
    rbt_cg *cg;
    rbt_block_operator *product;
    rbt_jacobi *jacobi;
    rbt_incomplete *incomplete;
} problem;

static problem problem_new(size_t nx, size_t ny, size_t nz, double shift) {
    problem p = {.A = grid_matrix_new(nx, ny, nz, shift)};
    p.n = 3 * p.A.row_count;
    p.keep = malloc(p.A.row_count);
    for (size_t i = 0; i < p.A.row_count; i++) p.keep[i] = i % 6 != 2;
    p.b = malloc(p.n * sizeof *p.b);
    p.x = calloc(p.n, sizeof *p.x);
    grid_vector(p.b, p.n);
    p.cg = rbt_cg_new(p.A.row_count, NULL);
    p.product = rbt_block_operator_new(&p.A, NULL);
    p.jacobi = rbt_jacobi_new(p.A.row_count, p.keep, NULL);
    p.incomplete = rbt_incomplete_analyse(&p.A, p.keep, NULL);
    assert_true(p.cg && p.product && p.jacobi && p.incomplete);
    return p;
}

static void problem_free(problem *p) {
    rbt_cg_free(p->cg);
    rbt_block_operator_free(p->product);
    rbt_jacobi_free(p->jacobi);
    rbt_incomplete_free(p->incomplete);
    free(p->keep), free(p->b), free(p->x);
    grid_matrix_free(&p->A);
}

static rbt_cg_report solve(problem *p, const rbt_operator *P, double tolerance, int most) {
    rbt_operator A = rbt_block_operator_of(p->product);
    return rbt_cg_solve(p->cg, &A, P, p->keep, p->b, p->x, tolerance, most);
}

static void parallel_product_is_the_product(void **state) {
    (void)state;
    problem p = problem_new(4, 5, 6, 0.1);
    double *y = malloc(p.n * sizeof *y);
    rbt_operator A = rbt_block_operator_of(p.product);
    A.apply(A.self, p.b, p.x);
    rbt_block_matrix_product(&p.A, p.b, y);
    assert_true(dense_distance(p.x, y, p.n) < 1e-13);
    free(y);
    problem_free(&p);
}

static void every_preconditioner_finds_the_answer(void **state) {
    (void)state;
    problem p = problem_new(5, 4, 5, 0.01);
    double *D = dense_of_blocks(&p.A), *y = malloc(p.n * sizeof *y), *b = malloc(p.n * sizeof *b);
    size_t row;
    int iterations[3];
    dense_eliminate(D, p.n, p.keep, 1);
    for (size_t i = 0; i < p.n; i++) b[i] = p.keep[i / 3] ? p.b[i] : 0;
    assert_true(dense_solve(D, p.n, b, y));
    assert_int_equal(rbt_jacobi_factor(p.jacobi, &p.A, &row), RBT_FACTORED);
    assert_int_equal(rbt_incomplete_factor(p.incomplete, &p.A, &row), RBT_FACTORED);
    rbt_operator operators[] = {rbt_jacobi_of(p.jacobi), rbt_incomplete_of(p.incomplete)};
    const rbt_operator *choices[] = {NULL, &operators[0], &operators[1]};
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < p.n; k++) p.x[k] = 0.1;  // also where nothing is kept
        rbt_cg_report report = solve(&p, choices[i], 1e-12, 1000);
        assert_int_equal(report.outcome, RBT_CG_CONVERGED);
        assert_true(report.residual <= 1e-12);
        assert_true(dense_distance(p.x, y, p.n) < 1e-9);
        iterations[i] = report.iterations;
        report = solve(&p, choices[i], 1e-11, 1000);  // from the answer: nothing to do
        assert_int_equal(report.iterations, 0);
    }
    assert_true(iterations[2] < iterations[1] && iterations[1] < iterations[0]);
    free(D), free(y), free(b);
    problem_free(&p);
}

// On a chain of nodes nothing fills in: IC(0) is the Cholesky factor itself, and one iteration does it.
static void incomplete_is_exact_on_a_chain(void **state) {
    (void)state;
    problem p = problem_new(40, 1, 1, 0.1);
    size_t row;
    assert_int_equal(rbt_incomplete_factor(p.incomplete, &p.A, &row), RBT_FACTORED);
    assert_true(rbt_incomplete_shift(p.incomplete) == 0);
    rbt_operator P = rbt_incomplete_of(p.incomplete);
    rbt_cg_report report = solve(&p, &P, 1e-12, 10);
    assert_int_equal(report.outcome, RBT_CG_CONVERGED);
    assert_int_equal(report.iterations, 1);
    problem_free(&p);
}

// Kershaw's matrix (1978), times the identity of each node: positive definite, but its incomplete factor meets the
// pivot -5. A shift mends it.
static void incomplete_retries_with_a_shift(void **state) {
    (void)state;
    const double kershaw[4][4] = {{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}};
    const size_t start[] = {0, 1, 3, 5, 8};
    const int32_t column[] = {0, 0, 1, 1, 2, 0, 2, 3};
    const unsigned char keep[] = {1, 1, 1, 1};
    double value[72] = {0}, b[12], x[12] = {0}, y[12];
    rbt_block_matrix A = {4, start, column, value};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = start[i]; k < start[i + 1]; k++)
            for (size_t r = 0; r < 9; r += 4) value[9 * k + r] = kershaw[i][column[k]];
    grid_vector(b, 12);
    double *D = dense_of_blocks(&A);
    assert_true(dense_solve(D, 12, b, y));
    free(D);
    rbt_incomplete *f = rbt_incomplete_analyse(&A, keep, NULL);
    rbt_block_operator *product = rbt_block_operator_new(&A, NULL);
    rbt_cg *cg = rbt_cg_new(4, NULL);
    size_t row = 99;
    assert_int_equal(rbt_incomplete_factor(f, &A, &row), RBT_FACTORED);
    assert_true(rbt_incomplete_shift(f) >= 0.064 && rbt_incomplete_shift(f) < 1);
    rbt_operator of_A = rbt_block_operator_of(product), P = rbt_incomplete_of(f);
    rbt_cg_report report = rbt_cg_solve(cg, &of_A, &P, NULL, b, x, 1e-12, 100);
    assert_int_equal(report.outcome, RBT_CG_CONVERGED);
    assert_true(dense_distance(x, y, 12) < 1e-10);

    value[9 * 4 + 4] = -3;  // a diagonal block that no shift can mend
    assert_int_equal(rbt_incomplete_factor(f, &A, &row), RBT_FACTOR_INDEFINITE);
    assert_int_equal(row, 2);
    value[9 * 4 + 4] = NAN;
    assert_int_equal(rbt_incomplete_factor(f, &A, &row), RBT_FACTOR_NOT_FINITE);
    assert_int_equal(row, 2);
    rbt_jacobi *jacobi = rbt_jacobi_new(4, keep, NULL);
    assert_int_equal(rbt_jacobi_factor(jacobi, &A, &row), RBT_FACTOR_NOT_FINITE);
    value[9 * 4 + 4] = -3;
    row = 99;
    assert_int_equal(rbt_jacobi_factor(jacobi, &A, &row), RBT_FACTOR_INDEFINITE);
    assert_int_equal(row, 2);
    rbt_jacobi_free(jacobi);
    rbt_incomplete_free(f);
    rbt_block_operator_free(product);
    rbt_cg_free(cg);
}

static void bad_ends_are_named(void **state) {
    (void)state;
    problem p = problem_new(4, 4, 4, 0.01);
    rbt_cg_report report = solve(&p, NULL, 1e-12, 3);
    assert_int_equal(report.outcome, RBT_CG_NOT_CONVERGED);
    assert_int_equal(report.iterations, 3);
    assert_true(report.residual > 1e-3);

    memset(p.x, 0, p.n * sizeof *p.x);
    report = solve(&p, NULL, 1e-30, 10000);  // more than rounding allows: ends when nothing is gained any more
    assert_int_equal(report.outcome, RBT_CG_NOT_CONVERGED);
    assert_true(report.iterations < 10000 && report.residual < 1e-13);

    p.b[20] = NAN;
    report = solve(&p, NULL, 1e-12, 100);
    assert_int_equal(report.outcome, RBT_CG_NOT_FINITE);
    for (size_t i = 0; i < p.n; i++) assert_true(p.x[i] == 0);
    memset(p.b, 0, p.n * sizeof *p.b);
    p.x[5] = 1;
    report = solve(&p, NULL, 1e-12, 100);
    assert_int_equal(report.outcome, RBT_CG_CONVERGED);
    assert_true(p.x[5] == 0 && report.residual == 0);
    problem_free(&p);

    p = problem_new(4, 4, 4, -2);
    double *D = dense_of_blocks(&p.A), *lambda = malloc(p.n * sizeof *lambda);
    dense_eliminate(D, p.n, p.keep, 1);
    dense_eigenvalues(D, p.n, lambda);
    assert_true(lambda[0] < 0 && lambda[p.n / 2] > 0);
    report = solve(&p, NULL, 1e-12, 1000);
    assert_int_equal(report.outcome, RBT_CG_INDEFINITE);
    assert_true(report.curvature < 0 && report.curvature >= lambda[0]);
    free(D), free(lambda);
    problem_free(&p);
}

// Large enough for several partial sums. Once warm, nothing is allocated.
static void any_threads_give_the_same_bits(void **state) {
    (void)state;
    problem p = problem_new(16, 12, 11, 0.05);
    size_t bytes = p.n * sizeof *p.x, row;
    double *first = malloc(2 * bytes);
    int iterations[2] = {0};
    const int threads[] = {1, 2, 3, 8};
    for (int t = 0; t < 4; t++) {
        rbt_threads_set(threads[t]);
        for (size_t kind = 0; kind < 2; kind++) {
            size_t before = malloc_count;
            assert_int_equal(kind ? rbt_incomplete_factor(p.incomplete, &p.A, &row)
                                  : rbt_jacobi_factor(p.jacobi, &p.A, &row),
                             RBT_FACTORED);
            rbt_operator P = kind ? rbt_incomplete_of(p.incomplete) : rbt_jacobi_of(p.jacobi);
            memset(p.x, 0, bytes);
            rbt_cg_report report = solve(&p, &P, 1e-9, 500);
            assert_int_equal(report.outcome, RBT_CG_CONVERGED);
            if (t == 0) {
                memcpy(first + kind * p.n, p.x, bytes);
                iterations[kind] = report.iterations;
                assert_int_equal(malloc_count, before);
            }
            assert_int_equal(report.iterations, iterations[kind]);
            assert_memory_equal(first + kind * p.n, p.x, bytes);
        }
    }
    rbt_threads_set(0);
    free(first);
    problem_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parallel_product_is_the_product),
                                       cmocka_unit_test(every_preconditioner_finds_the_answer),
                                       cmocka_unit_test(incomplete_is_exact_on_a_chain),
                                       cmocka_unit_test(incomplete_retries_with_a_shift),
                                       cmocka_unit_test(bad_ends_are_named),
                                       cmocka_unit_test(any_threads_give_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
