// Contact with friction gives the same bits for any number of threads, and after a resume in the middle of it.
//
// A method or solver is compared with one other number of threads, the next one with the next; RUBATO_TEST_WHOLE=1, as
// in `make soak`, compares all of them.
//
// Cloth and grains fall on a turning block that slides on a plane: more nodes and pairs than it takes to share work
// among threads.
#include "contact_scene.h"

#include <string.h>
#include <unistd.h>

static const char *block_by = "";  // a method of the block's own

static rbt_sim *pile(const char *method, const char *solver) {
    return contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.4], 'cells': "
        "[10, "
        "3, 10]}}}, 'transform': {'translate': [0, 0.0505, 0]}, 'material': {'model': 'neo-hookean', 'young': 1e5, "
        "'poisson': 0.4, 'density': 1000}, 'velocity': {'linear': [0.5, 0, 0], 'angular': [0, 2, 0]}%s, 'tempo': "
        "[{'where': "
        "{'plane': {'point': [0.1, 0, 0], 'normal': [1, 0, 0]}}, 'substeps': 3}]}, {'name': 'cloth', "
        "'tempo': [{'where': {'plane': {'point': [0, 0, 0.1], 'normal': [0, 0, 1]}}, 'substeps': 2}], "
        "'mesh': {'shape': {'cloth': {'length': 0.6, 'width': 0.6, 'cells_along': 24, 'cells_across': 24}}}, "
        "'transform': "
        "{'axis': [1, 2, 3], 'degrees': 4, 'translate': [0.01, 0.13, 0.02]}, 'material': {'young': 1e5, 'density': "
        "300}, "
        "'shell': {'thickness': 0.002, 'bending': 1e-3}, 'velocity': {'linear': [0, -1, 0]}, 'friction': 0.8}, "
        "{'name': "
        "'grains', 'mesh': {'shape': {'cloth': {'length': 0.2, 'width': 0.2, 'cells_along': 3, 'cells_across': 3}}}, "
        "'transform': {'translate': [0, 0.2, 0]}, 'particles': {'radius': 0.02, 'mass': 0.01}, 'velocity': "
        "{'linear': "
        "[0.3, -2, 0]}}], 'forces': [{'gravity': {}}], 'obstacles': [{'plane': {}}], 'contact': {'thickness': 2e-3, "
        "'friction': 0.4}, 'time': {'step': 0.005, 'frame': 0.005, 'end': 10}, 'integrator': {'method': '%s', "
        "'solver': "
        "%s}}",
        block_by, method, solver);
}

// Halved steps are part of what must be the same.
static void advance_by(rbt_sim *sim, int steps) {
    rbt_step_report report;
    for (int i = 0; i < steps; i++)
        if (!rbt_sim_step(sim, &report))
            fail_msg("t = %g: %s in %s: %s", rbt_sim_time(sim), rbt_outcome_name(report.outcome), report.stage,
                     report.hint);
}

static void assert_same(const rbt_sim *a, const rbt_sim *b) {
    size_t bytes = 3 * rbt_sim_node_count(a) * sizeof(double);
    rbt_energies p = rbt_sim_energies(a), q = rbt_sim_energies(b);
    assert_int_equal(rbt_sim_node_count(a), rbt_sim_node_count(b));
    assert_memory_equal(rbt_sim_positions(a), rbt_sim_positions(b), bytes);
    assert_memory_equal(rbt_sim_velocities(a), rbt_sim_velocities(b), bytes);
    assert_memory_equal(&p.friction, &q.friction, sizeof p.friction);
    assert_memory_equal(&p.total, &q.total, sizeof p.total);
    double *f = calloc(1, bytes), *g = calloc(1, bytes);
    assert_true(f && g && rbt_sim_contact_forces(a, f, NULL) && rbt_sim_contact_forces(b, g, NULL));
    assert_memory_equal(f, g, bytes);
    free(f);
    free(g);
}

enum { BEFORE = 3, AFTER = 1 };  // steps; the first contacts of the cloth are in the third

