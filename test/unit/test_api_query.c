// What a simulation tells about itself.
#include "every_method.h"

#include <math.h>

static void bodies_and_selections(void **state) {
    (void)state;
    rbt_error error = {0};
    rbt_sim *sim = sim_from("{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'bar': {'size': [1, 0.2, "
                            "0.2], 'cells': [5, 1, 1]}}}, "
                            "'material': {'density': 500}, 'selections': [{'name': 'tip', 'where': {'nearest': "
                            "{'point': [9, 0, 0], 'count': "
                            "3}}}, {'name': 'missing', 'where': 'no such set'}]}, {'name': 'sheet', 'mesh': "
                            "{'shape': {'cloth': {'length': 1, "
                            "'width': 1, 'cells_along': 2, 'cells_across': 2}}}, 'shell': {'thickness': 0.01}, "
                            "'transform': {'translate': [0, "
                            "1, 0]}}]}");
    rbt_body_info bar, sheet;
    assert_int_equal(rbt_sim_body_count(sim), 2);
    assert_int_equal(rbt_sim_body_find(sim, "sheet"), 1);
    assert_int_equal(rbt_sim_body_find(sim, "none"), -1);
    must(rbt_sim_body(sim, 0, &bar, &error) && rbt_sim_body(sim, 1, &sheet, &error), &error);
    assert_string_equal(bar.name, "bar");
    assert_true(bar.kind == RBT_SOLID && sheet.kind == RBT_SHELL);
    assert_true(bar.node_begin == 0 && bar.node_end == 24 && sheet.node_begin == 24 && sheet.node_end == 33);
    assert_float_equal(bar.mass, 500 * 0.04, 1e-9);
    assert_float_equal(bar.volume, 0.04, 1e-12);
    double mass = 0;
    for (size_t n = bar.node_begin; n < bar.node_end; n++) mass += rbt_sim_masses(sim)[n];
    assert_float_equal(mass, bar.mass, 1e-9);
    const int32_t *nodes;
    size_t count;
    must(rbt_sim_selection(sim, 0, "tip", &nodes, &count, &error), &error);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++) assert_float_equal(rbt_sim_positions(sim)[3 * nodes[i]], 0.5, 1e-12);
    must(rbt_sim_selection(sim, 0, "left", &nodes, &count, &error), &error);  // a set of the mesh
    bool tip = false, left = false;
    for (size_t i = 0; rbt_sim_selection_name(sim, 0, i); i++) {
        tip |= strcmp(rbt_sim_selection_name(sim, 0, i), "tip") == 0;
        left |= strcmp(rbt_sim_selection_name(sim, 0, i), "left") == 0;
    }
    assert_true(tip && left);
    size_t bytes = 3 * rbt_sim_node_count(sim) * sizeof(double);  // nothing is deformed at the start
    assert_memory_equal(rbt_sim_rest_positions(sim), rbt_sim_positions(sim), bytes);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) assert_float_equal(rbt_sim_positions(sim)[3 * nodes[i]], -0.5, 1e-12);
    assert_false(rbt_sim_selection(sim, 0, "missing", &nodes, &count, &error));
    assert_false(rbt_sim_selection(sim, 1, "tip", &nodes, &count, &error));
    assert_non_null(strstr(error.message, "\"sheet\" has no selection or set \"tip\""));
    assert_false(rbt_sim_selection(sim, 2, "tip", &nodes, &count, &error));
    assert_false(rbt_sim_body(sim, 2, &bar, &error));
    rbt_sim_free(sim);
}

