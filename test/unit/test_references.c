// Our orders and factorisations beside those of the libraries that are under the GPL, which only tests link:
// CHOLMOD's and UMFPACK's.
#include "dense.h"
#include "grid_matrix.h"
#include "solve/cholesky.h"
#include "solve/lu.h"
#include "solve/ordering.h"
#include "solve/supernodes.h"

#include <cholmod.h>
#include <metis.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <umfpack.h>

#include <cmocka.h>

#include "random.h"

// ---- orders ----

// Points in a box, joined where they are close: patterns as irregular as those of meshes
static rbt_node_graph scattered_graph(size_t n, double reach, double flatness) {
    double *x = malloc(3 * n * sizeof *x);
    size_t *start = calloc(n + 1, sizeof *start), count = 0;
    int32_t *column = malloc(n * (n + 1) / 2 * sizeof *column);
    unsigned char *keep = malloc(n);
    for (size_t i = 0; i < 3 * n; i++) x[i] = unit() * (i % 3 == 2 ? flatness : 1);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            double d = hypot(hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1]), x[3 * i + 2] - x[3 * j + 2]);
            if (d < reach) column[count++] = (int32_t)j;
        }
        column[count++] = (int32_t)i;
        start[i + 1] = count;
        keep[i] = unit() < 0.97;
    }
    rbt_node_graph g;
    assert_true(rbt_node_graph_build(&g, n, start, column, keep, NULL));
    free(x), free(start), free(column), free(keep);
    return g;
}

static void metis_order(const rbt_node_graph *g, SuiteSparse_long *order) {
    idx_t n = (idx_t)g->count, options[METIS_NOPTIONS];
    idx_t *start = malloc((g->count + 1) * sizeof *start), *found = malloc(2 * g->count * sizeof *found);
    idx_t *neighbour = malloc(g->start[g->count] * sizeof *neighbour);
    for (size_t v = 0; v <= g->count; v++) start[v] = (idx_t)g->start[v];
    for (size_t k = 0; k < g->start[g->count]; k++) neighbour[k] = (idx_t)g->neighbour[k];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_COMPRESS] = 0;
    assert_int_equal(METIS_NodeND(&n, start, neighbour, NULL, options, found, found + n), METIS_OK);
    for (size_t v = 0; v < g->count; v++) order[v] = found[v];
    free(start), free(found), free(neighbour);
}

static cholmod_sparse *upper_half(const rbt_node_graph *g, cholmod_common *common) {
    size_t n = g->count;
    cholmod_sparse *A = cholmod_l_allocate_sparse(n, n, n + g->start[n] / 2, 1, 1, 1, CHOLMOD_PATTERN, common);
    SuiteSparse_long *start = A->p, *row = A->i, at = 0;
    for (size_t v = 0; v < n; v++) {
        start[v] = at;
        for (size_t k = g->start[v]; k < g->start[v + 1]; k++)
            if ((size_t)g->neighbour[k] < v) row[at++] = g->neighbour[k];
        row[at++] = (SuiteSparse_long)v;
    }
    start[n] = at;
    return A;
}

typedef struct orders {
    int by_degree, by_dissection, better;
} orders;

// CHOLMOD tries METIS's order and minimum degree, keeps the one with less fill and arranges it along its tree: so do
// we, to the same order. But the fill of minimum degree it takes from AMD, which tells an upper bound, and we count it:
// of one graph in a hundred or so ours is the other of both, with less fill.
static void check_order(const rbt_node_graph *g, orders *count) {
    cholmod_common common;
    cholmod_l_start(&common);
    common.supernodal = CHOLMOD_SIMPLICIAL;
    common.nmethods = 2;
    common.method[0].ordering = CHOLMOD_GIVEN;
    common.method[1].ordering = CHOLMOD_AMD;
    SuiteSparse_long *given = malloc(g->count * sizeof *given);
    int32_t *order = malloc(g->count * sizeof *order);
    metis_order(g, given);
    cholmod_sparse *A = upper_half(g, &common);
    cholmod_factor *L = cholmod_l_analyze_p(A, given, NULL, 0, &common);
    assert_non_null(L);
    assert_true(rbt_order_nodes(g, order, NULL));
    bool same = true;
    for (size_t v = 0; v < g->count; v++) same &= order[v] == ((SuiteSparse_long *)L->Perm)[v];
    rbt_supernodes tree;
    assert_true(rbt_supernodes_build(&tree, g, order, 1, NULL));
    if (same) assert_true(tree.fill == common.lnz && tree.total_flops == common.fl);
    else assert_true(common.selected == 0 && tree.fill < common.lnz);
    if (!same) count->better++;
    else if (common.selected == 1) count->by_degree++;
    else count->by_dissection++;
    rbt_supernodes_free(&tree);
    cholmod_l_free_factor(&L, &common);
    cholmod_l_free_sparse(&A, &common);
    cholmod_l_finish(&common);
    free(given), free(order);
}

