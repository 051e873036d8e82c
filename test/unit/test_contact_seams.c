// Surfaces are made of triangles and edges, and contact must not feel where these meet: what slides over a flat surface
// feels the same force everywhere, at right angles to it. Energies and forces are continuous across seams. The file of
// the implicit methods is part of this program, to look inside.
#include "step/implicit/implicit.c"

#include "scene.h"
#include "sim/sim.h"
#include "step/contact/contact_parts.h"

#include "random.h"

#include "pair.h"

#include <float.h>

// A sheet of 8 x 8 cells of an eighth in the plane y = 0, and grains, of which the first one moves, or springs above it
#define SCENE(more)                                                                                                  \
    "{'rubato': 1, 'bodies': [{'name': 'sheet', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, "              \
    "'cells_along': 8, 'cells_across': 8}}}, 'shell': {'thickness': 1e-3}, 'material': {'young': 1e6, 'density': "   \
    "800}}, " more "], 'contact': {'thickness': 0.02, 'friction': 0.4}, 'time': {'step': 0.01, 'frame': 0.01, "      \
    "'end': 1}, 'integrator': {'method': 'backward-euler', 'solver': 'newton'}}"
#define GRAIN                                                                                                        \
    "{'name': 'grain', 'mesh': {'shape': {'cloth': {'length': 0.1, 'width': 0.1, 'cells_along': 1, 'cells_across': " \
    "1}}}, 'transform': {'translate': [0, 0.2, 0]}, 'particles': {'radius': 0.01, 'mass': 0.01}}"
#define SPRINGS                                                                                                      \
    "{'name': 'springs', 'mesh': {'file': 'seams-springs.obj'}, 'transform': {'translate': [0, 0.2, 0]}, "           \
    "'springs': {'stiffness': 100, 'node_mass': 0.01}}"

enum { SHEET = 81 };  // nodes

typedef struct bench {
    rbt_sim *sim;
    rbt_step_contact *c;
    double *z;
    unsigned char *constrained;
} bench;

static void write_springs(void) {
    FILE *file = fopen("seams-springs.obj", "w");
    assert_non_null(file);
    fputs("v -2 0 0\nv 0 0 0\nv 2 0 0\nl 1 2\nl 2 3\n", file);
    fclose(file);
}

static bench open_bench(const char *json) {
    write_springs();
    bench b = {.sim = sim_from(json)};
    remove("seams-springs.obj");
    rbt_implicit *s = b.sim->stepper.self;
    b.c = s->objective.pairs;
    assert_non_null(b.c);
    b.z = malloc(3 * b.sim->model->node_count * sizeof *b.z);
    b.constrained = calloc(b.sim->model->node_count, 1);
    memcpy(b.z, b.sim->state.x, 3 * b.sim->model->node_count * sizeof *b.z);
    rbt_step_contact_begin(b.c, 0, 0.01, 0.01, 1, b.sim->state.x, b.constrained);
    return b;
}

static void close_bench(bench *b) {
    free(b->z), free(b->constrained);
    rbt_sim_free(b->sim);
}

static bool is_inner(const double *x) { return fabs(x[0]) < 0.49 && fabs(x[2]) < 0.49; }

// Inner nodes of the sheet, somewhere else in its plane or beside it; triangles keep their sides up
static void shake_sheet(bench *b, double in_plane, double across) {
    const double *rest = b->sim->state.x;
    for (size_t n = 0; n < SHEET; n++)
        for (size_t k = 0; k < 3; k++) {
            double by = k == 1 ? across : is_inner(rest + 3 * n) ? in_plane : 0;
            b->z[3 * n + k] = rest[3 * n + k] + uniform(-by, by);
        }
}

