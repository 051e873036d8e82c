// The augmented Lagrangian beside the barrier: both are contact within a thickness d^, so that they differ by d^ and
// vanish together with it; and what constraints promise about their gaps and multipliers.
#include "contact_scene.h"
#include "sim/sim.h"

#include <string.h>

static const char *const BY[2] = {"barrier", "augmented-lagrangian"};

// ---- The same motion

// The scenes' files, and those of their first steps that are compared: scenes in which bodies are pressed. Fast impacts
// and folding cloth differ by more (docs/contact.md).
static const struct {
    const char *file;
    int steps;
} SHIPPED[] = {{"squash", 10},
               {"gripper", 10},
               {"trash-compactor", 10},
               {"squeezed-animal", 10},
               {"stack-of-blocks", 10},
               {"house-of-cards", 10},
               {"chain", 10}};

static rbt_sim *shipped_with(const char *name, const char *solver, double thickness) {  // 0: the scene's
    char path[600], setting[64], other[64];
    const char *settings[] = {setting, other};
    rbt_error error;
    snprintf(path, sizeof path, "%s/scenes/contact/%s.json", RBT_SOURCE_DIR, name);
    snprintf(setting, sizeof setting, "contact.solver=%s", solver);
    snprintf(other, sizeof other, "contact.thickness=%.17g", thickness);
    rbt_scene_file *file = rbt_scene_read(path, settings, thickness > 0 ? 2 : 1, &error);
    if (!file) fail_msg("%s", error.message);
    rbt_sim *sim = rbt_sim_create(rbt_scene_of(file), &error);
    if (!sim || !rbt_sim_set_threads(sim, 1, &error)) fail_msg("%s", error.message);
    rbt_scene_free(file);
    return sim;
}

static rbt_sim *shipped(const char *name, const char *solver) { return shipped_with(name, solver, 0); }

// How far apart two runs are at nodes that touch something in either of them [m]; how many pairs push
static double apart(rbt_sim *sims[2], size_t *pairs) {
    size_t nodes = rbt_sim_node_count(sims[0]);
    unsigned char *touching = calloc(nodes + 1, 1);
    double most = 0;
    *pairs = 0;
    for (int i = 0; i < 2; i++) {
        size_t count = rbt_sim_contacts(sims[i], NULL, 0);
        rbt_contact_point *points = calloc(count + 1, sizeof *points);
        assert_true(points && touching);
        rbt_sim_contacts(sims[i], points, count);
        for (size_t p = 0; p < count; p++)
            for (int k = 0; k < points[p].count_a + points[p].count_b; k++)
                if ((size_t)points[p].nodes[k] < nodes) touching[points[p].nodes[k]] = 1;
        *pairs += count;
        free(points);
    }
    for (size_t n = 0; n < nodes; n++) {
        double by[3];
        rbt_subtract(rbt_sim_positions(sims[0]) + 3 * n, rbt_sim_positions(sims[1]) + 3 * n, by);
        if (touching[n]) most = fmax(most, rbt_length(by));
    }
    free(touching);
    return most;
}

// A number that a run's report has
static double described(const rbt_sim *sim, const char *name) {
    rbt_text words = {0};
    sim->stepper.method->describe(sim->stepper.self, &words);
    const char *at = words.text ? strstr(words.text, name) : NULL;
    double value = at ? strtod(at + strlen(name), NULL) : NAN;
    rbt_text_free(&words);
    return value;
}

// The thickness that a run has chosen [m]
static double thickness_of(const rbt_sim *sim) { return described(sim, "\"thickness\": "); }

static void shipped_scenes_are_the_same_within_two_thicknesses(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof SHIPPED / sizeof *SHIPPED; i++) {
        rbt_sim *sims[2] = {shipped(SHIPPED[i].file, BY[0]), shipped(SHIPPED[i].file, BY[1])};
        double most = 0, thickness = thickness_of(sims[0]);
        size_t pairs, seen = 0;
        assert_true(thickness > 0 && thickness == thickness_of(sims[1]));
        for (int k = 0; k < SHIPPED[i].steps; k++) {
            for (int s = 0; s < 2; s++) contact_try(sims[s]);
            most = fmax(most, apart(sims, &pairs));
            seen += pairs;
        }
        print_message("%s: %.2f thicknesses of %.3g m apart, %zu pairs\n", SHIPPED[i].file, most / thickness,
                      thickness, seen);
        assert_true(seen > 0);
        assert_below(most, 2 * thickness);
        for (int s = 0; s < 2; s++) rbt_sim_free(sims[s]);
    }
}