static void orders_are_cholmods(void **state) {
    (void)state;
    orders count = {0};
    for (size_t i = 0; i < 24; i++) {
        size_t n = 20 + 60 * i;
        rbt_node_graph g =
            scattered_graph(n, 1.9 * pow((double)n, -1.0 / 3) * (i % 4 == 3 ? 0.5 : 1), i % 3 == 2 ? 0.05 : 1);
        check_order(&g, &count);
        rbt_node_graph_free(&g);
    }
    size_t sides[] = {3, 9, 15};
    for (size_t i = 0; i < 3; i++) {
        rbt_block_matrix A = grid_matrix_new(sides[i], sides[i], sides[i] + 1, 1);
        unsigned char *keep = malloc(A.row_count);
        memset(keep, 1, A.row_count);
        rbt_node_graph g;
        assert_true(rbt_node_graph_build(&g, A.row_count, A.start, A.column, keep, NULL));
        check_order(&g, &count);
        rbt_node_graph_free(&g);
        grid_matrix_free(&A);
        free(keep);
    }
    assert_true(count.by_degree > 2 && count.by_dissection > 2 && count.better < 3);
}

// ---- L D L^T ----

static cholmod_sparse *lower_numbers(const rbt_block_matrix *A, cholmod_common *common) {
    size_t n = 3 * A->row_count;
    cholmod_triplet *t = cholmod_l_allocate_triplet(n, n, 9 * A->start[A->row_count], -1, CHOLMOD_REAL, common);
    for (size_t i = 0; i < A->row_count; i++)
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
            for (size_t e = 0; e < 9; e++) {
                size_t row = 3 * i + e / 3, column = 3 * (size_t)A->column[k] + e % 3;
                if (row < column) continue;
                ((SuiteSparse_long *)t->i)[t->nnz] = (SuiteSparse_long)row;
                ((SuiteSparse_long *)t->j)[t->nnz] = (SuiteSparse_long)column;
                ((double *)t->x)[t->nnz++] = A->value[9 * k + e];
            }
    cholmod_sparse *S = cholmod_l_triplet_to_sparse(t, 0, common);
    cholmod_l_free_triplet(&t, common);
    return S;
}

// x = A^-1 b by CHOLMOD's L D L^T; returns its negative pivots.
static size_t cholmod_ldl(const rbt_block_matrix *A, const double *b, double *x) {
    cholmod_common common;
    cholmod_l_start(&common);
    common.supernodal = CHOLMOD_SIMPLICIAL;
    size_t n = 3 * A->row_count, negative = 0;
    cholmod_sparse *S = lower_numbers(A, &common);
    cholmod_factor *L = cholmod_l_analyze(S, &common);
    assert_true(cholmod_l_factorize(S, L, &common) && common.status == CHOLMOD_OK);
    cholmod_dense *B = cholmod_l_zeros(n, 1, CHOLMOD_REAL, &common);
    memcpy(B->x, b, n * sizeof *b);
    cholmod_dense *X = cholmod_l_solve(CHOLMOD_A, L, B, &common);
    memcpy(x, X->x, n * sizeof *x);
    for (size_t u = 0; u < n; u++) negative += ((double *)L->x)[((SuiteSparse_long *)L->p)[u]] < 0;
    cholmod_l_free_dense(&B, &common);
    cholmod_l_free_dense(&X, &common);
    cholmod_l_free_factor(&L, &common);
    cholmod_l_free_sparse(&S, &common);
    cholmod_l_finish(&common);
    return negative;
}

