// Every element type that is not a tet: derivatives against finite differences, rigid motion, the projection, the
// rest state, hard cases; and the energy of a rolled sheet against the continuum.
#include "energy/hinge.h"
#include "energy/membrane.h"
#include "energy/spring.h"
#include "math/symmetric.h"
#include "math/vec3.h"
#include "mesh/core/topology.h"
#include "mesh/generate/generate.h"
#include "rubato/mesh.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 40, MOST = 12 };  // elements of a sample, values of an element

#include "random.h"

// COUNT separate elements of one type, at rest in X.
typedef struct sample {
    const char *name;
    rbt_arena *arena;
    rbt_group group;
    size_t values;  // of one element
    double X[MOST * COUNT];
} sample;

static void rest_positions(sample *s, size_t corners) {
    static const double shape[4][3] = {{0, 0, 0}, {0, 1, 0}, {-0.8, 0.4, 0}, {0.9, 0.6, 0}};
    for (size_t e = 0; e < COUNT; e++)
        for (size_t a = 0; a < corners; a++)
            for (size_t i = 0; i < 3; i++) {
                double away = e % 2 ? 0.25 : i < 2 ? 0.1 : 0;  // every other hinge is flat at rest
                s->X[3 * (corners * e + a) + i] = shape[a][i] + uniform(-away, away);
            }
}

static void build_springs(sample *s, const int32_t *nodes, const int32_t *members) {
    double stiffness[COUNT];
    for (int e = 0; e < COUNT; e++) stiffness[e] = uniform(1, 5);
    assert_true(rbt_spring_group_build(&s->group, s->arena, s->X, nodes, members, stiffness, COUNT, NULL));
}

static void build_membranes(sample *s, const int32_t *nodes, const int32_t *members) {
    rbt_sheet sheets[COUNT];
    for (int e = 0; e < COUNT; e++) sheets[e] = (rbt_sheet){uniform(1, 5), uniform(-0.3, 0.49), uniform(0.5, 1)};
    assert_true(rbt_membrane_group_build(&s->group, s->arena, s->X, nodes, members, sheets, COUNT, NULL));
}

static void build_hinges(sample *s, const int32_t *nodes, const int32_t *members) {
    double bending[COUNT];
    for (int e = 0; e < COUNT; e++) bending[e] = uniform(1, 5);
    assert_true(rbt_hinge_group_build(&s->group, s->arena, s->X, nodes, members, bending, NULL, COUNT, NULL));
}

static const struct {
    const rbt_group_type *type;
    void (*build)(sample *s, const int32_t *nodes, const int32_t *members);
} TYPES[] = {{&RBT_SPRINGS, build_springs}, {&RBT_MEMBRANES, build_membranes}, {&RBT_HINGES, build_hinges}};

// Runs `check` for every type.
static void each(void (*check)(const sample *s)) {
    for (size_t t = 0; t < sizeof TYPES / sizeof TYPES[0]; t++) {
        sample s = {.name = TYPES[t].type->name, .arena = rbt_arena_new()};
        int32_t nodes[4 * COUNT], members[COUNT];
        size_t corners = (size_t)TYPES[t].type->corners;
        for (int i = 0; i < 4 * COUNT; i++) nodes[i] = i;
        for (int i = 0; i < COUNT; i++) members[i] = i;
        s.values = 3 * corners;
        rest_positions(&s, corners);
        TYPES[t].build(&s, nodes, members);
        assert_ptr_equal(s.group.type, TYPES[t].type);
        assert_int_equal(s.group.type->pairs, corners * (corners + 1) / 2);
        check(&s);
        rbt_arena_free(s.arena);
    }
}

static void deform(const sample *s, double spread, double *x) {
    for (size_t i = 0; i < s->values * COUNT; i++) x[i] = s->X[i] + uniform(-spread, spread);
}

// Central differences with step 1e-5: truncation 1e-10 times third derivatives (up to 1e3 here for thin triangles),
// rounding 1e-11, both of values about 10.
static const double STEP = 1e-5, BOUND = 2e-6;

