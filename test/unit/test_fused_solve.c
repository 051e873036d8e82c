// A fused sequence of solves against solves one by one, with any number of threads.
#include "base/threads.h"
#include "dense.h"
#include "grid_matrix.h"
#include "solve/cholesky.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { SOLVES = 7 };

// r_i = scale x_{i-1} + other, number by number; sum: of all solutions
typedef struct recurrence {
    double *scale, *other, *sum;
} recurrence;

static void turn(void *self, size_t step, size_t first, size_t count, const double *x, double *right) {
    const recurrence *r = self;
    for (size_t i = first; i < first + count; i++) {
        double before = step ? x[i - first] : 0;
        r->sum[i] += before;
        right[i - first] = r->scale[i] * before + r->other[i];
    }
}

typedef struct job {
    rbt_fused_solve *fused;
    recurrence *recurrence;
} job;

static void work(void *self, rbt_team *team) {
    job *j = self;
    rbt_fused_solve_run(j->fused, team, SOLVES, turn, j->recurrence);
}

// Last solution and sum of all, as rows of the matrix
static void run(rbt_fused_solve *s, size_t members, const double *scale, const double *other, double *result) {
    size_t n = 3 * s->node_count;
    recurrence r = {calloc(s->length, 8), calloc(s->length, 8), calloc(s->length, 8)};
    for (size_t i = 0; i < s->node_count; i++) {
        memcpy(r.scale + s->place[i], scale + 3 * i, 3 * sizeof(double));
        memcpy(r.other + s->place[i], other + 3 * i, 3 * sizeof(double));
    }
    job j = {s, &r};
    rbt_team_work(members, work, &j);
    for (size_t i = 0; i < s->node_count; i++) {
        memcpy(result + 3 * i, s->x + s->place[i], 3 * sizeof(double));
        memcpy(result + n + 3 * i, r.sum + s->place[i], 3 * sizeof(double));
    }
    free(r.scale), free(r.other), free(r.sum);
}

static void one_by_one(rbt_cholesky *c, size_t n, const double *scale, const double *other, double *result) {
    memset(result, 0, 2 * n * sizeof *result);
    for (int s = 0; s < SOLVES; s++) {
        for (size_t i = 0; i < n; i++) result[i] = scale[i] * result[i] + other[i];
        assert_true(rbt_cholesky_solve(c, result, result));
        for (size_t i = 0; i < n; i++) result[n + i] += result[i];
    }
}

static void check(size_t nx, size_t ny, size_t nz) {
    rbt_block_matrix A = grid_matrix_new(nx, ny, nz, 0.05);
    size_t nodes = A.row_count, n = 3 * nodes, row, bytes = 2 * n * sizeof(double);
    unsigned char *keep = malloc(nodes);
    double *scale = malloc(n * sizeof *scale), *other = malloc(n * sizeof *other);
    double *expected = malloc(bytes), *result = malloc(bytes), *first = malloc(bytes);
    memset(keep, 1, nodes);
    grid_vector(scale, n);
    grid_vector(other, n);
    for (size_t i = 0; i < n; i++) scale[i] = 0.02 + 0.02 * scale[i];
    rbt_cholesky *c = rbt_cholesky_analyse(&A, keep, NULL);
    assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTORED);
    one_by_one(c, n, scale, other, expected);
    for (size_t members = 1; members <= 8; members += members < 3 ? 1 : 5) {
        rbt_fused_solve *s = rbt_cholesky_fused(c, members, NULL);
        assert_non_null(s);
        assert_int_equal(s->node_count, nodes);
        assert_true(s->shared <= s->numbers);
        for (size_t team = 1; team <= members; team += members > 1 ? members - 1 : 1) {
            rbt_threads_set((int)team);
            run(s, team, scale, other, result);
            assert_true(dense_distance(result, expected, 2 * n) < 1e-12);
            if (members == 1) memcpy(first, result, bytes);
            assert_memory_equal(result, first, bytes);
        }
        rbt_fused_solve_free(s);
    }
    rbt_threads_set(0);
    rbt_cholesky_free(c);
    free(keep), free(scale), free(other), free(expected), free(result), free(first);
    grid_matrix_free(&A);
}

static void as_one_by_one_with_the_same_bits(void **state) {
    (void)state;
    const size_t sizes[][3] = {{1, 1, 1}, {2, 1, 1}, {40, 1, 1}, {30, 20, 1}, {8, 8, 8}, {60, 5, 5}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) check(sizes[s][0], sizes[s][1], sizes[s][2]);
}

static void nothing_to_meet_for_separate_pieces(void **state) {
    (void)state;
    enum { NODES = 12 };
    size_t start[NODES + 1] = {0}, row;
    int32_t column[NODES];
    double value[9 * NODES] = {0}, scale[3 * NODES], other[3 * NODES], expected[6 * NODES], result[6 * NODES];
    unsigned char keep[NODES];
    for (size_t i = 0; i < NODES; i++) {
        start[i + 1] = i + 1;
        column[i] = (int32_t)i;
        keep[i] = 1;
        for (size_t k = 0; k < 3; k++) value[9 * i + 4 * k] = 2 + (double)(i + k);
    }
    for (size_t i = 0; i < 3 * NODES; i++) scale[i] = 0.5, other[i] = (double)i;
    rbt_block_matrix A = {NODES, start, column, value};
    rbt_cholesky *c = rbt_cholesky_analyse(&A, keep, NULL);
    assert_int_equal(rbt_cholesky_factor(c, &A, &row), RBT_FACTORED);
    one_by_one(c, 3 * NODES, scale, other, expected);
    rbt_fused_solve *s = rbt_cholesky_fused(c, 2, NULL);
    assert_non_null(s);
    assert_true(s->shared <= 0.5 * s->numbers);
    rbt_threads_set(2);
    run(s, 2, scale, other, result);
    rbt_threads_set(0);
    assert_true(dense_distance(result, expected, 6 * NODES) < 1e-14);
    rbt_fused_solve_free(s);
    rbt_cholesky_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_one_by_one_with_the_same_bits),
        cmocka_unit_test(nothing_to_meet_for_separate_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
