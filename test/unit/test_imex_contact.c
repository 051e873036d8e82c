// Contact of imex: the response to impulses, its limits, energy and friction where both kinds of nodes touch.
#include "contact_scene.h"
#include "sim/sim.h"
#include "step/imex/imex.h"
#include "step/imex/imex_contact.h"

// A block on the ground whose left half is ten times as stiff: with the step between the bounds of both, implicit.
static rbt_sim *block(const char *method, double step, double friction, const char *velocity, const char *more) {
    return contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.2], 'cells': "
        "[8, 2, 4]}}}, 'transform': {'translate': [0, 0.0505, 0]}, 'material': {'model': 'stable-neo-hookean', "
        "'young': 1e5, 'poisson': 0.3, 'density': 1000}, 'regions': [{'name': 'stiff', 'where': {'plane': {'point': "
        "[0, 0, 0], 'normal': [-1, 0, 0]}}, 'material': {'model': 'stable-neo-hookean', 'young': 1e7, 'poisson': "
        "0.3, "
        "'density': 1000}}], 'velocity': {'linear': [%s]}}], 'obstacles': [{'plane': {}}], 'contact': {'thickness': "
        "5e-4, 'friction': %g}, 'forces': [{'gravity': {'acceleration': [4.385667, -8.771334, 0]}}], 'time': "
        "{'step': "
        "%g, 'frame': %g, 'end': 10}, 'integrator': {'method': '%s'%s}}",
        velocity, friction, step, step, method, more);
}

static const double BETWEEN = 5e-4;  // [s] longer than the stiff half allows, shorter than the other does

static size_t implicit_count(rbt_sim *sim) {
    int32_t *label = malloc(sim->model->node_count * sizeof *label);
    size_t count = 0;
    sim->stepper.method->labels(sim->stepper.self, label);
    for (size_t n = 0; n < sim->model->node_count; n++) count += label[n] == 1;
    free(label);
    return count;
}

// Of impulses on implicit nodes the entries are what the step makes of them, at implicit rows to rounding; of those on
// explicit ones at their own.
static void entries_are_those_of_the_step(void **state) {
    (void)state;
    rbt_sim *sim = block("imex", BETWEEN, 0.3, "0, -1, 0", "");
    contact_steps(sim, 2);
    size_t nodes = sim->model->node_count, n = 3 * nodes, implicit = implicit_count(sim);
    print_message("%zu of %zu nodes are implicit\n", implicit, nodes);
    assert_true(implicit > 10 && implicit < nodes - 10);
    rbt_imex_contact *c = rbt_imex_contact_of(sim->stepper.self);
    rbt_impulse_response response = rbt_imex_response(c);
    double *J = calloc(n, sizeof *J), *without = malloc(n * sizeof *J), *with = malloc(n * sizeof *J);
    double *v = malloc(n * sizeof *v), *entries = malloc(3 * n * sizeof *entries), worst = 0, size = 0;
    int32_t *rows = malloc(nodes * sizeof *rows);
    rbt_step_report report = {0};
    for (size_t k = 0; k < nodes; k++) rows[k] = (int32_t)k;
    assert_int_equal(response.apply(c, NULL, without, v, &report), RBT_DONE);
    for (size_t k = 0; k < nodes; k += 7) {
        assert_true(response.entries(c, 1, &rows[k], nodes, rows, entries));
        for (size_t d = 0; d < 3; d++) {
            J[3 * k + d] = 1;
            assert_int_equal(response.apply(c, J, with, v, &report), RBT_DONE);
            J[3 * k + d] = 0;
            for (size_t i = 0; i < n; i++) {
                double moved = with[i] - without[i];
                size = fmax(size, fabs(moved));
                if ((c->place[k] >= 0) != (c->place[i / 3] >= 0)) continue;  // left to corrections
                worst = fmax(worst, fabs(moved - c->h * entries[d * n + i]));
            }
        }
    }
    assert_below(worst, 1e-10 * size);
    free(J), free(without), free(with), free(v), free(entries), free(rows);
    rbt_sim_free(sim);
}

// A step above all bounds is semi-implicit Euler, bit for bit; one below all has no implicit node.
static void limits(void **state) {
    (void)state;
    rbt_sim *a = block("imex", 0.02, 0.3, "0.2, -0.5, 0", ""),
            *b = block("semi-implicit", 0.02, 0.3, "0.2, -0.5, 0", "");
    contact_steps(a, 10), contact_steps(b, 10);
    size_t bytes = 3 * rbt_sim_node_count(a) * sizeof(double);
    assert_true(rbt_sim_contacts(a, NULL, 0) > 0);
    assert_int_equal(rbt_sim_contacts(a, NULL, 0), rbt_sim_contacts(b, NULL, 0));
    assert_memory_equal(rbt_sim_positions(a), rbt_sim_positions(b), bytes);
    assert_memory_equal(rbt_sim_velocities(a), rbt_sim_velocities(b), bytes);
    rbt_sim_free(a), rbt_sim_free(b);
    rbt_sim *c = block("imex", 2e-5, 0.3, "0.2, -0.5, 0", "");
    contact_steps(c, 100);
    assert_int_equal(implicit_count(c), 0);
    assert_true(rbt_sim_contacts(c, NULL, 0) > 0);
    rbt_sim_free(c);
}

// Both kinds of nodes touch: no energy from nothing, nothing below the ground, and Coulomb's law.
static void holds_and_slides(void **state) {
    (void)state;
    static const double FRICTION[] = {0.8, 0.3};
    for (int i = 0; i < 2; i++) {
        rbt_sim *sim = block("imex", BETWEEN, FRICTION[i], "0, 0, 0", "");
        double first = rbt_sim_energies(sim).total, begin[3], end[3], lowest = INFINITY;
        for (int k = 0; k < 400; k++) contact_try(sim);
        contact_velocity(sim, 0, begin);
        for (int k = 0; k < 600; k++) {
            contact_try(sim);
            assert_below(rbt_sim_energies(sim).total, first + 0.02);
        }
        contact_velocity(sim, 0, end);
        for (size_t n = 0; n < rbt_sim_node_count(sim); n++) lowest = fmin(lowest, rbt_sim_positions(sim)[3 * n + 1]);
        double a = (end[0] - begin[0]) / 0.3, coulomb = fmax(0, 4.385667 - FRICTION[i] * 8.771334);
        print_message("friction %g: %.4f m/s^2, Coulomb's %.4f; lowest node %.1e m, friction took %.2e J\n",
                      FRICTION[i], a, coulomb, lowest, rbt_sim_energies(sim).friction);
        assert_true(lowest > 0);
        assert_below(fabs(a - coulomb), 0.15);
        rbt_sim_free(sim);
    }
}

static void what_is_not_certified_is_refused(void **state) {
    (void)state;
    rbt_scene_file *file = scene_from(
        "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'shape': {'cuboid': {'cells': [1, 1, 1]}}}, 'material': "
        "{'young': 1e5}}], 'contact': {}, 'time': {'step': 0.01, 'frame': 0.01, 'end': 1}, 'integrator': {'method': "
        "'imex', 'options': {'certify': false}}}");
    rbt_error error;
    assert_null(rbt_sim_create(rbt_scene_of(file), &error));
    assert_non_null(strstr(error.message, "contact needs explicit nodes that are certified"));
    rbt_scene_free(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_those_of_the_step),
        cmocka_unit_test(limits),
        cmocka_unit_test(holds_and_slides),
        cmocka_unit_test(what_is_not_certified_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
