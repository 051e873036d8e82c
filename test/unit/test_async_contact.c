// The method async-contact as a whole: its limits, its conservation, and that nothing penetrates.
#include "math/vec3.h"
#include "sampled.h"
#include "scene.h"
#include "sim/sim.h"
#include "verify/exact/intersect.h"

static rbt_sim *make(const char *format, const char *method, const char *options) {
    char json[4096];
    snprintf(json, sizeof json, format, method, options);
    return sim_from(json);
}

// By the exact judge, which shares nothing with contact
static size_t crossings(const rbt_sim *sim) {
    const rbt_model *m = sim->model;
    rbt_intersect_mesh mesh;
    rbt_intersections found = {0};
    assert_true(rbt_intersect_mesh_build(&mesh, m->triangles, m->triangle_count, NULL, 0, m->node_count, NULL));
    assert_true(rbt_intersect_state(&mesh, sim->state.x, 0, &found, NULL));
    size_t count = found.count;
    rbt_intersections_free(&found);
    rbt_intersect_mesh_free(&mesh);
    return count;
}

static bool same_bits(const rbt_sim *a, const rbt_sim *b) {
    size_t bytes = 3 * a->model->node_count * sizeof(double);
    return memcmp(a->state.x, b->state.x, bytes) == 0 && memcmp(a->state.v, b->state.v, bytes) == 0;
}

static const char SHEET_AND_BLOCK[] =
    "{'rubato': 1, 'bodies': ["
    "{'name': 'cloth', 'mesh': {'shape': {'cloth': {'length': 0.4, 'width': 0.4, 'cells_along': 8, 'cells_across': "
    "8}}}, "
    "'transform': {'translate': [0, 1, 0]}, 'material': {'young': 1e4, 'density': 500}, "
    "'shell': {'thickness': 0.002, 'bending': 1e-4}, 'fixed': ['left']},"
    "{'name': 'flag', 'mesh': {'shape': {'ribbon': {'length': 0.4, 'width': 0.1, 'cells_along': 8, 'cells_across': "
    "2}}}, "
    "'transform': {'translate': [0, 2, 0]}, 'material': {'young': 1e4, 'density': 500}, "
    "'shell': {'thickness': 0.002, 'membrane': 'springs'}, "
    "'driven': [{'where': 'left', 'motions': [{'rotation': {'axis': [0, 1, 0], 'rate': 2}}]}]},"
    "{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.1], 'cells': [5, 2, 2]}}}, "
    "'deform': [{'twist': {'axis': [1, 0, 0], 'degrees': 40}}], 'velocity': {'angular': [1, 2, 3]}, "
    "'material': {'model': 'neo-hookean', 'young': 1e4}}], "
    "'forces': [{'gravity': {}}, {'wind': {'velocity': [3, 0, 1]}}], "
    "'time': {'step': 1e-4, 'frame': %s, 'end': 1}, 'integrator': {'method': '%s'%s}}";

static rbt_sim *sheets(const char *frame, const char *method, const char *options) {
    char json[4096];
    snprintf(json, sizeof json, SHEET_AND_BLOCK, frame, method, options);
    return sim_from(json);
}

// All elements allow the step, so there is one clock, and nothing touches.
static void one_clock_is_symplectic_euler(void **state) {
    (void)state;
    rbt_sim *euler = sheets("1e-4", "symplectic-euler", "");
    rbt_sim *async = sheets("1e-4", "async-contact", ", 'options': {'thickness': 1e-3}");
    for (int i = 0; i < 200; i++) {
        advance(euler, 1);
        advance(async, 1);
        assert_true(same_bits(euler, async));
    }
    rbt_sim_free(euler);
    rbt_sim_free(async);
}

// Driven nodes, wind and several clocks included
static void frames_change_nothing(void **state) {
    (void)state;
    const char *options = ", 'options': {'thickness': 1e-3, 'elastic_safety': 0.02}";
    rbt_sim *few = sheets("2e-3", "async-contact", options), *many = sheets("1e-4", "async-contact", options);
    for (int i = 0; i < 5; i++) {
        advance(few, 1);
        advance(many, 20);
        assert_true(same_bits(few, many));
    }
    rbt_sim_free(few);
    rbt_sim_free(many);
}

