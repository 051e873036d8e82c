// Generated meshes: every shape of the table by its defaults, the guarantees of the mesher, closed surfaces, errors.
#include "base/memory.h"
#include "base/threads.h"
#include "math/vec3.h"
#include "mesh/core/build.h"
#include "mesh/core/manifold.h"
#include "mesh/core/topology.h"
#include "mesh/generate/generate.h"
#include "mesh/generate/sdf.h"
#include "mesh/generate/stuffing.h"
#include "mesh/query/surface_distance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "random.h"

static const double QUALITY_FLOOR = 0.15;

static bool needs_input(const rbt_record *record) {
    for (int i = 0; i < record->field_count; i++)
        if (record->fields[i].flags & RBT_REQUIRED) return true;
    return false;
}

static void *defaults_of(const char *shape) {
    const rbt_record *record = rbt_shape_at(rbt_shape_find(shape))->parameters;
    void *data = malloc(record->size);
    rbt_record_default(record, data);
    return data;
}

static rbt_mesh *generate(const char *shape, const void *parameters) {
    rbt_error error = {0};
    rbt_mesh *mesh = rbt_shape_generate(shape, parameters, &error);
    if (!mesh) fail_msg("%s: %s", shape, error.message);
    return mesh;
}

static void assert_fails(const char *shape, const void *parameters, const char *sentence) {
    rbt_error error = {0};
    assert_null(rbt_shape_generate(shape, parameters, &error));
    assert_string_equal(error.message, sentence);
}

static bool same_mesh(const rbt_mesh *a, const rbt_mesh *b) {
    return a->node_count == b->node_count && a->tet_count == b->tet_count &&
           memcmp(a->nodes, b->nodes, 3 * a->node_count * sizeof *a->nodes) == 0 &&
           memcmp(a->tets, b->tets, 4 * a->tet_count * sizeof *a->tets) == 0;
}

// Sound tets, one part, a closed manifold surface (or, for sheets, no edge with three triangles), tets of this quality.
static void assert_sound_above(double quality, const char *name, const rbt_mesh *mesh) {
    rbt_error error = {0};
    rbt_mesh_report r;
    assert_true(rbt_mesh_check_indices(mesh, NULL, &error));
    assert_true(rbt_mesh_diagnose(mesh, &r, &error));
    bool sound = !r.inverted_count && !r.degenerate_count && !r.duplicate_count && !r.isolated_count &&
                 !r.not_finite_count && !r.non_manifold_edge_count;
    if (strcmp(name, "spikes") != 0) sound = sound && r.component_count == 1;  // every spike stands alone
    if (mesh->tet_count) sound = sound && r.open_edge_count == 0 && r.quality_min > quality;
    if (!sound)
        fail_msg(
            "%s: %zu inverted, %zu degenerate, %zu duplicate, %zu isolated, %zu parts, %zu edges of more than two "
            "triangles, %zu open edges, quality %g",
            name, r.inverted_count, r.degenerate_count, r.duplicate_count, r.isolated_count, r.component_count,
            r.non_manifold_edge_count, r.open_edge_count, r.quality_min);
}
static void assert_sound(const char *name, const rbt_mesh *mesh) { assert_sound_above(QUALITY_FLOOR, name, mesh); }

// ---- The table

// Sizes of the meshes in the papers that the defaults stand in for; the mesh's kind fixes the ratio of nodes to tets.
static const struct {
    const char *shape;
    double nodes, tets, node_tolerance, tet_tolerance;
} PAPERS[] = {
    {"dinosaur", 5413, 20150, 0.15, 0.05},     {"flower", 2980, 9382, 0.15, 0.05},
    {"asian-dragon", 9961, 34441, 0.15, 0.05}, {"dragon", 2717, 8252, 0.15, 0.05},
    {"armadillo", 758, 2629, 0.15, 0.05},      {"liver", 825, 2749, 0.15, 0.05},
    {"tree", 24533, 79217, 0.15, 0.05},        {"bridge", 30133, 99455, 0.15, 0.05},
    {"honeycomb", 3642, 9850, 0.15, 0.05},     {"moebius", 5829, 16857, 0.15, 0.05},
    {"eiffel", 16027, 69271, 0.15, 0.05},      {"body", 40540, 189021, 0.15, 0.05},
    {"rope-coil", 12791, 47279, 0.05, 0.01},   {"shell-ball", 1018, 4637, 0.10, 0.08},  // whole layers: 20 n^3 tets
};

