// Intersections of meshes: configurations whose intersections are known, neighbours that are none, and random soups of
// triangles against all pairs by themselves.
#include "base/threads.h"
#include "math/exact_round.h"
#include "math/vec3.h"
#include "mesh/core/topology.h"
#include "mesh/generate/generate.h"
#include "rubato/mesh.h"
#include "verify/exact/intersect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"
#include "sampled.h"

typedef struct scene {
    size_t node_count, triangle_count, edge_count;
    double *x;
    int32_t *triangles, *edges;
} scene;

// Adds a mesh (its triangles, or the surface of its tets), scaled and moved.
static void add_mesh(scene *s, const rbt_mesh *mesh, double scale, const double shift[3]) {
    int32_t *surface = NULL;
    size_t count = mesh->triangle_count, base = s->node_count;
    rbt_error error;
    if (mesh->tet_count)
        assert_true(rbt_boundary(mesh->tets, mesh->tet_count, mesh->node_count, &surface, NULL, &count, &error));
    const int32_t *triangles = surface ? surface : mesh->triangles;
    s->x = realloc(s->x, (base + mesh->node_count) * 3 * sizeof *s->x);
    s->triangles = realloc(s->triangles, (s->triangle_count + count) * 3 * sizeof *s->triangles);
    for (size_t i = 0; i < 3 * mesh->node_count; i++) s->x[3 * base + i] = scale * mesh->nodes[i] + shift[i % 3];
    for (size_t i = 0; i < 3 * count; i++) s->triangles[3 * s->triangle_count + i] = triangles[i] + (int32_t)base;
    s->node_count += mesh->node_count;
    s->triangle_count += count;
    free(surface);
}

static void scene_free(scene *s) {
    free(s->x);
    free(s->triangles);
    free(s->edges);
}

static rbt_intersect_mesh build(const scene *s) {
    rbt_intersect_mesh mesh;
    rbt_error error = {0};
    bool good = rbt_intersect_mesh_build(&mesh, s->triangles, s->triangle_count, s->edges, s->edge_count,
                                         s->node_count, &error);
    if (!good) fail_msg("%s", error.message);
    return mesh;
}

static rbt_intersections in_state(const scene *s, const double *x) {
    rbt_intersect_mesh mesh = build(s);
    rbt_intersections found;
    rbt_error error = {0};
    if (!rbt_intersect_state(&mesh, x, 10, &found, &error)) fail_msg("%s", error.message);
    rbt_intersect_mesh_free(&mesh);
    return found;
}

static rbt_intersections on_the_way(const scene *s, const double *x0, const double *x1) {
    rbt_intersect_mesh mesh = build(s);
    rbt_intersections found;
    rbt_error error = {0};
    if (!rbt_intersect_motion(&mesh, x0, x1, 10, &found, &error)) fail_msg("%s", error.message);
    rbt_intersect_mesh_free(&mesh);
    return found;
}

static size_t count_state(const scene *s, const double *x) {
    rbt_intersections found = in_state(s, x);
    size_t count = found.count;
    rbt_intersections_free(&found);
    return count;
}

static size_t count_motion(const scene *s, const double *x0, const double *x1) {
    rbt_intersections found = on_the_way(s, x0, x1);
    size_t count = found.count;
    rbt_intersections_free(&found);
    return count;
}

static double *moved(const scene *s, size_t first_node, const double shift[3]) {
    double *x = malloc(3 * s->node_count * sizeof *x);
    for (size_t i = 0; i < 3 * s->node_count; i++) x[i] = s->x[i] + (i / 3 >= first_node ? shift[i % 3] : 0);
    return x;
}

static rbt_mesh *generate(const char *shape, const void *parameters) {
    rbt_error error = {0};
    rbt_mesh *mesh = rbt_shape_generate(shape, parameters, &error);
    if (!mesh) fail_msg("%s", error.message);
    return mesh;
}

static rbt_mesh *cloth(int cells) { return generate("cloth", &(rbt_sheet_shape){1, 1, cells, cells}); }

static rbt_mesh *ball(int layers) { return generate("ball", &(rbt_ball_shape){0.5, layers}); }

// ---- States

