// Set-ups that are impossible: prescribed motions that meet. They end with the outcome "blocked by contact", which
// names who is in the way and when, before anything is crossed, after a bounded number of iterations.
#include "contact_scene.h"

#include <string.h>

#define CUBE(NAME, X, MORE)                                                                                          \
    "{'name': '" NAME                                                                                                \
    "', 'mesh': {'shape': {'cuboid': {'size': [0.1, 0.1, 0.1], 'cells': [1, 1, 1]}}}, 'transform': "                 \
    "{'translate': [" X ", 0, 0.003]}, 'material': {'model': 'neo-hookean', 'young': 1e5}" MORE "}"
#define ALL       "{'box': {'min': [-9, -9, -9], 'max': [9, 9, 9]}}"
#define FIXED     ", 'fixed': [" ALL "]"
#define DRIVEN(V) ", 'driven': [{'where': " ALL ", 'motions': [{'velocity': {'velocity': [" V ", 0, 0]}}]}]"
// Far away, since something must be free to move
#define BYSTANDER                                                                                                    \
    ", {'name': 'bystander', 'mesh': {'shape': {'cuboid': {'size': [0.1, 0.1, 0.1], 'cells': [1, 1, 1]}}}, "         \
    "'transform': {'translate': [-3, 0, 0]}, 'material': {'young': 1e5}}"
#define END                                                                                                          \
    "'contact': {'thickness': 1e-3, 'friction': 0.3}, 'time': {'step': 0.02, 'frame': 0.02, 'end': 10}, "            \
    "'integrator': "                                                                                                 \
    "{'method': '%s', 'solver': 'newton'}}"

typedef struct impossible {
    const char *scene;
    const char *names[2];  // which the outcome must name
    double meeting;        // when they would meet [s]; it may not come so far, and must come near
    double wall;           // where the right side of the last free thing on the left must stay [m]; NaN: two bodies
} impossible;

static double edge_of(const rbt_sim *sim, size_t body, bool right) {
    rbt_body_info info;
    assert_true(rbt_sim_body(sim, body, &info, NULL));
    double x = right ? -INFINITY : INFINITY;
    for (size_t n = info.node_begin; n < info.node_end; n++) {
        double at = rbt_sim_positions(sim)[3 * n];
        x = right ? fmax(x, at) : fmin(x, at);
    }
    return x;
}

static void ends(const impossible *c, const char *method) {
    rbt_sim *sim = contact_sim(c->scene, method);  // NOLINT: the format is one of the constants below
    rbt_step_report report = {0};
    int steps = 0;
    bool done = true;
    double iterations = 0;
    int statistic = rbt_statistic_find("iterations");
    while (done && steps < 200) {
        done = rbt_sim_step(sim, &report);
        iterations += rbt_report_statistic(&report, statistic);
        steps++;
        double wall = isnan(c->wall) ? edge_of(sim, 1, false) : c->wall;
        assert_true(edge_of(sim, 0, true) < wall);
    }
    print_message("%-17s t = %.4f of %.4f s, %s in %s: %s\n", method, rbt_sim_time(sim), c->meeting,
                  rbt_outcome_name(report.outcome), report.stage, report.hint);
    assert_false(done);
    assert_int_equal(report.outcome, RBT_BLOCKED);
    for (int i = 0; i < 2; i++)
        if (!strstr(report.hint, c->names[i])) fail_msg("\"%s\" does not name %s", report.hint, c->names[i]);
    const char *when = strstr(report.hint, "at ");
    if (!when) fail_msg("\"%s\" does not say when", report.hint);
    double told = strtod(when + 3, NULL);
    assert_below(fabs(told - c->meeting), 2e-3);  // of contact's thickness, at 1 m/s and more
    assert_below(rbt_sim_time(sim), c->meeting);
    assert_below(c->meeting - 0.02 - 1e-9, rbt_sim_time(sim) + 0.02);
    assert_below(iterations, 1e4);
    rbt_sim_free(sim);
}

static void each_method(const impossible *c) {
    for (int i = 0; i < CONTACT_METHOD_COUNT; i++) ends(c, CONTACT_METHODS[i]);
}

