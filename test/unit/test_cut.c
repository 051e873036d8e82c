// Cuts through bodies: whatever the surface, the parts fit together, keep the volume and lie the right way round.
#include "../support/cube.h"
#include "math/vec3.h"
#include "mesh/cut/cut.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "random.h"

// ---- Bodies

static double volume_of(const double *X, const int32_t *t) {
    return rbt_tet_volume(X + 3 * (size_t)t[0], X + 3 * (size_t)t[1], X + 3 * (size_t)t[2], X + 3 * (size_t)t[3]);
}

// Nodes of a grid moved at random, as far as no tet turns over, and tets taken out so that parts hang by edges and
// corners
static rbt_mesh *random_body(size_t cells, double moved, double removed) {
    rbt_mesh *mesh = cube_new((int)cells, (int)cells, (int)cells, 1, 1, 1);
    for (size_t n = 0; n < mesh->node_count; n++) {
        double before[3], *x = mesh->nodes + 3 * n;
        memcpy(before, x, sizeof before);
        for (int k = 0; k < 3; k++) x[k] += uniform(-moved, moved) / (double)cells;
        for (size_t t = 0; t < mesh->tet_count; t++) {
            const int32_t *tet = mesh->tets + 4 * t;
            bool has = false;
            for (int a = 0; a < 4; a++) has |= (size_t)tet[a] == n;
            if (!has || volume_of(mesh->nodes, tet) > 1e-6 / (double)(cells * cells * cells)) continue;
            memcpy(x, before, sizeof before);
            break;
        }
    }
    size_t kept = 0;
    for (size_t t = 0; t < mesh->tet_count; t++)
        if (uniform(0, 1) >= removed) memcpy(mesh->tets + 4 * kept++, mesh->tets + 4 * t, 4 * sizeof(int32_t));
    mesh->tet_count = kept;
    return mesh;
}

// ---- What a cut mesh must be

typedef struct skin_measure {
    size_t faces, components;
    double area;
} skin_measure;

static skin_measure measure_skin(const double *X, size_t nodes, const int32_t *tets, size_t count) {
    int32_t *triangles, *part = calloc(nodes, sizeof *part);
    skin_measure m = {0};
    assert_true(rbt_boundary(tets, count, nodes, &triangles, NULL, &m.faces, NULL));
    for (size_t i = 0; i < m.faces; i++) {
        double u[3], v[3], n[3];
        rbt_subtract(X + 3 * (size_t)triangles[3 * i + 1], X + 3 * (size_t)triangles[3 * i], u);
        rbt_subtract(X + 3 * (size_t)triangles[3 * i + 2], X + 3 * (size_t)triangles[3 * i], v);
        rbt_cross(u, v, n);
        m.area += 0.5 * rbt_length(n);
    }
    assert_true(rbt_components(tets, count, 4, nodes, part, &m.components, NULL));
    free(triangles);
    free(part);
    return m;
}

static double total_volume(const double *X, const int32_t *tets, size_t count, double *least) {
    double sum = 0;
    *least = INFINITY;
    for (size_t t = 0; t < count; t++) {
        double v = volume_of(X, tets + 4 * t);
        sum += v;
        *least = fmin(*least, v);
    }
    return sum;
}

// No three tets may share a face; that no node hangs on a face follows from the area below.
static void assert_faces_match(const int32_t *tets, size_t count, size_t nodes) {
    uint32_t *first = malloc(4 * count * sizeof *first);
    unsigned char *times = calloc(4 * count, 1);
    assert_true(rbt_match_sides(tets, count, &RBT_FACES_OF_TETS, nodes, first, NULL));
    for (size_t i = 0; i < 4 * count; i++) {
        assert_int_not_equal(first[i], RBT_NO_SIDE);
        assert_true(++times[first[i]] <= 2);
    }
    free(first);
    free(times);
}