static const char PILE[] =
    "{'rubato': 1, 'bodies': ["
    "{'name': 'cloth', 'mesh': {'shape': {'cloth': {'length': 0.4, 'width': 0.4, 'cells_along': 6, 'cells_across': "
    "6}}}, "
    "'transform': {'axis': [1, 0, 0.3], 'degrees': 10, 'translate': [0, 0.25, 0]}, "
    "'material': {'young': 1e4, 'density': 500}, 'shell': {'thickness': 0.002, 'bending': 1e-4}, "
    "'velocity': {'linear': [0, -2, 0]}},"
    "{'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [0.2, 0.1, 0.1], 'cells': [2, 1, 1]}}}, "
    "'transform': {'translate': [0.01, 0.02, 0]}, 'material': {'young': 1e4}}], "
    "'forces': [{'gravity': {}}], %s "
    "'time': {'step': 5e-4, 'frame': 5e-3, 'end': 1}, 'integrator': {'method': 'async-contact', 'options': "
    "{%s}}}";

static const char FLOOR[] = "'obstacles': [{'plane': {'point': [0, -0.04, 0], 'normal': [0, 1, 0]}}],";

// Contact between bodies and with themselves keeps both momenta of free bodies, and energy but for its oscillation.
static void contact_conserves(void **state) {
    (void)state;
    rbt_sim *sim = make(PILE, "", "'thickness': 0.01");
    for (int k = 0; k < 3; k++) ((rbt_model *)(void *)sim->model)->gravity[k] = 0;
    rbt_energies before = rbt_sim_energies(sim);
    double least = INFINITY, most = -INFINITY, touched = 0;
    for (int i = 0; i < 60; i++) {
        advance(sim, 1);
        rbt_energies now = rbt_sim_energies(sim);
        touched += now.contact;
        least = fmin(least, now.total);
        most = fmax(most, now.total);
        assert_int_equal(crossings(sim), 0);
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(now.momentum[k] - before.momentum[k]) < 1e-12 * rbt_length(before.momentum));
            assert_true(fabs(now.angular_momentum[k] - before.angular_momentum[k]) <
                        1e-12 * rbt_length(before.momentum));
        }
    }
    assert_true(touched > 0);
    assert_true(most - least < 0.03 * before.total);
    rbt_sim_free(sim);
}

static void copy_motion(rbt_sim *to, const rbt_sim *from) {
    memmove(to->state.x, from->state.x, 3 * from->model->node_count * sizeof(double));
    memmove(to->state.v, from->state.v, 3 * from->model->node_count * sizeof(double));
    memmove(to->state.memory, from->state.memory, from->state.memory_size);
    to->state.t = from->state.t, to->state.frame = from->state.frame, to->state.step = from->state.step;
}

// Reading a state more often, other windows and certificates, and starting again from a state change no bit; also
// where layers are thicker than the mesh is fine, so that most pairs of one body have a thickness of their own.
static void looking_changes_nothing(void **state) {
    (void)state;
    static const char *const options[] = {"'thickness': 0.01, 'friction': 0.3, 'restitution': 0.5",
                                          "'thickness': 0.07, 'restitution': 0"};
    for (int o = 0; o < 2; o++) {
        rbt_sim *a = make(PILE, o ? "" : FLOOR, options[o]), *b = make(PILE, o ? "" : FLOOR, options[o]);
        for (int i = 0; i < 30; i++) {
            rbt_sim *c = make(PILE, o ? "" : FLOOR, options[o]);
            rbt_step_report report = {0};
            advance(a, 1);
            for (int k = 0; k < 10; k++) {  // every step looked at, half of them from a workspace that knows nothing
                rbt_sim *by = k % 2 ? c : b;
                copy_motion(by, b);
                assert_int_equal(rbt_sim_take_step(by, &report), RBT_DONE);
                assert_true(isfinite(rbt_sim_energies(by).total));
                copy_motion(b, by);
            }
            assert_true(same_bits(a, b));
            rbt_sim_free(c);
        }
        assert_int_equal(crossings(a), 0);
        rbt_sim_free(a);
        rbt_sim_free(b);
    }
}