static void test_every_shape_by_default(void **state) {
    (void)state;
    for (int i = 0; rbt_shape_at(i); i++) {
        const rbt_shape *shape = rbt_shape_at(i);
        if (needs_input(shape->parameters)) continue;
        rbt_mesh *mesh = generate(shape->name, NULL);
        assert_sound(shape->name, mesh);
        for (size_t k = 0; k < sizeof PAPERS / sizeof PAPERS[0]; k++) {
            if (strcmp(PAPERS[k].shape, shape->name) != 0) continue;
            double nodes = (double)mesh->node_count / PAPERS[k].nodes,
                   tets = (double)mesh->tet_count / PAPERS[k].tets;
            if (fabs(nodes - 1) > PAPERS[k].node_tolerance || fabs(tets - 1) > PAPERS[k].tet_tolerance)
                fail_msg("%s: %zu nodes and %zu tets are far from %g and %g", shape->name, mesh->node_count,
                         mesh->tet_count, PAPERS[k].nodes, PAPERS[k].tets);
        }
        rbt_mesh_free(mesh);
    }
    for (size_t k = 0; k < sizeof PAPERS / sizeof PAPERS[0]; k++) assert_true(rbt_shape_find(PAPERS[k].shape) >= 0);
}

// Regions that scenes rely on, each with elements, and disjoint if they are tets.
static void test_named_sets(void **state) {
    (void)state;
    static const char *const expected[][4] = {
        {"bar", "left", "right", "top"},           {"cloth", "left", "front", "left-back"},
        {"shell-ball", "shell", "core", NULL},     {"rope-coil", "lower", "upper", NULL},
        {"dinosaur", "head-neck", "tail", "legs"}, {"flower", "petals", "leaves", "stem"},
        {"dragon", "jaw", "horns", "wings"},       {"honeycomb", "core", "edge", "left"},
        {"half-ball", "round", "flat", NULL},      {"moebius", "core", "sheet", NULL},
        {"liver", "right-lobe", "left-lobe", NULL}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        rbt_mesh *mesh = generate(expected[i][0], NULL);
        for (int k = 1; k < 4 && expected[i][k]; k++) {
            const rbt_mesh_set *set = rbt_mesh_find_set(mesh, expected[i][k]);
            if (!set || !set->count) fail_msg("%s has no set %s", expected[i][0], expected[i][k]);
            for (size_t j = 1; j < set->count; j++) assert_true(set->items[j - 1] < set->items[j]);
        }
        size_t in_sets = 0;
        for (size_t s = 0; s < mesh->set_count; s++)
            if (mesh->sets[s].kind == RBT_SET_TETS) in_sets += mesh->sets[s].count;
        assert_true(in_sets == 0 || in_sets == mesh->tet_count);
        rbt_mesh_free(mesh);
    }
}

// Nodes of the round side lie on a sphere, those of the flat one in its middle; the fine part has cells of the size it
// says, within the curvature, and the volume comes to that of half a ball with the square of theirs.
static void test_half_ball(void **state) {
    (void)state;
    double off[2];
    for (int i = 0; i < 2; i++) {
        rbt_half_ball_shape p = {.radius = 2, .fine = 0.5, .cells = 3 << i};
        rbt_mesh *mesh = generate("half-ball", &p);
        assert_sound("half-ball", mesh);
        const rbt_mesh_set *round = rbt_mesh_find_set(mesh, "round"), *flat = rbt_mesh_find_set(mesh, "flat");
        assert_true(round && flat);
        double nearest = INFINITY, volume = 0;
        for (size_t k = 0; k < round->count; k++) {
            const double *x = mesh->nodes + 3 * (size_t)round->items[k];
            assert_true(fabs(rbt_length(x) - p.radius) < 1e-14 * p.radius && x[1] < 1e-14);
            double away = hypot(x[0], x[2]);
            if (away > 0) nearest = fmin(nearest, away);
        }
        for (size_t k = 0; k < flat->count; k++)
            assert_true(fabs(mesh->nodes[3 * (size_t)flat->items[k] + 1]) < 1e-14 * p.radius);
        assert_true(fabs(nearest * p.cells / p.fine - 1) < 0.01);
        for (size_t t = 0; t < mesh->tet_count; t++) {
            const int32_t *tet = mesh->tets + 4 * t;
            double u[3], v[3], w[3], n[3];
            rbt_subtract(mesh->nodes + 3 * tet[1], mesh->nodes + 3 * tet[0], u);
            rbt_subtract(mesh->nodes + 3 * tet[2], mesh->nodes + 3 * tet[0], v);
            rbt_subtract(mesh->nodes + 3 * tet[3], mesh->nodes + 3 * tet[0], w);
            rbt_cross(u, v, n);
            volume += rbt_dot(n, w) / 6;
        }
        off[i] = 1 - volume / (2 * M_PI / 3 * 8);
        rbt_mesh_free(mesh);
    }
    assert_true(off[1] > 0 && off[0] > 3.5 * off[1] && off[0] < 4.5 * off[1] && off[1] < 0.02);
    rbt_half_ball_shape wide = {.radius = 1, .fine = 1.5, .cells = 2};
    assert_fails("half-ball", &wide, "fine is 1.5 m, more than the radius of 1 m: it must be at most that");
}

