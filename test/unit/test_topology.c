#include "../support/cube.h"
#include "mesh/core/topology.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static const double *at(const rbt_mesh *mesh, int32_t node) { return mesh->nodes + 3 * node; }

// A sixth of det(a, b, c): summed over a closed surface that looks outwards it gives the volume.
static double signed_volume(const double *a, const double *b, const double *c) {
    return (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
            a[2] * (b[0] * c[1] - b[1] * c[0])) /
           6;
}

static void one_tet_has_four_faces_outwards(void **state) {
    (void)state;
    int32_t tet[] = {0, 1, 2, 3};
    const double nodes[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int32_t *triangles, *owner;
    size_t count;
    rbt_error error;
    assert_true(rbt_boundary(tet, 1, 4, &triangles, &owner, &count, &error));
    assert_int_equal(count, 4);
    double volume = 0;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(owner[i], 0);
        const int32_t *t = triangles + 3 * i;
        assert_int_equal(t[0] + t[1] + t[2], 6 - (int)i);  // face i lies opposite to corner i
        volume += signed_volume(nodes[t[0]], nodes[t[1]], nodes[t[2]]);
    }
    assert_true(volume > 0.16 && volume < 0.17);
    free(triangles);
    free(owner);
}

static void surface_of_a_box(void **state) {
    (void)state;
    rbt_mesh *mesh = cube_new(3, 4, 5, 3, 4, 5);
    int32_t *triangles, *owner;
    size_t count;
    assert_true(rbt_boundary(mesh->tets, mesh->tet_count, mesh->node_count, &triangles, &owner, &count, NULL));
    assert_int_equal(count, 2 * 2 * (3 * 4 + 4 * 5 + 5 * 3));
    double volume = 0;
    for (size_t i = 0; i < count; i++) {
        const int32_t *t = triangles + 3 * i;
        volume += signed_volume(at(mesh, t[0]), at(mesh, t[1]), at(mesh, t[2]));
        if (i) assert_true(owner[i - 1] <= owner[i]);
        for (int k = 0; k < 3; k++) {
            const int32_t *tet = mesh->tets + 4 * owner[i];
            assert_true(tet[0] == t[k] || tet[1] == t[k] || tet[2] == t[k] || tet[3] == t[k]);
        }
    }
    assert_true(volume > 60 - 1e-9 && volume < 60 + 1e-9);
    free(triangles);
    free(owner);
    rbt_mesh_free(mesh);
}

static void empty_and_flat_input(void **state) {
    (void)state;
    int32_t *triangles;
    size_t count;
    assert_true(rbt_boundary(NULL, 0, 0, &triangles, NULL, &count, NULL));
    assert_int_equal(count, 0);
    free(triangles);
    int32_t flat[] = {0, 0, 1, 2};  // both of its real faces are the same; the others are no triangles
    assert_true(rbt_boundary(flat, 1, 3, &triangles, NULL, &count, NULL));
    assert_int_equal(count, 0);
    free(triangles);
}

static void sides_with_the_same_nodes(void **state) {
    (void)state;
    int32_t tets[] = {0, 1, 2, 3, 1, 2, 3, 4, 3, 2, 1, 0, 4, 4, 2, 1, 2, 0, 3, 1};
    uint32_t first[5];
    assert_true(rbt_match_sides(tets, 5, &RBT_TETS_THEMSELVES, 5, first, NULL));
    const uint32_t expected[] = {0, 1, 0, RBT_NO_SIDE, 0};
    assert_memory_equal(first, expected, sizeof expected);

    int32_t triangles[] = {0, 1, 2, 2, 1, 3, 1, 2, 4};
    uint32_t edges[9];
    assert_true(rbt_match_sides(triangles, 3, &RBT_EDGES_OF_TRIANGLES, 5, edges, NULL));
    const uint32_t edge[] = {0, 1, 2, 1, 4, 5, 1, 7, 8};  // 1-2 occurs three times
    assert_memory_equal(edges, edge, sizeof edge);
}

// A fan around one node: its bucket is far larger than what the simple sort takes.
static void a_node_with_many_sides(void **state) {
    (void)state;
    enum { N = 500 };
    int32_t *tets = malloc(sizeof(int32_t) * 4 * N), *triangles;
    for (int i = 0; i < N; i++) {
        int32_t tet[] = {0, 1, 2 + i, 2 + (i + 1) % N};
        memcpy(tets + 4 * (N - 1 - i), tet, sizeof tet);
    }
    size_t count;
    assert_true(rbt_boundary(tets, N, N + 2, &triangles, NULL, &count, NULL));
    assert_int_equal(count, 2 * N);
    free(triangles);
    free(tets);
}

static void rows_of_elements_and_nodes(void **state) {
    (void)state;
    int32_t triangles[] = {0, 1, 2, 2, 1, 3, 3, 3, 5};
    rbt_rows rows;
    assert_true(rbt_elements_of_nodes(triangles, 3, 3, 6, &rows, NULL));
    const size_t start[] = {0, 1, 3, 5, 7, 7, 8};
    const int32_t items[] = {0, 0, 1, 0, 1, 1, 2, 2};
    assert_int_equal(rows.row_count, 6);
    assert_memory_equal(rows.start, start, sizeof start);
    assert_memory_equal(rows.items, items, sizeof items);
    rbt_rows_free(&rows);

    assert_true(rbt_nodes_of_nodes(triangles, 3, 3, 6, &rows, NULL));
    const size_t node_start[] = {0, 3, 7, 11, 15, 16, 18};
    const int32_t nodes[] = {0, 1, 2, 0, 1, 2, 3, 0, 1, 2, 3, 1, 2, 3, 5, 4, 3, 5};
    assert_memory_equal(rows.start, node_start, sizeof node_start);
    assert_memory_equal(rows.items, nodes, sizeof nodes);
    rbt_rows_free(&rows);
}

static void connected_parts(void **state) {
    (void)state;
    int32_t edges[] = {5, 6, 0, 3, 3, 2, 6, 8, 4, 4};
    int32_t part[9];
    size_t count;
    assert_true(rbt_components(edges, 5, 2, 9, part, &count, NULL));
    const int32_t expected[] = {0, -1, 0, 0, 1, 2, 2, -1, 2};
    assert_int_equal(count, 3);
    assert_memory_equal(part, expected, sizeof expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_tet_has_four_faces_outwards),
        cmocka_unit_test(surface_of_a_box),
        cmocka_unit_test(empty_and_flat_input),
        cmocka_unit_test(sides_with_the_same_nodes),
        cmocka_unit_test(a_node_with_many_sides),
        cmocka_unit_test(rows_of_elements_and_nodes),
        cmocka_unit_test(connected_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
