// What a simulation tells about contact: forces on nodes, pairs with their forces, probes and reactions agree with each
// other and with Newton's laws.
#include "contact_scene.h"

// Pairs of bodies a and b: the force on b by them, and how many there are
static size_t pair_forces(const rbt_sim *sim, int a, int b, double sum[3]) {
    size_t count = rbt_sim_contacts(sim, NULL, 0), found = 0;
    rbt_contact_point *points = calloc(count + 1, sizeof *points);
    assert_non_null(points);
    assert_int_equal(rbt_sim_contacts(sim, points, count), count);
    sum[0] = sum[1] = sum[2] = 0;
    for (size_t i = 0; i < count; i++) {
        const rbt_contact_point *p = &points[i];
        assert_below(fabs(rbt_length(p->normal) - 1), 1e-12);
        assert_true(p->gap > 0 && p->force >= 0);
        if ((p->body_a != a || p->body_b != b) && (p->body_a != b || p->body_b != a)) continue;
        rbt_add_scaled(sum, p->body_b == b ? p->force : -p->force, p->normal);
        found++;
    }
    free(points);
    return found;
}

// A block at rest on a plane, let settle by damping
static rbt_sim *resting(const char *method, int cells) {
    rbt_sim *sim = contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [0.2, 0.1, 0.1], 'cells': "
        "[%d, "
        "%d, %d]}}}, 'transform': {'translate': [0, 0.0509, 0]}, 'material': {'model': 'neo-hookean', 'young': 1e6, "
        "'poisson': 0.3, 'density': 1000}, 'damping': {'mass': 20, 'stiffness': 0.01}}], 'forces': [{'gravity': "
        "{}}], "
        "'obstacles': [{'plane': {}}], 'probes': [{'name': 'block', 'body': 'block', 'where': {'box': {'min': [-1, "
        "-1, -1], 'max': [1, 1, 1]}}}], 'contact': {'thickness': 1e-3, "
        "'friction': 0.4}, 'time': {'step': 0.01, 'frame': 0.01, 'end': 100}, 'integrator': {'method': '%s', "
        "'solver': "
        "'newton'}}",
        2 * cells, cells, cells, method);
    contact_steps(sim, 150);
    return sim;
}

// The force on the block, which all ways to ask for it agree on
static void force_now(const rbt_sim *sim, double force[3]) {
    double pairs[3];
    rbt_probe_reading probe;
    rbt_error error;
    contact_force(sim, 0, force);
    assert_true(pair_forces(sim, -1, 0, pairs) >= 4);
    if (!rbt_sim_probe(sim, 0, &probe, &error)) fail_msg("%s", error.message);
    for (int k = 0; k < 3; k++) assert_below(fabs(probe.contact[k] - force[k]), 1e-12 * force[1]);
    assert_below(fabs(pairs[1] - force[1]), 1e-12 * force[1]);
    assert_below(hypot(pairs[0], pairs[2]), 1e-12 * force[1]);
}

// Forces add up to the weight as far as a step is solved (2e-5 of the forces that act) and the block is at rest. The
// midpoint rule keeps stiff vibrations for ever, with a sign that changes in every step: means of two steps are what a
// body at rest shows.
static void a_resting_block_shows_its_weight(void **state) {
    contact_by = *state;
    for (int i = 0; i < CONTACT_METHOD_COUNT; i++)
        for (int cells = 1; cells <= 2; cells++) {
            rbt_sim *sim = resting(CONTACT_METHODS[i], cells);
            double a[3], b[3], mean[3], weight = 0.2 * 0.1 * 0.1 * 1000 * GRAVITY;
            force_now(sim, a);
            contact_step(sim);
            force_now(sim, b);
            for (int k = 0; k < 3; k++) mean[k] = 0.5 * (a[k] + b[k]);
            print_message("%-17s %zu pairs: force %.6f of the weight (now %.6f), along %.1e\n", CONTACT_METHODS[i],
                          rbt_sim_contacts(sim, NULL, 0), mean[1] / weight, b[1] / weight,
                          hypot(mean[0], mean[2]) / weight);
            assert_below(fabs(mean[1] / weight - 1), 1e-4);
            assert_below(hypot(mean[0], mean[2]), 1e-4 * weight);
            rbt_sim_free(sim);
        }
}

