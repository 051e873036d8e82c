#include "../support/cube.h"
#include "mesh/query/embed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

// A bent and shaken box, so that nothing lies on a grid.
static rbt_mesh *crooked(int n) {
    rbt_mesh *mesh = cube_new(n, n, n, 1, 1, 1);
    for (size_t i = 0; i < mesh->node_count; i++) {
        double *x = mesh->nodes + 3 * i;
        for (int k = 0; k < 3; k++) x[k] += 0.2 / n * (unit() - 0.5);
        x[1] += 0.3 * x[0] * x[0];
    }
    return mesh;
}

static void fill_points(double *points, size_t count, double from, double to) {
    for (size_t i = 0; i < 3 * count; i++) points[i] = uniform(from, to);
}

static void affine_maps_are_followed(void **state) {
    (void)state;
    enum { N = 2000 };
    rbt_mesh *mesh = crooked(4);
    double *points = malloc(3 * N * sizeof *points), *moved = malloc(3 * N * sizeof *moved);
    fill_points(points, N, -0.2, 1.4);
    rbt_embedding e;
    rbt_error error;
    assert_true(rbt_embed(mesh->nodes, mesh->node_count, mesh->tets, mesh->tet_count, points, N, &e, &error));
    assert_int_equal(e.vertex_count, N);
    assert_true(e.outside_count > N / 4 && e.outside_count < N);
    for (size_t i = 0; i < N; i++) {
        const double *w = e.weights + 4 * i;
        assert_true(fabs(w[0] + w[1] + w[2] + w[3] - 1) < 1e-13);
    }
    const double A[3][3] = {{1.3, 0.4, -0.2}, {-0.7, 0.9, 0.5}, {0.1, -0.3, 2.0}}, b[3] = {3, -1, 0.5};
    double *x = malloc(3 * mesh->node_count * sizeof *x), worst = 0;
    for (size_t i = 0; i < mesh->node_count; i++)
        for (int r = 0; r < 3; r++) {
            x[3 * i + (size_t)r] = b[r];
            for (int c = 0; c < 3; c++) x[3 * i + (size_t)r] += A[r][c] * mesh->nodes[3 * i + (size_t)c];
        }
    rbt_embedding_apply(&e, mesh->tets, x, moved);
    for (size_t i = 0; i < N; i++)
        for (int r = 0; r < 3; r++) {
            double expected = b[r];
            for (int c = 0; c < 3; c++) expected += A[r][c] * points[3 * i + (size_t)c];
            worst = fmax(worst, fabs(moved[3 * i + (size_t)r] - expected));
        }
    printf("affine map: largest error %.1e\n", worst);
    assert_true(worst < 1e-12);
    rbt_embedding_free(&e);
    assert_null(e.tet);
    free(x);
    free(points);
    free(moved);
    rbt_mesh_free(mesh);
}

// Distance from p to a tet, found by projecting onto the convex combinations step by step (Gilbert's method with
// exact line search): slow, but it shares nothing with what is tested.
static double distance_to_tet(const rbt_mesh *mesh, size_t t, const double *p) {
    const int32_t *tet = mesh->tets + 4 * t;
    double y[3];
    memcpy(y, mesh->nodes + 3 * tet[0], sizeof y);
    double w[4] = {1, 0, 0, 0};
    for (int step = 0; step < 4000; step++) {
        // Move weight from the worst corner that has some to the best one.
        int best = 0, worst = -1;
        double low = INFINITY, high = -INFINITY;
        for (int a = 0; a < 4; a++) {
            double slope = 0;
            for (int k = 0; k < 3; k++) slope += (y[k] - p[k]) * mesh->nodes[3 * tet[a] + k];
            if (slope < low) low = slope, best = a;
            if (w[a] > 0 && slope > high) high = slope, worst = a;
        }
        if (high - low < 1e-15) break;
        double square = 0, along[3];
        for (int k = 0; k < 3; k++) {
            along[k] = mesh->nodes[3 * tet[best] + k] - mesh->nodes[3 * tet[worst] + k];
            square += along[k] * along[k];
        }
        double s = fmin((high - low) / square, w[worst]);
        w[best] += s;
        w[worst] -= s;
        for (int k = 0; k < 3; k++) y[k] += s * along[k];
    }
    return sqrt((y[0] - p[0]) * (y[0] - p[0]) + (y[1] - p[1]) * (y[1] - p[1]) + (y[2] - p[2]) * (y[2] - p[2]));
}