// A bar at rest: what holds it holds its weight, and what pulls it.
static void reactions_hold_the_weight(void **state) {
    (void)state;
    rbt_error error = {0};
    rbt_sim *sim = sim_from(
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.2, 0.2], 'cells': "
        "[4, 2, "
        "2]}}}, 'material': {'young': 1e5}, 'damping': {'mass': 20, 'stiffness': 1e-3}, 'fixed': ['left'], 'driven': "
        "[{'where': 'right'}]}], 'forces': [{'gravity': {'acceleration': [0, -10, 0]}}], 'time': {'step': 1e-2, "
        "'frame': "
        "1e-1, 'end': 10}, 'integrator': {'method': 'backward-euler', 'options': {'tolerance': 1e-8}}}");
    size_t nodes = rbt_sim_node_count(sim);
    double *reactions = calloc(nodes, 3 * sizeof *reactions), sum[3] = {0}, pull[3] = {0, 0, 3};
    unsigned char *constrained = calloc(nodes, 1);
    size_t middle = 22;
    must(rbt_sim_set_forces(sim, middle, 1, pull, &error), &error);
    advance(sim, 30);
    must(rbt_sim_reactions(sim, reactions, &error), &error);
    assert_int_equal(rbt_sim_constrained(sim, constrained), 18);
    assert_false(constrained[middle]);
    for (size_t n = 0; n < nodes; n++)
        for (int k = 0; k < 3; k++) {
            if (!constrained[n]) assert_true(reactions[3 * n + k] == 0);
            sum[k] += reactions[3 * n + k];
        }
    assert_float_equal(sum[0], 0, 1e-4);
    assert_float_equal(sum[1], 16 * 10, 1e-3);
    assert_float_equal(sum[2], -3, 1e-4);
    free(reactions);
    free(constrained);
    rbt_sim_free(sim);
}

// A grip that is speeded up pulls with mass times acceleration: all nodes of a body are in it.
static void reactions_know_inertia(void **state) {
    (void)state;
    rbt_error error = {0};
    rbt_sim *sim = sim_from(
        "{'rubato': 1, 'bodies': [{'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [0.1, 0.1, 0.1], 'cells': "
        "[1, 1, "
        "1]}}}, 'driven': [{'where': 'everything', 'motions': [{'oscillation': {'amplitude': [0.1, 0, 0], "
        "'frequency': 1, "
        "'phase': 0}}]}]}], 'time': {'step': 1e-3, 'frame': 1e-2, 'end': 1}, 'integrator': {'method': 'siere'}}");
    double reactions[24], sum = 0, omega = 2 * acos(-1.0);
    advance(sim, 25);
    must(rbt_sim_reactions(sim, reactions, &error), &error);
    for (int i = 0; i < 8; i++) sum += reactions[3 * i];
    assert_float_equal(sum, -1 * 0.1 * omega * omega, 1e-3);  // 1 kg
    rbt_sim_free(sim);
}