// A point of the sheet: in a triangle, on an edge or at a node, of those inside
static void pick(const bench *b, int corners, double *to) {
    const rbt_contact_surface *s = &b->c->primitives;
    for (;;) {
        const rbt_leaf *leaf = &s->leaves[random_bits(&random_test_stream) % s->leaf_count];
        int first = (int)(random_bits(&random_test_stream) % 3);
        double w[3], sum = 0;
        bool inner = leaf->corners == 3;
        for (int k = 0; k < 3; k++) inner = inner && is_inner(b->sim->state.x + 3 * (size_t)leaf->node[k]);
        if (!inner) continue;
        for (int k = 0; k < 3; k++) sum += w[k] = k < corners ? uniform(0.05, 1) : 0;
        memset(to, 0, 3 * sizeof *to);
        for (int k = 0; k < 3; k++) rbt_add_scaled(to, w[k] / sum, b->z + 3 * (size_t)leaf->node[(first + k) % 3]);
        return;
    }
}

// ---- Flat surfaces

// The force on a grain is S b'(height), upwards, over triangles, edges and nodes of any flat mesh alike.
static void points_slide_freely(void **state) {
    (void)state;
    bench b = open_bench(SCENE(GRAIN));
    rbt_step_contact *c = b.c;
    double *grain = b.z + 3 * SHEET;
    int seams = 0;
    for (int round = 0; round < 20; round++) {
        shake_sheet(&b, 0.02, 0);
        double gap = uniform(0.1, 0.9) * c->thickness;
        double S = fmin(c->stiffness[SHEET], c->body_stiffness[0]), force = S * rbt_barrier_force(gap, c->thickness);
        double energy = c->tau * c->tau * S * rbt_barrier(gap, c->thickness);
        for (int i = 0; i < 60; i++) {
            pick(&b, 1 + i % 3, grain);
            grain[0] += i % 2 ? 0 : uniform(-1e-3, 1e-3);
            grain[1] = 0.01 + gap;
            double value = rbt_step_contact_gradient(c, b.z, 0), *f = c->force + 3 * (size_t)SHEET;
            // nearest points are known to rounding, and that of the gap, DBL_EPSILON/gap, counts b''/b' times
            double off = 1e-11 * force;
            assert_below(fabs(value - energy), 1e-11 * energy);
            assert_below(fabs(f[0]), off);
            assert_below(fabs(f[2]), off);
            assert_below(fabs(f[1] - force), off);
            double sum[3] = {0};
            for (size_t n = 0; n < c->node_count; n++) rbt_add_scaled(sum, 1, c->force + 3 * n);
            for (int k = 0; k < 3; k++) assert_below(fabs(sum[k]), 1e-13 * force);
            seams += i % 3 < 2;
        }
    }
    assert_int_equal(seams, 800);
    close_bench(&b);
}

// Friction's limits add up to the normal force, and forces of all terms to that of the sheet.
static void friction_has_the_normal_force(void **state) {
    (void)state;
    bench b = open_bench(SCENE(GRAIN));
    double *grain = b.z + 3 * SHEET;
    for (int i = 0; i < 100; i++) {
        double limit = 0, mu = 0.4;
        shake_sheet(&b, 0.02, 0);
        pick(&b, 1 + i % 3, grain);
        grain[1] = 0.01 + 0.4 * b.c->thickness;
        rbt_step_contact_gradient(b.c, b.z, 0);
        rbt_step_contact_lag(b.c, b.z);
        for (size_t k = 0; k < b.c->rubbing_count; k++) limit += b.c->rubbing[k].friction.limit;
        assert_below(fabs(limit - mu * b.c->force[3 * SHEET + 1]), 1e-10 * limit);
        b.c->rubbing_count = 0;
    }
    close_bench(&b);
}

