// energy-euler: energies, momenta, what is asked to be lost, and where it is backward Euler.
//
// The last correction of a step solves the energy's equation in closed form, so what is left is rounding: energies are
// sums of some thousand terms of at most their own size, each to 1e-16, and so are H and what is missing of it. Within
// a hundred steps that is below 1e-11 of the energies that the sums are made of; 1e-10 is the bound.
#include "contact_scene.h"
#include "sim/sim.h"

#define BAR                                                                                                          \
    "'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.1], 'cells': [5, 2, 2]}}}, 'material': {'model': "           \
    "'stable-neo-hookean', 'young': 2e5, 'poisson': 0.4, 'density': 1000}"
#define BLOCK                                                                                                        \
    "'mesh': {'shape': {'cuboid': {'size': [0.15, 0.15, 0.15], 'cells': [2, 2, 2]}}}, 'material': {'model': "        \
    "'neo-hookean', 'young': 1e5, 'poisson': "                                                                       \
    "0.3, 'density': 1000}"
#define TIME "'time': {'step': 0.01, 'frame': 0.01, 'end': 100}"

static rbt_sim *scene_of(const char *rest, const char *method, const char *options) {
    return contact_sim("{'rubato': 1, %s, " TIME ", 'integrator': {'method': '%s', 'options': {%s}}}", rest, method,
                       options);
}

// What nothing explains of the change of energy since `start`, debts included, and the largest energy so far
static double unexplained(const rbt_sim *sim, const rbt_energies *start, double *scale) {
    rbt_energies e = rbt_sim_energies(sim);
    const double *debt = sim->state.memory;
    *scale = fmax(*scale, e.kinetic + e.elastic);
    for (size_t b = 0; b < sim->model->body_count; b++) e.total += debt[b];
    return fabs(e.total - e.work + e.friction - start->total);
}

static void must_keep_in(rbt_sim *sim, const char *what, int steps) {
    rbt_energies start = rbt_sim_energies(sim);
    double scale = start.kinetic + start.elastic, most = 0;
    for (int i = 0; i < steps; i++) {
        contact_try(sim);
        most = fmax(most, unexplained(sim, &start, &scale));
    }
    print_message("%-40s %.1e of %.3g J\n", what, most / scale, scale);
    assert_true(scale > 0.01);
    assert_below(most, 1e-10 * scale);
    rbt_sim_free(sim);
}

static void must_keep(const char *what, const char *rest, const char *options, int steps) {
    must_keep_in(scene_of(rest, "energy-euler", options), what, steps);
}

static void energy_is_kept(void **state) {
    (void)state;
    must_keep("a held bar under its weight",
              "'bodies': [{'name': 'a', " BAR ", 'fixed': ['left']}], 'forces': "
              "[{'gravity': {}}]",
              "", 100);
    must_keep("a free bar, stretched and spinning",
              "'bodies': [{'name': 'a', " BAR ", 'deform': [{'stretch': {'axis': [1, 0, 0], 'factor': 1.3}}], "
              "'velocity': {'linear': [1, 0.5, 0], 'angular': [0, 2, 6]}}]",
              "", 100);
    must_keep("a hanging cloth",
              "'bodies': [{'name': 'a', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 0.5, "
              "'cells_along': 8, 'cells_across': 4}}}, 'material': {'young': 1e4, 'density': 300}, 'shell': "
              "{'thickness': 0.002, 'bending': 1e-3}, 'fixed': ['left']}], 'forces': [{'gravity': {}}]",
              "", 60);
    must_keep("two bodies of their own",
              "'bodies': [{'name': 'a', " BAR ", 'fixed': ['left']}, {'name': 'b', " BAR
              ", 'transform': {'translate': [2, 0, 0]}, 'velocity': {'angular': [0, 3, 9]}}], 'forces': "
              "[{'gravity': {}}]",
              "", 50);
}

static void work_is_counted(void **state) {
    (void)state;
    must_keep("a bar with a driven end",
              "'bodies': [{'name': 'a', " BAR ", 'driven': [{'where': 'left', 'motions': "
              "[{'oscillation': {'amplitude': [0, 0.05, 0], 'frequency': 1.3}}]}]}], 'forces': [{'gravity': {}}]",
              "", 100);
    must_keep("a bar by penalty on the ground",
              "'bodies': [{'name': 'a', " BAR ", 'transform': {'translate': [0, "
              "0.3, 0], 'axis': [0, 0, 1], 'degrees': 20}}], 'forces': [{'gravity': {}}], 'obstacles': [{'plane': "
              "{}}]",
              "", 100);
    must_keep("a block that bounces",
              "'bodies': [{'name': 'a', " BLOCK ", 'transform': {'translate': [0, 0.15, 0]}, "
              "'velocity': {'linear': [0.3, -2, 0]}}], 'forces': [{'gravity': {}}], 'obstacles': [{'plane': {}}], "
              "'contact': {'friction': 0.3}",
              "", 25);
    must_keep("a block that a moving plate hits",
              "'bodies': [{'name': 'a', " BLOCK "}], 'obstacles': [{'box': "
              "{'min': [-1, -0.4, -1], 'max': [1, -0.15, 1], 'motions': [{'velocity': {'velocity': [0, 1, 0]}}]}}], "
              "'contact': {}",
              "", 20);
}