static void the_tet_is_the_nearest_one(void **state) {
    (void)state;
    enum { N = 60 };
    rbt_mesh *mesh = crooked(2);
    double points[3 * N];
    fill_points(points, N / 2, -0.5, 1.8);
    fill_points(points + 3 * (N / 2), N / 2, 0.1, 0.9);  // inside
    rbt_embedding e;
    assert_true(rbt_embed(mesh->nodes, mesh->node_count, mesh->tets, mesh->tet_count, points, N, &e, NULL));
    size_t outside = 0;
    double farthest = 0;
    for (size_t i = 0; i < N; i++) {
        double nearest = INFINITY;
        for (size_t t = 0; t < mesh->tet_count; t++)
            nearest = fmin(nearest, distance_to_tet(mesh, t, points + 3 * i));
        double found = distance_to_tet(mesh, (size_t)e.tet[i], points + 3 * i);
        assert_true(found <= nearest + 1e-6);
        const double *w = e.weights + 4 * i;
        bool inside = fmin(fmin(w[0], w[1]), fmin(w[2], w[3])) >= -1e-12;
        assert_true(inside == (nearest < 1e-6));
        outside += !inside;
        farthest = fmax(farthest, nearest);
    }
    assert_int_equal(e.outside_count, outside);
    assert_true(outside > 10 && outside < N);  // of the first half 11 of 12 on average
    assert_true(fabs(e.farthest - farthest) < 1e-6);
    rbt_embedding_free(&e);
    rbt_mesh_free(mesh);
}

static void nodes_are_inside(void **state) {
    (void)state;
    rbt_mesh *mesh = crooked(5);
    rbt_embedding e;
    assert_true(rbt_embed(mesh->nodes, mesh->node_count, mesh->tets, mesh->tet_count, mesh->nodes, mesh->node_count,
                          &e, NULL));
    assert_int_equal(e.outside_count, 0);
    assert_true(e.farthest == 0);
    rbt_embedding_free(&e);
    rbt_mesh_free(mesh);
}

static void flat_tets_carry_nothing(void **state) {
    (void)state;
    rbt_mesh *mesh = cube_new(1, 1, 1, 1, 1, 1);
    const int32_t flat[] = {0, 1, 2, 3};
    memcpy(mesh->tets, flat, sizeof flat);
    const double below[] = {0.5, 0.5, -0.25};
    rbt_embedding e;
    assert_true(rbt_embed(mesh->nodes, 8, mesh->tets, 6, below, 1, &e, NULL));
    assert_true(e.tet[0] > 0);
    assert_true(fabs(e.farthest - 0.25) < 1e-12);
    rbt_embedding_free(&e);

    rbt_error error;
    assert_false(rbt_embed(mesh->nodes, 8, mesh->tets, 1, below, 1, &e, &error));
    assert_string_equal(error.message, "none of the 1 tets has a volume, so none can carry a surface");
    const double wrong[] = {0, 0, 0, 0, NAN, 0};
    assert_false(rbt_embed(mesh->nodes, 8, mesh->tets, 6, wrong, 2, &e, &error));
    assert_string_equal(error.message, "surface vertex 1 has the y coordinate nan, which is not a finite number");
    assert_null(e.tet);
    rbt_mesh_free(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(affine_maps_are_followed),
        cmocka_unit_test(the_tet_is_the_nearest_one),
        cmocka_unit_test(nodes_are_inside),
        cmocka_unit_test(flat_tets_carry_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
