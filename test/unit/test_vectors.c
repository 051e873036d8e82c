// Products of blocks of vectors with every instruction set, and eigenpairs of dense symmetric matrices.
#include "math/symmetric.h"
#include "solve/vector_kernels.h"
#include "solve/vectors.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

static double *numbers(size_t count) {
    double *x = malloc((count ? count : 1) * sizeof *x);
    for (size_t i = 0; i < count; i++) x[i] = uniform(-1, 1);
    return x;
}

// Each entry is a sum of `terms` products of numbers up to 1: its error is at most (terms + 2) terms epsilon / 2
// (Higham, section 3.1).
static double bound(size_t terms) { return ((double)terms + 2) * (double)(terms + 1) * DBL_EPSILON; }

static void check_inner(const rbt_vector_kernels *k, size_t rows, size_t a, size_t b) {
    size_t apart = rows + below(4), c = a + 1;
    double *X = numbers(apart * a), *Y = numbers(apart * b), *C = numbers(c * b);
    double guard = b ? C[c * b - 1] : 0;
    k->inner(rows, apart, a, X, b, Y, c, C);
    for (size_t j = 0; j < b; j++)
        for (size_t i = 0; i < a; i++) {
            long double sum = 0;
            for (size_t r = 0; r < rows; r++) sum += (long double)X[i * apart + r] * Y[j * apart + r];
            assert_true(fabsl(C[j * c + i] - sum) <= bound(rows));
        }
    assert_true(!b || C[c * b - 1] == guard);  // between columns nothing is touched
    free(X);
    free(Y);
    free(C);
}

static void check_combine(const rbt_vector_kernels *k, size_t rows, size_t a, size_t b, double alpha, double beta) {
    size_t apart = rows + 1 + below(4), c = a + 1;
    double *X = numbers(apart * a), *Y = numbers(apart * b), *C = numbers(c * b), *before = numbers(apart * b);
    memcpy(before, Y, apart * b * sizeof *Y);
    if (beta == 0)
        for (size_t i = 0; i < apart * b; i++)
            if (i % apart < rows) Y[i] = NAN;  // must not be looked at
    k->combine(rows, apart, alpha, a, X, c, C, b, beta, Y);
    for (size_t j = 0; j < b; j++)
        for (size_t r = 0; r < apart; r++) {
            long double sum = 0;
            for (size_t i = 0; i < a; i++) sum += (long double)X[i * apart + r] * C[j * c + i];
            double *y = &Y[j * apart + r], old = before[j * apart + r];
            if (r >= rows) assert_true(*y == old);
            else assert_true(fabsl(*y - (alpha * sum + beta * old)) <= 4 * bound(a));
        }
    free(X);
    free(Y);
    free(C);
    free(before);
}

static void products_are_right(void **state) {
    (void)state;
    int sets = 0;
    for (int set = 0; set < RBT_INSTRUCTION_SETS; set++) {
        const rbt_vector_kernels *k = rbt_vector_kernels_with((rbt_instruction_set)set);
        if (!k) continue;
        sets++;
        random_again(0);
        for (int trial = 0; trial < 200; trial++) {
            size_t rows = trial < 40 ? (size_t)trial : below(1200), a = below(20);
            size_t b = below(20);
            check_inner(k, rows, a, b);
            check_combine(k, rows, a, b, uniform(-1, 1), trial % 3 ? uniform(-1, 1) : 0);
        }
    }
    assert_true(sets > 0);
}

// A row of beta Y + alpha X C has the same bits wherever it stands, first or last, in whole vectors or at their end:
// ranks have other rows beside it than the whole has. That is for alpha or beta which change nothing: which of two
// products is fused with their sum is the compiler's choice.
static void rows_stand_anywhere(void **state) {
    (void)state;
    static const double ALPHA[] = {1, -1, 0.37};
    random_again(1);
    for (int set = 0; set < RBT_INSTRUCTION_SETS; set++) {
        const rbt_vector_kernels *k = rbt_vector_kernels_with((rbt_instruction_set)set);
        for (int trial = 0; k && trial < 100; trial++) {
            size_t rows = 1 + below(80), a = 1 + below(20), b = 1 + below(9), first = below(rows);
            size_t count = 1 + below(rows - first);
            double *X = numbers(rows * a), *Y = numbers(rows * b), *C = numbers(a * b), *part = numbers(rows * b);
            double alpha = ALPHA[trial % 3], beta = fabs(alpha) == 1 ? trial % 2 : 0;
            memcpy(part, Y, rows * b * sizeof *Y);
            k->combine(rows, rows, alpha, a, X, a, C, b, beta, Y);
            k->combine(count, rows, alpha, a, X + first, a, C, b, beta, part + first);
            for (size_t j = 0; j < b; j++)
                assert_memory_equal(Y + j * rows + first, part + j * rows + first, count * sizeof *Y);
            free(X);
            free(Y);
            free(C);
            free(part);
        }
    }
}

// |A v - lambda v| and |V^T V - I| within n times the rounding of the largest eigenvalue, with the factor 40 that
// LAPACK's own tests allow
static void check_pairs(size_t n, const double *A) {
    double *V = malloc((n * n + 1) * sizeof *V), *values = malloc((n + 1) * sizeof *values), size = 0;
    double *work = malloc((3 * n + 1) * sizeof *work), factor = 40 * DBL_EPSILON * (double)(n + 1);
    memcpy(V, A, n * n * sizeof *V);
    assert_true(rbt_symmetric_pairs(n, V, values, work));
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs(values[i]));
    for (size_t l = 0; l < n; l++) {
        assert_true(l == 0 || values[l] >= values[l - 1]);
        for (size_t i = 0; i < n; i++) {
            double residual = -values[l] * V[l * n + i];
            for (size_t j = 0; j < n; j++) residual += A[j * n + i] * V[l * n + j];
            assert_true(fabs(residual) <= factor * size);
        }
        for (size_t m = 0; m <= l; m++) {
            double product = -(double)(m == l);
            for (size_t i = 0; i < n; i++) product += V[l * n + i] * V[m * n + i];
            assert_true(fabs(product) <= factor);
        }
    }
    free(V);
    free(values);
    free(work);
}

static void pairs_are_right(void **state) {
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        size_t n = trial < 10 ? (size_t)trial : 1 + below(50);
        double *A = numbers(n * n), scale = pow(10, uniform(-10, 10));
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i <= j; i++) {
                double value = A[j * n + i] * scale;
                if (trial % 5 == 1) value = i == j ? scale : 0;                                 // all the same
                if (trial % 5 == 2) value *= pow(10, -(double)(i + j) / 4);                     // graded
                if (trial % 5 == 3) value = i == j ? (double)below(3) : 0;                      // repeated, and zeros
                if (trial % 5 == 4) value = (double)(i % 3 + 1) * (double)(j % 3 + 1) * scale;  // rank 1
                A[j * n + i] = A[i * n + j] = value;
            }
        check_pairs(n, A);
        free(A);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(products_are_right), cmocka_unit_test(rows_stand_anywhere),
                                       cmocka_unit_test(pairs_are_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