static void test_one_triangle_through_another(void **state) {
    (void)state;
    double x[18] = {0, 0, 0, 4, 0, 0, 0, 4, 0, /**/ 1, 1, -1, 1, 1, 3, 9, 9, 1};
    int32_t triangles[6] = {0, 1, 2, 3, 4, 5};
    scene s = {6, 2, 0, x, triangles, NULL};
    // 3 4 goes through the first, and the first's side 1 2 through the second.
    rbt_intersections found = in_state(&s, x);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.touching, 0);
    for (int n = 0; n < 2; n++) {
        const rbt_intersection *i = &found.kept_items[n];
        assert_int_equal(i->kind, RBT_EDGE_IN_TRIANGLE);
        assert_int_equal(i->nodes[0] + i->nodes[1], n == 0 ? 3 : 7);
        assert_int_equal(i->nodes[2], n == 0 ? 3 : 0);
        assert_true(fabs(i->place[0] - 2 + n) + fabs(i->place[1] - 2 + n) + fabs(i->place[2]) < 1e-12);
    }
    rbt_intersections_free(&found);
    x[11] = 0x1p-1074;  // the lowest corner is above by the least number there is
    assert_int_equal(count_state(&s, x), 0);
    x[11] = 0;
    found = in_state(&s, x);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.touching, 2);
    rbt_intersections_free(&found);
}

static void test_neighbours_are_no_intersection(void **state) {
    (void)state;
    rbt_mesh *flat = cloth(24);
    scene s = {0};
    add_mesh(&s, flat, 1, (double[3]){0, 0, 0});
    assert_int_equal(count_state(&s, s.x), 0);
    const double axis[3] = {0.6, 0, 0.8}, origin[3] = {0, 0, 0};
    double *turned = malloc(3 * s.node_count * sizeof *turned);  // no longer on a grid: flat up to rounding
    for (size_t i = 0; i < s.node_count; i++) rbt_rotate(s.x + 3 * i, origin, axis, 0.7, turned + 3 * i);
    assert_int_equal(count_state(&s, turned), 0);
    assert_int_equal(count_motion(&s, s.x, turned), 0);
    free(turned);
    scene_free(&s);
    rbt_mesh_free(flat);
    rbt_mesh *solid = ball(6);
    scene round = {0};
    add_mesh(&round, solid, 1, (double[3]){0, 0, 0});
    assert_int_equal(count_state(&round, round.x), 0);
    scene_free(&round);
    rbt_mesh_free(solid);
}

// Two triangles with a common side: open, nearly closed, and folded onto each other.
static void test_a_fold(void **state) {
    (void)state;
    double x[12] = {0, 0, 0, 1, 0, 0, 0.25, 1, 0, 0.25, -1, 0};
    int32_t triangles[6] = {0, 1, 2, 1, 0, 3};
    scene s = {4, 2, 0, x, triangles, NULL};
    assert_int_equal(count_state(&s, x), 0);
    x[10] = 1;
    x[11] = 0x1p-1074;
    assert_int_equal(count_state(&s, x), 0);
    x[11] = 0;
    rbt_intersections found = in_state(&s, x);  // each one's two free sides lie on the other
    assert_int_equal(found.count, 4);
    assert_int_equal(found.touching, 4);
    rbt_intersections_free(&found);
}

static void test_stacked_and_overlapping_balls(void **state) {
    (void)state;
    rbt_mesh *solid = ball(5);
    scene s = {0};
    add_mesh(&s, solid, 1, (double[3]){0, 0, 0});
    add_mesh(&s, solid, 1, (double[3]){1.01, 0, 0});
    assert_int_equal(count_state(&s, s.x), 0);
    double *near = moved(&s, s.node_count / 2, (double[3]){-0.1, 0, 0});
    rbt_intersections found = in_state(&s, near);
    assert_true(found.count > 10);
    for (size_t i = 0; i < found.kept; i++) {
        bool first = found.kept_items[i].nodes[0] < (int32_t)s.node_count / 2;
        assert_true(first != (found.kept_items[i].nodes[2] < (int32_t)s.node_count / 2));
        assert_true(fabs(found.kept_items[i].place[0] - 0.455) < 0.1);
    }
    rbt_intersections_free(&found);
    double *inside = moved(&s, 0, (double[3]){0, 0, 0});  // the same place: everything touches
    memcpy(inside + 3 * s.node_count / 2, inside, 3 * s.node_count / 2 * sizeof *inside);
    found = in_state(&s, inside);
    assert_true(found.touching == found.count && found.count > s.triangle_count);
    rbt_intersections_free(&found);
    free(near);
    free(inside);
    scene_free(&s);
    rbt_mesh_free(solid);
}