// A line of two springs over a flat mesh of straight lines: whether a line crosses others near its own node, near one
// of theirs, or far from both, it is pushed by the same force. The sheet is regular, so that its edges form lines.
static void lines_slide_freely(void **state) {
    (void)state;
    bench b = open_bench(SCENE(SPRINGS));
    rbt_step_contact *c = b.c;
    // a line through the node at (0, 0) that comes near no other
    double along[3] = {cos(0.31), 0, sin(0.31)}, aside[3] = {-sin(0.31), 0, cos(0.31)}, first = 0, least = INFINITY;
    const double *rest = b.sim->state.x;
    for (size_t n = 0; n < SHEET; n++) {
        double away = fabs(rbt_dot(rest + 3 * n, aside));
        if (away > 1e-9) least = fmin(least, away);
    }
    double room = 0.45 * least, height = 0.4 * room;
    c->thickness = c->support = room;  // of other pairs: the start is far away
    c->listed = SIZE_MAX;
    int judged = 0;
    double force = 0;
    for (int i = 0; i < 400; i++) {
        double by = i ? uniform(-1.2, 1.2) * room : 0.5 * room, shift = i % 4 ? uniform(-0.02, 0.02) : 0;
        double middle[3] = {0, height, 0};
        if (i % 4 == 1) by *= 0.1, shift *= 0.1;
        rbt_add_scaled(middle, by, aside);
        rbt_add_scaled(middle, shift, along);
        for (int k = 0; k < 3; k++) {
            memcpy(b.z + 3 * (SHEET + k), middle, sizeof middle);
            rbt_add_scaled(b.z + 3 * (SHEET + k), 2.0 * (k - 1), along);
        }
        double value = rbt_step_contact_gradient(c, b.z, 0), up = 0, over[2] = {0};
        for (size_t k = 0; k < 3; k++) {
            const double *f = c->force + 3 * (SHEET + k);
            up += f[1];
            over[0] += rbt_dot(f, along);
            over[1] += rbt_dot(f, aside);
        }
        if (!i) first = value, force = up;
        assert_true(c->active_count > 10);
        assert_below(fabs(value - first), 1e-10 * first);
        assert_below(fabs(up - force), 1e-10 * force);
        assert_below(fabs(over[0]) + fabs(over[1]), 1e-10 * force);
        judged++;
    }
    assert_int_equal(judged, 400);
    close_bench(&b);
}

// ---- Bent surfaces

// E has a gradient with the bound L of its slope, also where closest features change:
//   |E(x + h p) - E(x - h p) - 2 h E'(x) p| <= L h^2
static void seams_are_smooth(void **state) {
    (void)state;
    bench b = open_bench(SCENE(GRAIN));
    rbt_step_contact *c = b.c;
    double *grain = b.z + 3 * SHEET, at[3], p[3];
    size_t several = 0, negative = 0, judged = 0;
    for (int i = 0; i < 3000; i++) {
        shake_sheet(&b, 0.02, 0.03);
        pick(&b, 1 + i % 2, at);
        at[1] += i % 4 < 2 ? uniform(0.012, 0.03) : -uniform(0.012, 0.03);
        memcpy(grain, at, sizeof at);
        double value = rbt_step_contact_gradient(c, b.z, 0), tau2 = c->tau * c->tau, bound = 0, size = 0;
        if (!isfinite(value) || !(value > 0)) continue;
        several += c->active_count > 1;
        for (size_t k = 0; k < c->active_count; k++) {
            const rbt_active_pair *a = &c->active[k];
            double force = fabs(rbt_pair_barrier_force(&a->pair.barrier, a->gap));
            bound += fabs(a->hardness) + force / a->gap;
            size += fabs(a->value);
            negative += a->value < 0;
        }
        for (int k = 0; k < 3; k++) p[k] = uniform(-1, 1);
        double h = 1e-6, slope = -tau2 * rbt_dot(c->force + 3 * (size_t)SHEET, p), E[2];
        for (int side = 0; side < 2; side++) {
            for (int k = 0; k < 3; k++) grain[k] = at[k] + (side ? h : -h) * p[k];
            E[side] = rbt_step_contact_value(c, b.z, 0);
        }
        double off = fabs(E[1] - E[0] - 2 * h * slope);
        assert_below(off, tau2 * (10 * bound * h * h + 1e-12 * size));
        judged++;
    }
    assert_true(judged > 500 && several > 200 && negative > 50);
    close_bench(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_slide_freely),
        cmocka_unit_test(friction_has_the_normal_force),
        cmocka_unit_test(lines_slide_freely),
        cmocka_unit_test(seams_are_smooth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