// A soft ball that a plate presses on a block, by steps of backward Euler. Over three halvings of the thickness the
// difference falls to an eighth; differences of second order, and of where contact begins, leave it within 1.4 times
// that.
static double pressed(double thickness) {
    rbt_sim *sims[2];
    double most = 0;
    size_t pairs = 0;
    for (int s = 0; s < 2; s++) {
        contact_by = BY[s];
        sims[s] = contact_sim(
            "{'rubato': 1, 'bodies': [{'name': 'ball', 'mesh': {'shape': {'ball': {'radius': 0.1, 'layers': 4}}}, "
            "'transform': {'translate': [0, 0.205, 0]}, 'material': {'model': 'neo-hookean', 'young': 1e5, "
            "'poisson': "
            "0.4, 'density': 1000}}, {'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [0.3, 0.1, 0.3], "
            "'cells': "
            "[6, 2, 6]}}}, 'transform': {'translate': [0, 0.05, 0]}, 'fixed': ['bottom'], 'material': {'model': "
            "'neo-hookean', 'young': 2e5, 'poisson': 0.4, 'density': 1000}}], 'obstacles': [{'plane': {'point': [0, "
            "0.31, 0], 'normal': [0, -1, 0], 'motions': [{'velocity': {'velocity': [0, -1, 0]}}]}}], 'contact': "
            "{'thickness': %.17g}, 'time': {'step': 0.003, 'frame': 0.003, 'end': 1}, 'integrator': {'method': "
            "'backward-euler', 'solver': 'newton'}}",
            thickness);
    }
    for (int k = 0; k < 10; k++) {
        for (int s = 0; s < 2; s++) contact_try(sims[s]);
        most = fmax(most, apart(sims, &pairs));
    }
    assert_true(pairs > 10);
    for (int s = 0; s < 2; s++) rbt_sim_free(sims[s]);
    return most;
}

static void difference_falls_with_the_thickness(void **state) {
    (void)state;
    enum { HALVINGS = 3 };
    double first = 0, last = 0, thickness = 4e-3;
    for (int k = 0; k <= HALVINGS; k++, thickness *= 0.5) {
        last = pressed(thickness);
        if (!k) first = last;
        print_message("thickness %.2g m: %.2f thicknesses apart\n", thickness, last / thickness);
        assert_below(last, 2 * thickness);
    }
    assert_below(last, 1.4 * first / (1 << HALVINGS));
    contact_by = NULL;
}

// ---- Steps are solved whole

// Where impacts, first touches and friction that swings once made steps halve, and how many searches for pairs these
// steps may take (0: any): a chase that leads away makes motions of thousands of thicknesses, each with a search of its
// own.
static const struct {
    const char *file;
    int solver, steps, searches;
} WHOLE[] = {{"chain", 0, 2, 0}, {"chain", 1, 2, 0}, {"house-of-cards", 1, 2, 10}};

static void steps_are_solved_whole(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof WHOLE / sizeof *WHOLE; i++) {
        rbt_sim *sim = shipped(WHOLE[i].file, BY[WHOLE[i].solver]);
        contact_steps(sim, WHOLE[i].steps);
        double searches = described(sim, "\"searches\": ");
        print_message("%s, %s: %g searches in %d steps\n", WHOLE[i].file, BY[WHOLE[i].solver], searches,
                      WHOLE[i].steps);
        if (WHOLE[i].searches) assert_below(searches, WHOLE[i].searches);
        rbt_sim_free(sim);
    }
}

// Cards that lean on each other, stones of an arch, and balls that fall on each other: which forces of friction belong
// to each other is found by lags in one and by the true derivative in the other, and with another thickness, which is
// as good as other rounding, it may be the other way about. Over ten thicknesses steps that try one way only were
// halved up to 6 times, and took up to 1,400 iterations. (Of ten steps of the balls one has an impact that hardly any
// way solves.)
static void every_way_to_friction_is_tried(void **state) {
    (void)state;
    static const struct {
        const char *file;
        int solver, steps, most_halved, iterations;
        double thickness;
    } CASES[] = {{"house-of-cards", 0, 2, 2, 200, 8.9928e-5},
                 {"house-of-cards", 1, 2, 2, 250, 8.9928e-5},
                 {"masonry-arch", 0, 2, 2, 250, 2e-5},
                 {"balls-in-box", 1, 10, 10, 100, 1.286e-3}};
    enum { THICKNESSES = 10 };
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        int halved = 0;
        double iterations = 0;
        for (int i = 0; i < THICKNESSES; i++) {
            rbt_sim *sim = shipped_with(CASES[c].file, BY[CASES[c].solver], CASES[c].thickness * (1 - 0.01 * i));
            for (int k = 0; k < CASES[c].steps; k++) halved += contact_try(sim) > 0;
            iterations += sim->stepper.statistics[RBT_STAT_ITERATIONS] / (THICKNESSES * CASES[c].steps);
            rbt_sim_free(sim);
        }
        print_message("%s, %s: %d of %d steps halved, %.0f iterations a step\n", CASES[c].file, BY[CASES[c].solver],
                      halved, THICKNESSES * CASES[c].steps, iterations);
        assert_true(halved <= CASES[c].most_halved);
        assert_below(iterations, CASES[c].iterations);
    }
}