// With doubled nodes taken for one the mesh must be closed again: the same skin area as before the cut, and two faces
// less for each that was opened.
static void assert_is_dissection(const rbt_mesh *mesh, const rbt_cut_result *r, double *X) {
    double least, before_min;
    rbt_cut_carry(r, mesh->nodes, 3, X);
    double before = total_volume(mesh->nodes, mesh->tets, mesh->tet_count, &before_min);
    double after = total_volume(X, r->elements, r->element_count, &least);
    assert_true(least > 0);
    assert_true(fabs(after - before) <= 1e-13 * before);
    assert_faces_match(r->elements, r->element_count, r->node_count);

    int32_t *one = malloc(r->node_count * sizeof *one), *merged = malloc(4 * r->element_count * sizeof *merged);
    for (size_t n = 0; n < r->node_count; n++) {
        one[n] = (int32_t)n;
        bool is_double = n >= mesh->node_count;
        for (size_t i = 0; is_double && i < n; i++)
            if (r->parents[2 * i] == r->parents[2 * n] && r->parents[2 * i + 1] == r->parents[2 * n + 1] &&
                r->share[i] == r->share[n]) {
                one[n] = one[i];
                break;
            }
    }
    for (size_t i = 0; i < 4 * r->element_count; i++) merged[i] = one[r->elements[i]];
    skin_measure old = measure_skin(mesh->nodes, mesh->node_count, mesh->tets, mesh->tet_count);
    skin_measure joined = measure_skin(X, r->node_count, merged, r->element_count);
    skin_measure open = measure_skin(X, r->node_count, r->elements, r->element_count);
    assert_true(fabs(joined.area - old.area) <= 1e-9 * old.area);
    // sides whose nodes were not doubled everywhere (both rims of a slit one face wide) stay matched
    assert_true(open.faces <= joined.faces + 2 * r->opened_count);
    assert_faces_match(merged, r->element_count, r->node_count);
    for (size_t e = 0; e < r->element_count; e++) {
        assert_true(e == 0 || r->origin[e] >= r->origin[e - 1]);
        assert_true((size_t)r->origin[e] < mesh->tet_count);
    }
    free(one);
    free(merged);
}

// ---- Surfaces

typedef struct path {
    size_t vertices, triangles;
    double x[64][3], progress[64];
    int32_t corner[64][3];
} path;

// A blade of some width that moves along a line with corners, progress from 0 to 1
static path random_path(size_t pieces, double wide, double bent) {
    path p = {.vertices = 2 * (pieces + 1), .triangles = 2 * pieces};
    double at[3], go[3], blade[3];
    for (int k = 0; k < 3; k++) {
        at[k] = uniform(-0.2, 1.2);
        go[k] = uniform(0.2, 0.8) - at[k];
        blade[k] = uniform(-wide, wide);
    }
    for (size_t i = 0; i <= pieces; i++) {
        for (int k = 0; k < 3; k++) {
            p.x[2 * i][k] = at[k] - blade[k];
            p.x[2 * i + 1][k] = at[k] + blade[k];
            at[k] += 2 * go[k] / (double)pieces + uniform(-bent, bent);
        }
        p.progress[2 * i] = p.progress[2 * i + 1] = (double)i / (double)pieces;
    }
    for (size_t i = 0; i < pieces; i++) {
        int32_t a = (int32_t)(2 * i);
        memcpy(p.corner[2 * i], (int32_t[]){a, a + 1, a + 2}, 3 * sizeof a);
        memcpy(p.corner[2 * i + 1], (int32_t[]){a + 1, a + 3, a + 2}, 3 * sizeof a);
    }
    return p;
}

static rbt_cut_surface surface_of(const path *p) {
    rbt_cut_surface s;
    assert_true(
        rbt_cut_surface_init(&s, &p->x[0][0], p->vertices, &p->corner[0][0], p->triangles, p->progress, NULL));
    return s;
}

static path plane(const double point[3], const double u[3], const double v[3], double size) {
    path p = {.vertices = 4, .triangles = 2, .corner = {{0, 1, 2}, {1, 3, 2}}, .progress = {0, 0, 1, 1}};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) p.x[i][k] = point[k] + size * ((i & 1 ? 1 : -1) * u[k] + (i & 2 ? 1 : -1) * v[k]);
    return p;
}

static rbt_cut_result cut(const rbt_mesh *mesh, const path *p, double from, double until, const unsigned char *on) {
    rbt_cut_surface s = surface_of(p);
    rbt_cut_result r;
    rbt_cut_mesh body = {&RBT_FACES_OF_TETS, mesh->node_count, mesh->tet_count, mesh->nodes, mesh->tets, on};
    rbt_error error = {0};
    assert_true(rbt_cut(&body, &s, &(rbt_cut_range){from, until, 1e-6, 0}, &r, &error));
    rbt_cut_surface_free(&s);
    return r;
}

// ---- Tests

