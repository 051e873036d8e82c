// After warm-up a step allocates nothing. Where a factorisation is made in every step, CHOLMOD takes work space of its own, so
// this is counted where none is: explicit steps, and implicit steps of a linear model.
#include "count_malloc.h"
#include "scene.h"
#include "scene/sim.h"

static void check(const char *method, const char *solver, const char *material) {
    char json[1024];
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'cells': [10, 4, 4]}}}, "
             "'material': {'model': '%s', "
             "'young': 1e4}, 'damping': {'mass': 0.1, 'stiffness': 1e-4}, 'fixed': ['left']}], 'forces': "
             "[{'gravity': {}}, {'wind': "
             "{'velocity': [0, 0, 3]}}], 'time': {'step': 1e-3, 'frame': 1e-3, 'end': 1}, 'integrator': {'method': "
             "'%s'%s%s%s}}",
             material, method, solver ? ", 'solver': '" : "", solver ? solver : "", solver ? "'" : "");
    rbt_sim *sim = sim_from(json);
    rbt_step_report report;
    for (int i = 0; i < 3; i++) assert_true(rbt_sim_advance_frame(sim, &report));
    size_t before = malloc_count;
    for (int i = 0; i < 3; i++) assert_true(rbt_sim_advance_frame(sim, &report));
    assert_int_equal(malloc_count - before, 0);
    rbt_sim_free(sim);
}

static void explicit_steps_allocate_nothing(void **state) {
    (void)state;
    check("symplectic-euler", NULL, "stable-neo-hookean");
    check("symplectic-euler", NULL, "fixed-corotated");
    check("symplectic-euler", NULL, "linear");
}

static void linear_implicit_steps_allocate_nothing(void **state) {
    (void)state;
    check("semi-implicit", "cholesky", "linear");
    check("backward-euler", NULL, "linear");
    check("bdf2", NULL, "linear");
    check("siere", NULL, "linear");
}

static void iterative_steps_allocate_nothing(void **state) {
    (void)state;
    check("semi-implicit", "cg", "stable-neo-hookean");
    check("ere", NULL, "stable-neo-hookean");
}

static void steps_with_one_factor_for_all_allocate_nothing(void **state) {
    (void)state;
    check("backward-euler", "lbfgs-pd", "fixed-corotated");
    check("backward-euler", "admm-pd", "fixed-corotated");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(explicit_steps_allocate_nothing),
                                       cmocka_unit_test(linear_implicit_steps_allocate_nothing),
                                       cmocka_unit_test(iterative_steps_allocate_nothing),
                                       cmocka_unit_test(steps_with_one_factor_for_all_allocate_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