static void test_springs_may_cross_each_other_only(void **state) {
    (void)state;
    double x[21] = {0, 0, 0, 4, 0, 0, 0, 4, 0, /**/ 1, 1, -1, 1, 1, 1, /**/ 0.5, 1, 0.5, 2, 1, 0.5};
    int32_t triangles[3] = {0, 1, 2}, edges[4] = {3, 4, 5, 6};
    scene s = {7, 1, 2, x, triangles, edges};
    assert_int_equal(count_state(&s, x), 1);
    x[11] = 0.25;
    assert_int_equal(count_state(&s, x), 0);
    double *down = moved(&s, 5, (double[3]){0, 0, -1});
    assert_int_equal(count_motion(&s, x, down), 2);  // both ends of the second one fall through
    free(down);
}

static void test_positions_that_are_none(void **state) {
    (void)state;
    double x[9] = {0, 0, 0, 1, 0, 0, 0, NAN, 0}, good[9] = {0};
    int32_t triangles[3] = {0, 1, 2}, wrong[3] = {0, 1, 3};
    scene s = {3, 1, 0, x, triangles, NULL};
    rbt_intersect_mesh mesh = build(&s);
    rbt_intersections found;
    rbt_error error = {0};
    assert_false(rbt_intersect_state(&mesh, x, 1, &found, &error));
    assert_non_null(strstr(error.message, "node 2 is at (0, nan, 0)"));
    assert_false(rbt_intersect_motion(&mesh, good, x, 1, &found, &error));
    x[7] = INFINITY;
    assert_false(rbt_intersect_state(&mesh, x, 1, &found, &error));
    rbt_intersect_mesh_free(&mesh);
    assert_false(rbt_intersect_mesh_build(&mesh, wrong, 1, NULL, 0, 3, &error));
    assert_non_null(strstr(error.message, "node 3"));
    scene none = {0};
    assert_int_equal(count_state(&none, NULL), 0);
    assert_int_equal(count_motion(&none, NULL, NULL), 0);
}

// ---- Motion

static void test_through_between_clean_states(void **state) {
    (void)state;
    rbt_mesh *flat = cloth(8), *solid = ball(3);
    scene s = {0};
    add_mesh(&s, flat, 1, (double[3]){0, 0, 0});
    size_t first = s.node_count;
    add_mesh(&s, solid, 0.2, (double[3]){0.013, 0.4, 0.021});
    double *below = moved(&s, first, (double[3]){0, -0.8, 0}), *beside = moved(&s, first, (double[3]){2, -0.8, 0});
    double *far = moved(&s, first, (double[3]){3, 0, 0});
    assert_int_equal(count_state(&s, s.x), 0);
    assert_int_equal(count_state(&s, below), 0);
    rbt_intersections found = on_the_way(&s, s.x, below);
    assert_true(found.count > 20);
    for (size_t i = 0; i < found.kept; i++) {
        assert_true(found.kept_items[i].when > 0.3 && found.kept_items[i].when < 0.7);
        assert_true(fabs(found.kept_items[i].place[1]) < 1e-6);
    }
    rbt_intersections_free(&found);
    assert_int_equal(count_motion(&s, s.x, far), 0);
    assert_int_equal(count_motion(&s, far, beside), 0);
    free(below);
    free(beside);
    free(far);
    scene_free(&s);
    rbt_mesh_free(flat);
    rbt_mesh_free(solid);
}

// Both move far and fast together: nothing happens, and little is looked at.
static void test_fast_motion_is_cheap(void **state) {
    (void)state;
    rbt_mesh *solid = ball(4);
    scene s = {0};
    add_mesh(&s, solid, 1, (double[3]){0, 0, 0});
    add_mesh(&s, solid, 1, (double[3]){1.01, 0, 0});
    double *together = moved(&s, 0, (double[3]){100, 50, 70});
    double *apart = moved(&s, s.node_count / 2, (double[3]){10, 5, 7});
    rbt_intersections found = on_the_way(&s, s.x, together);
    assert_int_equal(found.count, 0);
    assert_true(found.tested < 40 * s.triangle_count);
    rbt_intersections_free(&found);
    found = on_the_way(&s, s.x, apart);
    assert_int_equal(found.count, 0);
    assert_true(found.exact < s.triangle_count / 10);
    rbt_intersections_free(&found);
    free(together);
    free(apart);
    scene_free(&s);
    rbt_mesh_free(solid);
}

