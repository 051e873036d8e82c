// Events of a scene: the same bits as a caller who does the same, in every method; the same after a state was saved and
// restored; materials as if the scene had had them; cuts as those of "cuts"; and what is refused.
#include "every_method.h"
#include "rubato/state.h"

#include <math.h>
#include <unistd.h>

#define EVENTS                                                                                                       \
    WIND ", 'events': [{'time': 0.0109, 'drag': {'body': 'bar', 'where': 'middle', 'stiffness': 0}}, "               \
         "{'time': 0.003, 'drive': {'driven': 'grip', 'velocity': [0.2, 0.1, 0], 'spin': [3, 0, 0], 'duration': "    \
         "0.005}}, {'time': 0.0045, 'force': {'body': 'bar', 'where': 'middle', 'force': [0.5, 2, -1]}}, "           \
         "{'time': 0.006, 'material': {'body': 'bar', 'young': 3e4, 'poisson': 0.3, 'stiffness_damping': 2e-4}}, "   \
         "{'time': 0.007, 'drag': {'body': 'bar', 'where': 'middle', 'point': [0, 0.1, 0.05], 'stiffness': 40}}, "   \
         "{'time': 0.013, 'force': {'where': 'middle', 'force': [0, 0, 0]}}]"

static void push_middle(rbt_sim *sim, const double force[3]) {
    rbt_error error;
    const int32_t *nodes;
    size_t count;
    double total = 0, one[3];
    must(rbt_sim_selection(sim, 0, "middle", &nodes, &count, &error), &error);
    for (size_t i = 0; i < count; i++) total += rbt_sim_masses(sim)[nodes[i]];
    for (size_t i = 0; i < count; i++) {
        double share = rbt_sim_masses(sim)[nodes[i]] / total;
        for (int k = 0; k < 3; k++) one[k] = share * force[k];
        must(rbt_sim_set_forces(sim, (size_t)nodes[i], 1, one, &error), &error);
    }
}

// The events above, done by a program: 16 steps
static void act_by_hand(rbt_sim *sim) {
    rbt_error error;
    const double push[3] = {0.5, 2, -1}, none[3] = {0}, point[3] = {0, 0.1, 0.05};
    rbt_drive drive = {.velocity = {0.2, 0.1, 0}, .spin = {3, 0, 0}, .duration = 0.005};
    rbt_event_material change = rbt_event_material_default();
    change.body = "bar", change.young = 3e4, change.poisson = 0.3, change.stiffness_damping = 2e-4;
    steps(sim, 3);
    must(rbt_sim_drive(sim, 0, &drive, &error), &error);
    steps(sim, 2);
    push_middle(sim, push);
    steps(sim, 1);
    must(rbt_sim_set_material(sim, &change, &error), &error);
    steps(sim, 1);
    must(rbt_sim_drag(sim, 0, "middle", point, 40, &error), &error);
    steps(sim, 4);
    must(rbt_sim_drag(sim, 0, "middle", none, 0, &error), &error);
    steps(sim, 2);
    push_middle(sim, none);
    steps(sim, 3);
}

static void done_by_hand(const method_case *c) {
    rbt_sim *by_hand = method_sim(c), *by_scene = method_sim_with(c, GRIP, EVENTS), *alone = method_sim(c);
    act_by_hand(by_hand);
    steps(by_scene, 16);
    steps(alone, 16);
    assert_same_motion(by_hand, by_scene, c->name);
    size_t bytes = 3 * rbt_sim_node_count(alone) * sizeof(double);
    assert_true(memcmp(rbt_sim_positions(alone), rbt_sim_positions(by_scene), bytes) != 0);
    rbt_sim_free(by_hand);
    rbt_sim_free(by_scene);
    rbt_sim_free(alone);
}

static void events_are_calls(void **state) {
    (void)state;
    assert_true(for_every_method(done_by_hand) >= 15);
}

