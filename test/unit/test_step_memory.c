// After warm-up a step allocates nothing, with any method, solver and material that go together; but for
// multirate-euler's "lu" outside of linear bodies, where KLU makes its factor again in every factorisation.
#include "base/threads.h"
#include "count_malloc.h"
#include "every_method.h"
#include "sampled.h"

#define PARTS                                                                                                        \
    ", 'tempo': [{'where': {'box': {'min': [0.7, 0, 0], 'max': [1, 1, 1], 'relative': true}}, 'substeps': 4}]"

static const char *const MATERIALS[] = {"stable-neo-hookean", "fixed-corotated", "corotational", "linear"};

// False where the method refuses: "lagged" of imex is for some materials only.
static bool check(const char *method, const char *solver, const char *material) {
    char json[2048];
    bool parts = strcmp(method, "multirate-euler") == 0 || strcmp(method, "schroeder") == 0;
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'cells': [%s]}}}, "
             "'material': {'model': '%s', "
             "'young': 1e4}, 'damping': {'mass': 0.1, 'stiffness': 1e-4}, 'fixed': ['left']%s}], 'forces': "
             "[{'gravity': {}}, {'wind': "
             "{'velocity': [0, 0, 3]}}], 'time': {'step': 1e-3, 'frame': 1e-3, 'end': 1}, 'integrator': {'method': "
             "'%s'%s%s%s}}",
             SAMPLED("10, 4, 4", "6, 2, 2"), material, parts ? PARTS : "", method, solver ? ", 'solver': '" : "",
             solver ? solver : "", solver ? "'" : "");
    rbt_scene_file *file = scene_from(json);
    rbt_sim *sim = rbt_sim_create(rbt_scene_of(file), NULL);
    rbt_scene_free(file);
    if (!sim) return false;
    rbt_step_report report;
    for (int i = 0; i < 3; i++) assert_true(rbt_sim_advance_frame(sim, &report));
    size_t before = malloc_count;
    for (int i = 0; i < 4; i++) assert_true(rbt_sim_advance_frame(sim, &report));
    if (malloc_count != before)
        fail_msg("%s %s with %s: %zu allocations", method, solver ? solver : "", material, malloc_count - before);
    rbt_sim_free(sim);
    return true;
}

static void steps_allocate_nothing(void **state) {
    (void)state;
    for (int i = 0; rbt_method_at(i); i++) {
        const rbt_method *m = rbt_method_at(i);
        int judged = 0;
        for (int s = 0; s == 0 || (m->solvers && m->solvers(s)); s++)
            for (int k = 0; k < 4; k++) {
                const char *solver = m->solvers ? m->solvers(s) : NULL;
                if (solver && strncmp(solver, "petsc-", 6) == 0) continue;  // of rubato-mpi alone
                if (solver && strcmp(solver, "lu") == 0 && k < 3) continue;
                judged += check(m->name, solver, MATERIALS[k]);
            }
        assert_true(judged >= 4);
    }
}

// Cloth, particles and obstacles with async-contact, which takes what its search needs once
static void contact_allocates_nothing(void **state) {
    (void)state;
    rbt_sim *sim =
        sim_from("{'rubato': 1, 'bodies': [{'name': 'cloth', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, "
                 "'cells_along': "
                 "8, 'cells_across': 8}}}, 'material': {'young': 1e4, 'density': 500}, 'shell': {'thickness': 0.01, "
                 "'bending': "
                 "1e-3}, 'transform': {'translate': [0, 0.5, 0]}}], 'obstacles': [{'plane': {}}], 'forces': "
                 "[{'gravity': {}}], "
                 "'time': {'step': 1e-3, 'frame': 1e-3, 'end': 1}, 'integrator': {'method': 'async-contact'}}");
    rbt_step_report report;
    for (int i = 0; i < 20; i++) assert_true(rbt_sim_advance_frame(sim, &report));
    size_t before = malloc_count;
    for (int i = 0; i < 20; i++) assert_true(rbt_sim_advance_frame(sim, &report));
    assert_int_equal(malloc_count - before, 0);
    rbt_sim_free(sim);
}

// Forces, motions, questions and copies of the state
static void acting_and_looking_allocate_nothing(const method_case *c) {
    rbt_error error;
    if (c->solver && strcmp(c->solver, "lu") == 0) return;  // UMFPACK
    rbt_sim *sim = method_sim_with(c, GRIP, WIND ", 'probes': [{'name': 'grip', 'where': 'middle'}]");
    size_t nodes = rbt_sim_node_count(sim), before = 0;
    const double point[3] = {0.5, 0.1, 0};
    rbt_probe_reading reading;
    double *values = calloc(nodes, 3 * sizeof *values), force[3] = {0, 0.1, 0};
    rbt_contact_point contacts[8];
    rbt_drive drive = rbt_drive_default();
    rbt_state *saved = NULL;
    for (int i = 0; i < SAMPLED(8, 5); i++) {
        if (i == SAMPLED(4, 3)) before = malloc_count;
        force[1] = 0.01 * (i + 1);
        drive.velocity[0] = 0.001 * i;
        must(rbt_sim_set_forces(sim, MIDDLE_NODE, 1, force, &error), &error);
        must(rbt_sim_drive(sim, 0, &drive, &error), &error);
        steps(sim, 1);
        must(rbt_sim_reactions(sim, values, &error), &error);
        must(rbt_sim_contact_forces(sim, values, &error), &error);
        must(rbt_sim_probe(sim, 0, &reading, &error), &error);
        must(rbt_sim_drag(sim, 0, "middle", point, 10.0 * (i + 1), &error), &error);
        rbt_sim_contacts(sim, contacts, 8);
        rbt_sim_energies(sim);
        if (!saved) saved = rbt_sim_save(sim, &error);
        else must(rbt_sim_save_to(sim, saved, &error), &error);
        must(rbt_sim_restore(sim, saved, &error), &error);
    }
    if (malloc_count != before) fail_msg("%s: %zu allocations", c->name, malloc_count - before);
    free(values);
    rbt_state_free(saved);
    rbt_sim_free(sim);
}

static void callers_allocate_nothing(void **state) {
    (void)state;
    for_every_method(acting_and_looking_allocate_nothing);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_allocate_nothing),
        cmocka_unit_test(contact_allocates_nothing),
        cmocka_unit_test(callers_allocate_nothing),
    };
    // A first step on more threads than before is a warm-up, too. Which one that is, times decide, unless a number is
    // given.
    if (!rbt_threads_are_given()) rbt_threads_set(2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