// ---- All pairs

typedef struct soup {
    double x[2][90];
    int32_t triangles[60];
} soup;

static scene make_soup(soup *p, bool grid) {
    for (int i = 0; i < 90; i++) {
        p->x[0][i] = grid ? (double)(draw() % 8) : unit();
        p->x[1][i] = grid ? (double)(draw() % 8) : p->x[0][i] + 0.3 * (unit() - 0.5);
    }
    for (int t = 0; t < 20; t++) do
            for (int c = 0; c < 3; c++) p->triangles[3 * t + c] = (int32_t)(draw() % 30);
        while (p->triangles[3 * t] == p->triangles[3 * t + 1] || p->triangles[3 * t + 1] == p->triangles[3 * t + 2] ||
               p->triangles[3 * t + 2] == p->triangles[3 * t]);
    return (scene){30, 20, 0, p->x[0], p->triangles, NULL};
}

static size_t all_in_state(const rbt_intersect_mesh *m, const double *x) {
    size_t count = 0;
    for (size_t e = 0; e < m->edge_count; e++)
        for (size_t t = 0; t < m->triangle_count; t++) {
            const int32_t *edge = m->edges + 2 * e, *n = m->triangles + 3 * t;
            const double *p = x + 3 * edge[0], *q = x + 3 * edge[1], *a = x + 3 * n[0], *b = x + 3 * n[1],
                         *c = x + 3 * n[2];
            bool has_p = edge[0] == n[0] || edge[0] == n[1] || edge[0] == n[2];
            bool has_q = edge[1] == n[0] || edge[1] == n[1] || edge[1] == n[2];
            if (has_p && has_q) continue;
            const double *other = has_p ? q : p;
            if (!has_p && !has_q) count += rbt_segment_meets_triangle(p, q, a, b, c) != RBT_APART;
            else if (edge[has_q] == n[0]) count += rbt_corner_segment_overlaps(other, a, b, c);
            else if (edge[has_q] == n[1]) count += rbt_corner_segment_overlaps(other, b, c, a);
            else count += rbt_corner_segment_overlaps(other, c, a, b);
        }
    return count;
}

static bool pair_meets(const double *x0, const double *x1, const int32_t nodes[4], rbt_pair_kind kind) {
    rbt_paths paths;
    double when;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            if (nodes[i] == nodes[j] && (kind == RBT_EDGE_EDGE || j == 0)) return false;
    for (int i = 0; i < 12; i++) {
        paths.from[i / 3][i % 3] = x0[3 * nodes[i / 3] + i % 3];
        paths.to[i / 3][i % 3] = x1[3 * nodes[i / 3] + i % 3];
    }
    return rbt_paths_meet(&paths, kind, &when);
}

static size_t all_on_the_way(const rbt_intersect_mesh *m, const double *x0, const double *x1) {
    size_t count = 0;
    for (size_t v = 0; v < m->vertex_count; v++)
        for (size_t t = 0; t < m->triangle_count; t++) {
            const int32_t *n = m->triangles + 3 * t;
            count += pair_meets(x0, x1, (int32_t[4]){m->vertices[v], n[0], n[1], n[2]}, RBT_VERTEX_TRIANGLE);
        }
    for (size_t e = 0; e < m->edge_count; e++)
        for (size_t o = e + 1; o < m->edge_count; o++) {
            const int32_t *a = m->edges + 2 * e, *b = m->edges + 2 * o;
            count += pair_meets(x0, x1, (int32_t[4]){a[0], a[1], b[0], b[1]}, RBT_EDGE_EDGE);
        }
    return count;
}

static void test_soups_against_all_pairs(void **state) {
    (void)state;
    size_t total = 0;
    for (int n = 0; n < SAMPLED(4, 2) || (n < 40 && total <= 1000); n++) {  // until enough are judged
        soup p;
        scene s = make_soup(&p, n % 2);
        rbt_intersect_mesh mesh = build(&s);
        size_t in = all_in_state(&mesh, p.x[0]), way = all_on_the_way(&mesh, p.x[0], p.x[1]);
        for (int threads = 1; threads <= 3; threads += 2) {
            rbt_threads_set(threads);
            assert_int_equal(count_state(&s, p.x[0]), in);
            assert_int_equal(count_motion(&s, p.x[0], p.x[1]), way);
        }
        total += in + way;
        rbt_intersect_mesh_free(&mesh);
    }
    assert_true(total > 1000);
}

