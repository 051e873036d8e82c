// Forces and motions by a caller: the same bits as the scene's own, in every method, counted as work, kept in states.
#include "every_method.h"

#include <math.h>

// A caller's force that is the scene's pull gives the pull's bits.
static void pulled(const method_case *c) {
    rbt_error error;
    rbt_sim *by_hand = method_sim_with(c, "", "]");
    rbt_sim *by_scene =
        method_sim_with(c, "", ", {'pull': {'body': 'bar', 'where': 'middle', 'force': [0.5, 2, -1]}}]");
    const rbt_node_load *load = &by_scene->model->loads.node_loads[0];
    size_t nodes = rbt_sim_node_count(by_hand);
    double *forces = calloc(nodes, 3 * sizeof *forces);
    for (size_t i = 0; i < load->node_count; i++)
        for (int k = 0; k < 3; k++) forces[3 * load->nodes[i] + k] = load->share[i] * load->force[k];
    must(rbt_sim_set_forces(by_hand, 0, nodes, forces, &error), &error);
    assert_memory_equal(rbt_sim_forces(by_hand), forces, 3 * nodes * sizeof *forces);
    advance(by_hand, 8);
    advance(by_scene, 8);
    if (memcmp(rbt_sim_positions(by_hand), rbt_sim_positions(by_scene), 3 * nodes * sizeof *forces) != 0)
        fail_msg("%s: a force by hand moves otherwise than one of the scene", c->name);
    double one = rbt_sim_energies(by_hand).work, other = rbt_sim_energies(by_scene).work;
    if (!(fabs(one - other) <= 1e-9 * fabs(other)) || !(fabs(other) > 0))
        fail_msg("%s: work %.9g J and %.9g J", c->name, one, other);
    free(forces);
    rbt_sim_free(by_hand);
    rbt_sim_free(by_scene);
}

static void forces_are_loads(void **state) {
    (void)state;
    assert_true(for_every_method(pulled) >= 15);
}

static void forces_hold_until_changed(void **state) {
    (void)state;
    rbt_error error;
    method_case c = {.method = "siere"};
    rbt_sim *pushed = method_sim_with(&c, "", "]"), *free_one = method_sim_with(&c, "", "]");
    double up[3] = {0, 0.2, 0};
    assert_null(rbt_sim_forces(pushed));
    must(rbt_sim_set_forces(pushed, MIDDLE_NODE, 1, up, &error), &error);
    advance(pushed, 2);
    assert_true(rbt_sim_forces(pushed)[3 * MIDDLE_NODE + 1] == 0.2);
    must(rbt_sim_set_forces(pushed, 0, rbt_sim_node_count(pushed), NULL, &error), &error);
    assert_null(rbt_sim_forces(pushed));
    advance(free_one, 2);
    assert_true(rbt_sim_positions(pushed)[3 * MIDDLE_NODE + 1] > rbt_sim_positions(free_one)[3 * MIDDLE_NODE + 1]);
    up[1] = INFINITY;
    assert_false(rbt_sim_set_forces(pushed, MIDDLE_NODE, 1, up, &error));
    assert_false(rbt_sim_set_forces(pushed, rbt_sim_node_count(pushed), 1, up, &error));
    rbt_sim_free(pushed);
    rbt_sim_free(free_one);
}

// A group moved by hand goes where a script would bring it.
static void moved(const method_case *c) {
    rbt_error error;
    rbt_sim *by_hand = method_sim(c);
    rbt_sim *by_scene = method_sim_with(
        c,
        ", 'driven': [{'where': {'box': {'min': [0.99, 0, 0], 'max': [1, 1, 1], 'relative': true}}, 'motions': "
        "[{'velocity': {'velocity': [0.5, 0.25, 0]}}]}]",
        WIND);
    rbt_drive drive = rbt_drive_default();
    drive.velocity[0] = 0.5, drive.velocity[1] = 0.25;
    assert_int_equal(rbt_sim_driven_count(by_hand), 1);
    assert_int_equal(rbt_sim_driven_find(by_hand, "grip"), 0);
    must(rbt_sim_drive(by_hand, 0, &drive, &error), &error);
    advance(by_hand, 6);
    advance(by_scene, 6);
    size_t bytes = 3 * rbt_sim_node_count(by_hand) * sizeof(double);
    if (memcmp(rbt_sim_positions(by_hand), rbt_sim_positions(by_scene), bytes) != 0)
        fail_msg("%s: a grip moved by hand goes elsewhere than one of the scene", c->name);
    double one = rbt_sim_energies(by_hand).work, other = rbt_sim_energies(by_scene).work;
    if (!(fabs(one - other) <= 1e-9 * fabs(other)) || !(fabs(other) > 0))
        fail_msg("%s: work %.9g J and %.9g J", c->name, one, other);
    rbt_sim_free(by_hand);
    rbt_sim_free(by_scene);
}

static void grips_are_scripts(void **state) {
    (void)state;
    assert_true(for_every_method(moved) >= 15);
}

static const double *grip_node(const rbt_sim *sim) {
    return rbt_sim_positions(sim) + 3 * (size_t)sim->model->motions.node[0];
}

