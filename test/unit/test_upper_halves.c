// Wide kernels leave the upper halves of the registers clear, with every instruction set that this processor has.
#include "upper_halves.h"

#include "energy/material.h"
#include "every_isa.h"
#include "every_method.h"
#include "grid_matrix.h"
#include "math/sum.h"
#include "model/force.h"
#include "model/stiffness.h"
#include "random.h"
#include "solve/cholesky.h"

enum { LONGEST = 1100 };

static void sums(void **state) {
    (void)state;
    static double a[LONGEST], b[LONGEST];
    for (size_t i = 0; i < LONGEST; i++) a[i] = uniform(-1, 1), b[i] = uniform(-1, 1);
    for (size_t count = 0; count < LONGEST; count += 1 + count / 7) {
        rbt_sum sum = {0};
        rbt_sum_add(&sum, a, count);
        assert_upper_halves_clear("a sum");
        rbt_sum_add_products(&sum, a, b, count);
        assert_upper_halves_clear("a sum of products");
    }
    a[5] = INFINITY;
    rbt_sum sum = {0};
    rbt_sum_add(&sum, a, LONGEST);
    assert_upper_halves_clear("a sum that is not finite");
}

// 31 vectors are solved for in groups of all widths.
static void factor_and_solve(bool single) {
    enum { SIDES = 31 };
    rbt_error error;
    size_t row;
    rbt_block_matrix A = grid_matrix_new(9, 8, 7, 0.5);
    size_t n = 3 * A.row_count;
    int32_t *rows = malloc(A.row_count * sizeof *rows);
    double *b = malloc(SIDES * n * sizeof *b), *x = malloc(SIDES * n * sizeof *x);
    for (size_t i = 0; i < A.row_count; i++) rows[i] = (int32_t)i;
    for (size_t i = 0; i < SIDES * n; i++) b[i] = uniform(-1, 1);
    rbt_cholesky *c = rbt_cholesky_analyse_rows(&A, rows, A.row_count, single ? RBT_SINGLE : RBT_DOUBLE, &error);
    assert_non_null(c);
    rbt_factor_result result = rbt_cholesky_factor(c, &A, &row);
    assert_upper_halves_clear("a factorisation");
    assert_int_equal(result, RBT_FACTORED);
    rbt_cholesky_solve_rows(c, b, x);
    assert_upper_halves_clear("a solve");
    for (size_t count = 1; count <= SIDES && !single; count++) {
        assert_true(rbt_cholesky_solve_many(c, count, b, x));
        assert_upper_halves_clear("a solve with several sides");
    }
    rbt_cholesky_free(c);
    grid_matrix_free(&A);
    free(rows);
    free(b);
    free(x);
}

static void material(const char *name) {
    char json[1024], what[128];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.2, 0.1, 0.1], 'cells': "
        "[3, 2, 2]}}}, 'material': {'model': '%s'}}], 'time': {'step': 0.01, 'frame': 0.01, 'end': 1}}",
        name);
    rbt_sim *sim = sim_from(json);
    const rbt_model *m = sim->model;
    rbt_error error;
    rbt_stiffness stiffness;
    rbt_sum *energies = malloc(m->plan.chunk_count * sizeof *energies);
    double *partial = malloc(3 * m->plan.slot_count * sizeof *partial), *f = calloc(3 * m->node_count, sizeof *f);
    double *x = malloc(3 * m->node_count * sizeof *x);
    for (size_t i = 0; i < 3 * m->node_count; i++) x[i] = m->X[i] + uniform(-0.002, 0.002);
    rbt_energy_elastic(m, x, energies);
    snprintf(what, sizeof what, "the energy of %s", name);
    assert_upper_halves_clear(what);
    rbt_force_elastic(m, x, energies, partial, f);
    snprintf(what, sizeof what, "the force of %s", name);
    assert_upper_halves_clear(what);
    must(rbt_stiffness_build(&stiffness, m, &error), &error);
    for (int kind = 0; kind < RBT_STIFFNESS_KINDS; kind++) {
        rbt_stiffness_assemble(&stiffness, m, (rbt_stiffness_kind)kind, x);
        snprintf(what, sizeof what, "stiffness %d of %s", kind, name);
        assert_upper_halves_clear(what);
    }
    rbt_stiffness_free(&stiffness);
    free(energies);
    free(partial);
    free(f);
    free(x);
    rbt_sim_free(sim);
}

static void method(const method_case *c) {
    rbt_error error;
    rbt_step_report report;
    rbt_sim *sim = method_sim(c);
    must(rbt_sim_set_threads(sim, 1, &error), &error);
    for (int i = 0; i < 2; i++) {
        bool good = rbt_sim_step(sim, &report);
        assert_upper_halves_clear(c->name);
        assert_true(good);
    }
    rbt_sim_free(sim);
}

static void both_precisions(rbt_instruction_set set) {
    (void)set;
    factor_and_solve(false);
    factor_and_solve(true);
}

static void all_materials(rbt_instruction_set set) {
    (void)set;
    for (int i = 0; rbt_material_at(i); i++) material(rbt_material_at(i)->name);
}

static void all_methods(rbt_instruction_set set) {
    (void)set;
    assert_true(for_every_method(method) >= 12);
}

static void factors(void **state) {
    (void)state;
    with_every_set(both_precisions);
}

static void materials(void **state) {
    (void)state;
    with_every_set(all_materials);
}

static void methods(void **state) {
    (void)state;
    with_every_set(all_methods);
}

int main(void) {
    keep_set();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test_teardown(factors, put_back),
        cmocka_unit_test_teardown(materials, put_back),
        cmocka_unit_test_teardown(methods, put_back),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(started_with);
    return failed;
}
