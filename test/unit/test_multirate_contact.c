// Contact of multirate-euler: the response to impulses, its limits, and refusals.
#include "contact_scene.h"
#include "random.h"
#include "sim/sim.h"
#include "step/multirate/multirate.h"
#include "step/multirate/multirate_contact.h"

#define SIDE(x, n, m) "{'where': {'plane': {'point': [" x ", 0, 0], 'normal': [" n ", 0, 0]}}, 'substeps': " m "}"

// A bar above the ground with parts at both ends, or nested ones
static rbt_sim *bar(const char *tempo, const char *model, const char *options, const char *method) {
    return contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.6, 0.1, 0.1], 'cells': "
        "[12, 2, 2]}}}, 'transform': {'axis': [0, 0, 1], 'degrees': 0, 'translate': [0, 0.052, 0]}, 'material': "
        "{'model': '%s', 'young': 2e4, 'poisson': 0.3, 'density': 1000}, 'velocity': {'linear': [0.3, -1, 0]}, "
        "'tempo': [%s]}], 'obstacles': [{'plane': {}}], 'contact': {'thickness': 1e-3, 'friction': 0.3}, 'forces': "
        "[{'gravity': {}}], 'time': {'step': 0.004, 'frame': 0.004, 'end': 10}, 'integrator': {'method': '%s'%s}}",
        model, tempo, method, options);
}

// Entries are what the sub-cycling makes of unit impulses, to rounding: of columns in parts, in parts of parts and in
// the root, at rows everywhere.
static void entries_are_those_of_the_cycle(void **state) {
    (void)state;
    static const char *const TEMPO[] = {SIDE("0.15", "1", "4") ", " SIDE("-0.15", "-1", "3"),
                                        SIDE("0.0", "1", "2") ", " SIDE("0.16", "1", "6")};
    static const char *const OPTIONS[] = {"", ", 'options': {'interpolation': 'end'}"};
    static const char *const MODELS[] = {"stable-neo-hookean", "linear"};
    for (int i = 0; i < 8; i++) {
        rbt_sim *sim = bar(TEMPO[i & 1], MODELS[i >> 1 & 1], OPTIONS[i >> 2], "multirate-euler");
        contact_step(sim);
        rbt_multirate_contact *c = rbt_multirate_contact_of(sim->stepper.self);
        rbt_impulse_response response = rbt_multirate_response(c);
        size_t nodes = sim->model->node_count, n = 3 * nodes;
        double *J = calloc(n, sizeof *J), *free_way = calloc(n, sizeof *J), *way = calloc(n, sizeof *J);
        double *v = calloc(n, sizeof *v), *entries = malloc(9 * nodes * 9 * sizeof *entries), worst = 0, size = 0;
        int32_t *rows = malloc(nodes * sizeof *rows), columns[9];
        rbt_step_report report = {0};
        for (size_t k = 0; k < nodes; k++) rows[k] = (int32_t)k;
        for (size_t k = 0; k < 9; k++) columns[k] = (int32_t)(k * (nodes - 1) / 8);  // all along the bar
        assert_true(response.entries(c, 9, columns, nodes, rows, entries));
        assert_int_equal(response.apply(c, NULL, free_way, v, &report), RBT_DONE);
        for (size_t k = 0; k < 27; k++) {
            size_t at = 3 * (size_t)columns[k / 3] + k % 3;
            J[at] = 1;
            assert_int_equal(response.apply(c, J, way, v, &report), RBT_DONE);
            J[at] = 0;
            for (size_t j = 0; j < n; j++) {
                worst = fmax(worst, fabs(c->H * entries[k * n + j] - (way[j] - free_way[j])));
                size = fmax(size, fabs(way[j] - free_way[j]));
            }
        }
        print_message("%s, tempo %d: entries off by %.1e of the largest\n", MODELS[i >> 1 & 1], i & 1, worst / size);
        assert_below(worst, 1e-10 * size);
        free(J), free(free_way), free(way), free(v), free(entries), free(rows);
        rbt_sim_free(sim);
    }
}

static void run_beside(rbt_sim *a, rbt_sim *b, int steps, double tolerance) {
    double worst = 0;
    for (int i = 0; i < steps; i++) contact_step(a), contact_step(b);
    for (size_t i = 0; i < 3 * rbt_sim_node_count(a); i++)
        worst = fmax(worst, fabs(rbt_sim_positions(a)[i] - rbt_sim_positions(b)[i]));
    print_message("positions differ by %.1e m\n", worst);
    assert_true(rbt_sim_contacts(a, NULL, 0) > 0);
    assert_below(worst, tolerance);
    rbt_sim_free(a), rbt_sim_free(b);
}

// Without parts, and with parts that take the same steps, it is semi-implicit's equation: the same impulses to what its
// iteration leaves, a thousandth of the thickness each step.
static void no_parts_is_semi_implicit(void **state) {
    (void)state;
    run_beside(bar("", "stable-neo-hookean", "", "multirate-euler"),
               bar("", "stable-neo-hookean", "", "semi-implicit"), 5, 5e-6);
    run_beside(bar(SIDE("0.1", "1", "1"), "stable-neo-hookean", "", "multirate-euler"),
               bar("", "stable-neo-hookean", "", "semi-implicit"), 5, 5e-6);
}