// A press: a soft block between a fixed body below and a driven one above. What the upper one feels, the lower one
// feels, the block feels both, and constraints hold what contact and weight do to their bodies.
static rbt_sim *press(const char *method) {
    return contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'soft', 'mesh': {'shape': {'cuboid': {'size': [0.1, 0.1, 0.1], 'cells': "
        "[2, "
        "2, 2]}}}, 'material': {'model': 'neo-hookean', 'young': 1e5, 'poisson': 0.3, 'density': 1000}, 'damping': "
        "{'mass': 40, 'stiffness': 0.02}}, {'name': 'table', 'mesh': {'shape': {'cuboid': {'size': [0.3, 0.05, 0.3], "
        "'cells': [2, 1, 2]}}}, 'transform': {'translate': [0.003, -0.0758, 0.002]}, 'material': {'young': 1e8, "
        "'density': "
        "1000}, 'fixed': ['bottom']}, {'name': 'plate', 'mesh': {'shape': {'cuboid': {'size': [0.3, 0.05, 0.3], "
        "'cells': "
        "[1, 1, 1]}}}, 'transform': {'translate': [0.011, 0.0758, 0.007]}, 'material': {'young': 1e8, 'density': "
        "1000}, "
        "'driven': [{'where': {'box': {'min': [-1, -1, -1], 'max': [1, 1, 1]}}, 'motions': [{'velocity': "
        "{'velocity': "
        "[0, -0.05, 0], 'until': 0.2}}]}]}], 'forces': [{'gravity': {}}], 'contact': {'thickness': 1e-3, 'friction': "
        "0.3}, 'time': {'step': 0.01, 'frame': 0.01, 'end': 100}, 'integrator': {'method': '%s', 'solver': "
        "'newton'}}",
        method);
}

typedef struct press_forces {  // [N] along y
    double soft, plate, table, above, held;
} press_forces;

static press_forces forces_now(const rbt_sim *sim) {
    double soft[3], table[3], plate[3], above[3], below_[3], held[3] = {0};
    double *reactions = calloc(3 * rbt_sim_node_count(sim), sizeof *reactions);
    rbt_error error;
    rbt_body_info info;
    assert_non_null(reactions);
    contact_force(sim, 0, soft);
    contact_force(sim, 1, table);
    contact_force(sim, 2, plate);
    assert_true(pair_forces(sim, 2, 0, above) > 0 && pair_forces(sim, 1, 0, below_) > 0);
    if (!rbt_sim_reactions(sim, reactions, &error)) fail_msg("%s", error.message);
    assert_true(rbt_sim_body(sim, 2, &info, NULL));
    for (size_t n = info.node_begin; n < info.node_end; n++) rbt_add_scaled(held, 1, reactions + 3 * n);
    for (int k = 0; k < 3; k++) assert_below(fabs(soft[k] + table[k] + plate[k]), 1e-11 * plate[1]);
    // pairs have no friction, which acts along surfaces that tilt a little
    assert_below(fabs(above[1] + below_[1] - soft[1]), 1e-3 * plate[1]);
    assert_below(fabs(held[1] + plate[1] - info.mass * GRAVITY), 1e-9 * plate[1]);
    free(reactions);
    return (press_forces){soft[1], plate[1], table[1], above[1], held[1]};
}

static void a_press_pushes_as_it_is_pushed(void **state) {
    contact_by = *state;
    for (int i = 0; i < CONTACT_METHOD_COUNT; i++) {
        rbt_sim *sim = press(CONTACT_METHODS[i]);
        contact_steps(sim, 120);
        press_forces a = forces_now(sim);
        contact_step(sim);
        press_forces b = forces_now(sim);
        double force = 0.5 * (a.plate + b.plate), soft = 0.5 * (a.soft + b.soft), weight = 1e-3 * 1000 * GRAVITY;
        print_message(
            "%-17s plate %.4f N, table %.4f N, block %.4f N (weight %.4f N; now %.4f N), driven by %.4f N\n",
            CONTACT_METHODS[i], force, 0.5 * (a.table + b.table), soft, weight, b.soft, b.held);
        assert_true(force > 10);
        assert_below(fabs(soft - weight), 1e-4 * force);
        rbt_sim_free(sim);
    }
}

int main(void) {
    static char barrier[] = "barrier", augmented[] = "augmented-lagrangian";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(a_resting_block_shows_its_weight, barrier),
        cmocka_unit_test_prestate(a_resting_block_shows_its_weight, augmented),
        cmocka_unit_test_prestate(a_press_pushes_as_it_is_pushed, barrier),
        cmocka_unit_test_prestate(a_press_pushes_as_it_is_pushed, augmented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
