// Cuts under contact: the two sides begin apart and without force, nothing else changes, and they stay apart, exactly.
#include "../support/cut_scene.h"

#define MATERIAL "'material': {'model': 'stable-neo-hookean', 'young': 1e5, 'poisson': 0.3, 'density': 1000}"
#define BLOCK                                                                                                        \
    "'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.2, 0.2], 'cells': [6, 3, 3]}}}, " MATERIAL
#define THROUGH "{'plane': {'point': [0.013, 0.01, 0], 'normal': [1, 0.3, -0.2]}}"
// ends inside of the block
#define SLIT                                                                                                         \
    "{'rectangle': {'corner': [0.47, 1.1, -0.1], 'along': [0.06, -0.8, 0], 'across': [0, 0, 1.2], 'relative': "      \
    "true}}"
#define TIME "'time': {'step': 0.01, 'frame': 0.01, 'end': 10}"

static void cut(rbt_sim *sim) {
    rbt_step_report report = {0};
    int generation = sim->model->generation;
    if (!rbt_sim_cut(sim, &report)) fail_msg("%s", report.hint);
    assert_true(sim->model->generation > generation);
}

static double area_of(const rbt_model *m) {
    double area = 0;
    for (size_t n = 0; n < m->node_count; n++) area += m->node_area[n];
    return area;
}

// A body that flies, turns and is bent is cut: nothing pushes, mass falls by what the width takes away, momentum and
// elastic energy stay.
static void sides_begin_without_force(void **state) {
    (void)state;
    static const char *const surfaces[] = {THROUGH, SLIT};
    for (int i = 0; i < 2; i++) {
        rbt_sim *sim = contact_sim(
            "{'rubato': 1, 'bodies': [{" BLOCK
            ", 'velocity': {'linear': [1, 2, -1], 'angular': [3, -5, 8]}, 'deform': "
            "[{'twist': {'axis': [1, 0, 0], 'degrees': 15}}]}], 'contact': {'thickness': 1e-3}, 'cuts': [{'time': 0, "
            "'surface': %s}], " TIME "}",
            surfaces[i]);
        rbt_energies before = rbt_sim_energies(sim);
        double mass = sim->model->bodies[0].mass, area = area_of(sim->model);
        cut(sim);
        rbt_energies after = rbt_sim_energies(sim);
        assert_int_equal(crossings(sim), 0);
        rbt_contact_point point;
        assert_int_equal(rbt_sim_contacts(sim, &point, 1), 0);
        assert_true(after.contact == 0);
        // Both sides draw back by half of 1.125 thicknesses: less at a rim, where the width falls to 0.
        double taken = 1000 * 0.5 * (area_of(sim->model) - area) * 1.125e-3, lost = mass - sim->model->bodies[0].mass;
        assert_below(lost, 1.1 * taken);
        assert_below(0.5 * taken, lost);
        double gone[3], spun[3];
        rbt_subtract(after.momentum, before.momentum, gone);
        rbt_subtract(after.angular_momentum, before.angular_momentum, spun);
        assert_below(rbt_length(gone), 1e-12 * rbt_length(before.momentum));
        assert_below(rbt_length(spun), 1e-12 * rbt_length(before.angular_momentum));
        // what was taken away had some of it
        assert_below(fabs(after.elastic - before.elastic), 3 * lost / mass * before.elastic);
        rbt_sim_free(sim);
    }
}