static void random_cuts_leave_a_mesh(void **state) {
    (void)state;
    size_t opened = 0, split = 0;
    for (int i = 0; i < 500; i++) {
        rbt_mesh *mesh = random_body(2 + below(2), 0.45, i % 4 == 0 ? 0.2 : 0);
        path p;
        if (i % 3 == 0) {
            double point[3], u[3], v[3];
            for (int k = 0; k < 3; k++) {
                point[k] = uniform(0.1, 0.9);
                u[k] = uniform(-1, 1);
                v[k] = uniform(-1, 1);
            }
            p = plane(point, u, v, i % 2 ? 8 : 0.4);
        } else p = random_path(1 + below(12), 1.2, i % 3 == 1 ? 0.05 : 0.4);
        rbt_cut_result r = cut(mesh, &p, -1, i % 5 == 0 ? 0.5 : 2, NULL);
        double *X = malloc(3 * r.node_count * sizeof *X);
        assert_is_dissection(mesh, &r, X);
        opened += r.opened_count > 0;
        split += r.split_count > 0;
        free(X);
        rbt_cut_result_free(&r);
        rbt_mesh_free(mesh);
    }
    assert_true(opened > 350 && split > 400);
}

// On either side of a plane that goes through everything nothing is left joined, nothing is cut loose.
static void planes_part_a_body_in_two(void **state) {
    (void)state;
    const struct {
        double point[3], u[3], v[3];
    } planes[] = {
        {{0.5, 0.5, 0.5}, {0, 1, 0}, {0, 0, 1}},         // through nodes
        {{0.5, 0.5, 0.5}, {1, 0, 1}, {0, 1, 0}},         // through nodes along diagonals
        {{0.5, 0.5, 0.5}, {1, -1, 0}, {0, 1, -1}},       // through the body's diagonals
        {{0.41, 0.5, 0.5}, {0, 1, 0}, {0, 0, 1}},        // between nodes
        {{0.5 + 1e-9, 0.5, 0.5}, {0, 1, 0}, {0, 0, 1}},  // nearly through nodes
        {{0.5, 0.5, 0.5}, {1, 2e-7, 1}, {0, 1, 0}},      // likewise, tilted
        {{0.37, 0.52, 0.61}, {1, 0.3, 0.2}, {-0.1, 0.7, 1}},
    };
    for (size_t i = 0; i < sizeof planes / sizeof planes[0]; i++) {
        rbt_mesh *mesh = cube_new(4, 4, 4, 1, 1, 1);
        path p = plane(planes[i].point, planes[i].u, planes[i].v, 5);
        rbt_cut_result r = cut(mesh, &p, -1, 2, NULL);
        double *X = malloc(3 * r.node_count * sizeof *X), normal[3];
        assert_is_dissection(mesh, &r, X);
        assert_int_equal(measure_skin(X, r.node_count, r.elements, r.element_count).components, 2);
        int32_t *part = malloc(r.node_count * sizeof *part);
        size_t parts;
        assert_true(rbt_components(r.elements, r.element_count, 4, r.node_count, part, &parts, NULL));
        rbt_cross(planes[i].u, planes[i].v, normal);
        rbt_normalize(normal, normal);
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (size_t n = 0; n < r.node_count; n++) {
            double d[3];
            rbt_subtract(X + 3 * n, planes[i].point, d);
            low[part[n]] = fmin(low[part[n]], rbt_dot(d, normal));
            high[part[n]] = fmax(high[part[n]], rbt_dot(d, normal));
        }
        assert_true((low[0] > -1e-6 && high[1] < 1e-6) || (low[1] > -1e-6 && high[0] < 1e-6));
        free(part);
        free(X);
        rbt_cut_result_free(&r);
        rbt_mesh_free(mesh);
    }
}

// A cut made in strokes parts the body as the whole one does, and before that its rim is joined.
static void strokes_add_up(void **state) {
    (void)state;
    for (int run = 0; run < 12; run++) {
        rbt_mesh *mesh = random_body(4, 0.4, 0);
        double point[3] = {uniform(0.3, 0.7), 0.5, 0.5}, u[3] = {uniform(-0.3, 0.3), 1, 0};
        double v[3] = {uniform(-0.3, 0.3), 0, 1};
        path p = plane(point, u, v, 2);
        double before, least;
        before = total_volume(mesh->nodes, mesh->tets, mesh->tet_count, &least);
        unsigned char *on = NULL;
        size_t strokes = 9;
        for (size_t i = 0; i < strokes; i++) {
            rbt_cut_result r =
                cut(mesh, &p, i == 0 ? -1 : (double)i / (double)strokes, (double)(i + 1) / (double)strokes, on);
            double *X = malloc(3 * r.node_count * sizeof *X);
            assert_is_dissection(mesh, &r, X);
            size_t parts = measure_skin(X, r.node_count, r.elements, r.element_count).components;
            assert_int_equal(parts, i < 5 ? 1 : 2);  // the body ends at a progress of 0.625
            free(mesh->nodes);
            free(mesh->tets);
            free(on);
            mesh->nodes = X;
            mesh->tets = r.elements;
            mesh->node_count = r.node_count;
            mesh->tet_count = r.element_count;
            on = r.on;
            r.elements = NULL;
            r.on = NULL;
            rbt_cut_result_free(&r);
        }
        assert_true(fabs(total_volume(mesh->nodes, mesh->tets, mesh->tet_count, &least) - before) < 1e-12);
        free(on);
        rbt_mesh_free(mesh);
    }
}