static void judge(const char *method, const char *solver) {
    char file[] = "/tmp/rubato-contact-XXXXXX.rbt";
    rbt_error error;
    rbt_sim *one = pile(method, solver);
    advance_by(one, BEFORE);
    rbt_contact_point first;
    size_t pairs = rbt_sim_contacts(one, &first, 1);
    assert_true(pairs > 100 && rbt_sim_energies(one).friction > 0);
    int descriptor = mkstemps(file, 4);
    assert_true(descriptor >= 0);
    close(descriptor);
    rbt_state *saved = rbt_sim_save(one, &error);
    assert_true(saved && rbt_state_write(saved, file, &error));
    rbt_state_free(saved);
    advance_by(one, AFTER);

    rbt_sim *resumed = pile(method, solver);
    rbt_state *read = rbt_state_read(file, &error);
    if (!read || !rbt_sim_restore(resumed, read, &error)) fail_msg("%s", error.message);
    rbt_state_free(read);
    unlink(file);
    assert_true(rbt_sim_set_threads(resumed, 2, &error));
    advance_by(resumed, AFTER);
    assert_same(one, resumed);
    rbt_sim_free(resumed);

    static const int THREADS[] = {2, 3, 8};
    static size_t turn;
    turn++;
    for (size_t i = 0; i < sizeof THREADS / sizeof *THREADS; i++) {
        if (!getenv("RUBATO_TEST_WHOLE") && i != turn % 3) continue;
        rbt_sim *many = pile(method, solver);
        assert_true(rbt_sim_set_threads(many, THREADS[i], &error));
        advance_by(many, BEFORE + AFTER);
        assert_same(one, many);
        rbt_sim_free(many);
    }
    print_message("%-17s %s: %zu pairs where it was resumed\n", method, solver, pairs);
    rbt_sim_free(one);
}

static void backward_euler(void **state) {
    (void)state;
    judge("backward-euler", "'newton'");
}
static void methods_of_bodies(void **state) {
    (void)state;
    block_by = ", 'integrator': {'method': 'siere', 'options': {'modes': 10}}";
    judge("backward-euler", "'newton'");
    block_by = ", 'integrator': {'method': 'semi-implicit'}";
    judge("backward-euler", "'newton'");
    block_by = "";
}
static void midpoint(void **state) {
    (void)state;
    judge("implicit-midpoint", "'newton'");
}
static void bdf2(void **state) {
    (void)state;
    judge("bdf2", "'newton'");
}
static void energy_euler(void **state) {
    (void)state;
    judge("energy-euler", "'newton'");
}
static void lbfgs_h(void **state) {
    (void)state;
    judge("backward-euler", "'lbfgs-h'");
}
static void subdomains(void **state) {
    (void)state;
    judge("backward-euler", "'dot', 'options': {'subdomains': 5}");
}

static void semi_implicit(void **state) {
    (void)state;
    judge("semi-implicit", "'cholesky'");
}
static void siere(void **state) {
    (void)state;
    judge("siere", "'cholesky'");
}
static void multirate(void **state) {
    (void)state;
    judge("multirate-euler", "'cholesky'");
    judge("multirate-euler", "'cholesky', 'options': {'modes': 10}");
}
static void imex(void **state) {
    (void)state;
    judge("imex", "'cholesky'");
}
static void augmented(void **state) {
    (void)state;
    contact_by = "augmented-lagrangian";
    judge("bdf2", "'newton'");
    judge("backward-euler", "'lbfgs-h'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backward_euler), cmocka_unit_test(midpoint), cmocka_unit_test(energy_euler),
        cmocka_unit_test(bdf2),           cmocka_unit_test(lbfgs_h),  cmocka_unit_test(subdomains),
        cmocka_unit_test(semi_implicit),  cmocka_unit_test(siere),    cmocka_unit_test(augmented),
        cmocka_unit_test(multirate),      cmocka_unit_test(imex),     cmocka_unit_test(methods_of_bodies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