static void check_record(const char *shape, const rbt_record *record) {
    assert_true(record->name && record->doc && record->field_count > 0);
    for (int i = 0; i < record->field_count; i++) {
        const rbt_field *f = &record->fields[i];
        if (!f->doc || f->doc[strlen(f->doc) - 1] != '.') fail_msg("%s.%s needs a sentence", shape, f->name);
        bool number = f->kind == RBT_INT || f->kind == RBT_INT3 || f->kind == RBT_REAL;
        for (int k = 0; number && (f->min != 0 || f->max != 0) && k < (f->kind == RBT_INT3 ? 3 : 1); k++) {
            double value = f->fallback[k];
            if ((f->flags & RBT_AUTO) && isnan(value)) continue;
            assert_true(f->flags & RBT_ABOVE ? value > f->min : value >= f->min);
            assert_true(value <= f->max);
        }
        if (f->kind == RBT_VARIANTS)
            for (int a = 0; f->of.variants->alternative(a); a++)
                check_record(shape, f->of.variants->alternative(a)->of.record);
    }
}

static void test_tables_are_complete(void **state) {
    (void)state;
    int count = 0;
    for (; rbt_shape_at(count); count++) {
        const rbt_shape *shape = rbt_shape_at(count);
        assert_true(shape->name && shape->doc && shape->parameters && shape->generate);
        check_record(shape->name, shape->parameters);
        assert_int_equal(rbt_shape_find(shape->name), count);
        const rbt_field *field = RBT_SHAPE_VARIANTS.alternative(count);
        assert_string_equal(field->name, shape->name);
        assert_ptr_equal(field->of.record, shape->parameters);
    }
    assert_null(RBT_SHAPE_VARIANTS.alternative(count));
    assert_null(RBT_SHAPE_VARIANTS.alternative(-1));
    assert_null(rbt_shape_name(count));
}

static double volume_of(const rbt_mesh *mesh) {
    rbt_mesh_report report;
    assert_true(rbt_mesh_diagnose(mesh, &report, NULL));
    return report.volume;
}

static void test_volumes(void **state) {
    (void)state;
    rbt_ball_shape ball = {0.5, 12};
    rbt_mesh *mesh = generate("ball", &ball);
    double exact = 4 * M_PI / 3 * 0.125;
    assert_true(volume_of(mesh) < exact && volume_of(mesh) > 0.995 * exact);
    rbt_mesh_free(mesh);

    rbt_box_shape box = {{2, 3, 0.5}, {3, 2, 1}};
    mesh = generate("cuboid", &box);
    assert_int_equal(mesh->tet_count, 36);
    assert_true(fabs(volume_of(mesh) - 3) < 1e-12);
    rbt_mesh_free(mesh);

    rbt_torus_shape torus = {1, 0.25, 4, 80};
    mesh = generate("torus", &torus);
    exact = 2 * M_PI * M_PI * 0.0625;
    assert_true(volume_of(mesh) < exact && volume_of(mesh) > 0.98 * exact);
    rbt_mesh_free(mesh);

    // The same ball from a signed distance.
    rbt_sphere_part part = {{RBT_ADD, NAN, "ball"}, {0.1, 0.2, 0.3}, 0.5};
    rbt_variant parts[] = {{RBT_BLEND_SPHERE, &part}};
    rbt_blend_shape blend = {{1, parts}, 0, 0.05, false};
    mesh = generate("blend", &blend);
    assert_sound("sphere", mesh);
    exact = 4 * M_PI / 3 * 0.125;
    assert_true(fabs(volume_of(mesh) / exact - 1) < 0.01);
    assert_int_equal(rbt_mesh_find_set(mesh, "ball")->count, mesh->tet_count);
    rbt_mesh_free(mesh);
}