static double largest(const double *x, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static void indefinite_factors_are_cholmods(void **state) {
    (void)state;
    static const size_t sides[][3] = {{1, 1, 1}, {2, 1, 1}, {5, 4, 3}, {20, 3, 2}, {9, 8, 9}};
    for (size_t i = 0; i < 5; i++) {
        // No eigenvalue near the shift, for any seed: the shift is the same
        rbt_block_matrix A = grid_matrix_new(sides[i][0], sides[i][1], sides[i][2], -0.77);
        size_t n = 3 * A.row_count, row;
        unsigned char *keep = malloc(A.row_count);
        double *b = malloc(n * sizeof *b), *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), residual;
        memset(keep, 1, A.row_count);
        for (size_t k = 0; k < n; k++) b[k] = 2 * unit() - 1;
        size_t negative = cholmod_ldl(&A, b, y);
        assert_true(negative > 0);
        rbt_cholesky *c = rbt_cholesky_analyse(&A, keep, NULL);
        assert_int_equal(rbt_cholesky_factor_indefinite(c, &A, &row), RBT_FACTORED);
        assert_int_equal(rbt_cholesky_negative_count(c), negative);
        assert_int_equal(rbt_cholesky_solve_indefinite(c, b, x, &residual), RBT_SOLVED);
        assert_true(residual < 1e-14);
        assert_true(dense_distance(x, y, n) < 1e-9 * largest(y, n));
        assert_true(rbt_cholesky_solve(c, b, x));  // without refinement
        assert_true(dense_distance(x, y, n) < 1e-8 * largest(y, n));
        rbt_cholesky_free(c);
        grid_matrix_free(&A);
        free(keep), free(b), free(x), free(y);
    }
}

// ---- L U ----

// Entries with a large diagonal on a grid, and some scattered ones that are not mirrored
static rbt_general_matrix general_matrix_new(size_t side, double scattered) {
    size_t n = side * side, *start = calloc(n + 1, sizeof *start), count = 0;
    int32_t *column = malloc(n * n * sizeof *column);
    double *value = malloc(n * n * sizeof *value);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            if (!grid_joined(i, j, side, side) && unit() > scattered) continue;
            column[count] = (int32_t)j;
            value[count++] = i == j ? 4 + unit() : 2 * unit() - 1;
        }
        start[i + 1] = count;
    }
    return (rbt_general_matrix){n, start, column, value};
}

static void umfpack_solve(const rbt_general_matrix *A, const double *b, double *x) {
    size_t n = A->row_count, entries = A->start[n];
    SuiteSparse_long *start = malloc((n + 1) * sizeof *start), *index = malloc(entries * sizeof *index);
    void *symbolic, *numeric;
    for (size_t i = 0; i <= n; i++) start[i] = (SuiteSparse_long)A->start[i];
    for (size_t k = 0; k < entries; k++) index[k] = A->column[k];
    assert_int_equal(
        umfpack_dl_symbolic((SuiteSparse_long)n, (SuiteSparse_long)n, start, index, A->value, &symbolic, NULL, NULL),
        UMFPACK_OK);
    assert_int_equal(umfpack_dl_numeric(start, index, A->value, symbolic, &numeric, NULL, NULL), UMFPACK_OK);
    assert_int_equal(umfpack_dl_solve(UMFPACK_At, start, index, A->value, x, b, numeric, NULL, NULL), UMFPACK_OK);
    umfpack_dl_free_symbolic(&symbolic);
    umfpack_dl_free_numeric(&numeric);
    free(start), free(index);
}

static void solutions_are_umfpacks(void **state) {
    (void)state;
    for (size_t side = 1; side <= 31; side += 6)
        for (int kind = 0; kind < 2; kind++) {
            rbt_general_matrix A = general_matrix_new(side, kind ? 2.0 / (double)(side * side) : 0);
            size_t n = A.row_count;
            double *b = malloc(n * sizeof *b), *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
            for (size_t i = 0; i < n; i++) b[i] = 2 * unit() - 1;
            umfpack_solve(&A, b, y);
            rbt_lu *lu = rbt_lu_analyse(&A, NULL);
            assert_int_equal(rbt_lu_factor(lu, &A), RBT_FACTORED);
            rbt_lu_solve(lu, b, x);
            assert_true(dense_distance(x, y, n) < 1e-11 * largest(y, n));
            // The residual at rounding, as the header says: |b - A x| beside |A| |x| + |b|, with a dozen or so
            // entries a row
            rbt_general_matrix_product(&A, x, y);
            assert_true(dense_distance(y, b, n) < 1e-14 * (20 * largest(x, n) + 1));
            rbt_lu_free(lu);
            free((void *)A.start), free((void *)A.column), free(A.value);
            free(b), free(x), free(y);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_cholmods),
        cmocka_unit_test(indefinite_factors_are_cholmods),
        cmocka_unit_test(solutions_are_umfpacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