static rbt_text description(const rbt_sim *sim) {
    rbt_text words = {0};
    sim->stepper.method->describe(sim->stepper.self, &words);
    assert_non_null(words.text);
    return words;
}

static long long cones_left(const rbt_sim *sim) {
    rbt_text words = description(sim);
    const char *at = strstr(words.text, "\"cones\": ");
    assert_non_null(at);
    long long count = strtoll(at + strlen("\"cones\": "), NULL, 10);
    rbt_text_free(&words);
    return count;
}

// Without slack trajectories every kick breaks what its nodes promised: that is dearer, and not another motion.
static void slack_changes_nothing(void **state) {
    (void)state;
    rbt_sim *slack = make(PILE, FLOOR, "'thickness': 0.01, 'friction': 0.3, 'restitution': 0.5");
    rbt_sim *exact = make(PILE, FLOOR, "'thickness': 0.01, 'friction': 0.3, 'restitution': 0.5, 'slack': false");
    double touched = 0;
    for (int i = 0; i < 40; i++) {
        advance(slack, 1);
        advance(exact, 1);
        assert_true(same_bits(slack, exact));
        touched += rbt_sim_energies(exact).contact;
    }
    assert_true(touched > 0);
    assert_true(cones_left(exact) > 2 * cones_left(slack));
    rbt_sim_free(slack);
    rbt_sim_free(exact);
}

// Of "nodes_by_clock": how many nodes it counts, and how many levels it has
static void read_clocks(const rbt_sim *sim, long *sum, int *levels) {
    rbt_text words = description(sim);
    char *at = strstr(words.text, "\"nodes_by_clock\": [");
    assert_non_null(at);
    at += strlen("\"nodes_by_clock\": [");
    for (*sum = 0, *levels = 0; *at && *at != ']'; (*levels)++) {
        *sum += strtol(at, &at, 10);
        at += strspn(at, ", ");
    }
    rbt_text_free(&words);
}

// Every free node is counted once: by its elements while nothing touches, by its layers where they are faster.
static void clocks_of_nodes_are_counted(void **state) {
    (void)state;
    rbt_sim *sim = make(PILE, "", "'thickness': 0.01, 'elastic_safety': 1");
    long sum;
    int levels, before, most = 0;
    advance(sim, 1);
    assert_true(rbt_sim_energies(sim).contact == 0);
    read_clocks(sim, &sum, &before);
    assert_int_equal(sum, sim->model->node_count);
    for (int i = 0; i < 40; i++) {
        advance(sim, 1);
        read_clocks(sim, &sum, &levels);
        assert_int_equal(sum, sim->model->node_count);
        assert_true(levels >= before);
        if (levels > most) most = levels;
    }
    assert_true(most > before);
    rbt_sim_free(sim);
    sim = sheets("1e-4", "async-contact", ", 'options': {'thickness': 1e-3}");
    advance(sim, 1);
    read_clocks(sim, &sum, &levels);
    assert_int_equal(sum,
                     sim->model->node_count - 9 - 3);  // the fixed ends of the cloth, the driven ones of the flag
    assert_int_equal(levels, 1);
    rbt_sim_free(sim);
}

// A sheet thrown at another one: whatever the layers' stiffness and thickness and the speed, it does not get through.
static void nothing_penetrates(void **state) {
    (void)state;
    static const double stiffness[] = {1e-3, 10, 1e5}, thickness[] = {1e-4, 0.03}, speed[] = {1, 100};
    for (int i = 0; i < 12; i += SAMPLED(1, 5)) {
        char json[4096];
        snprintf(json, sizeof json,
                 "{'rubato': 1, 'bodies': ["
                 "{'name': 'target', 'mesh': {'shape': {'cloth': {'length': 0.4, 'width': 0.4, 'cells_along': 4, "
                 "'cells_across': 4}}}, 'material': {'young': 1e5, 'density': 500}, "
                 "'shell': {'thickness': 0.002, 'bending': 1e-4}, 'fixed': ['left', 'right']},"
                 "{'name': 'dart', 'mesh': {'shape': {'cuboid': {'size': [0.06, 0.1, 0.06], 'cells': [1, 1, 1]}}}, "
                 "'transform': {'axis': [1, 1, 0.3], 'degrees': 50, 'translate': [0.01, 0.12, 0.02]}, "
                 "'material': {'young': 1e5}, 'velocity': {'linear': [0, %g, 0]}}], "
                 "'time': {'step': %g, 'frame': %g, 'end': 1}, 'integrator': {'method': 'async-contact', 'options': "
                 "{'thickness': %g, 'stiffness': %g}}}",
                 -speed[i / 6], 1e-3 / speed[i / 6], 5e-3 / speed[i / 6], thickness[i / 3 % 2], stiffness[i % 3]);
        rbt_sim *sim = sim_from(json);
        rbt_step_report report;
        for (int k = 0; k < 40; k++) {
            if (!rbt_sim_advance_frame(sim, &report)) {
                assert_true(report.outcome == RBT_STALLED || report.outcome == RBT_NOT_FINITE);
                break;
            }
            assert_int_equal(crossings(sim), 0);
        }
        rbt_sim_free(sim);
    }
}