// Saved while everything is in force, by way of a file too, and continued in another simulation and in a copy
static void resumed(const method_case *c) {
    rbt_error error;
    rbt_sim *whole = method_sim_with(c, GRIP, EVENTS), *other = method_sim_with(c, GRIP, EVENTS);
    char path[64];
    snprintf(path, sizeof path, "/tmp/rubato_event_%ld.rbt", (long)getpid());
    steps(whole, 8);
    rbt_state *state = rbt_sim_save(whole, &error), *read = NULL;
    must(state && rbt_state_write(state, path, &error) && (read = rbt_state_read(path, &error)), &error);
    rbt_sim *clone = rbt_sim_clone(whole, &error);
    must(clone != NULL, &error);
    must(rbt_sim_restore(other, read, &error), &error);
    steps(whole, 8);
    steps(other, 8);
    steps(clone, 8);
    assert_same_motion(whole, other, c->name);
    assert_same_motion(whole, clone, c->name);
    must(rbt_sim_restore(whole, state, &error), &error);  // back again
    steps(whole, 8);
    assert_same_motion(whole, other, c->name);
    unlink(path);
    rbt_state_free(state);
    rbt_state_free(read);
    rbt_sim_free(whole);
    rbt_sim_free(other);
    rbt_sim_free(clone);
}

static void events_resume(void **state) {
    (void)state;
    assert_true(for_every_method(resumed) >= 15);
}

// From the event on, the motion is that of a scene with this material from the start, which is put into the same place.
static void materials_are_those_of_another_scene(void **state) {
    (void)state;
    static const char *const methods[] = {"backward-euler", "semi-implicit", "siere", "symplectic-euler"};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        rbt_error error;
        method_case c = {.method = methods[i]};
        rbt_sim *changed = method_sim_with(
            &c, "", "], 'events': [{'time': 0.008, 'material': {'body': 'bar', 'young': 5e4, 'poisson': 0.2}}]");
        rbt_sim *fresh = method_sim_with(
            &c, ", 'regions': [{'name': 'all', 'where': 'everything', 'material': {'young': 5e4, 'poisson': 0.2}}]",
            "]");
        size_t nodes = rbt_sim_node_count(changed);
        advance(changed, 2);
        must(rbt_sim_set_positions(fresh, 0, nodes, rbt_sim_positions(changed), &error), &error);
        must(rbt_sim_set_velocities(fresh, 0, nodes, rbt_sim_velocities(changed), &error), &error);
        double before = rbt_sim_energies(changed).total, after = rbt_sim_energies(fresh).total;
        steps(changed, 1);
        assert_true(fabs(changed->state.tally.ledger.jumps - (after - before)) <= 1e-9 * fabs(after));
        assert_true(fabs(after - before) > 1e-6 * fabs(after));
        steps(changed, 11);
        steps(fresh, 12);
        for (size_t n = 0; n < 3 * nodes; n++)
            if (!(fabs(rbt_sim_positions(changed)[n] - rbt_sim_positions(fresh)[n]) < 1e-12))
                fail_msg("%s: number %zu is %.17g and %.17g", c.method, n, rbt_sim_positions(changed)[n],
                         rbt_sim_positions(fresh)[n]);
        rbt_sim_free(changed);
        rbt_sim_free(fresh);
    }
}

// A block without weight and fixed nodes, dragged to a point through syrup, then let go
static void springs_drag_and_let_go(void **state) {
    (void)state;
    rbt_error error;
    rbt_sim *sim = sim_from(
        "{'rubato': 1, 'bodies': [{'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [0.1, 0.1, 0.1], 'cells': "
        "[2, "
        "2, 2]}}}, 'damping': {'mass': 20}}], 'events': [{'time': 0.1, 'drag': {'where': 'everything', 'point': "
        "[0.2, "
        "0.1, 0], 'stiffness': 200}}, {'time': 1.5, 'drag': {'where': 'everything', 'stiffness': 0}}], 'probes': "
        "[{'name': 'block', 'where': 'everything'}], 'time': {'step': 0.005, 'frame': 0.1, 'end': 2}, 'integrator': "
        "{'method': 'semi-implicit'}}");
    rbt_probe_reading at;
    const double start = rbt_sim_positions(sim)[0];
    advance(sim, 1);
    assert_true(rbt_sim_positions(sim)[0] == start);
    advance(sim, 14);
    must(rbt_sim_probe(sim, 0, &at, &error), &error);
    assert_float_equal(at.position[0], 0.2, 1e-3);
    assert_float_equal(at.position[1], 0.1, 1e-3);
    assert_true(rbt_sim_forces(sim) == NULL);
    assert_true(sim->model->input->force != NULL);
    assert_true(rbt_sim_energies(sim).work > 0);
    advance(sim, 1);
    assert_true(sim->model->input->force == NULL);
    assert_true(rbt_ledger_gain(&sim->state.tally.ledger) < 0.01);
    rbt_sim_free(sim);
}