// A ball that falls on a floor: forces of contacts are those on nodes, and point away from the floor.
static void contacts_push(void **state) {
    (void)state;
    rbt_error error = {0};
    rbt_sim *sim = sim_from("{'rubato': 1, 'bodies': [{'name': 'low', 'mesh': {'shape': {'ball': {'radius': 0.1, "
                            "'layers': 2}}}, 'material': "
                            "{'young': 1e5}, 'transform': {'translate': [0, 0.13, 0]}}, {'name': 'high', 'mesh': "
                            "{'shape': {'ball': {'radius': "
                            "0.1, 'layers': 2}}}, 'material': {'young': 1e5}, 'transform': {'translate': [0.01, "
                            "0.36, 0]}}], 'obstacles': "
                            "[{'plane': {}}], 'forces': [{'gravity': {}}], 'time': {'step': 1e-3, 'frame': 1e-2, "
                            "'end': 1}, 'integrator': "
                            "{'method': 'async-contact', 'options': {'restitution': 0.3}}}");
    size_t nodes = rbt_sim_node_count(sim), seen = 0, floor = 0, between = 0;
    double *forces = calloc(nodes, 3 * sizeof *forces);
    for (int i = 0; i < 60; i++) {
        advance(sim, 1);
        size_t count = rbt_sim_contacts(sim, NULL, 0);
        rbt_contact_point *contacts = calloc(count + 1, sizeof *contacts);
        assert_int_equal(rbt_sim_contacts(sim, contacts, count + 1), count);
        must(rbt_sim_contact_forces(sim, forces, &error), &error);
        double sum[3] = {0}, total[3] = {0};
        for (size_t n = 0; n < 3 * nodes; n++) total[n % 3] += forces[n];
        for (size_t k = 0; k < count; k++) {
            const rbt_contact_point *c = &contacts[k];
            double length =
                sqrt(c->normal[0] * c->normal[0] + c->normal[1] * c->normal[1] + c->normal[2] * c->normal[2]);
            assert_true(c->force > 0 && c->gap > 0 && c->gap < 0.1 && fabs(length - 1) < 1e-9);
            assert_true(c->count_a >= 1 && c->count_b >= 1 && c->count_a + c->count_b <= 4);
            seen++;
            bool ground = c->body_b == -1 || c->body_a == -1;
            floor += ground;
            between += !ground;
            assert_true(ground ? fabs(c->point[1]) < 0.02 : c->point[1] > 0.1);
            // Bodies push each other with the same force, so only the floor's is left.
            for (int j = 0; j < 3; j++) sum[j] += c->body_b < 0 ? -c->force * c->normal[j] : 0;
        }
        for (int j = 0; j < 3; j++) assert_float_equal(sum[j], total[j], 1e-9 * (1 + fabs(total[j])));
        if (floor) assert_true(total[1] >= 0);
        free(contacts);
    }
    assert_true(seen > 10 && floor > 0 && between > 0);
    free(forces);
    rbt_sim_free(sim);
}

// Methods that know no pairs have forces of obstacles all the same.
static void obstacles_push_in_other_methods(void **state) {
    (void)state;
    rbt_error error = {0};
    rbt_sim *sim = sim_from(
        "{'rubato': 1, 'bodies': [{'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [0.1, 0.1, 0.1], 'cells': "
        "[1, 1, "
        "1]}}}, 'damping': {'mass': 20}, 'transform': {'translate': [0, 0.05, 0]}}], 'obstacles': [{'plane': {}}], "
        "'forces': [{'gravity': {'acceleration': [0, -10, 0]}}], 'time': {'step': 1e-3, 'frame': 1e-1, 'end': 1}, "
        "'integrator': {'method': 'backward-euler', 'options': {'tolerance': 1e-7}}}");
    double forces[24], sum = 0;
    advance(sim, 20);
    assert_int_equal(rbt_sim_contacts(sim, NULL, 0), 0);
    must(rbt_sim_contact_forces(sim, forces, &error), &error);
    for (int i = 0; i < 8; i++) sum += forces[3 * i + 1];
    assert_float_equal(sum, 10, 1e-2);
    rbt_sim_free(sim);
}

// A probe reads what can be read otherwise.
static void probes_read(void **state) {
    (void)state;
    rbt_error error = {0};
    rbt_sim *sim = sim_from("{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'bar': {'size': [1, 0.2, "
                            "0.2], 'cells': [5, 1, 1]}}}, "
                            "'fixed': ['left']}], 'forces': [{'gravity': {}}], 'probes': [{'name': 'root', 'body': "
                            "'bar', 'where': 'left'}, "
                            "{'name': 'tip', 'where': 'right'}], 'time': {'step': 1e-3, 'frame': 1e-2, 'end': 1}, "
                            "'integrator': {'method': "
                            "'siere'}}");
    size_t nodes = rbt_sim_node_count(sim), count;
    double *reactions = calloc(nodes, 3 * sizeof *reactions), sum = 0, height = 0, speed = 0, mass = 0;
    const int32_t *list;
    rbt_probe_reading one, all[2];
    advance(sim, 10);
    assert_int_equal(rbt_sim_probe_count(sim), 2);
    assert_int_equal(rbt_sim_probe_find(sim, "tip"), 1);
    assert_string_equal(rbt_sim_probe_name(sim, 0), "root");
    must(rbt_sim_probes(sim, all, &error) && rbt_sim_probe(sim, 1, &one, &error), &error);
    assert_memory_equal(&one, &all[1], sizeof one);
    must(rbt_sim_selection(sim, 0, "right", &list, &count, &error), &error);
    for (size_t i = 0; i < count; i++) {
        size_t n = (size_t)list[i];
        double m = rbt_sim_masses(sim)[n];
        mass += m;
        height += m * rbt_sim_positions(sim)[3 * n + 1];
        speed += m * rbt_sim_velocities(sim)[3 * n + 1];
    }
    assert_float_equal(one.position[1], height / mass, 1e-12);
    assert_float_equal(one.velocity[1], speed / mass, 1e-12);
    assert_true(one.velocity[1] < 0 && one.reaction[1] == 0 && one.contact[1] == 0);
    must(rbt_sim_reactions(sim, reactions, &error), &error);
    for (size_t n = 0; n < nodes; n++) sum += reactions[3 * n + 1];
    assert_float_equal(all[0].reaction[1], sum, 1e-9 * fabs(sum));
    assert_true(sum > 0);
    free(reactions);
    rbt_sim_free(sim);
    refuses("{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'bar': {}}}}], 'probes': [{'name': 'x', "
            "'where': "
            "'nothing'}]}",
            "nothing");
}

