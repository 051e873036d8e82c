// The elimination tree, its postorders and the rows of columns against elimination done entry by entry.
#include "solve/elimination.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

enum { MOST = 60 };

static bool joined[MOST][MOST];

static rbt_node_graph graph_of(size_t n, double density) {
    size_t start[MOST + 1] = {0}, count = 0;
    int32_t column[MOST * MOST];
    unsigned char keep[MOST];
    memset(keep, 1, sizeof keep);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            joined[i][j] = joined[j][i] = unit() < density;
            if (joined[i][j]) column[count++] = (int32_t)j;
        }
        column[count++] = (int32_t)i;
        start[i + 1] = count;
    }
    rbt_node_graph g;
    assert_true(rbt_node_graph_build(&g, n, start, column, keep, NULL));
    return g;
}

static void shuffle(int32_t *order, size_t n) {
    for (size_t i = 0; i < n; i++) order[i] = (int32_t)i;
    for (size_t i = n; i-- > 1;) {
        size_t j = below(i + 1);
        int32_t swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

// Every column joins all rows below it with each other.
static void eliminate(size_t n, const int32_t *order, bool L[MOST][MOST]) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) L[i][j] = joined[order[i]][order[j]];
    for (size_t k = 0; k < n; k++)
        for (size_t i = k + 1; i < n; i++)
            for (size_t j = k + 1; j < i; j++) L[i][j] |= L[i][k] && L[j][k];
}

// Children before parents, each subtree a run that ends with its root
static void check_post(const rbt_elimination *e) {
    size_t number[MOST], below_it[MOST];
    bool seen[MOST] = {false};
    for (size_t k = 0; k < e->count; k++) {
        assert_false(seen[e->post[k]]);
        seen[e->post[k]] = true;
        number[e->post[k]] = k;
        below_it[e->post[k]] = 1;
    }
    for (size_t k = 0; k < e->count; k++) {
        int32_t j = e->post[k], p = e->parent[j];
        if (p < 0) continue;
        assert_true(number[p] > k && number[p] - k <= e->count);
        below_it[p] += below_it[j];
    }
    for (size_t k = 0; k < e->count; k++) {
        int32_t p = e->parent[e->post[k]];
        for (; p >= 0; p = e->parent[p]) assert_true(number[p] < k + below_it[p]);
    }
}

// Of two children of the same parent (or of two roots) the one with the lower number comes first, or with fewer rows
static void check_children(const rbt_elimination *e, bool by_rows) {
    for (size_t k = 0; k < e->count; k++)
        for (size_t l = k + 1; l < e->count; l++) {
            int32_t a = e->post[k], b = e->post[l];
            if (e->parent[a] != e->parent[b]) continue;
            if (by_rows && e->parent[a] >= 0 && e->rows[a] != e->rows[b]) assert_true(e->rows[a] < e->rows[b]);
            else assert_true(a < b);
        }
}

static void columns_are_those_of_elimination(void **state) {
    (void)state;
    static const double densities[] = {0, 0.03, 0.07, 0.15, 0.4, 1};
    static bool L[MOST][MOST];
    for (size_t n = 0; n <= MOST; n += n < 6 ? 1 : 9)
        for (size_t d = 0; d < 6 * 4; d++) {
            int32_t order[MOST];
            rbt_node_graph g = graph_of(n, densities[d / 4]);
            rbt_elimination e;
            double fill = 0;
            shuffle(order, n);
            eliminate(n, order, L);
            assert_true(rbt_elimination_build(&e, &g, order, NULL));
            assert_int_equal(e.count, n);
            for (size_t j = 0; j < n; j++) {
                int32_t rows = 1, parent = -1;
                for (size_t i = n; i-- > j + 1;)
                    if (L[i][j]) parent = (int32_t)i, rows++;
                assert_int_equal(e.parent[j], parent);
                assert_int_equal(e.rows[j], rows);
                fill += rows;
            }
            assert_true(rbt_elimination_fill(&e) == fill);
            check_post(&e);
            check_children(&e, false);
            assert_true(rbt_elimination_sort(&e, NULL));
            check_post(&e);
            check_children(&e, true);
            rbt_elimination_free(&e);
            rbt_node_graph_free(&g);
        }
}

// Reordered by a postorder the tree and the rows are the same.
static void postorders_change_nothing(void **state) {
    (void)state;
    for (int sorted = 0; sorted < 2; sorted++) {
        int32_t order[MOST], second[MOST];
        rbt_node_graph g = graph_of(MOST, 0.06);
        rbt_elimination a, b;
        shuffle(order, MOST);
        assert_true(rbt_elimination_build(&a, &g, order, NULL));
        assert_true(!sorted || rbt_elimination_sort(&a, NULL));
        for (size_t k = 0; k < MOST; k++) second[k] = order[a.post[k]];
        assert_true(rbt_elimination_build(&b, &g, second, NULL));
        for (size_t k = 0; k < MOST; k++) {
            int32_t up = a.parent[a.post[k]];
            assert_int_equal(b.post[k], k);
            assert_int_equal(b.rows[k], a.rows[a.post[k]]);
            assert_int_equal(b.parent[k] < 0 ? -1 : a.post[b.parent[k]], up);
        }
        rbt_elimination_free(&a);
        rbt_elimination_free(&b);
        rbt_node_graph_free(&g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_those_of_elimination),
        cmocka_unit_test(postorders_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
