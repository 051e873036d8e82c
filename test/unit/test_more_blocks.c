// Matrices that get more blocks than the one that was ordered: solved against dense elimination, with the memory of
// the factorisation before, and no more work than the best of the orders that are compared.
#include "base/threads.h"
#include "dense.h"
#include "grid_matrix.h"
#include "solve/cholesky.h"
#include "solve/elimination.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random.h"

// The core with `more` blocks between any two nodes, which couple them as springs do
static rbt_block_matrix with_blocks(const rbt_block_matrix *core, size_t more) {
    size_t n = core->row_count;
    unsigned char *joined = calloc(n * n, 1);
    for (size_t i = 0; i < n; i++)
        for (size_t k = core->start[i]; k < core->start[i + 1]; k++) joined[i * n + (size_t)core->column[k]] = 1;
    for (size_t added = 0; added < more;) {
        size_t a = below(n), b = below(n);
        if (a <= b || joined[a * n + b]) continue;
        joined[a * n + b] = 2;
        added++;
    }
    size_t blocks = core->start[n] + more, at = 0;
    size_t *start = calloc(n + 1, sizeof *start);
    int32_t *column = calloc(blocks, sizeof *column);
    rbt_block_matrix A = {n, start, column, calloc(9 * blocks, sizeof(double))};
    for (size_t i = 0, from = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            if (!joined[i * n + j]) continue;
            column[at] = (int32_t)j;
            for (size_t r = 0; r < 9; r++)
                A.value[9 * at + r] = joined[i * n + j] == 1 ? core->value[9 * from + r] : r % 4 ? 0 : -0.5;
            from += joined[i * n + j] == 1;
            at++;
        }
        start[i + 1] = at;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            for (size_t r = 0; r < 9 && joined[i * n + j] == 2; r += 4) {
                A.value[9 * (start[i + 1] - 1) + r] += 0.5;
                A.value[9 * (start[j + 1] - 1) + r] += 0.5;
            }
    free(joined);
    return A;
}

static void check_solution(rbt_cholesky *c, const rbt_block_matrix *A, const unsigned char *keep) {
    size_t n = 3 * A->row_count, row;
    double *b = calloc(n, sizeof *b), *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y), *D = dense_of_blocks(A);
    grid_vector(b, n);
    assert_int_equal(rbt_cholesky_factor(c, A, &row), RBT_FACTORED);
    assert_true(rbt_cholesky_solve(c, b, x));
    dense_eliminate(D, n, keep, 1);
    for (size_t i = 0; i < n; i++) b[i] = keep[i / 3] ? b[i] : 0;
    assert_true(dense_solve(D, n, b, y));
    assert_true(dense_distance(x, y, n) < 1e-11);
    free(b), free(x), free(y), free(D);
}

static void solves_what_dense_elimination_does(void **state) {
    (void)state;
    rbt_block_matrix core = grid_matrix_new(5, 4, 3, 0.5);
    unsigned char keep[60];
    for (size_t i = 0; i < 60; i++) keep[i] = i % 11 != 3;
    rbt_core_order order;
    assert_true(rbt_core_order_find(&order, &core, keep, NULL));
    const size_t more[] = {0, 1, 5, 40, 3, 300, 0, 20};
    rbt_cholesky *c = NULL;
    for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
        rbt_block_matrix A = with_blocks(&core, more[k]);
        c = rbt_cholesky_analyse_more(c, &order, &A, keep, NULL);
        assert_non_null(c);
        check_solution(c, &A, keep);
        grid_matrix_free(&A);
    }
    rbt_cholesky_free(c);
    rbt_core_order_free(&order);
    grid_matrix_free(&core);
}

// The sum over columns of (rows + more)^2
static double flops_of(const rbt_node_graph *g, const int32_t *order, size_t more) {
    rbt_elimination e;
    double sum = 0;
    assert_true(rbt_elimination_build(&e, g, order, NULL));
    for (size_t j = 0; j < e.count; j++) sum += pow((double)e.rows[j] + (double)more, 2);
    rbt_elimination_free(&e);
    return sum;
}

// Of a grid large enough for several threads. k blocks more are covered by k vertices, which at the end of the order
// are at most k rows more in each column of the core's factor.
static void orders_are_good_and_the_same_on_any_number_of_threads(void **state) {
    (void)state;
    rbt_block_matrix core = grid_matrix_new(10, 9, 8, 0.5);
    size_t n = core.row_count;
    unsigned char *keep = malloc(n);
    memset(keep, 1, n);
    rbt_core_order base;
    assert_true(rbt_core_order_find(&base, &core, keep, NULL));
    int32_t *order = calloc(n, sizeof *order), *again = calloc(n, sizeof *again), *degree = calloc(n, sizeof *degree);
    const size_t more[] = {0, 2, 10, 100, 1500};
    for (size_t k = 0; k < 5; k++) {
        rbt_block_matrix A = with_blocks(&core, more[k]);
        rbt_node_graph g;
        assert_true(rbt_node_graph_build(&g, n, A.start, A.column, keep, NULL));
        for (int threads = 1; threads <= 8; threads = threads == 3 ? 8 : threads + 1) {
            rbt_threads_set(threads);
            assert_true(rbt_order_more(&base, &g, threads == 1 ? order : again, NULL));
            if (threads > 1) assert_memory_equal(order, again, n * sizeof *order);
        }
        rbt_threads_set(0);
        unsigned char *seen = calloc(n, 1);
        for (size_t i = 0; i < n; i++) {
            assert_false(seen[order[i]]);
            seen[order[i]] = 1;
        }
        assert_true(rbt_order_by_degree(&g, degree, NULL));
        double flops = flops_of(&g, order, 0);
        assert_true(flops <= flops_of(&g, degree, 0));
        assert_true(flops <= flops_of(&base.graph, base.order, more[k]));
        free(seen);
        rbt_node_graph_free(&g);
        grid_matrix_free(&A);
    }
    free(order), free(again), free(degree), free(keep);
    rbt_core_order_free(&base);
    grid_matrix_free(&core);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_what_dense_elimination_does),
        cmocka_unit_test(orders_are_good_and_the_same_on_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