static void check_gradient(const sample *s) {
    const rbt_group *g = &s->group;
    double x[MOST * COUNT], gradient[MOST * COUNT], fused[COUNT], energy[COUNT], high[COUNT], low[COUNT];
    deform(s, 0.15, x);
    g->type->gradient(g, 0, COUNT, x, fused, gradient);
    g->type->energy(g, 0, COUNT, x, energy);
    assert_memory_equal(fused, energy, sizeof energy);
    for (size_t i = 0; i < s->values; i++) {
        for (int side = 0; side < 2; side++) {
            double y[MOST * COUNT];
            memcpy(y, x, sizeof y);
            for (size_t e = 0; e < COUNT; e++) y[s->values * e + i] += side ? STEP : -STEP;
            g->type->energy(g, 0, COUNT, y, side ? high : low);
        }
        for (size_t e = 0; e < COUNT; e++)
            assert_true(fabs((high[e] - low[e]) / (2 * STEP) - gradient[s->values * e + i]) < BOUND);
    }
}

static double block_entry(const double *blocks, size_t row, size_t column) {
    size_t a = row / 3, b = column / 3, i = row % 3, j = column % 3;
    return a >= b ? blocks[9 * (a * (a + 1) / 2 + b) + 3 * i + j] : blocks[9 * (b * (b + 1) / 2 + a) + 3 * j + i];
}

static void check_hessian(const sample *s) {
    const rbt_group *g = &s->group;
    double x[MOST * COUNT], blocks[90 * COUNT], high[MOST * COUNT], low[MOST * COUNT];
    deform(s, 0.15, x);
    g->type->stiffness(g, RBT_HESSIAN, 0, COUNT, x, blocks);
    for (size_t j = 0; j < s->values; j++) {
        for (int side = 0; side < 2; side++) {
            double y[MOST * COUNT];
            memcpy(y, x, sizeof y);
            for (size_t e = 0; e < COUNT; e++) y[s->values * e + j] += side ? STEP : -STEP;
            g->type->gradient(g, 0, COUNT, y, NULL, side ? high : low);
        }
        for (size_t e = 0; e < COUNT; e++)
            for (size_t i = 0; i < s->values; i++) {
                size_t at = s->values * e + i;
                double slope = (high[at] - low[at]) / (2 * STEP);
                double entry = block_entry(blocks + 9 * (size_t)g->type->pairs * e, i, j);
                assert_true(fabs(slope - entry) < BOUND * (1 + fabs(entry)));
            }
    }
}

// At rest, turned and shifted: no energy and no force.
static void check_rigid_motion(const sample *s) {
    const rbt_group *g = &s->group;
    const double point[3] = {1, 2, 3}, axis[3] = {2.0 / 7, 3.0 / 7, 6.0 / 7};
    double x[MOST * COUNT], energy[COUNT], gradient[MOST * COUNT];
    for (int turned = 0; turned < 2; turned++) {
        for (size_t i = 0; i < s->values * COUNT; i += 3) rbt_rotate(s->X + i, point, axis, turned ? 1.1 : 0, x + i);
        g->type->gradient(g, 0, COUNT, x, energy, gradient);
        for (size_t e = 0; e < COUNT; e++) assert_true(energy[e] >= 0 && energy[e] < 1e-25);
        for (size_t i = 0; i < s->values * COUNT; i++) assert_true(fabs(gradient[i]) < 2e-13);
    }
}

// Forces of a deformed element have no sum and no torque.
static void check_balance(const sample *s) {
    const rbt_group *g = &s->group;
    double x[MOST * COUNT], gradient[MOST * COUNT];
    deform(s, 0.2, x);
    g->type->gradient(g, 0, COUNT, x, NULL, gradient);
    for (size_t e = 0; e < COUNT; e++) {
        double sum[3] = {0}, torque[3] = {0}, one[3], size = 0;
        for (size_t i = s->values * e; i < s->values * (e + 1); i += 3) {
            rbt_cross(x + i, gradient + i, one);
            rbt_add_scaled(sum, 1, gradient + i);
            rbt_add_scaled(torque, 1, one);
            size += rbt_length(gradient + i);
        }
        assert_true(size > 0 && rbt_length(sum) < 1e-14 * size * 10 && rbt_length(torque) < 1e-14 * size * 10);
    }
}