static void test_size_scales_only(void **state) {
    (void)state;
    rbt_creature_shape one = {1, 30}, two = {2, 30};
    rbt_mesh *a = generate("dinosaur", &one), *b = generate("dinosaur", &two);
    assert_int_equal(a->tet_count, b->tet_count);
    assert_memory_equal(a->tets, b->tets, 4 * a->tet_count * sizeof *a->tets);
    double low = INFINITY, longest = 0;
    for (size_t i = 0; i < 3 * a->node_count; i++) {
        assert_true(fabs(2 * a->nodes[i] - b->nodes[i]) < 1e-12);
        if (i % 3 == 1) low = fmin(low, a->nodes[i]);
        if (i % 3 == 0) longest = fmax(longest, fabs(a->nodes[i]));
    }
    assert_true(low == 0);
    assert_true(fabs(longest - 0.5) < 1e-12);
    rbt_mesh_free(a);
    rbt_mesh_free(b);
}

// ---- Signed distances

// From a point of an ellipsoid straight out by d, the distance is d; straight in, it is -d near the surface.
static void test_ellipsoid_distance_is_exact(void **state) {
    (void)state;
    const double e[3] = {1, 0.6, 0.3};
    rbt_primitive egg = {NULL, RBT_ELLIPSOID, {0, 0, 0}, {e[0], e[1], e[2]}, .mirror = false};
    rbt_sdf *sdf = rbt_sdf_new(&egg, 1, 0, NULL);
    for (int i = 0; i < 500; i++) {
        double direction[3] = {unit() - 0.5, unit() - 0.5, unit() - 0.5}, s[3], n[3], out[3], in[3];
        if (i < 3)
            for (int k = 0; k < 3; k++) direction[k] = k == i;
        rbt_normalize(direction, direction);
        for (int k = 0; k < 3; k++) {
            s[k] = e[k] * direction[k];
            n[k] = direction[k] / e[k];
        }
        rbt_normalize(n, n);
        double far = 2 * unit(), near = 0.08 * unit();  // the sharpest curve has the radius 0.09
        for (int k = 0; k < 3; k++) {
            out[k] = s[k] + far * n[k];
            in[k] = s[k] - near * n[k];
        }
        assert_true(fabs(rbt_sdf_distance(sdf, out) - far) < 1e-6);
        assert_true(fabs(rbt_sdf_distance(sdf, in) + near) < 1e-6);
    }
    assert_true(fabs(rbt_sdf_distance(sdf, (double[3]){0, 0, 0}) + 0.3) < 1e-6);
    rbt_sdf_free(sdf);
}

static void test_round_cone_distance(void **state) {
    (void)state;
    rbt_primitive rod = {NULL, RBT_CAPSULE, {1, 0, 0}, {1, 2, 0}, {0.5, 0.25}, .mirror = true};
    rod.a[2] = rod.b[2] = 3;
    rbt_sdf *sdf = rbt_sdf_new(&rod, 1, 0, NULL);
    assert_true(fabs(rbt_sdf_distance(sdf, (double[3]){1, -1, 3}) - 0.5) < 1e-12);
    assert_true(fabs(rbt_sdf_distance(sdf, (double[3]){1, 3, -3}) - 0.75) < 1e-12);
    // Against the balls that the cone is made of.
    for (int i = 0; i < 200; i++) {
        double x[3] = {3 * unit(), 4 * unit() - 1, 3 + unit()}, best = INFINITY;
        for (int k = 0; k <= 2000; k++) {
            double t = k / 2000.0, r[3] = {x[0] - 1, x[1] - 2 * t, x[2] - 3};
            best = fmin(best, rbt_length(r) - (0.5 - 0.25 * t));
        }
        assert_true(fabs(rbt_sdf_distance(sdf, x) - best) < 1e-5);
    }
    rbt_sdf_free(sdf);
}