#define BAR                                                                                                          \
    "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [1, 0.2, 0.2], 'cells': [6, 2, " \
    "2]}}}, 'regions': [{'name': 'end', 'where': {'box': {'min': [0.8, 0, 0], 'max': [1, 1, 1], 'relative': "        \
    "true}}, "                                                                                                       \
    "'material': {'young': 3e5}}], 'driven': [{'name': 'grip', 'where': {'box': {'min': [0, 0, 0], 'max': [0.01, "   \
    "1, "                                                                                                            \
    "1], 'relative': true}}}]}], 'time': {'step': 0.01, 'frame': 0.02, 'end': 1}, 'integrator': {'method': "         \
    "'semi-implicit'}"
#define SURFACE "'surface': {'plane': {'point': [0.03, 0, 0], 'normal': [1, 0.2, 0]}}"
#define PUSH    "{'time': 0.02, 'force': {'where': 'everything', 'force': [0, 3, 0]}}"
#define SOFTER  "{'time': 0.03, 'material': {'body': 'bar', 'region': 'end', 'young': 2e5}}"

// Cuts of events are those of the scene; forces are shared anew and materials stay.
static void events_and_cuts(void **state) {
    (void)state;
    rbt_error error;
    rbt_sim *one = sim_from(BAR ", 'cuts': [{'time': 0.05, 'until': 0.1, 'strokes': 2, " SURFACE
                                "}], 'events': [" PUSH ", " SOFTER "]}");
    rbt_sim *other = sim_from(BAR ", 'events': [{'time': 0.04, 'cut': {'time': 0.01, 'until': 0.06, 'strokes': 2, "
                                  "" SURFACE "}}, " SOFTER ", " PUSH "]}");
    size_t before = rbt_sim_node_count(one);
    advance(one, 10);
    advance(other, 5);
    rbt_state *saved = rbt_sim_save(other, &error);
    advance(other, 5);
    assert_true(rbt_sim_node_count(one) > before);
    assert_same_motion(one, other, "a cut");
    double sum = 0;
    for (size_t n = 0; n < rbt_sim_node_count(one); n++) sum += rbt_sim_forces(one)[3 * n + 1];
    assert_float_equal(sum, 3, 1e-12);
    assert_true(one->model->regions[1].material.young == 2e5);
    must(rbt_sim_restore(other, saved, &error), &error);
    advance(other, 5);
    assert_same_motion(one, other, "a cut, once more");
    rbt_state_free(saved);
    rbt_sim_free(one);
    rbt_sim_free(other);
}

static void rejects(const char *event, const char *where, const char *sentence) {
    char json[2048];
    rbt_error error = {0};
    snprintf(json, sizeof json, BAR ", 'events': [%s]}", event);
    for (char *c = json; *c; c++)
        if (*c == '\'') *c = '"';
    rbt_scene_file *file = rbt_scene_parse(json, strlen(json), "test.json", NULL, 0, &error);
    rbt_sim *sim = file ? rbt_sim_create(rbt_scene_of(file), &error) : NULL;
    assert_null(sim);
    if (strcmp(error.path, where) != 0 || !strstr(error.message, sentence))
        fail_msg("%s: %s; expected %s: %s", error.path, error.message, where, sentence);
    rbt_scene_free(file);
}