static void dense(const rbt_group *g, rbt_stiffness_kind kind, size_t e, const double *x, double *K) {
    g->type->local(g, e, x, NULL, kind, K);
}

// The projection has no negative eigenvalue and is never below the Hessian; it is the Hessian where that has none: at
// rest, and for springs and membranes also when stretched.
static void check_projection(const sample *s) {
    const rbt_group *g = &s->group;
    int n = (int)s->values;
    for (int round = 0; round < 3; round++) {
        double x[MOST * COUNT], H[MOST * MOST], P[MOST * MOST], difference[MOST * MOST];
        if (round == 0) deform(s, 0.4, x);
        else
            for (size_t i = 0; i < s->values * COUNT; i++) x[i] = (round == 1 ? 1 : 1.5) * s->X[i];
        for (size_t e = 0; e < COUNT; e++) {
            double size = 0, most = 0;
            dense(g, RBT_HESSIAN, e, x, H);
            dense(g, RBT_PROJECTED, e, x, P);
            for (int i = 0; i < n * n; i++) {
                difference[i] = P[i] - H[i];
                size = fmax(size, fabs(H[i]));
                most = fmax(most, fabs(difference[i]));
            }
            if (round) assert_true(most < 1e-12 * size);
            rbt_symmetric_eigen(n, P, NULL);
            rbt_symmetric_eigen(n, difference, NULL);
            for (int i = 0; i < n; i++) {
                assert_true(P[(n + 1) * i] > -1e-12 * size);
                assert_true(difference[(n + 1) * i] > -1e-12 * size);
            }
        }
    }
}

// Largest eigenvalue of M^-1 K at rest, dense
static void check_rate(const sample *s) {
    const rbt_group *g = &s->group;
    int n = (int)s->values;
    for (size_t e = 0; e < COUNT; e++) {
        double K[MOST * MOST], masses[4], largest = 0;
        for (int a = 0; a < 4; a++) masses[a] = uniform(0.5, 2);
        dense(g, RBT_HESSIAN, e, s->X, K);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) K[n * i + j] /= sqrt(masses[i / 3] * masses[j / 3]);
        rbt_symmetric_eigen(n, K, NULL);
        for (int i = 0; i < n; i++) largest = fmax(largest, K[(n + 1) * i]);
        assert_true(fabs(g->type->rate(g, e, masses) / largest - 1) < 1e-12);
    }
}

// Collapsed, folded over, huge: everything stays a number.
static void check_hard_cases(const sample *s) {
    static const double hard[][12] = {
        {0},
        {0, 0, 0, 0, 1, 0, 0, 0.5, 0, 0, 0.5, 0},            // needles
        {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0},                // no edge
        {0, 0, 0, 0, 1, 0, 1, 0.5, 0, 1, 0.5, 0},            // folded shut
        {0, 0, 0, 0, 1, 0, 1, 0.5, 1e-12, 1, 0.5, -1e-12},   // folded through
        {0, 0, 0, 0, 1, 0, -1, 0.5, 1e-300, 1, 0.5, 0},      // flat
        {0, 0, 0, 0, 1e6, 0, -1e6, 1, 1e6, 1e6, 0.5, 1e-3},  // huge
    };
    const rbt_group *g = &s->group;
    for (size_t k = 0; k < sizeof hard / sizeof hard[0]; k++) {
        double x[MOST * COUNT] = {0}, force[MOST], K[MOST * MOST];
        memcpy(x, hard[k], s->values * sizeof *x);
        for (int kind = 0; kind < RBT_STIFFNESS_KINDS; kind++) {
            assert_true(isfinite(g->type->local(g, 0, x, force, (rbt_stiffness_kind)kind, K)));
            for (size_t i = 0; i < s->values; i++) assert_true(isfinite(force[i]));
            for (size_t i = 0; i < s->values * s->values; i++) assert_true(isfinite(K[i]));
        }
    }
}