// A body of chance: six primitives of all kinds, one of them taken away.
static void make_chance_body(rbt_primitive parts[6]) {
    for (int i = 0; i < 6; i++) {
        parts[i] = (rbt_primitive){NULL, (rbt_primitive_kind)(i % 4), .combine = i == 4 ? RBT_SUBTRACT : RBT_ADD};
        for (int k = 0; k < 3; k++) {
            parts[i].a[k] = 2 * unit() - 1;
            parts[i].b[k] = i % 4 ? 0.15 + 0.5 * unit() : 2 * unit() - 1;
            parts[i].turn[k] = unit();
        }
        parts[i].turn[3] = 360 * unit();
        for (int k = 0; k < 2; k++) parts[i].radius[k] = 0.05 + 0.3 * unit();
    }
}

static void test_distance_never_outruns_space(void **state) {
    (void)state;
    for (int body = 0; body < 4; body++) {
        rbt_primitive parts[6];
        make_chance_body(parts);
        rbt_sdf *sdf = rbt_sdf_new(parts, 6, 0.15, NULL);
        for (int i = 0; i < 4000; i++) {
            double x[3], y[3], d[3];
            for (int k = 0; k < 3; k++) {
                x[k] = 4 * unit() - 2;
                y[k] = x[k] + 0.2 * (unit() - 0.5);
            }
            rbt_subtract(x, y, d);
            assert_true(fabs(rbt_sdf_distance(sdf, x) - rbt_sdf_distance(sdf, y)) <= rbt_length(d) * (1 + 1e-6));
        }
        rbt_sdf_free(sdf);
    }
}

// ---- The mesher

static void dihedral_range(const rbt_mesh *mesh, double *low, double *high) {
    for (size_t t = 0; t < mesh->tet_count; t++) {
        double normal[4][3];
        for (int f = 0; f < 4; f++) {
            const double *x[3];
            double u[3], v[3];
            for (int k = 0; k < 3; k++)
                x[k] = mesh->nodes + 3 * mesh->tets[4 * t + (size_t)RBT_FACES_OF_TETS.corner[f][k]];
            rbt_subtract(x[1], x[0], u);
            rbt_subtract(x[2], x[0], v);
            rbt_cross(u, v, normal[f]);
            rbt_normalize(normal[f], normal[f]);
        }
        for (int f = 0; f < 4; f++)
            for (int g = f + 1; g < 4; g++) {
                double angle = acos(fmin(fmax(-rbt_dot(normal[f], normal[g]), -1), 1)) * 180 / M_PI;
                *low = fmin(*low, angle);
                *high = fmax(*high, angle);
            }
    }
}

// A rough field, far from a distance but with gradient below 1, that meets the lattice in every way.
static double rough(const void *self, const double x[3]) {
    (void)self;
    return 0.3 * (rbt_length(x) - 1) + 0.05 * sin(5 * x[0] + 1) * sin(4.3 * x[1]) * sin(5.5 * x[2] + 0.3) +
           0.012 * sin(23 * x[0]) * cos(19 * x[1] + 7 * x[2]);
}

// What isosurface stuffing promises of any field is angles (Labelle and Shewchuk 2007); a quality follows, but not
// that of the table's shapes.
static void test_dihedral_angles(void **state) {
    (void)state;
    double low = 180, high = 0;
    for (int i = 0; i < 4; i++) {
        rbt_distance field = {rough, NULL, {{-2, -2, -2}, {2, 2, 2}}};
        rbt_mesh *mesh = rbt_stuff(&field, 0.10 + 0.06 * unit(), true, NULL);
        assert_non_null(mesh);
        assert_sound_above(0, "rough", mesh);
        dihedral_range(mesh, &low, &high);
        rbt_mesh_free(mesh);
        rbt_primitive parts[6];
        make_chance_body(parts);
        rbt_sdf *sdf = rbt_sdf_new(parts, 6, 0.1, NULL);
        field = (rbt_distance){rbt_sdf_distance, sdf, rbt_sdf_box(sdf)};
        mesh = rbt_stuff(&field, 0.06 + 0.06 * unit(), true, NULL);
        assert_non_null(mesh);
        assert_sound_above(0, "blend of chance", mesh);
        dihedral_range(mesh, &low, &high);
        rbt_mesh_free(mesh);
        rbt_sdf_free(sdf);
    }
    if (low < 10.7 || high > 164.8) fail_msg("dihedral angles from %g to %g", low, high);
}