// Friction and parts that touch: the bar comes to rest, without energy from anywhere.
static void comes_to_rest(void **state) {
    (void)state;
    rbt_sim *sim =
        bar(SIDE("0.15", "1", "4") ", " SIDE("-0.15", "-1", "3"), "stable-neo-hookean", "", "multirate-euler");
    double before = rbt_sim_energies(sim).total;
    for (int i = 0; i < 150; i++) {
        contact_step(sim);
        assert_below(rbt_sim_energies(sim).total, 1.001 * before);
    }
    double kinetic = rbt_sim_energies(sim).kinetic;
    print_message("kinetic energy after 0.6 s %.2e J of %.2e J\n", kinetic, before);
    assert_below(kinetic, 0.02 * before);
    rbt_sim_free(sim);
}

// ---- Modes beside parts (rest_modes.h)

static rbt_sim *swinging(const char *tempo, const char *contact, const char *method, const char *options) {
    return contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.6, 0.1, 0.1], 'cells': "
        "[12, 2, 2]}}}, 'transform': {'translate': [0, 0.06, 0]}, 'material': {'model': 'linear', 'young': 1e6, "
        "'poisson': 0.3, 'density': 1000}, 'velocity': {'linear': [0, -0.5, 0]}%s, 'tempo': [%s]}], %s 'forces': "
        "[{'gravity': {}}], 'time': {'step': 0.004, 'frame': 0.004, 'end': 10}, 'integrator': {'method': '%s', "
        "'options': {%s}}}",
        *contact ? "" : ", 'fixed': ['left']", tempo, contact, method, options);
}

#define GROUND "'obstacles': [{'plane': {}}], 'contact': {'thickness': 1e-3, 'friction': 0.3},"

// Modes of a linear body are true ones to the tolerance of their search, 1e-9 here.
static void modes_without_parts_are_siere(void **state) {
    (void)state;
    static const char *const CONTACT[] = {"", GROUND};
    for (int i = 0; i < 2; i++) {
        rbt_sim *a = swinging("", CONTACT[i], "multirate-euler", "'modes': 12");
        rbt_sim *b = swinging("", CONTACT[i], "siere", "'modes': 12, 'tolerance': 1e-9");
        double worst = 0, way = 0;
        size_t touching = 0;
        for (int k = 0; k < 12; k++) {
            contact_step(a), contact_step(b);
            touching += rbt_sim_contacts(a, NULL, 0) > 0;
        }
        for (size_t k = 0; k < 3 * rbt_sim_node_count(a); k++) {
            worst = fmax(worst, fabs(rbt_sim_positions(a)[k] - rbt_sim_positions(b)[k]));
            way = fmax(way, fabs(rbt_sim_positions(a)[k] - a->model->x0[k]));
        }
        print_message("%s: positions differ by %.1e m after ways of %.1e m\n", i ? "contact" : "held", worst, way);
        assert_true(!i || touching > 0);
        assert_below(worst, 1e-3 * way);
        rbt_sim_free(a), rbt_sim_free(b);
    }
}

// With parts, modes keep the energy that is in them; nothing is gained.
static void modes_beside_parts_swing_on(void **state) {
    (void)state;
    static const char *const PARTS = SIDE("0.15", "1", "4") ", " SIDE("-0.15", "-1", "3");
    static const char *const OPTIONS[] = {"'modes': 0", "'modes': 12"};
    static const char *const CONTACT[] = {"", GROUND};
    for (int c = 0; c < 2; c++) {
        double left[2], first = 0;
        for (int i = 0; i < 2; i++) {
            rbt_sim *sim = swinging(PARTS, CONTACT[c], "multirate-euler", OPTIONS[i]);
            first = rbt_sim_energies(sim).total;
            double most = first;
            for (int k = 0; k < 60; k++) {
                contact_try(sim);
                most = fmax(most, rbt_sim_energies(sim).total);
            }
            left[i] = rbt_sim_energies(sim).total;
            assert_below(most, first + 1e-3 * fabs(first));
            rbt_sim_free(sim);
        }
        print_message("%s: %.4f J at first, %.4f J left without modes, %.4f J with them\n", c ? "contact" : "held",
                      first, left[0], left[1]);
        assert_true(c || left[1] > left[0]);
    }
}

static void refuse(const char *json, const char *part) {
    rbt_scene_file *file = scene_from(json);
    rbt_error error;
    assert_null(rbt_sim_create(rbt_scene_of(file), &error));
    if (!strstr(error.message, part)) fail_msg("%s", error.message);
    rbt_scene_free(file);
}

static void what_modes_do_not_know_is_refused(void **state) {
    (void)state;
#define BODY(more)                                                                                                   \
    "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'shape': {'cuboid': {'cells': [2, 1, 1]}}}, 'material': "       \
    "{'young': 1e5}" more "'time': {'step': 0.01, 'frame': 0.01, 'end': 1}, 'integrator': {'method': "               \
    "'multirate-euler', 'options': {'modes': 3}}}"
    refuse(BODY("}], 'obstacles': [{'plane': {'point': [0, -1, 0]}}], "), "obstacles push by a penalty");
    refuse(BODY(", 'consistent_mass': true}], "), "has a consistent mass");
    refuse(BODY(", 'driven': [{'where': 'left', 'motions': [{'velocity': {'velocity': [1, 0, 0]}}]}]}], "),
           "nodes are driven");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_those_of_the_cycle),
        cmocka_unit_test(no_parts_is_semi_implicit),
        cmocka_unit_test(comes_to_rest),
        cmocka_unit_test(modes_without_parts_are_siere),
        cmocka_unit_test(modes_beside_parts_swing_on),
        cmocka_unit_test(what_modes_do_not_know_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
