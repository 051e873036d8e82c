#include "../support/cube.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static rbt_mesh_report judge(const rbt_mesh *mesh) {
    rbt_mesh_report report;
    rbt_error error;
    if (!rbt_mesh_diagnose(mesh, &report, &error)) fail_msg("%s", error.message);
    return report;
}

static void assert_near(double a, double b) {
    if (!(fabs(a - b) <= 1e-12 * fmax(1, fabs(b)))) fail_msg("%.17g is not %.17g", a, b);
}

static void a_good_box(void **state) {
    (void)state;
    rbt_mesh *mesh = cube_new(2, 3, 4, 1, 2, 3);
    rbt_mesh_report r = judge(mesh);
    assert_near(r.volume, 6);
    assert_near(r.area, 22);
    for (int k = 0; k < 3; k++) {
        assert_near(r.box_min[k], 0);
        assert_near(r.box_max[k], k + 1);
    }
    assert_int_equal(r.component_count, 1);
    assert_int_equal(r.surface_triangle_count, 4 * (2 * 3 + 3 * 4 + 4 * 2));
    assert_int_equal(r.inverted_count + r.degenerate_count + r.duplicate_count + r.isolated_count, 0);
    assert_int_equal(r.not_finite_count + r.non_manifold_edge_count + r.open_edge_count, 0);
    assert_true(r.first_inverted == -1 && r.first_degenerate == -1 && r.first_duplicate == -1);
    assert_true(r.first_isolated == -1 && r.first_not_finite == -1);
    size_t sum = 0;
    for (int b = 0; b < RBT_HISTOGRAM_BINS; b++) sum += r.quality_histogram[b];
    assert_int_equal(sum, mesh->tet_count);
    rbt_mesh_free(mesh);
}

static void quality_is_one_for_a_regular_tet(void **state) {
    (void)state;
    rbt_mesh *mesh = cube_new(1, 1, 1, 1, 1, 1);
    const double regular[] = {1, 1, 1, -1, 1, -1, 1, -1, -1, -1, -1, 1};
    memcpy(mesh->nodes, regular, sizeof regular);
    for (int i = 0; i < 4; i++) mesh->tets[i] = i;
    mesh->tet_count = 1;
    rbt_mesh_report r = judge(mesh);
    assert_near(r.volume, 8.0 / 3);
    assert_near(r.quality_min, 1);
    assert_near(r.quality_mean, 1);
    assert_int_equal(r.worst_tet, 0);
    assert_int_equal(r.quality_histogram[RBT_HISTOGRAM_BINS - 1], 1);
    assert_int_equal(r.isolated_count, 4);
    assert_int_equal(r.first_isolated, 4);
    rbt_mesh_free(mesh);
}

static void inverted_flat_and_repeated_tets(void **state) {
    (void)state;
    rbt_mesh *mesh = cube_new(2, 2, 2, 1e-3, 1e-3, 1e-3);  // small: the verdicts must not depend on the scale
    int32_t *t = mesh->tets, spare = t[4 * 5];
    t[4 * 5] = t[4 * 5 + 1];
    t[4 * 5 + 1] = spare;
    const int32_t flat[] = {0, 1, 3, 4};  // four corners of a square in the plane z = 0
    memcpy(t + 4 * 7, flat, sizeof flat);
    const int32_t again[] = {t[9], t[10], t[8], t[11]};  // of tet 2, turned
    memcpy(t + 4 * 20, again, sizeof again);
    const int32_t twice[] = {3, 3, 4, 9};
    memcpy(t + 4 * 30, twice, sizeof twice);
    rbt_mesh_report r = judge(mesh);
    assert_int_equal(r.inverted_count, 1);
    assert_int_equal(r.first_inverted, 5);
    assert_int_equal(r.degenerate_count, 2);
    assert_int_equal(r.first_degenerate, 7);
    assert_int_equal(r.duplicate_count, 1);
    assert_int_equal(r.first_duplicate, 20);
    assert_int_equal(r.worst_tet, 5);
    assert_true(r.quality_min < 0);
    rbt_mesh_free(mesh);
}