// With every step solver, and with contact where they know it, by both of its solvers
static void every_solver_keeps_it(void **state) {
    (void)state;
    static const char *const SOLVERS[] = {"newton", "dot", "lbfgs-h", "lbfgs-pd", "admm-pd"};
    for (int s = 0; s < 5; s++)
        must_keep_in(contact_sim("{'rubato': 1, 'bodies': [{'name': 'a', " BAR
                                 ", 'velocity': {'angular': [3, 0, 9]}}], " TIME
                                 ", 'integrator': {'method': 'energy-euler', 'solver': '%s'}}",
                                 SOLVERS[s]),
                     SOLVERS[s], 10);
    for (int s = 0; s < 6; s++)
        must_keep_in(
            contact_sim("{'rubato': 1, 'bodies': [{'name': 'a', " BLOCK ", 'transform': {'translate': [0, 0.1, "
                        "0]}, 'velocity': {'linear': [0.3, -2, 0]}}], 'obstacles': [{'plane': {}}], 'contact': "
                        "{'friction': 0.3, 'solver': '%s'}, " TIME
                        ", 'integrator': {'method': 'energy-euler', 'solver': '%s'}}",
                        s < 3 ? "barrier" : "augmented-lagrangian", SOLVERS[s % 3]),
            SOLVERS[s % 3], 8);
}

// Every node's energy is that of the account: of two bodies apart, each keeps its own.
static void bodies_keep_their_own(void **state) {
    (void)state;
    static const char *const SWINGING = "{'name': 'a', " BAR ", 'fixed': ['left']}";
    char both[2048], alone[1024];
    snprintf(alone, sizeof alone, "'bodies': [%s], 'forces': [{'gravity': {}}]", SWINGING);
    snprintf(both, sizeof both,
             "'bodies': [%s, {'name': 'b', " BAR ", 'transform': {'translate': [2, 0, 0]}, 'deform': "
             "[{'stretch': {'axis': [1, 0, 0], 'factor': 1.5}}]}], 'forces': [{'gravity': {}}]",
             SWINGING);
    rbt_sim *one = scene_of(alone, "energy-euler", "'tolerance': 1e-9"),
            *two = scene_of(both, "energy-euler", "'tolerance': 1e-9");
    contact_steps(one, 20), contact_steps(two, 20);
    size_t n = 3 * rbt_sim_node_count(one);
    for (size_t i = 0; i < n; i++)  // solves end by the residual of both
        assert_below(fabs(rbt_sim_velocities(one)[i] - rbt_sim_velocities(two)[i]), 1e-6);
    rbt_sim_free(one), rbt_sim_free(two);
}

static void momenta_are_kept(void **state) {
    (void)state;
    static const char *const SCENES[] = {
        "'bodies': [{'name': 'a', " BAR ", 'deform': [{'stretch': {'axis': [1, 0, 0], 'factor': 1.3}}], 'velocity': "
        "{'linear': [1, 0.5, 0], 'angular': [0, 2, 6]}}]",
        "'bodies': [{'name': 'a', " BLOCK ", 'velocity': {'linear': [2, 0, 0]}}, {'name': 'b', " BLOCK
        ", 'transform': "
        "{'translate': [0.23, 0.05, 0]}, 'velocity': {'linear': [-2, 0, 0]}}], 'contact': {}"};
    for (int s = 0; s < 2; s++) {
        rbt_sim *sim = scene_of(SCENES[s], "energy-euler", "");
        rbt_energies start = rbt_sim_energies(sim);
        double mass = 0;
        for (size_t n = 0; n < rbt_sim_node_count(sim); n++) mass += rbt_sim_masses(sim)[n];
        for (int i = 0; i < 30; i++) contact_try(sim);
        rbt_energies end = rbt_sim_energies(sim);
        // rounding of positions of 1 m and velocities of 1 m/s, 30 steps; forces of contact change nothing
        for (int k = 0; k < 3; k++) {
            assert_below(fabs(end.momentum[k] - start.momentum[k]), 1e-11 * mass);
            assert_below(fabs(end.angular_momentum[k] - start.angular_momentum[k]), 1e-11 * mass);
        }
        rbt_sim_free(sim);
    }
}

