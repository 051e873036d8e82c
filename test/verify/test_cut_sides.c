// The two sides of cuts stay apart, exactly, whatever presses them together, with every method and solver that knows
// contact; and cuts make no difference between numbers of threads or to a resumed run.
#include "../support/cut_scene.h"

#include <unistd.h>

#define MATERIAL "'material': {'model': 'stable-neo-hookean', 'young': 1e5, 'poisson': 0.3, 'density': 1000}"
#define TIME     "'time': {'step': 0.01, 'frame': 0.01, 'end': 10}"

// All methods with contact, and their solvers
static const char *const WAYS[][2] = {
    {"backward-euler", "newton"},    {"backward-euler", "dot"},  {"backward-euler", "lbfgs-h"}, {"bdf2", "newton"},
    {"implicit-midpoint", "newton"}, {"energy-euler", "newton"}, {"semi-implicit", "cholesky"}, {"siere", "cholesky"},
    {"multirate-euler", "cholesky"}, {"imex", "cholesky"}};
enum { WAY_COUNT = sizeof WAYS / sizeof *WAYS };

// A block between a plate that moves down and the ground is cut in strokes across, down to a rim inside, and then
// along: its sides are pressed together and rub.
static rbt_sim *pressed(const char *method, const char *solver, const char *contact) {
    return contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.2, 0.2], 'cells': "
        "[4, "
        "2, 2]}}}, " MATERIAL ", 'transform': {'axis': [0, 0, 1], 'degrees': 90, 'translate': [0, 0.205, 0]}, "
        "'tempo': [{'where': {'plane': {'point': [0, 0.3, 0], 'normal': [0, 1, 0]}}, 'substeps': 3}]}], "
        "'obstacles': [{'plane': {}}, {'box': {'min': [-0.3, 0.41, -0.3], 'max': [0.3, 0.5, 0.3], 'motions': "
        "[{'velocity': {'velocity': [0.05, -0.8, 0]}}]}}], 'contact': {'thickness': 2e-3, 'friction': 0.3%s}, "
        "'cuts': "
        "[{'time': 0.01, 'until': 0.02, 'strokes': 2, 'surface': {'rectangle': {'corner': [-0.1, 0.47, -0.1], "
        "'along': "
        "[0.8, 0.05, 0], 'across': [0, 0, 1.2], 'relative': true}}}], 'events': [{'time': 0.03, 'cut': {'deformed': "
        "true, 'surface': {'plane': {'point': [0.01, 0.2, 0.02], 'normal': [0.1, 0.1, 1]}}}}], 'integrator': "
        "{'method': "
        "'%s', 'solver': '%s'}, " TIME "}",
        contact, method, solver);
}

static void sides_stay_apart(void **state) {
    (void)state;
    for (int i = 0; i <= WAY_COUNT; i++) {
        const char *const *way = WAYS[i % WAY_COUNT];
        const char *contact = i == WAY_COUNT ? ", 'solver': 'augmented-lagrangian'" : "";
        rbt_sim *sim = pressed(way[0], way[1], contact);
        size_t most = 0, nodes = sim->model->node_count;
        double friction = 0;
        for (int k = 0; k < 5; k++) {
            int generation = sim->model->generation;
            rbt_step_report report = {0};
            if (!rbt_sim_cut(sim, &report)) fail_msg("%s: %s", way[0], report.hint);
            if (sim->model->generation != generation) assert_int_equal(crossings(sim), 0);
            double now = rbt_sim_energies(sim).friction;
            assert_true(now >= friction - 1e-9);  // a cut does not forget it
            step(sim);
            friction = rbt_sim_energies(sim).friction;
            assert_int_equal(crossings(sim), 0);
            rbt_contact_point points[4096];
            size_t count = rbt_sim_contacts(sim, points, 4096), own = 0;
            for (size_t p = 0; p < count && p < 4096; p++) own += points[p].body_a == 0 && points[p].body_b == 0;
            if (own > most) most = own;
        }
        assert_true(sim->model->node_count > nodes + 20);
        print_message("%s, %s%s: %zu nodes, up to %zu pairs within the block\n", way[0], way[1], contact,
                      sim->model->node_count, most);
        if (!most) fail_msg("%s: the sides of the cuts never touched", way[0]);
        rbt_sim_free(sim);
    }
}

enum { STEPS = 4 };  // the last cut is made before the fourth

static void assert_same(const rbt_sim *a, const rbt_sim *b) {
    assert_int_equal(a->state.node_count, b->state.node_count);
    size_t bytes = 3 * a->state.node_count * sizeof(double);
    assert_memory_equal(a->state.x, b->state.x, bytes);
    assert_memory_equal(a->state.v, b->state.v, bytes);
    rbt_energies p = rbt_sim_energies(a), q = rbt_sim_energies(b);
    assert_memory_equal(&p.total, &q.total, sizeof p.total);
    assert_memory_equal(&p.friction, &q.friction, sizeof p.friction);
}

// Saved between two strokes and after them; continued by another number of threads. Methods that differ in what a cut
// does not touch are left to RUBATO_TEST_WHOLE=1, as in `make soak`.
static void same_bits(void **state) {
    (void)state;
    static const int THREADS[] = {2, 3, 8};
    for (int i = 0; i < WAY_COUNT; i++) {
        const char *const *way = WAYS[i];
        bool alike = i == 1 || i == 4 || i == 5;  // dot, implicit-midpoint, energy-euler
        if (alike && !getenv("RUBATO_TEST_WHOLE")) continue;
        char file[] = "/tmp/rubato-cut-XXXXXX.rbt";
        rbt_error error;
        rbt_sim *one = pressed(way[0], way[1], ""), *other = pressed(way[0], way[1], "");
        assert_true(rbt_sim_set_threads(other, THREADS[i % 3], &error));
        int descriptor = mkstemps(file, 4), saved_at = 2 + i % 2;
        assert_true(descriptor >= 0);
        close(descriptor);
        for (int k = 0; k < STEPS; k++) {
            if (k == saved_at) {
                rbt_state *saved = rbt_sim_save(one, &error);
                assert_true(saved && rbt_state_write(saved, file, &error));
                rbt_state_free(saved);
            }
            step(one);
            step(other);
        }
        assert_same(one, other);
        rbt_sim_free(other);
        rbt_sim *resumed = pressed(way[0], way[1], "");
        rbt_state *read = rbt_state_read(file, &error);
        if (!read || !rbt_sim_restore(resumed, read, &error)) fail_msg("%s", error.message);
        rbt_state_free(read);
        unlink(file);
        assert_true(rbt_sim_set_threads(resumed, THREADS[(i + 1) % 3], &error));
        for (int k = saved_at; k < STEPS; k++) step(resumed);
        assert_same(one, resumed);
        rbt_sim_free(resumed);
        rbt_sim_free(one);
    }
}

int main(void) {
    rbt_threads_enter(1);  // bodies are small
    const struct CMUnitTest tests[] = {cmocka_unit_test(sides_stay_apart), cmocka_unit_test(same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