static void test_same_bits_for_any_threads(void **state) {
    (void)state;
    static const char *const shapes[] = {"flower", "blend", "rope-coil"};
    int before = rbt_threads_count();
    for (int i = 0; i < 3; i++) {
        rbt_threads_set(1);
        rbt_mesh *one = generate(shapes[i], NULL);
        rbt_threads_set(2);
        rbt_mesh *two = generate(shapes[i], NULL), *again = generate(shapes[i], NULL);
        assert_true(same_mesh(one, two));
        assert_true(same_mesh(two, again));
        rbt_mesh_free(one);
        rbt_mesh_free(two);
        rbt_mesh_free(again);
    }
    rbt_threads_set(before);
}

static rbt_mesh *small_mesh(const double *nodes, size_t node_count, const int32_t *tets, size_t tet_count) {
    rbt_mesh *mesh = rbt_mesh_new(NULL);
    assert_true(rbt_mesh_allocate(mesh, node_count, tet_count, 0, 0, NULL));
    memcpy(mesh->nodes, nodes, 3 * node_count * sizeof *nodes);
    memcpy(mesh->tets, tets, 4 * tet_count * sizeof *tets);
    return mesh;
}

static void test_touching_parts_are_separated(void **state) {
    (void)state;
    const double nodes[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, -1, 0, 0, 0, -1, 0, 0, 0, -1, -1, -1, 0};
    // Two tets at node 0: it is doubled.
    const int32_t at_node[] = {0, 1, 2, 3, 0, 5, 4, 6};
    rbt_mesh *mesh = small_mesh(nodes, 7, at_node, 2);
    assert_true(rbt_mesh_make_manifold(mesh, false, NULL));
    assert_int_equal(mesh->node_count, 8);
    assert_int_equal(mesh->tet_count, 2);
    assert_true(rbt_mesh_make_manifold(mesh, true, NULL));
    assert_int_equal(mesh->tet_count, 1);
    assert_int_equal(mesh->node_count, 4);
    rbt_mesh_free(mesh);
    // Two against one at the edge 0-3: the one goes, and with it the nodes it alone had.
    const int32_t at_edge[] = {0, 1, 2, 3, 0, 2, 4, 3, 0, 7, 5, 3};
    mesh = small_mesh(nodes, 8, at_edge, 3);
    assert_true(rbt_mesh_make_manifold(mesh, false, NULL));
    assert_int_equal(mesh->tet_count, 2);
    assert_int_equal(mesh->node_count, 5);
    rbt_mesh_free(mesh);
}

// ---- Blends and surfaces

static void test_blend_of_parts(void **state) {
    (void)state;
    rbt_capsule_part rod = {{RBT_ADD, NAN, "rod"}, {-1, 0, 0}, {1, 0, 0}, 0.3, NAN};
    rbt_box_part box = {{RBT_ADD, 0, "box"}, {1, 0, 0}, {0.8, 0.8, 0.8}, 0.1, {0, 1, 0}, 30};
    rbt_ellipsoid_part hole = {{RBT_SUBTRACT, NAN, NULL}, {0, 0, 0}, {0.15, 1, 0.15}, {0, 1, 0}, 0};
    rbt_torus_part ring = {{RBT_ADD, NAN, "ring"}, {-1, 0, 0}, 0.5, 0.15, {1, 0, 0}, 90};
    rbt_variant parts[] = {
        {RBT_BLEND_CAPSULE, &rod}, {RBT_BLEND_BOX, &box}, {RBT_BLEND_ELLIPSOID, &hole}, {RBT_BLEND_TORUS, &ring}};
    rbt_blend_shape blend = {{4, parts}, 0.05, 0.06, true};
    rbt_mesh *with = generate("blend", &blend);
    assert_sound("blend", with);
    assert_int_equal(with->set_count, 3);
    hole.part.combine = RBT_INTERSECT;
    rbt_mesh *core = generate("blend", &blend);
    for (size_t i = 0; i < core->node_count; i++) assert_true(fabs(core->nodes[3 * i]) < 0.2);
    rbt_mesh_free(core);
    hole.part.combine = RBT_SUBTRACT;
    blend.parts.count = 3;
    rbt_mesh *pierced = generate("blend", &blend);
    blend.parts.count = 2;
    rbt_mesh *whole = generate("blend", &blend);
    double taken = volume_of(whole) - volume_of(pierced), hole_volume = M_PI * 0.15 * 0.15 * 0.6;
    assert_true(taken > 0.8 * hole_volume && taken < 1.2 * hole_volume);
    rbt_mesh_free(pierced);
    rbt_mesh_free(whole);
    rbt_mesh_free(with);

    rod.from_radius = -1;
    assert_fails("blend", &blend,
                 "part 0 of the blend has a size that is not above 0 or a coordinate that is not finite");
    rod.from_radius = 0.3;
    rod.part.combine = box.part.combine = RBT_SUBTRACT;
    assert_fails("blend", &blend, "a blend needs at least one part that is added");
}