// Vibrations lose energy at the rate asked for, as they do by a mass damping of as much: on average half of it is
// kinetic, but for the share of a period, of which there are more than six (3 Hz).
#define SWUNG(more) "'bodies': [{'name': 'a', " BAR more ", 'fixed': ['left'], 'velocity': {'angular': [0, 0.2, 1]}}]"
static void decay_is_as_asked(void **state) {
    (void)state;
    for (int damped = 0; damped < 2; damped++) {
        rbt_sim *sim = scene_of(damped ? SWUNG(", 'damping': {'mass': 0.5}") : SWUNG(""), "energy-euler",
                                damped ? "" : "'decay': 0.5");
        double start = rbt_sim_energies(sim).total;
        contact_steps(sim, 200);
        double rate = log(start / rbt_sim_energies(sim).total) / 2;
        assert_below(fabs(rate - 0.5), 0.5 / 6);
        rbt_sim_free(sim);
    }
}

static void assert_same_bits(const rbt_sim *a, const rbt_sim *b) {
    size_t bytes = 3 * rbt_sim_node_count(a) * sizeof(double);
    assert_memory_equal(rbt_sim_positions(a), rbt_sim_positions(b), bytes);
    assert_memory_equal(rbt_sim_velocities(a), rbt_sim_velocities(b), bytes);
}

static void backward_euler_is_a_limit(void **state) {
    (void)state;
    static const char *const SCENES[] = {
        "'bodies': [{'name': 'a', " BAR
        ", 'fixed': ['left'], 'damping': {'mass': 0.5, 'stiffness': 1e-3}}], 'forces': "
        "[{'gravity': {}}]",
        "'bodies': [{'name': 'a', " BLOCK
        ", 'transform': {'translate': [0, 0.12, 0]}, 'velocity': {'linear': [0.3, -2, "
        "0]}}], 'forces': [{'gravity': {}}], 'obstacles': [{'plane': {}}], 'contact': {'friction': 0.3}"};
    for (int s = 0; s < 2; s++) {
        rbt_sim *euler = scene_of(SCENES[s], "backward-euler", ""),
                *own = scene_of(SCENES[s], "energy-euler", "'energy': 'free', 'implicitness': 1");
        for (int i = 0; i < 12; i++) contact_try(euler), contact_try(own);
        assert_same_bits(euler, own);
        rbt_sim_free(euler), rbt_sim_free(own);
    }
}

// Backward Euler's steps take so much from a stiff bar that is let go that nothing can give it back: a debt, which
// states remember.
static void debts_are_remembered(void **state) {
    (void)state;
    static const char *const STIFF =
        "'bodies': [{'name': 'a', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.1], 'cells': [5, 2, 2]}}}, "
        "'material': {'young': 1e7}, 'deform': [{'stretch': {'axis': [1, 0, 0], 'factor': 1.02}}]}]";
    rbt_error error;
    rbt_sim *one = scene_of(STIFF, "energy-euler", "'implicitness': 1"),
            *other = scene_of(STIFF, "energy-euler", "'implicitness': 1");
    rbt_energies start = rbt_sim_energies(one);
    contact_step(one);
    double debt = *(const double *)one->state.memory, missing = start.total - rbt_sim_energies(one).total;
    assert_true(debt > 0.01 * start.total);
    assert_below(fabs(debt - missing), 1e-10 * start.total);
    rbt_state *saved = rbt_sim_save(one, &error);
    assert_true(saved && rbt_sim_restore(other, saved, &error));
    rbt_state_free(saved);
    contact_steps(one, 20), contact_steps(other, 20);
    assert_same_bits(one, other);
    debt = *(const double *)one->state.memory, missing = start.total - rbt_sim_energies(one).total;
    assert_below(fabs(debt - missing), 1e-10 * start.total);
    rbt_sim_free(one), rbt_sim_free(other);
}

// A material that forbids inversion, pressed to a third of its height and let go, with long steps
static void nothing_is_inverted(void **state) {
    (void)state;
    rbt_sim *sim =
        scene_of("'bodies': [{'name': 'a', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.1], 'cells': "
                 "[5, 2, 2]}}}, 'material': {'model': 'neo-hookean', 'young': 2e5, 'poisson': 0.4}, "
                 "'deform': [{'scale': {'factors': [1, 0.35, 1]}}]}]",
                 "energy-euler", "");
    double start = rbt_sim_energies(sim).total;
    for (int i = 0; i < 60; i++) contact_try(sim);
    assert_below(fabs(rbt_sim_energies(sim).total - start), 1e-10 * start);
    rbt_sim_free(sim);
}

static void bad_input_is_refused(void **state) {
    (void)state;
    refuses("{'rubato': 1, 'bodies': [{'name': 'a', " BAR ", 'consistent_mass': true}], " TIME
            ", 'integrator': {'method': 'energy-euler'}}",
            "consistent");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_is_kept),
        cmocka_unit_test(work_is_counted),
        cmocka_unit_test(every_solver_keeps_it),
        cmocka_unit_test(bodies_keep_their_own),
        cmocka_unit_test(momenta_are_kept),
        cmocka_unit_test(decay_is_as_asked),
        cmocka_unit_test(backward_euler_is_a_limit),
        cmocka_unit_test(debts_are_remembered),
        cmocka_unit_test(nothing_is_inverted),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
