// A step that is given up leaves the state as it was, and the simulation can continue: every method.
#include "scene.h"
#include "sim/sim.h"

#define SCENE                                                                                                        \
    "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [1, 0.2, 0.2], 'cells': [5, 1, " \
    "1]}}}, 'material': {'model': 'corotational', 'young': 1e5, 'poisson': 0.3, 'density': 1000}, 'fixed': "         \
    "['left'], 'velocity': {'linear': [0, 0.3, 0.1]}}], 'forces': [{'gravity': {}}], 'time': {'step': 0.0005, "      \
    "'frame': 0.002, 'end': 0.006}, 'integrator': {'method': '%s'}}"

static rbt_sim *make(const char *method) {
    char json[1024];
    snprintf(json, sizeof json, SCENE, method);
    return sim_from(json);
}

static bool same(const rbt_sim *sim, double t, const double *x, const double *v) {
    size_t bytes = 3 * sim->state.node_count * sizeof *x;
    return sim->state.t == t && memcmp(sim->state.x, x, bytes) == 0 && memcmp(sim->state.v, v, bytes) == 0;
}

// `within`: the flag is the number of stages that have run, so the attempt is left behind its first one; else it is up
// from the start.
static void stop_at_frame_1(const char *method, bool within) {
    rbt_sim *sim = make(method);
    advance(sim, 1);
    size_t values = 3 * sim->state.node_count;
    double *x = malloc(values * sizeof *x), *v = malloc(values * sizeof *v), t = sim->state.t;
    memcpy(x, sim->state.x, values * sizeof *x);
    memcpy(v, sim->state.v, values * sizeof *v);
    int up = 1;
    rbt_step_report report;
    sim->stepper.stages.count = 0;
    rbt_sim_set_stop(sim, within ? &sim->stepper.stages.count : &up);
    assert_false(rbt_sim_advance_frame(sim, &report));
    assert_int_equal(report.outcome, RBT_STOPPED);
    assert_int_equal(report.halvings, 0);
    assert_string_equal(rbt_outcome_name(report.outcome), "stopped");
    assert_true(same(sim, t, x, v));
    assert_int_equal(sim->state.frame, 1);
    up = 0;
    if (within) rbt_sim_set_stop(sim, NULL);
    advance(sim, 2);
    assert_int_equal(sim->state.frame, 3);
    rbt_sim_free(sim);
    free(x);
    free(v);
}

static void every_method_can_be_stopped(void **state) {
    (void)state;
    int judged = 0;
    for (int i = 0; rbt_method_at(i); i++) {
        stop_at_frame_1(rbt_method_name(i), false);
        // Methods with steps of their own time their stages when the attempt is over.
        if (!rbt_method_at(i)->own_steps) stop_at_frame_1(rbt_method_name(i), true);
        judged++;
    }
    assert_true(judged >= 11);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_method_can_be_stopped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