// Likewise along a way with corners, where elements come to lie in the surface with all their nodes.
static void bent_strokes_leave_no_bridge(void **state) {
    (void)state;
    for (int run = 0; run < 30; run++) {
        rbt_mesh *mesh = random_body(4, 0.4, 0);
        path p = {.vertices = 12, .triangles = 10};
        for (int i = 0; i < 6; i++) {
            double x = uniform(0.42, 0.58);
            memcpy(p.x[2 * i], (double[3]){x, -0.2 + 0.28 * i, -0.5}, sizeof p.x[0]);
            memcpy(p.x[2 * i + 1], (double[3]){x + 0.05, -0.2 + 0.28 * i, 1.5}, sizeof p.x[0]);
            p.progress[2 * i] = p.progress[2 * i + 1] = i / 5.0;
        }
        for (int32_t i = 0; i < 10; i++)
            memcpy(p.corner[i], i % 2 ? (int32_t[]){i, i + 2, i + 1} : (int32_t[]){i, i + 1, i + 2},
                   sizeof p.corner[0]);
        unsigned char *on = NULL;
        int strokes = 1 + run % 12;
        for (int i = 0; i < strokes; i++) {
            double until = i + 1 == strokes ? 2 : (double)(i + 1) / strokes;
            rbt_cut_result r = cut(mesh, &p, i == 0 ? -1 : (double)i / strokes, until, on);
            double *X = malloc(3 * r.node_count * sizeof *X);
            assert_is_dissection(mesh, &r, X);
            if (i + 1 == strokes)
                assert_int_equal(measure_skin(X, r.node_count, r.elements, r.element_count).components, 2);
            free(mesh->nodes);
            free(mesh->tets);
            free(on);
            mesh->nodes = X;
            mesh->tets = r.elements;
            mesh->node_count = r.node_count;
            mesh->tet_count = r.element_count;
            on = r.on;
            r.elements = NULL;
            r.on = NULL;
            rbt_cut_result_free(&r);
        }
        free(on);
        rbt_mesh_free(mesh);
    }
}

// Only the elements around the cut are others than before.
static void the_rest_is_untouched(void **state) {
    (void)state;
    rbt_mesh *mesh = cube_new(10, 3, 3, 10, 3, 3);
    path p = plane((double[3]){3.3, 1, 1}, (double[3]){0, 1, 0}, (double[3]){0, 0, 1}, 9);
    rbt_cut_result r = cut(mesh, &p, -1, 2, NULL);
    for (size_t n = 0; n < mesh->node_count; n++) {
        double x = mesh->nodes[3 * n];
        assert_int_equal(r.touched[n], x == 3 || x == 4);
    }
    for (size_t n = mesh->node_count; n < r.node_count; n++) assert_true(r.touched[n]);
    rbt_cut_result_free(&r);
    rbt_mesh_free(mesh);
}

static void sheets_are_cut_like_solids(void **state) {
    (void)state;
    const double X[][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    const int32_t triangles[] = {0, 1, 2, 0, 2, 3};
    path p = plane((double[3]){0.4, 0, 0}, (double[3]){0, 1, 0}, (double[3]){0, 0, 1}, 3);
    rbt_cut_surface s = surface_of(&p);
    rbt_cut_mesh sheet = {&RBT_EDGES_OF_TRIANGLES, 4, 2, &X[0][0], triangles, NULL};
    rbt_cut_result r;
    assert_true(rbt_cut(&sheet, &s, &(rbt_cut_range){-1, 2, 1e-6, 0}, &r, NULL));
    int32_t part[16];
    size_t parts;
    assert_true(rbt_components(r.elements, r.element_count, 3, r.node_count, part, &parts, NULL));
    assert_int_equal(r.element_count, 6);
    assert_int_equal(r.node_count, 4 + 2 * 3);
    assert_int_equal(parts, 2);
    rbt_cut_result_free(&r);
    rbt_cut_surface_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cuts_leave_a_mesh), cmocka_unit_test(planes_part_a_body_in_two),
        cmocka_unit_test(strokes_add_up),           cmocka_unit_test(bent_strokes_leave_no_bridge),
        cmocka_unit_test(the_rest_is_untouched),    cmocka_unit_test(sheets_are_cut_like_solids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