static void times_and_statistics(const method_case *c) {
    rbt_sim *sim = method_sim(c);
    rbt_step_report report;
    double iterations = 0;
    int number = rbt_statistic_find("iterations");
    for (int i = 0; i < 3; i++) {
        assert_true(rbt_sim_advance_frame(sim, &report));
        iterations += rbt_report_statistic(&report, number);
    }
    if (rbt_sim_statistic(sim, number) != iterations) fail_msg("%s: iterations", c->name);
    assert_true(rbt_sim_stage_count(sim) > 0);
    for (size_t i = 0; i < rbt_sim_stage_count(sim); i++)
        assert_true(rbt_sim_stage_name(sim, i) && rbt_sim_stage_seconds(sim, i) >= 0);
    assert_null(rbt_sim_stage_name(sim, rbt_sim_stage_count(sim)));
    rbt_sim_free(sim);
}

static void every_method_tells_times_and_statistics(void **state) {
    (void)state;
    for_every_method(times_and_statistics);
    for (int i = 0; i < (int)rbt_statistic_count(); i++) {
        const rbt_statistic_info *info = rbt_statistic_at(i);
        assert_int_equal(rbt_statistic_find(info->name), i);
        assert_true(info->unit && info->doc[strlen(info->doc) - 1] == '.');
    }
    assert_null(rbt_statistic_at((int)rbt_statistic_count()));
    assert_int_equal(rbt_statistic_find("none"), -1);
}

static void driven_groups_have_nodes(void **state) {
    (void)state;
    method_case c = {.method = "semi-implicit"};
    rbt_sim *sim = method_sim(&c);
    int32_t nodes[32];
    size_t count = rbt_sim_driven_nodes(sim, 0, nodes, 32);
    assert_int_equal(count, 9);
    for (size_t i = 0; i < count; i++) {
        assert_true(rbt_sim_rest_positions(sim)[3 * nodes[i]] >
                    0.49);  // the gripped end of the bar around the origin
        assert_true(i == 0 || nodes[i] > nodes[i - 1]);
    }
    nodes[4] = -7;
    assert_int_equal(rbt_sim_driven_nodes(sim, 0, nodes, 4), 9);
    assert_int_equal(nodes[4], -7);
    assert_float_equal(rbt_sim_frame_interval(sim), 4e-3, 1e-12);
    rbt_sim_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_and_selections),
        cmocka_unit_test(driven_groups_have_nodes),
        cmocka_unit_test(reactions_hold_the_weight),
        cmocka_unit_test(reactions_know_inertia),
        cmocka_unit_test(contacts_push),
        cmocka_unit_test(obstacles_push_in_other_methods),
        cmocka_unit_test(probes_read),
        cmocka_unit_test(every_method_tells_times_and_statistics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