static void bad_starts_are_named(void **state) {
    (void)state;
    const char *cloth =
        "'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, 'cells_along': 2, 'cells_across': 2}}}, "
        "'shell': {'thickness': 0.002}";
    char json[4096];
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [{'name': 'a', %s}, {'name': 'b', %s, 'transform': {'axis': [1, 0, 0.2], "
             "'degrees': 40, "
             "'translate': [0.1, 0, 0]}}], 'integrator': {'method': 'async-contact'}}",
             cloth, cloth);
    refuses(json, "touch or cross at the start");
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [{'name': 'a', %s}], 'obstacles': [{'plane': {'point': [0, 0.1, 0], 'normal': "
             "[0, 1, "
             "0]}}], 'integrator': {'method': 'async-contact'}}",
             cloth);
    refuses(json, "and plane 0 touch or cross");
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'a', %s, 'fixed': [{'box': {'min': [-9, -9, -9], 'max': [9, 9, 9]}}]}], "
        "'integrator': {'method': 'async-contact'}}",
        cloth);
    refuses(json, "every node is fixed");
}

// A block between two plates that close for good: the run stops at the floor, and says which pair.
static void impossible_motion_stalls(void **state) {
    (void)state;
    rbt_sim *sim = sim_from(
        "{'rubato': 1, 'bodies': ["
        "{'name': 'top', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, 'cells_along': 1, 'cells_across': "
        "1}}}, "
        "'transform': {'translate': [0, 0.12, 0]}, 'shell': {'thickness': 0.002}, 'driven': [{'where': {'box': "
        "{'min': "
        "[-9, -9, -9], 'max': [9, 9, 9]}}, 'motions': [{'velocity': {'velocity': [0, -1, 0], 'until': 0.118}}]}]},"
        "{'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [0.1, 0.1, 0.1], 'cells': [1, 1, 1]}}}, "
        "'transform': {'translate': [0.013, 0.06, 0.017]}, 'material': {'young': 1e4}}], "
        "'obstacles': [{'plane': {'point': [0, 0, 0], 'normal': [0, 1, 0]}}],"
        "'time': {'step': 1e-3, 'frame': 1e-2, 'end': 1}, 'integrator': {'method': 'async-contact', 'options': "
        "{'thickness': 0.005, 'floor': 1e-9}}}");
    rbt_step_report report;
    bool done = true;
    for (int i = 0; done && i < 13; i++) {
        done = rbt_sim_advance_frame(sim, &report);
        assert_int_equal(crossings(sim), 0);
    }
    assert_false(done);
    assert_int_equal(report.outcome, RBT_STALLED);
    assert_non_null(strstr(report.hint, "layers need steps below"));
    rbt_sim_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_clock_is_symplectic_euler),
        cmocka_unit_test(frames_change_nothing),
        cmocka_unit_test(contact_conserves),
        cmocka_unit_test(looking_changes_nothing),
        cmocka_unit_test(slack_changes_nothing),
        cmocka_unit_test(clocks_of_nodes_are_counted),
        cmocka_unit_test(nothing_penetrates),
        cmocka_unit_test(bad_starts_are_named),
        cmocka_unit_test(impossible_motion_stalls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