// A range of elements is the same as those elements of the whole.
static void check_ranges(const sample *s) {
    const rbt_group *g = &s->group;
    double x[MOST * COUNT], all[90 * COUNT], part[90 * COUNT];
    size_t per = 9 * (size_t)g->type->pairs;
    deform(s, 0.2, x);
    g->type->stiffness(g, RBT_PROJECTED, 0, COUNT, x, all);
    g->type->stiffness(g, RBT_PROJECTED, 8, 5, x, part);
    assert_memory_equal(part, all + 8 * per, 5 * per * sizeof *part);
    g->type->gradient(g, 0, COUNT, x, NULL, all);
    g->type->gradient(g, 16, 7, x, NULL, part);
    assert_memory_equal(part, all + 16 * s->values, 7 * s->values * sizeof *part);
}

static void gradient_is_energy_slope(void **state) { (void)state, each(check_gradient); }
static void hessian_is_gradient_slope(void **state) { (void)state, each(check_hessian); }
static void rigid_motion_costs_nothing(void **state) { (void)state, each(check_rigid_motion); }
static void forces_balance(void **state) { (void)state, each(check_balance); }
static void projection_is_the_nearest_above(void **state) { (void)state, each(check_projection); }
static void rate_is_largest_eigenvalue(void **state) { (void)state, each(check_rate); }
static void hard_cases_give_numbers(void **state) { (void)state, each(check_hard_cases); }
static void ranges_are_parts(void **state) { (void)state, each(check_ranges); }