static char folder[512];

static int make_folder(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/rubato-generate-XXXXXX", base ? base : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static void test_inside_of_a_surface(void **state) {
    (void)state;
    char path[600];
    snprintf(path, sizeof path, "%s/ball.obj", folder);
    rbt_ball_shape ball = {10, 8};
    rbt_mesh *round = generate("ball", &ball);
    rbt_error error = {0};
    assert_true(rbt_mesh_write(round, path, true, &error));
    rbt_surface_shape surface = {path, 0.1, 0.12, true};
    rbt_mesh *mesh = generate("surface", &surface);
    assert_sound("surface", mesh);
    assert_true(fabs(volume_of(mesh) / (4 * M_PI / 3) - 1) < 0.03);
    // The estimate counts whole cubes of the lattice and squares of the surface: right to about the surface's share of
    // cubes.
    rbt_surface_plan plan;
    for (int k = 0; k < 2; k++) {
        surface.cell = k ? 0.12 : NAN;
        assert_true(rbt_surface_plan_make(&surface, &plan, &error));
        rbt_mesh *made = generate("surface", &surface);
        if (!(fabs(plan.tets / (double)made->tet_count - 1) < 0.15))
            fail_msg("%g of %zu tets", plan.tets, made->tet_count);
        rbt_mesh_free(made);
    }
    rbt_threads_set(1);
    rbt_mesh *again = generate("surface", &surface);
    rbt_threads_set(0);
    assert_true(same_mesh(mesh, again));
    rbt_mesh_free(again);
    rbt_mesh_free(mesh);

    // The signed distance itself, on the triangles of the same ball.
    rbt_mesh *shell = rbt_mesh_new(NULL);
    assert_true(rbt_boundary(round->tets, round->tet_count, round->node_count, &shell->triangles, NULL,
                             &shell->triangle_count, NULL));
    shell->nodes = round->nodes;
    shell->node_count = round->node_count;
    rbt_closed_surface *closed = rbt_closed_surface_new(shell, NULL, &error);
    assert_non_null(closed);
    for (int i = 0; i < 300; i++) {
        double x[3] = {30 * unit() - 15, 30 * unit() - 15, 30 * unit() - 15}, r = rbt_length(x);
        assert_true(fabs(rbt_surface_distance(closed, x) - (r - 10)) < 0.12);  // flat triangles lie inside the ball
        if (fabs(r - 10) > 0.3) assert_true(fabs(rbt_closed_surface_winding(closed, x) - (r < 10)) < 0.05);
    }
    rbt_closed_surface_free(closed);

    // One triangle missing: three open edges; one turned round: three edges at odds.
    shell->triangle_count--;
    assert_null(rbt_closed_surface_new(shell, "ball.obj", &error));
    assert_string_equal(error.message,
                        "the surface is not closed: 3 of its edges are open (belong to an odd number of "
                        "triangles); close the holes");
    assert_string_equal(error.file, "ball.obj");
    shell->triangle_count++;
    int32_t spare = shell->triangles[0];
    shell->triangles[0] = shell->triangles[1];
    shell->triangles[1] = spare;
    assert_null(rbt_closed_surface_new(shell, "ball.obj", &error));
    assert_string_equal(error.message,
                        "3 edges of the surface lie between triangles of opposite orientation; make the "
                        "orientation consistent");
    shell->nodes = NULL;
    rbt_mesh_free(shell);
    rbt_mesh_free(round);
    remove(path);
}