// A stiff bar whose driven ends wind it up until it presses on itself, by far more than the penalty over a thickness
// that is a hundred thousandth of its length.
static void pairs_may_be_pressed_by_far_more_than_their_penalty(void **state) {
    (void)state;
    contact_by = BY[1];
    rbt_sim *sim = contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'bar': {'size': [0.01268, 0.002536, 0.002536], "
        "'cells': [8, 1, 1]}}}, 'material': {'model': 'linear', 'young': 2.18e9, 'poisson': 0.4958, 'density': 520}, "
        "'driven': [{'where': 'left', 'motions': [{'rotation': {'axis': [1, 0, 0], 'rate': 30.15}}]}, {'where': "
        "'right', 'motions': [{'rotation': {'axis': [1, 0, 0], 'rate': -30.15}}]}]}], 'contact': {'thickness': "
        "7.7e-8, 'friction': 0.7}, 'time': {'step': 0.008864, 'frame': 0.008864, 'end': 1}, 'integrator': {'method': "
        "'backward-euler'}}");
    for (int i = 0; i < 20; i++) contact_try(sim);
    rbt_sim_free(sim);
    contact_by = NULL;
}

// ---- Gaps and multipliers

// A stack of blocks that comes to rest: where a step ends, pairs that push are a thickness apart within a tenth, which
// a step makes good at a quarter of what is missing, so that the gap of the next one may be another tenth smaller: 0.69
// at worst (contact_multipliers.c); and none is closer. Constraints store no energy.
static void pairs_that_push_are_a_thickness_apart(void **state) {
    (void)state;
    contact_by = BY[1];
    const double thickness = 1e-3;
    for (int i = 0; i < CONTACT_METHOD_COUNT; i++) {
        rbt_sim *sim = contact_sim(
            "{'rubato': 1, 'bodies': [{'name': 'low', 'mesh': {'shape': {'cuboid': {'size': [0.2, 0.1, 0.2], "
            "'cells': "
            "[3, 2, 3]}}}, 'transform': {'translate': [0, 0.052, 0]}, 'material': {'model': 'neo-hookean', 'young': "
            "1e5, 'poisson': 0.3, 'density': 1000}}, {'name': 'high', 'mesh': {'shape': {'cuboid': {'size': [0.1, "
            "0.1, "
            "0.1], 'cells': [2, 2, 2]}}}, 'transform': {'axis': [0, 1, 0], 'degrees': 20, 'translate': [0, 0.154, "
            "0]}, "
            "'material': {'model': 'neo-hookean', 'young': 1e5, 'poisson': 0.3, 'density': 1000}}], 'forces': "
            "[{'gravity': {}}], 'obstacles': [{'plane': {}}], 'contact': {'thickness': %.17g, 'friction': 0.3}, "
            "'time': "
            "{'step': 0.005, 'frame': 0.005, 'end': 1}, 'integrator': {'method': '%s', 'solver': 'newton'}}",
            thickness, CONTACT_METHODS[i]);
        size_t most = 0;
        double least = INFINITY, widest = 0;
        for (int k = 0; k < 30; k++) {
            contact_try(sim);
            size_t count = rbt_sim_contacts(sim, NULL, 0);
            rbt_contact_point *points = calloc(count + 1, sizeof *points);
            assert_non_null(points);
            rbt_sim_contacts(sim, points, count);
            for (size_t p = 0; p < count; p++) {
                assert_true(points[p].force >= 0);
                least = fmin(least, points[p].gap / thickness);
                if (points[p].force > 0) widest = fmax(widest, points[p].gap / thickness);
            }
            assert_true(rbt_sim_energies(sim).contact == 0);
            most = count > most ? count : most;
            free(points);
        }
        print_message("%-17s up to %zu pairs, gaps of %.3f to %.3f thicknesses\n", CONTACT_METHODS[i], most, least,
                      widest);
        assert_true(most >= 8 && least >= 0.69);
        assert_below(widest, 1.1);
        rbt_sim_free(sim);
    }
    contact_by = NULL;
}