static void two_driven_bodies(void **state) {
    (void)state;
    each_method(&(impossible){"{'rubato': 1, 'bodies': [" CUBE("left", "-0.1", DRIVEN("1")) ", " CUBE(
                                  "right", "0.1", DRIVEN("-1")) BYSTANDER "], " END,
                              {"left", "right"},
                              0.05,
                              NAN});
}

static void a_driven_body_and_a_fixed_one(void **state) {
    (void)state;
    each_method(&(impossible){"{'rubato': 1, 'bodies': [" CUBE("left", "-0.1", DRIVEN("1")) ", " CUBE(
                                  "right", "0.1", FIXED) BYSTANDER "], " END,
                              {"left", "right"},
                              0.1,
                              NAN});
}

static void a_driven_body_and_a_wall(void **state) {
    (void)state;
    each_method(&(impossible){"{'rubato': 1, 'bodies': [" CUBE("left", "-0.1", DRIVEN("1")) BYSTANDER
                              "], 'obstacles': [{'plane': "
                              "{'point': [0.05, 0, 0], 'normal': [-1, 0, 0]}}], " END,
                              {"left", "obstacles[0]"},
                              0.1,
                              0.05});
}

static void a_driven_body_and_a_box(void **state) {
    (void)state;
    each_method(&(impossible){"{'rubato': 1, 'bodies': [" CUBE("left", "-0.1", DRIVEN("1")) BYSTANDER
                              "], 'obstacles': [{'box': "
                              "{'min': [0.05, -0.2, -0.2], 'max': [0.1, 0.2, 0.2]}}], " END,
                              {"left", "obstacles[0]"},
                              0.1,
                              0.05});
}

static void a_moving_wall_and_a_fixed_body(void **state) {
    (void)state;
    each_method(
        &(impossible){"{'rubato': 1, 'bodies': [" CUBE("left", "-0.1", FIXED) BYSTANDER
                      "], 'obstacles': [{'box': {'min': "
                      "[0.05, -0.2, -0.2], 'max': [0.1, 0.2, 0.2], 'motions': [{'velocity': {'velocity': [-1, 0, "
                      "0]}}]}}], " END,
                      {"left", "obstacles[0]"},
                      0.1,
                      -0.049});
}

// A soft body between two that close on it: it can be squeezed, but not for ever. Which outcome ends it is not said.
static void a_soft_body_in_a_vice(void **state) {
    (void)state;
    for (int i = 0; i < CONTACT_METHOD_COUNT; i++) {
        rbt_sim *sim = contact_sim("{'rubato': 1, 'bodies': [" CUBE("left", "-0.102", DRIVEN("0.5")) ", " CUBE(
                                       "right", "0.102", DRIVEN("-0.5")) ", " CUBE("soft", "0", "") "], " END,
                                   CONTACT_METHODS[i]);
        rbt_step_report report = {0};
        bool done = true;
        for (int steps = 0; done && steps < 20; steps++) {
            done = rbt_sim_step(sim, &report);
            assert_true(edge_of(sim, 0, true) < edge_of(sim, 2, false));
            assert_true(edge_of(sim, 2, true) < edge_of(sim, 1, false));
        }
        print_message("%-17s t = %.4f of 0.104 s, squeezed to %.4f m, %s in %s: %s\n", CONTACT_METHODS[i],
                      rbt_sim_time(sim), edge_of(sim, 2, true) - edge_of(sim, 2, false),
                      rbt_outcome_name(report.outcome), report.stage, report.hint);
        assert_false(done);
        assert_below(rbt_sim_time(sim), 0.104);
        rbt_sim_free(sim);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_driven_bodies),
        cmocka_unit_test(a_driven_body_and_a_fixed_one),
        cmocka_unit_test(a_driven_body_and_a_wall),
        cmocka_unit_test(a_driven_body_and_a_box),
        cmocka_unit_test(a_moving_wall_and_a_fixed_body),
        cmocka_unit_test(a_soft_body_in_a_vice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