// Cloth: sides of a cut are edges in its plane, and `gap` keeps room for its thickness.
static void cloth_too(void **state) {
    (void)state;
    rbt_sim *sim = contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'cloth', 'mesh': {'shape': {'cloth': {'length': 0.5, 'width': 0.5, "
        "'cells_along': 8, 'cells_across': 8}}}, 'shell': {'thickness': 0.002, 'bending': 1e-4}, 'material': "
        "{'young': "
        "1e5, 'density': 300}, 'fixed': ['left']}], 'forces': [{'gravity': {}}], 'obstacles': [{'sphere': {'centre': "
        "[0.05, -0.15, 0], 'radius': 0.14}}], 'contact': {'thickness': 2e-3, 'friction': 0.2, 'gap': 1e-3}, 'cuts': "
        "[{'time': 0.02, 'until': 0.06, 'strokes': 4, 'surface': {'rectangle': {'corner': [0.27, -0.5, -0.01], "
        "'along': "
        "[-0.35, 0, 0.02], 'across': [0, 1, 0]}}}, {'time': 0.05, 'surface': {'plane': {'point': "
        "[0.1, 0, 0], 'normal': [1, 0, 0.4]}}}], " TIME "}");
    size_t cuts = 0;
    for (int k = 0; k < 9; k++) {
        int generation = sim->model->generation;
        rbt_step_report report = {0};
        if (!rbt_sim_cut(sim, &report)) fail_msg("%s", report.hint);
        cuts += sim->model->generation != generation;
        assert_int_equal(crossings(sim), 0);
        char text[200];
        if (!sim->stepper.method->accepts(sim->stepper.self, &sim->state, text, sizeof text)) fail_msg("%s", text);
        step(sim);
        assert_int_equal(crossings(sim), 0);
    }
    assert_true(cuts >= 3);
    rbt_sim_free(sim);
}

// Nodes that are fixed or driven are parted as well.
static void held_nodes_too(void **state) {
    (void)state;
    rbt_sim *sim = contact_sim(
        "{'rubato': 1, 'bodies': [{" BLOCK
        ", 'fixed': ['left'], 'driven': [{'where': 'right', 'motions': [{'rotation': "
        "{'axis': [1, 0, 0], 'rate': 2}}]}]}], 'contact': {'thickness': 1e-3}, 'cuts': [{'time': 0.02, 'surface': "
        "{'plane': {'point': [0, 0.01, 0], 'normal': [0.02, 1, 0.1]}}}], " TIME "}");
    for (int k = 0; k < 6; k++) {
        step(sim);
        assert_int_equal(crossings(sim), 0);
    }
    size_t held = 0;
    for (size_t n = 0; n < sim->model->node_count; n++) held += sim->model->role[n] != RBT_FREE;
    assert_true(held > 40);  // of 32 before
    rbt_sim_free(sim);
}

// A wall beside an oblique cut, closer than the sides draw back: what would come to lie in it moves less.
static void what_is_close_stays_apart(void **state) {
    (void)state;
    rbt_sim *sim = contact_sim(
        "{'rubato': 1, 'bodies': [{" BLOCK "}], 'obstacles': [{'plane': {'point': [0, -0.1001, 0]}}], 'contact': "
        "{'thickness': 1e-3}, 'cuts': [{'time': 0, 'surface': {'plane': {'point': [0.01, 0, 0], 'normal': [1, 1, "
        "0.1]}}}], " TIME "}");
    cut(sim);
    assert_int_equal(crossings(sim), 0);
    for (int k = 0; k < 3; k++) {
        step(sim);
        assert_int_equal(crossings(sim), 0);
    }
    rbt_sim_free(sim);
}

// A body keeps a gap as wide as a sixth of its cells. Where slivers let nodes move less, sides that do not cross are
// closer than that: such a stroke is made with edges parted further from their ends, or waits, instead of ending the
// run.
static void gaps_are_kept(void **state) {
    (void)state;
    static const char *const CUTS[][2] = {{"4, 2, 2", "0.2, 0.1, 1"}, {"3, 2, 2", "0.3, 1, 0.2"}};
    for (int i = 0; i < 2; i++) {
        rbt_sim *sim = contact_sim(
            "{'rubato': 1, 'bodies': [{'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [0.3, 0.15, 0.2], "
            "'cells': [%s]}}}, 'material': {'model': 'corotational', 'young': 1e6, 'poisson': 0.3, 'density': "
            "1000}}], "
            "'contact': {'thickness': 6e-4, 'gap': 5e-3}, 'cuts': [{'time': 0, 'surface': {'plane': {'point': [0.45, "
            "0.52, 0.48], 'normal': [%s], 'relative': true}}}], " TIME "}",
            CUTS[i][0], CUTS[i][1]);
        size_t nodes = sim->model->node_count;
        step(sim);
        print_message("%s: %zu nodes, then %zu\n", CUTS[i][0], nodes, sim->model->node_count);
        assert_true(sim->model->node_count > nodes);
        char text[200];
        assert_true(sim->stepper.method->accepts(sim->stepper.self, &sim->state, text, sizeof text));
        rbt_sim_free(sim);
    }
}

// Where all elements are inside out, sides cannot be parted: the stroke waits, nothing has changed, and after 20 steps
// it fails and tells the place.
static void strokes_wait_for_room(void **state) {
    (void)state;
    rbt_sim *sim =
        contact_sim("{'rubato': 1, 'bodies': [{" BLOCK "}], 'contact': {'thickness': 1e-3}, 'cuts': [{'time': 0, "
                    "'surface': " THROUGH "}], " TIME "}");
    rbt_change change;
    rbt_error error = {0};
    size_t nodes = sim->model->node_count;
    for (size_t n = 0; n < nodes; n++) sim->state.x[3 * n + 2] *= -1;
    rbt_cutting_set_thickness(sim->cutting, 1e-3);
    assert_true(rbt_cutting_due(sim->cutting, 0));
    assert_true(rbt_cutting_stroke(sim->cutting, sim->model, &sim->state, &change, &error));
    assert_null(change.after);
    assert_int_equal(sim->state.node_count, nodes);
    assert_false(rbt_cutting_due(sim->cutting, 0));
    assert_true(rbt_cutting_due(sim->cutting, 0.01));
    sim->state.t = 0.21;
    assert_false(rbt_cutting_stroke(sim->cutting, sim->model, &sim->state, &change, &error));
    if (!strstr(error.message, "cannot be parted") || strcmp(error.path, "cuts[0]") != 0)
        fail_msg("%s: %s", error.path, error.message);
    rbt_sim_free(sim);

    // as it was before, it is cut as if nothing had been
    sim = contact_sim("{'rubato': 1, 'bodies': [{" BLOCK "}], 'contact': {'thickness': 1e-3}, 'cuts': [{'time': 0, "
                      "'surface': " THROUGH "}], " TIME "}");
    for (int pass = 0; pass < 2; pass++) {
        rbt_cutting_set_thickness(sim->cutting, 1e-3);
        if (!pass)
            for (size_t n = 0; n < nodes; n++) sim->state.x[3 * n + 2] *= -1;
        sim->state.t = 0.01 * pass;
        assert_true(rbt_cutting_stroke(sim->cutting, sim->model, &sim->state, &change, &error));
        for (size_t n = 0; !pass && n < nodes; n++) sim->state.x[3 * n + 2] *= -1;
    }
    assert_non_null(change.after);
    rbt_model_free(change.after);
    rbt_change_free(&change);
    rbt_sim_free(sim);
}

// The thickness that "auto" has chosen by the start stays when the model is another one.
static void thickness_stays(void **state) {
    (void)state;
    rbt_sim *sim =
        contact_sim("{'rubato': 1, 'bodies': [{" BLOCK "}], 'contact': {}, 'cuts': [{'time': 0, 'surface': " SLIT
                    "}, {'time': 0.01, 'surface': " THROUGH "}], " TIME "}");
    const rbt_method *method = sim->stepper.method;
    double thickness = method->thickness(sim->stepper.self);
    assert_true(thickness > 0);
    for (int k = 0; k < 3; k++) {
        step(sim);
        assert_true(method->thickness(sim->stepper.self) == thickness);
    }
    rbt_error error;
    rbt_sim *clone = rbt_sim_clone(sim, &error);
    if (!clone) fail_msg("%s", error.message);
    assert_true(method->thickness(clone->stepper.self) == thickness);
    assert_int_equal(clone->model->node_count, sim->model->node_count);
    assert_memory_equal(clone->model->X, sim->model->X, 3 * sim->model->node_count * sizeof *sim->model->X);
    rbt_sim_free(clone);
    rbt_sim_free(sim);
}

int main(void) {
    rbt_threads_enter(1);  // bodies are small
    const struct CMUnitTest tests[] = {cmocka_unit_test(sides_begin_without_force),
                                       cmocka_unit_test(cloth_too),
                                       cmocka_unit_test(held_nodes_too),
                                       cmocka_unit_test(thickness_stays),
                                       cmocka_unit_test(what_is_close_stays_apart),
                                       cmocka_unit_test(gaps_are_kept),
                                       cmocka_unit_test(strokes_wait_for_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