// ---- What is round, planes, and obstacles

static size_t count_kind(const rbt_intersect_mesh *mesh, const double *x0, const double *x1,
                         rbt_intersection_kind kind) {
    rbt_intersections found;
    rbt_error error = {0};
    bool good = x1 ? rbt_intersect_motion(mesh, x0, x1, 1000, &found, &error)
                   : rbt_intersect_state(mesh, x0, 1000, &found, &error);
    if (!good) fail_msg("%s", error.message);
    size_t count = 0;
    for (size_t i = 0; i < found.kept; i++) count += found.kept_items[i].kind == kind;
    assert_int_equal(count, found.count);  // nothing of another kind
    rbt_intersections_free(&found);
    return count;
}

// A triangle, a spring and two balls of radius 0.5; an obstacle that is a ball of radius 1, and a plane
static void test_round_things_and_planes(void **state) {
    (void)state;
    const double far = 50;
    double x[27] = {0, 0,      0,   4, 0, 0, 0,   4,      0,    /**/ far, 0, 0,        far, 4,
                    0, /**/ 0, far, 0, 0, 0, far, /**/ 0, -far, 0,        0, -2 * far, 0};
    const int32_t triangle[3] = {0, 1, 2}, spring[2] = {3, 4};
    const rbt_round rounds[3] = {{{5, -1}, 0.5}, {{6, -1}, 0.5}, {{7, -1}, 1}};
    const rbt_half_space plane = {8, {0, 2, 0}};
    rbt_intersect_mesh mesh;
    rbt_error error = {0};
    assert_true(rbt_intersect_mesh_build(&mesh, triangle, 1, spring, 1, 9, &error));
    assert_true(rbt_intersect_mesh_add(&mesh, rounds, 3, &plane, 1, 7, &error));
    double y[27];
#define AT(node, a, b, c)                                                                                            \
    memcpy(y, x, sizeof y), y[3 * (node)] = (a), y[3 * (node) + 1] = (b), y[3 * (node) + 2] = (c)
    AT(5, 1, 1, 0.51);
    assert_int_equal(count_kind(&mesh, y, NULL, RBT_ROUND_AT_TRIANGLE), 0);
    AT(5, 1, 1, -0.49);
    assert_int_equal(count_kind(&mesh, y, NULL, RBT_ROUND_AT_TRIANGLE), 1);
    AT(5, -0.3, 4.3, 0);  // near a corner
    assert_int_equal(count_kind(&mesh, y, NULL, RBT_ROUND_AT_TRIANGLE), 1);
    AT(5, far, 2, 0.49);
    assert_int_equal(count_kind(&mesh, y, NULL, RBT_ROUND_AT_EDGE), 1);
    AT(5, 0, 0.99, far);
    assert_int_equal(count_kind(&mesh, y, NULL, RBT_ROUND_AT_ROUND), 1);
    AT(5, 0, 1.01, far);
    assert_int_equal(count_kind(&mesh, y, NULL, RBT_ROUND_AT_ROUND), 0);
    AT(5, 0, -2 * far + 0.5, 0);
    assert_int_equal(count_kind(&mesh, y, NULL, RBT_NODE_BEHIND_PLANE), 1);
    AT(5, 0, -2 * far + 0.51, 0);
    assert_int_equal(count_kind(&mesh, y, NULL, RBT_NODE_BEHIND_PLANE), 0);
    AT(4, far, -2 * far, 0);  // a node of the spring
    assert_int_equal(count_kind(&mesh, y, NULL, RBT_NODE_BEHIND_PLANE), 1);
    // The obstacles may be in each other, and what has not moved may be in them.
    AT(8, 0, 2 * far, 0);
    assert_int_equal(count_kind(&mesh, y, NULL, RBT_NODE_BEHIND_PLANE), 7);
    memset(mesh.still, 1, 9);
    assert_int_equal(count_kind(&mesh, y, NULL, RBT_NODE_BEHIND_PLANE), 0);
    mesh.still[1] = 0;
    assert_int_equal(count_kind(&mesh, y, NULL, RBT_NODE_BEHIND_PLANE), 1);
    mesh.still[8] = 0;
    assert_int_equal(count_kind(&mesh, y, NULL, RBT_NODE_BEHIND_PLANE), 7);
    // On ways: through the triangle, past its corner, into the other ball; the obstacle moves, or the triangle does.
    memset(mesh.still, 0, 9);
    double z[27];
    AT(5, 1, 1, 7), memcpy(z, y, sizeof z);
    AT(5, 1, 1, -9);
    assert_int_equal(count_kind(&mesh, z, y, RBT_ROUND_AT_TRIANGLE), 1);
    assert_int_equal(count_kind(&mesh, z, z, RBT_ROUND_AT_TRIANGLE), 0);
    AT(5, -0.51, -0.51, 7), memcpy(z, y, sizeof z);
    AT(5, -0.51, -0.51, -9);
    assert_int_equal(count_kind(&mesh, z, y, RBT_ROUND_AT_TRIANGLE), 0);
    AT(7, 1, 1, 7), memcpy(z, y, sizeof z);
    AT(7, 1, 1, -7);
    assert_int_equal(count_kind(&mesh, z, y, RBT_ROUND_AT_TRIANGLE), 1);
    AT(5, -3, 0.5, far), memcpy(z, y, sizeof z);
    AT(5, 3, 0.5, far);
    assert_int_equal(count_kind(&mesh, z, y, RBT_ROUND_AT_ROUND), 1);
#undef AT
    rbt_intersect_mesh_free(&mesh);
}