static void grips_go_to_places_and_turn(void **state) {
    (void)state;
    rbt_error error;
    method_case c = {.method = "semi-implicit"};
    rbt_sim *sim = method_sim(&c);
    const double start[3] = {grip_node(sim)[0], grip_node(sim)[1], grip_node(sim)[2]}, there[3] = {0.02, -0.01, 0};
    must(rbt_sim_drive_to(sim, 0, there, 0.006, &error), &error);
    advance(sim, 3);  // it is there after one and a half frames and stays
    for (int k = 0; k < 3; k++) assert_float_equal(grip_node(sim)[k], start[k] + there[k], 1e-14);
    rbt_drive turn = rbt_drive_default();
    turn.spin[0] = acos(-1.0) / 2 / 0.02;  // a quarter in 20 ms, about the axis of the bar
    turn.duration = 0.02;
    must(rbt_sim_drive(sim, 0, &turn, &error), &error);
    const double before[3] = {grip_node(sim)[0], grip_node(sim)[1], grip_node(sim)[2]};
    advance(sim, 6);
    assert_float_equal(grip_node(sim)[0], before[0], 1e-12);
    assert_float_equal(grip_node(sim)[1], -before[2], 1e-12);
    assert_float_equal(grip_node(sim)[2], before[1], 1e-12);
    // On from there, and back
    const double home[3] = {0};
    turn.duration = 0.02, turn.spin[0] = -turn.spin[0];
    must(rbt_sim_drive(sim, 0, &turn, &error), &error);
    advance(sim, 6);
    must(rbt_sim_drive_to(sim, 0, home, 0.01, &error), &error);
    advance(sim, 4);
    for (int k = 0; k < 3; k++) assert_float_equal(grip_node(sim)[k], start[k], 1e-12);
    rbt_sim_free(sim);
}

static void impossible_motions_are_refused(void **state) {
    (void)state;
    rbt_error error = {0};
    method_case siere = {.method = "siere"}, async = {.method = "async-contact"};
    rbt_sim *sim = method_sim(&siere), *contact = method_sim(&async);
    const double there[3] = {0.1, 0, 0}, nowhere[3] = {NAN, 0, 0};
    rbt_drive drive = rbt_drive_default();
    assert_false(rbt_sim_drive(sim, 1, &drive, &error));
    assert_non_null(strstr(error.message, "no driven group 1"));
    assert_false(rbt_sim_drive(sim, 0, NULL, &error));
    assert_false(rbt_sim_drive_to(sim, 0, there, 0, &error));
    assert_false(rbt_sim_drive_to(sim, 0, nowhere, 1, &error));
    drive.duration = -1;
    assert_false(rbt_sim_drive(sim, 0, &drive, &error));
    assert_false(rbt_sim_drive_obstacle(sim, 0, &drive, &error));
    drive.duration = 1;
    // What is prescribed goes straight from step to step there.
    assert_true(rbt_sim_advance_to(contact, 4.4e-3, NULL));
    assert_false(rbt_sim_drive(contact, 0, &drive, &error));
    assert_non_null(strstr(error.message, "inside a step"));
    rbt_sim_free(sim);
    rbt_sim_free(contact);
}

// ---- Obstacles

static const char *const ON_A_FLOOR = "{'rubato': 1, 'bodies': [{'name': 'ball', 'mesh': {'shape': {'ball': "
                                      "{'radius': 0.1, 'layers': 2}}}, 'material': "
                                      "{'young': 1e5}, 'transform': {'translate': [0, 0.12, 0]}}], 'obstacles': "
                                      "[{'plane': {}}, {'sphere': {'centre': [5, 0, "
                                      "0], 'radius': 0.1}}], 'forces': [{'gravity': {}}], 'time': {'step': 1e-3, "
                                      "'frame': 1e-2, 'end': 1}, 'integrator': "
                                      "{'method': '%s'}}";

static rbt_sim *on_a_floor(const char *method) {
    char json[1024];
    snprintf(json, sizeof json, ON_A_FLOOR, method);
    return sim_from(json);
}

static double lowest(const rbt_sim *sim) {
    double y = INFINITY;
    for (size_t n = 0; n < rbt_sim_node_count(sim); n++) y = fmin(y, rbt_sim_positions(sim)[3 * n + 1]);
    return y;
}

static void a_floor_lifts_a_ball(void **state) {
    (void)state;
    rbt_error error = {0};
    rbt_sim *sim = on_a_floor("async-contact"), *other = on_a_floor("async-contact");
    const double up[3] = {0, 0.3, 0};
    assert_int_equal(rbt_sim_obstacle_count(sim), 2);
    advance(sim, 2);
    must(rbt_sim_drive_obstacle_to(sim, 0, up, 0.2, &error), &error);
    advance(sim, 5);
    rbt_state *saved = rbt_sim_save(sim, &error);
    must(rbt_sim_restore(other, saved, &error), &error);
    advance(sim, 20);
    advance(other, 20);
    assert_same_motion(sim, other, "a floor that moves");
    assert_true(lowest(sim) > 0.3);  // it is on the floor, which is there now
    assert_true(rbt_sim_energies(sim).work > 0);
    rbt_drive turn = rbt_drive_default();
    turn.spin[0] = 1;
    assert_false(rbt_sim_drive_obstacle(sim, 0, &turn, &error));
    assert_non_null(strstr(error.message, "cannot turn"));
    rbt_state_free(saved);
    rbt_sim_free(sim);
    rbt_sim_free(other);
}

static void other_methods_refuse_obstacles_that_move(void **state) {
    (void)state;
    rbt_error error = {0};
    rbt_sim *sim = on_a_floor("siere");
    rbt_drive drive = rbt_drive_default();
    drive.velocity[1] = 1;
    assert_false(rbt_sim_drive_obstacle(sim, 0, &drive, &error));
    assert_non_null(strstr(error.message, "siere knows obstacles that move only in a scene with contact"));
    rbt_sim_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_are_loads),
        cmocka_unit_test(forces_hold_until_changed),
        cmocka_unit_test(grips_are_scripts),
        cmocka_unit_test(grips_go_to_places_and_turn),
        cmocka_unit_test(impossible_motions_are_refused),
        cmocka_unit_test(a_floor_lifts_a_ball),
        cmocka_unit_test(other_methods_refuse_obstacles_that_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