// Two blocks at rest, within the thickness: constraints store no energy that could drive them apart.
static void gaps_open_without_energy(void **state) {
    (void)state;
    contact_by = BY[1];
    for (int i = 0; i < CONTACT_METHOD_COUNT; i++) {
        rbt_sim *sim = contact_sim("{'rubato': 1, 'bodies': [{'name': 'low', 'mesh': {'shape': {'cuboid': {'size': "
                                   "[0.1, 0.1, 0.1], 'cells': "
                                   "[2, 2, 2]}}}, 'material': {'young': 1e5, 'density': 1000}}, {'name': 'high', "
                                   "'mesh': {'shape': {'cuboid': "
                                   "{'size': [0.1, 0.1, 0.1], 'cells': [1, 1, 1]}}}, 'transform': {'translate': [0, "
                                   "0.1005, 0]}, 'material': "
                                   "{'young': 1e5, 'density': 1000}}], 'contact': {'thickness': 2e-3}, 'time': "
                                   "{'step': 1e-4, 'frame': 1e-4, "
                                   "'end': 1}, 'integrator': {'method': '%s', 'solver': 'newton'}}",
                                   CONTACT_METHODS[i]);
        contact_steps(sim, 10);
        rbt_energies e = rbt_sim_energies(sim);
        print_message("%-17s %.3g J\n", CONTACT_METHODS[i], e.kinetic + e.elastic);
        assert_below(e.kinetic + e.elastic, 1e-12);
        rbt_sim_free(sim);
    }
    contact_by = NULL;
}

// What a state holds of multipliers may come from anywhere: what cannot be is not used.
static void wrong_multipliers_are_not_used(void **state) {
    (void)state;
    contact_by = BY[1];
    rbt_sim *sim = contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [0.1, 0.1, 0.1], 'cells': "
        "[1, "
        "1, 1]}}}, 'transform': {'translate': [0, 0.0511, 0]}, 'material': {'young': 1e5, 'density': 1000}}], "
        "'forces': [{'gravity': {}}], 'obstacles': [{'plane': {}}], 'contact': {'thickness': 1e-3}, 'time': {'step': "
        "0.01, 'frame': 0.01, 'end': 1}, 'integrator': {'method': 'backward-euler', 'solver': 'newton'}}");
    contact_steps(sim, 5);
    size_t count = rbt_sim_contacts(sim, NULL, 0), head = (2 + 3 * rbt_sim_node_count(sim)) * sizeof(double);
    assert_int_equal(count, 4);
    uint64_t *words = (uint64_t *)(void *)((char *)sim->state.memory + head), kept[9];
    memcpy(kept, words, sizeof kept);
    assert_int_equal(words[0], count);
    static const struct {
        int place;
        uint64_t value;
    } WRONG[] = {{0, UINT64_MAX},
                 {0, 1u << 20},
                 {1, UINT64_MAX},
                 {3, 0},
                 {5, 3ull << 60 | 0x3fffffffull << 30},
                 {2, 0x7ff0000000000000ull},
                 {2, 0xbff0000000000000ull},
                 {2, 0x7ff8000000000000ull}};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        memcpy(words, kept, sizeof kept);
        words[WRONG[i].place] = WRONG[i].value;
        assert_int_equal(rbt_sim_contacts(sim, NULL, 0), 0);
    }
    contact_step(sim);  // from nothing again
    assert_int_equal(rbt_sim_contacts(sim, NULL, 0), 4);
    rbt_sim_free(sim);
    contact_by = NULL;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_scenes_are_the_same_within_two_thicknesses),
        cmocka_unit_test(difference_falls_with_the_thickness),
        cmocka_unit_test(steps_are_solved_whole),
        cmocka_unit_test(every_way_to_friction_is_tried),
        cmocka_unit_test(pairs_may_be_pressed_by_far_more_than_their_penalty),
        cmocka_unit_test(pairs_that_push_are_a_thickness_apart),
        cmocka_unit_test(gaps_open_without_energy),
        cmocka_unit_test(wrong_multipliers_are_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
