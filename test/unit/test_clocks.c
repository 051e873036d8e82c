// Clocks of elastic forces: the plain way (step/async/plain_clock.h) has the bits of the general one.
#include "scene.h"
#include "sim/sim.h"
#include "step/async/clocks.h"

#include "random.h"

typedef struct run {
    rbt_clocks clocks;
    rbt_tracks tracks;
    double *memory;
} run;

static run *start(const rbt_model *m, double safety, bool plain) {
    run *r = calloc(1, sizeof *r);
    size_t n = m->node_count;
    assert_true(rbt_clocks_init(&r->clocks, m, safety, NULL));
    r->memory = calloc(rbt_clocks_memory(m) + 1, sizeof(double));
    r->tracks = (rbt_tracks){.count = n, .tick = ldexp(m->step, -RBT_TICK_BITS)};
    r->tracks.x = calloc(3 * n, sizeof(double));
    r->tracks.v = calloc(3 * n, sizeof(double));
    r->tracks.t = calloc(n, sizeof(int64_t));
    r->tracks.inverse_mass = calloc(n, sizeof(double));
    random_again(0);  // both ways start alike
    rbt_constrained_nodes(m, 0, r->clocks.constrained);
    for (size_t i = 0; i < 3 * n; i++) {
        r->tracks.x[i] = m->x0[i] + 0.01 * (unit() - 0.5);
        r->tracks.v[i] = unit() - 0.5;
    }
    for (size_t c = 0; !plain && c < r->clocks.count; c++) r->clocks.clocks[c].plain = NULL;
    return r;
}

static void end(run *r) {
    rbt_clocks_free(&r->clocks);
    free(r->memory);
    free(r->tracks.x);
    free(r->tracks.v);
    free(r->tracks.t);
    free(r->tracks.inverse_mass);
    free(r);
}

// What contact does between ticks, too
static void push(run *r, size_t node, int64_t t, double by) {
    rbt_track_move(&r->tracks, node, t);
    r->tracks.v[3 * node + 1] += r->clocks.constrained[node] ? 0 : by;
}

// Both ways side by side; how many of the clocks are plain
static size_t compare(const char *json, double safety, size_t *clocks) {
    rbt_sim *sim = sim_from(json);
    run *a = start(sim->model, safety, true), *b = start(sim->model, safety, false);
    size_t n = sim->model->node_count, plain = 0;
    int shift = RBT_TICK_BITS - a->clocks.finest;
    for (int64_t k = 0; k < 400; k++) {
        int64_t t = k << shift;
        size_t elements = rbt_clocks_tick(&a->clocks, &a->tracks, t, k == 0, a->memory);
        assert_int_equal(rbt_clocks_tick(&b->clocks, &b->tracks, t, k == 0, b->memory), elements);
        assert_memory_equal(a->tracks.x, b->tracks.x, 3 * n * sizeof(double));
        assert_memory_equal(a->tracks.v, b->tracks.v, 3 * n * sizeof(double));
        assert_memory_equal(a->tracks.t, b->tracks.t, n * sizeof(int64_t));
        size_t node = (size_t)(unit() * (double)n);
        double by = 0.1 * (unit() - 0.5);
        push(a, node, t + ((int64_t)1 << (shift - 2)), by);
        push(b, node, t + ((int64_t)1 << (shift - 2)), by);
    }
    for (size_t i = 0; i < 3 * n; i++) assert_true(isfinite(a->tracks.x[i]));
    for (size_t c = 0; c < a->clocks.count; c++) plain += a->clocks.clocks[c].plain != NULL;
    *clocks = a->clocks.count;
    end(a);
    end(b);
    rbt_sim_free(sim);
    return plain;
}

#define TIME "'time': {'step': 1e-3, 'frame': 1e-2, 'end': 1}, 'integrator': {'method': 'async-contact'}"
#define CLOTH(more)                                                                                                  \
    "{'name': 'cloth', 'mesh': {'shape': {'cloth': {'length': 0.2, 'width': 0.1, 'cells_along': 2, 'cells_across': " \
    "1}}}, 'material': {'young': 1e5, 'density': 500}, 'fixed': [{'nodes': [0, 1]}], 'shell': {'thickness': 0.002, " \
    "'bending': 1e-3" more "}}"
#define SHEET                                                                                                        \
    "{'name': 'sheet', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, 'cells_along': 15, 'cells_across': "    \
    "15}}}"                                                                                                          \
    ", 'transform': {'translate': [0, 1, 0]}, 'material': {'young': 1e4, 'density': 500}, 'shell': {'thickness': "   \
    "0.002, 'bending': 0}}"
#define POINTS                                                                                                       \
    "{'name': 'points', 'mesh': {'shape': {'cloth': {'length': 9, 'width': 9, 'cells_along': 1, 'cells_across': "    \
    "1}}}, 'transform': {'translate': [0, 3, 0]}, 'particles': {'radius': 0.1, 'mass': 0.7}, 'fixed': [{'nodes': "   \
    "[2]}]}"
#define BAR                                                                                                          \
    "{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.2, 0.1, 0.1], 'cells': [1, 1, 1]}}}, 'material': "     \
    "{'young': 1e4}, 'transform': {'translate': [0, 2, 0]}}"
#define GRAVITY             ", 'forces': [{'gravity': {'acceleration': [0.3, -9.81, -0.0]}}]"
#define SCENE(bodies, more) "{'rubato': 1, 'bodies': [" bodies "]" more ", " TIME "}"

static void plain_clocks_have_the_same_bits(void **state) {
    (void)state;
    static const char *const scenes[] = {
        SCENE(POINTS, ""),
        SCENE(POINTS, GRAVITY),
        SCENE(CLOTH(""), GRAVITY),
        SCENE(CLOTH(", 'membrane': 'springs'"), GRAVITY),
        SCENE(POINTS ", " CLOTH(", 'membrane': 'springs'"), ""),
    };
    size_t clocks, most = 0;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        for (double safety = 1; safety > 0.02; safety /= 4) {
            size_t plain = compare(scenes[i], safety, &clocks);
            assert_int_equal(plain, clocks);
            if (clocks > most) most = clocks;
        }
    assert_true(most > 2);
}

// Many elements, types that add up themselves, loads, prescribed motions, damping and flow: the general way
static void other_clocks_are_not_plain(void **state) {
    (void)state;
    size_t clocks;
    static const char *const none[] = {
        SCENE(CLOTH(", 'yield': 0.1"), ""),
        SCENE(CLOTH("") ", " POINTS, ", 'forces': [{'wind': {'velocity': [1, 2, 3]}}]"),
        SCENE(BAR, GRAVITY),
        SCENE("{'name': 'points', 'mesh': {'shape': {'cloth': {'length': 9, 'width': 9, 'cells_along': 1, "
              "'cells_across': 1}}}, 'particles': {'radius': 0.1, 'mass': 0.7}, 'damping': {'mass': 0.1}}",
              ""),
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) assert_int_equal(compare(none[i], 0.9, &clocks), 0);
    // Where a large sheet has the fast clocks, the common step has no elements but all nodes.
    assert_int_equal(compare(SCENE(SHEET, GRAVITY), 0.01, &clocks), 1);
    assert_true(clocks > 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_clocks_have_the_same_bits),
        cmocka_unit_test(other_clocks_are_not_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