// One triangle stretched along its first edge by 1 + s and free to thin: plane stress, E t s in the limit of small s.
static void membrane_has_young_and_poisson(void **state) {
    (void)state;
    const double X[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, young = 7, poisson = 0.3, s = 1e-6;
    const int32_t triangle[3] = {0, 1, 2}, member = 0;
    const rbt_sheet sheet = {young, poisson, 0.5};
    rbt_arena *arena = rbt_arena_new();
    rbt_group group;
    assert_true(rbt_membrane_group_build(&group, arena, X, triangle, &member, &sheet, 1, NULL));
    const double x[9] = {0, 0, 0, 1 + s, 0, 0, 0, 1 - poisson * s, 0};
    double force[9], stress = 0;
    group.type->local(&group, 0, x, force, RBT_HESSIAN, NULL);
    assert_true(fabs(force[3] / (-0.5 * 0.5 * young * s) - 1) < 1e-5);  // -t A sigma g_1, |g_1| = 1
    assert_true(fabs(force[7]) < 1e-5 * young * s);                     // nothing across
    rbt_membrane_group_von_mises(&group, x, &stress);
    assert_true(fabs(stress / (young * s) - 1) < 1e-5);
    rbt_arena_free(arena);
}

static void hinge_angles_have_signs(void **state) {
    (void)state;
    const int32_t nodes[4] = {0, 1, 2, 3};
    for (int k = -8; k <= 8; k++) {
        double half = 0.5 * k * 0.39, c = cos(half), s = sin(half);
        const double x[12] = {0, 0, 0, 0, 2, 0, -c, 0.3, s, c, 1.2, s};  // both flaps turned up by half the angle
        assert_true(fabs(rbt_hinge_angle(x, nodes) - 2 * half) < 1e-14);
    }
}

// ---- A rolled sheet

typedef struct hinge_list {
    size_t count;
    int32_t nodes[4 * 4000], members[4000];
} hinge_list;

static void list_hinges(const rbt_mesh *mesh, hinge_list *list) {
    uint32_t *first = calloc(3 * mesh->triangle_count, sizeof *first);
    assert_true(rbt_match_sides(mesh->triangles, mesh->triangle_count, &RBT_EDGES_OF_TRIANGLES, mesh->node_count,
                                first, NULL));
    list->count = 0;
    for (uint32_t i = 0; i < 3 * mesh->triangle_count; i++) {
        if (first[i] == i) continue;
        const int32_t *t = mesh->triangles + 3 * (first[i] / 3), *u = mesh->triangles + 3 * (i / 3);
        int side = (int)(first[i] % 3);
        int32_t *to = list->nodes + 4 * list->count;
        to[0] = t[side], to[1] = t[(side + 1) % 3], to[2] = t[(side + 2) % 3], to[3] = u[(i % 3 + 2) % 3];
        list->members[list->count++] = (int32_t)(i / 3);
    }
    free(first);
}

// The cloth's own mesh (alternating diagonals) rolled about its width: D/2 kappa^2 A. Only interior edges bend: n - 1
// of n rows of them, so the error falls with 1/n.
static void rolled_sheet_has_the_energy_of_the_plate(void **state) {
    (void)state;
    const double D = 3, length = 1, width = 0.7, kappa = 1.2;
    double before = 1;
    for (int cells = 8; cells <= 32; cells *= 2) {
        rbt_sheet_shape shape = {length, width, cells, cells / 2};
        rbt_mesh *mesh = rbt_shape_generate("cloth", &shape, NULL);
        assert_non_null(mesh);
        static hinge_list list;
        static double bending[4000], energy[4000];
        list_hinges(mesh, &list);
        for (size_t i = 0; i < list.count; i++) bending[i] = D;
        rbt_arena *arena = rbt_arena_new();
        rbt_group group;
        assert_true(rbt_hinge_group_build(&group, arena, mesh->nodes, list.nodes, list.members, bending, NULL,
                                          list.count, NULL));
        double *x = malloc(3 * mesh->node_count * sizeof *x), sum = 0;
        for (size_t n = 0; n < mesh->node_count; n++) {
            double along = mesh->nodes[3 * n] * kappa;
            x[3 * n] = sin(along) / kappa;
            x[3 * n + 1] = (1 - cos(along)) / kappa;
            x[3 * n + 2] = mesh->nodes[3 * n + 2];
        }
        group.type->energy(&group, 0, group.count, x, energy);
        for (size_t i = 0; i < group.count; i++) sum += energy[i];
        double error = fabs(sum / (0.5 * D * kappa * kappa * length * width) - 1);
        assert_true(error < 1.3 / cells && error < 0.6 * before);
        before = error;
        free(x);
        rbt_arena_free(arena);
        rbt_mesh_free(mesh);
    }
}

static void small_matrices_have_eigenpairs(void **state) {
    (void)state;
    for (int n = 1; n <= MOST; n++) {
        double A[144], D[144], V[144];
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) A[n * i + j] = A[n * j + i] = uniform(-1, 1);
        memcpy(D, A, sizeof D);
        rbt_symmetric_eigen(n, D, V);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double whole = 0, product = 0;
                for (int k = 0; k < n; k++) {
                    whole += D[(n + 1) * k] * V[n * i + k] * V[n * j + k];
                    product += V[n * i + k] * V[n * j + k];
                }
                assert_true(fabs(whole - A[n * i + j]) < 1e-14);
                assert_true(fabs(product - (i == j)) < 1e-14);
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_is_energy_slope),
        cmocka_unit_test(hessian_is_gradient_slope),
        cmocka_unit_test(rigid_motion_costs_nothing),
        cmocka_unit_test(forces_balance),
        cmocka_unit_test(projection_is_the_nearest_above),
        cmocka_unit_test(rate_is_largest_eigenvalue),
        cmocka_unit_test(hard_cases_give_numbers),
        cmocka_unit_test(ranges_are_parts),
        cmocka_unit_test(membrane_has_young_and_poisson),
        cmocka_unit_test(hinge_angles_have_signs),
        cmocka_unit_test(rolled_sheet_has_the_energy_of_the_plate),
        cmocka_unit_test(small_matrices_have_eigenpairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