// ---- Errors

static void test_impossible_parameters(void **state) {
    (void)state;
    assert_fails("dinosuar", NULL,
                 "there is no shape \"dinosuar\": did you mean \"dinosaur\"?; `rubato mesh --list` shows them all");
    assert_fails("surface", NULL, "surface: no file is given; name a closed OBJ, STL or PLY surface");

    rbt_box_shape box = {{1, 0, 1}, {2, 2, 2}};
    assert_fails("bar", &box, "bar: size is 0 m, but must be above 0 and at most 1e6");
    box = (rbt_box_shape){{1, 1, 1}, {2, 0, 2}};
    assert_fails("cuboid", &box, "cuboid: cells is 0, but must be at least 1 and at most 100000");
    box = (rbt_box_shape){{1, 1, 1}, {100000, 100000, 100000}};
    assert_fails(
        "bar", &box,
        "100000 x 100000 x 100000 cells make 6000000000000000 tets, and the limit is 200000000; try fewer cells");
    box = (rbt_box_shape){{1, NAN, 1}, {1, 1, 1}};
    assert_fails("bar", &box, "bar: size is nan m, but must be above 0 and at most 1e6");

    rbt_shell_ball_shape ball = {0.1, 0.1, 3, 1};
    assert_fails("shell-ball", &ball,
                 "thickness 0.1 m leaves no core in a ball of radius 0.1 m: it must be below the radius");
    rbt_torus_shape torus = {0.2, 0.3, 2, 20};
    assert_fails("torus", &torus, "tube_radius 0.3 m is not below ring_radius 0.2 m: the ring would run into itself");
    rbt_rope_coil_shape rope = {0.01, 0.06, 0.015, 3, 1, 100};
    assert_fails("rope-coil", &rope,
                 "pitch 0.015 m is less than the rope's diameter 0.02 m: its turns would run into each other");
    rbt_moebius_shape strip = {0.1, 0.3, 0.01, 20, 4, 1};
    assert_fails(
        "moebius", &strip,
        "a strip of width 0.3 m and thickness 0.01 m runs into itself on a circle of radius 0.1 m; try a larger "
        "radius");
    rbt_honeycomb_shape comb = {3, 3, 0.02, 0.02, 0.01, 1, 1};
    assert_fails("honeycomb", &comb, "walls of 0.02 m leave no holes at a distance of 0.02 m: they must be thinner");
    rbt_cylinder_shape cylinder = {1, 1, 1000, 1000000};
    assert_fails("cylinder", &cylinder,
                 "this shape would have 18000000000000 tets, and the limit is 200000000; try fewer cells or rings");

    rbt_blend_shape *blend = defaults_of("blend");
    blend->cell = 1e-5;
    assert_fails("blend", blend,
                 "a cell of 1e-05 m is too fine for a body that is 2.6 m long: its box would hold more than 16000000 "
                 "blocks of 64 cells; try a cell of 0.0026 m");
    blend->cell = 50;
    rbt_sphere_part small = {{RBT_ADD, NAN, NULL}, {25, 25, 11}, 0.1};
    rbt_variant parts[] = {{RBT_BLEND_SPHERE, &small}};
    blend->parts.count = 1;
    blend->parts.items = parts;
    assert_fails("blend", blend, "no point of the lattice lies inside the body: a cell of 50 m is too coarse for it");
    free(blend);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_shape_by_default),
        cmocka_unit_test(test_named_sets),
        cmocka_unit_test(test_half_ball),
        cmocka_unit_test(test_tables_are_complete),
        cmocka_unit_test(test_volumes),
        cmocka_unit_test(test_size_scales_only),
        cmocka_unit_test(test_ellipsoid_distance_is_exact),
        cmocka_unit_test(test_round_cone_distance),
        cmocka_unit_test(test_distance_never_outruns_space),
        cmocka_unit_test(test_dihedral_angles),
        cmocka_unit_test(test_same_bits_for_any_threads),
        cmocka_unit_test(test_touching_parts_are_separated),
        cmocka_unit_test(test_blend_of_parts),
        cmocka_unit_test(test_inside_of_a_surface),
        cmocka_unit_test(test_impossible_parameters),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