static void nodes_that_are_not_numbers(void **state) {
    (void)state;
    rbt_mesh *mesh = cube_new(1, 1, 1, 1, 1, 1);
    mesh->nodes[3 * 1 + 1] = NAN;  // in two of the six tets
    mesh->nodes[3 * 2] = INFINITY;
    rbt_mesh_report r = judge(mesh);
    assert_int_equal(r.not_finite_count, 2);
    assert_int_equal(r.first_not_finite, 1);
    assert_near(r.volume, 2.0 / 6);
    assert_near(r.box_max[0], 1);
    assert_int_equal(r.degenerate_count, 0);
    assert_true(isfinite(r.quality_mean) && isfinite(r.area));
    rbt_mesh_free(mesh);
}

static void two_tets_that_share_an_edge_only(void **state) {
    (void)state;
    rbt_mesh *mesh = rbt_mesh_new(NULL);
    assert_true(rbt_mesh_allocate(mesh, 10, 3, 0, 0, NULL));
    const double nodes[] = {0, 0,  0, 0, 0, 1, 1, 0, 0, 0, 1, 0, -1, 0, 0,
                            0, -1, 0, 9, 0, 0, 9, 1, 0, 8, 0, 0, 9,  0, 1};
    const int32_t tets[] = {0, 2, 3, 1, 0, 4, 5, 1, 6, 7, 8, 9};
    memcpy(mesh->nodes, nodes, sizeof nodes);
    memcpy(mesh->tets, tets, sizeof tets);
    rbt_mesh_report r = judge(mesh);
    assert_int_equal(r.inverted_count, 0);
    assert_int_equal(r.component_count, 2);
    assert_int_equal(r.non_manifold_edge_count, 1);
    assert_int_equal(r.open_edge_count, 0);
    assert_int_equal(r.surface_triangle_count, 12);
    rbt_mesh_free(mesh);
}

static void a_surface_without_tets(void **state) {
    (void)state;
    rbt_mesh *mesh = rbt_mesh_new(NULL);
    assert_true(rbt_mesh_allocate(mesh, 7, 0, 5, 0, NULL));
    const double nodes[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5, 0, 1, 0.5, 0, 0, 7, 7, 7};
    const int32_t triangles[] = {0, 1, 2, 0, 2, 3, 0, 2, 4, 3, 0, 2, 0, 5, 1};
    memcpy(mesh->nodes, nodes, sizeof nodes);
    memcpy(mesh->triangles, triangles, sizeof triangles);
    rbt_mesh_report r = judge(mesh);
    assert_int_equal(r.component_count, 1);
    assert_int_equal(r.surface_triangle_count, 5);
    assert_int_equal(r.degenerate_count, 1);
    assert_int_equal(r.first_degenerate, 4);
    assert_int_equal(r.duplicate_count, 1);
    assert_int_equal(r.first_duplicate, 3);
    assert_int_equal(r.isolated_count, 1);
    assert_int_equal(r.first_isolated, 6);
    assert_int_equal(r.non_manifold_edge_count, 1);
    assert_int_equal(r.open_edge_count, 5);
    assert_int_equal(r.worst_tet, -1);
    rbt_mesh_free(mesh);
}

static void points_and_nothing_at_all(void **state) {
    (void)state;
    rbt_mesh *mesh = rbt_mesh_new(NULL);
    rbt_mesh_report r = judge(mesh);
    assert_int_equal(r.component_count, 0);
    assert_true(rbt_mesh_allocate(mesh, 3, 0, 0, 0, NULL));
    r = judge(mesh);
    assert_int_equal(r.isolated_count, 0);
    assert_int_equal(r.surface_triangle_count, 0);
    rbt_mesh_free(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_box),
        cmocka_unit_test(quality_is_one_for_a_regular_tet),
        cmocka_unit_test(inverted_flat_and_repeated_tets),
        cmocka_unit_test(nodes_that_are_not_numbers),
        cmocka_unit_test(two_tets_that_share_an_edge_only),
        cmocka_unit_test(a_surface_without_tets),
        cmocka_unit_test(points_and_nothing_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