static void bad_events_are_refused(void **state) {
    (void)state;
    rejects("{'time': -1, 'drive': {'driven': 'grip'}}", "events[0].time", "must be at least 0");
    rejects("{'drive': {'driven': 'grip'}}", "events[0]", "\"time\" is missing");
    rejects("{'time': 0}", "events[0]", "exactly one of");
    rejects("{'time': 0, 'drive': {'driven': 'grip'}, 'force': {'where': 'everything', 'force': [1, 0, 0]}}",
            "events[0]", "found several");
    rejects("{'time': 0, 'drive': {'driven': 'grib'}}", "events[0].drive.driven", "did you mean \"grip\"?");
    rejects("{'time': 0, 'force': {'body': 'bare', 'where': 'everything', 'force': [1, 0, 0]}}",
            "events[0].force.body", "did you mean \"bar\"?");
    rejects("{'time': 0, 'material': {'body': 'bar', 'region': 'edn', 'young': 1}}", "events[0].material.region",
            "did you mean \"end\"?");
    rejects("{'time': 0, 'material': {'body': 'bar', 'region': 'end', 'mass_damping': 1}}",
            "events[0].material.region", "damping is that of a whole body");
    rejects("{'time': 0, 'material': {'body': 'bar', 'poisson': 0.5}}", "events[0].material.poisson", "below 0.5");
    rejects("{'time': 0, 'drag': {'where': 'everything', 'stiffness': 1e9}}", "events[0].drag", "too stiff");
    rejects("{'time': 0, 'force': {'where': 'nowhere', 'force': [1, 0, 0]}}", "events[0].force.where.set",
            "no set \"nowhere\"");
    rejects("{'time': 0, 'cut': {'body': 'ba', " SURFACE "}}", "events[0].cut.body", "did you mean \"bar\"?");
}

// Where the method chooses the step, a spring turns out to be too stiff only when it is to act.
static void events_that_fail(void **state) {
    (void)state;
    rbt_step_report report;
    rbt_sim *sim = sim_from(
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [1, 0.2, 0.2], 'cells': [6, "
        "2, "
        "2]}}}}], 'events': [{'time': 0.04, 'drag': {'where': 'everything', 'stiffness': 1e12}}], 'time': {'step': "
        "'auto', 'frame': 0.02, 'end': 1}, 'integrator': {'method': 'imex'}}");
    advance(sim, 2);
    assert_false(rbt_sim_step(sim, &report));
    assert_int_equal(report.outcome, RBT_EVENT_FAILED);
    assert_string_equal(report.stage, "event");
    assert_non_null(strstr(report.hint, "events[0]"));
    assert_true(fabs(rbt_sim_time(sim) - 0.04) < 1e-12);
    rbt_sim_free(sim);
}

// What a caller may not change stays, and so do the bits.
static void calls_that_are_refused(void **state) {
    (void)state;
    rbt_error error = {0};
    rbt_sim *sim = sim_from(BAR "}"), *untouched = sim_from(BAR "}");
    rbt_event_material change = rbt_event_material_default();
    const double point[3] = {0}, nowhere[3] = {0, NAN, 0};
    assert_false(rbt_sim_set_material(sim, &change, &error));  // no body
    change.body = "bar";
    must(rbt_sim_set_material(sim, &change, &error), &error);  // nothing
    change.young = -1;
    assert_false(rbt_sim_set_material(sim, &change, &error));
    change.young = 1e5, change.region = "middle";
    assert_false(rbt_sim_set_material(sim, &change, &error));
    change.region = "end", change.mass_damping = 1;
    assert_false(rbt_sim_set_material(sim, &change, &error));
    assert_false(rbt_sim_drag(sim, 0, "end", point, 1, &error));  // a region, no selection
    assert_false(rbt_sim_drag(sim, 0, "left", nowhere, 1, &error));
    assert_false(rbt_sim_drag(sim, 0, "left", point, -1, &error));
    assert_false(rbt_sim_drag(sim, 0, "left", point, 1e9, &error));
    advance(sim, 2);
    advance(untouched, 2);
    assert_same_motion(sim, untouched, "refused");
    rbt_sim_free(sim);
    rbt_sim_free(untouched);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_calls),
        cmocka_unit_test(events_resume),
        cmocka_unit_test(materials_are_those_of_another_scene),
        cmocka_unit_test(springs_drag_and_let_go),
        cmocka_unit_test(events_and_cuts),
        cmocka_unit_test(bad_events_are_refused),
        cmocka_unit_test(events_that_fail),
        cmocka_unit_test(calls_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