// Soups of balls and rods against all pairs by themselves
static void test_soup_of_round_things(void **state) {
    (void)state;
    enum { COUNT = 300 };
    static double x[6 * COUNT], y[6 * COUNT];
    static rbt_round rounds[COUNT];
    for (int i = 0; i < 6 * COUNT; i++) x[i] = 5 * unit(), y[i] = x[i] + unit() - 0.5;
    for (int i = 0; i < COUNT; i++) {
        rounds[i] = (rbt_round){{2 * i, i % 3 ? -1 : 2 * i + 1}, 0.3 * unit()};
        for (int k = 0; k < 3; k++)
            x[6 * i + 3 + k] = x[6 * i + k] + unit(), y[6 * i + 3 + k] = y[6 * i + k] + unit();
    }
    rbt_intersect_mesh mesh;
    rbt_error error = {0};
    assert_true(rbt_intersect_mesh_build(&mesh, NULL, 0, NULL, 0, 2 * COUNT, &error));
    assert_true(rbt_intersect_mesh_add(&mesh, rounds, COUNT, NULL, 0, 2 * COUNT, &error));
    size_t resting = 0, moving = 0;
    for (int i = 0; i < COUNT; i++)
        for (int j = i + 1; j < COUNT; j++) {
            rbt_round_pair pair = {
                {i % 3 ? 1 : 2, j % 3 ? 1 : 2}, .radius = rounds[i].radius, .other_radius = rounds[j].radius};
            for (int c = 0; c < pair.count[0] + pair.count[1]; c++) {
                int node = c < pair.count[0] ? 2 * i + c : 2 * j + c - pair.count[0];
                memcpy(pair.from[c], x + 3 * node, sizeof pair.from[c]);
                memcpy(pair.to[c], y + 3 * node, sizeof pair.to[c]);
            }
            double when;
            resting += rbt_round_meets(&pair) != RBT_APART;
            moving += rbt_round_paths_meet(&pair, &when);
        }
    assert_true(resting > 20 && moving > resting);
    assert_int_equal(count_kind(&mesh, x, NULL, RBT_ROUND_AT_ROUND), resting);
    assert_int_equal(count_kind(&mesh, x, y, RBT_ROUND_AT_ROUND), moving);
    rbt_intersect_mesh_free(&mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_triangle_through_another),
        cmocka_unit_test(test_neighbours_are_no_intersection),
        cmocka_unit_test(test_a_fold),
        cmocka_unit_test(test_stacked_and_overlapping_balls),
        cmocka_unit_test(test_springs_may_cross_each_other_only),
        cmocka_unit_test(test_positions_that_are_none),
        cmocka_unit_test(test_through_between_clean_states),
        cmocka_unit_test(test_fast_motion_is_cheap),
        cmocka_unit_test(test_soups_against_all_pairs),
        cmocka_unit_test(test_round_things_and_planes),
        cmocka_unit_test(test_soup_of_round_things),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
