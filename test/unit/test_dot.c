// dot from inside: how long its first trial is, where its matrix is taken, how many subdomains it chooses; where
// other solvers take theirs; and the line search of all. The solver's own file is part of this program, to look inside.
#include "step/implicit/dot.c"

#include "base/threads.h"
#include "one_step.h"

#include <math.h>

// ---- dot

static dot *solver_of(one_step *s, int variant, int count) {
    rbt_implicit_options options = {.tolerance = NAN, .max_iterations = -1, .subdomains = count, .variant = variant};
    options.stop = RBT_STOP_CHARACTERISTIC;
    dot *solver = create(&s->o, &options, NULL);
    assert_non_null(solver);
    return solver;
}

// Eq. 14, within [0.1, 1]
static double length_14(const one_step *s, const double *p, double slope) {
    double curvature = rbt_block_matrix_form(&s->o.H, p);
    return fmin(fmax(-slope / curvature, 0.1), 1);
}

// After one iteration z has gone along -D grad E by the first length or a half, a quarter ... of it, where D and eq.
// 14 are of H at the start of the step as published, and H at the start of the iteration, with the length 1, in the
// fast variant.
static void one_iteration_is_the_papers(void **state) {
    (void)state;
    int between = 0;
    for (int round = 0; round < 12; round++)
        for (int fast = 0; fast < 2; fast++) {
            one_step s = one_step_begin("fixed-corotated", 2e4, 0.02, 0.02, "");
            dot *solver = solver_of(&s, fast ? RBT_DOT_FAST : RBT_DOT_PAPER, 4);
            rbt_stages stages = {0};
            rbt_step_report report = {0};
            rbt_stop stop = rbt_stop_begin(&s.o, RBT_STOP_CHARACTERISTIC, 1e-12, 1);
            const double *place = fast ? s.z : s.sim->state.x;
            size_t numbers = 9 * s.o.H.start[s.o.H.row_count];
            double *expected = malloc(numbers * sizeof *expected), *z = malloc(s.values * sizeof *z);
            memcpy(z, s.z, s.values * sizeof *z);
            assert_int_equal(solver->subdomains.count, 4);
            rbt_outcome outcome = solve(solver, s.sim->state.x, z, &stop, 1, &stages, &report);
            assert_true(outcome == RBT_NOT_CONVERGED || outcome == RBT_DONE);
            memcpy(expected, s.o.H.value, numbers * sizeof *expected);
            rbt_objective_hessian(&s.o, place);
            assert_memory_equal(s.o.H.value, expected, numbers * sizeof *expected);
            rbt_objective_gradient(&s.o, s.z, s.gradient);
            for (size_t i = 0; i < s.values; i++) s.gradient[i] = -s.gradient[i];
            assert_int_equal(rbt_subdomains_factor(&solver->subdomains, place, &report), RBT_DONE);
            if (fast) assert_int_equal(rbt_coarse_factor(&solver->coarse, place), RBT_DONE);
            assert_int_equal(apply(solver, s.gradient, s.p), RBT_DONE);
            double length = fast ? 1 : length_14(&s, s.p, -one_step_dot(&s, s.p, s.gradient)),
                   size = one_step_dot(&s, s.p, s.p);
            between += length > 0.1 && length < 1;
            for (size_t i = 0; i < s.values; i++) z[i] -= s.z[i];
            double gone = one_step_dot(&s, z, s.p) / size, halvings = log2(length / gone), off = 0;
            assert_true(halvings > -1e-9 && fabs(halvings - nearbyint(halvings)) < 1e-9);
            for (size_t i = 0; i < s.values; i++) off = fmax(off, fabs(z[i] - gone * s.p[i]));
            assert_true(off < 1e-12);
            free(expected), free(z);
            destroy(solver);
            one_step_end(&s);
        }
    assert_true(between > 6);
}

static void the_first_length_is_equation_14(void **state) {
    (void)state;
    one_step s = one_step_begin("stable-neo-hookean", 2e4, 0.02, 0.02, "");
    dot *solver = solver_of(&s, RBT_DOT_PAPER, 1);
    rbt_objective_hessian(&s.o, s.z);
    for (int k = 0; k < 50; k++) {
        for (size_t i = 0; i < s.values; i++) s.p[i] = s.o.constrained[i / 3] ? 0 : uniform(-1, 1);
        double curvature = rbt_block_matrix_form(&s.o.H, s.p), share = pow(10, uniform(-2, 1));
        assert_true(curvature > 0);
        double expected = share < 0.1 ? 0.1 : share > 1 ? 1 : share;
        assert_true(fabs(first_length(solver, s.p, -share * curvature) - expected) < 1e-12);
    }
    destroy(solver);
    one_step_end(&s);
}

// Where a factor costs more than the iterations that subdomains need to agree, there are several: here a solid of
// 18,081 nodes by the characteristic test, and one of 15,625. Small ones have one, also of some thousand nodes: what
// putting small fronts together and the coarse space take is not saved by fewer flops.
static void large_bodies_are_divided(void **state) {
    (void)state;
    static const int cells[4][3] = {{40, 20, 20}, {24, 24, 24}, {4, 2, 2}, {80, 8, 6}};
    for (int i = 0; i < 4; i++) {
        char json[1024];
        snprintf(
            json, sizeof json,
            "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.8, 0.4, 0.4], "
            "'cells': [%d, %d, %d]}}}, 'material': {'young': 1e4}}], 'time': {'step': 0.02, 'frame': 0.02, 'end': "
            "1}, 'integrator': {'method': 'symplectic-euler'}}",
            cells[i][0], cells[i][1], cells[i][2]);
        rbt_sim *sim = sim_from(json);
        rbt_objective o;
        assert_true(rbt_objective_init(&o, sim->model, NULL));
        size_t by_movement = 0, by_force = 0;
        assert_true(choose_count(&o, RBT_STOP_CHARACTERISTIC, &by_movement, NULL));
        if (i < 2) assert_in_range(by_movement, 2, sim->model->node_count / 256);
        else assert_int_equal(by_movement, 1);
        if (i == 2) assert_true(choose_count(&o, RBT_STOP_FORCE, &by_force, NULL) && by_force == 1);
        rbt_objective_free(&o);
        rbt_sim_free(sim);
    }
    // More subdomains where one factor of a solid would cost 1e13 flops
    rbt_model large = {.tet_count = 500000, .node_count = 100000};
    double one = step_cost(&large, RBT_STOP_CHARACTERISTIC, 1e13, 1e9, 1);
    assert_true(step_cost(&large, RBT_STOP_CHARACTERISTIC, 1e13 / 64, 1e9 / 4, 64) < one);
}

// Rigid motions of what each subdomain has of each piece are solved for exactly: of q = H v with such a motion v, what
// comes out is v.
static void rigid_motions_of_groups_are_exact(void **state) {
    (void)state;
    for (int round = 0; round < 5; round++) {
        one_step s = one_step_begin("stable-neo-hookean", 2e4, 0.02, 0.02, "");
        rbt_subdomains parts;
        rbt_coarse coarse;
        rbt_step_report report = {0};
        bool changed;
        assert_true(rbt_subdomains_init(&parts, s.sim->model, &s.o.H, 3, RBT_DOUBLE, NULL));
        assert_int_equal(rbt_subdomains_analyse(&parts, s.o.constrained, &changed), RBT_DONE);
        rbt_objective_hessian(&s.o, s.z);
        assert_int_equal(rbt_subdomains_factor(&parts, s.z, &report), RBT_DONE);
        assert_true(rbt_coarse_init(&coarse, &s.o.pieces, s.o.constrained, &parts, NULL) && coarse.count >= 3);
        assert_int_equal(rbt_coarse_factor(&coarse, s.z), RBT_DONE);
        double *motion = malloc(6 * coarse.count * sizeof *motion), *q = malloc(s.values * sizeof *q), off = 0;
        for (size_t i = 0; i < 6 * coarse.count; i++) motion[i] = uniform(-1, 1);
        for (size_t i = 0; i < s.values; i++) {
            size_t n = i / 3, k = i % 3, g = (size_t)coarse.group[n];
            const double *t = motion + 6 * g, *w = t + 3, *c = coarse.centre + 4 * g;
            size_t a = (k + 1) % 3, b = (k + 2) % 3;
            double turned = (w[a] * (s.z[3 * n + b] - c[b]) - w[b] * (s.z[3 * n + a] - c[a])) / c[3];
            s.p[i] = s.o.constrained[n] ? 0 : t[k] + turned;
        }
        rbt_block_matrix_product(&s.o.H, s.p, q);
        assert_int_equal(rbt_coarse_apply(&coarse, &parts, q, s.gradient), RBT_DONE);
        for (size_t i = 0; i < s.values; i++) off = fmax(off, fabs(s.gradient[i] - s.p[i]));
        if (!(off < 1e-6)) fail_msg("off by %g", off);
        // and of any q the rest has no force along them, so that D is asked for no more than it can do
        for (size_t i = 0; i < s.values; i++) q[i] = uniform(-1, 1);
        assert_int_equal(rbt_coarse_apply(&coarse, &parts, q, s.gradient), RBT_DONE);
        for (size_t g = 0; g < coarse.count; g++)
            for (size_t k = 0; k < 3; k++) {
                double force = 0, size = 0;
                for (size_t n = 0; n < s.values / 3; n++) {
                    if ((size_t)coarse.group[n] != g || s.o.constrained[n]) continue;
                    force += coarse.left[3 * n + k];
                    size += fabs(coarse.left[3 * n + k]);
                }
                assert_true(fabs(force) <= 1e-6 * size);
            }
        free(motion), free(q);
        rbt_coarse_free(&coarse);
        rbt_subdomains_free(&parts);
        one_step_end(&s);
    }
}

// ---- Where others take H

// lbfgs-h at the start of the step, and newton again at every iterate
static void other_solvers_take_their_own_matrix(void **state) {
    (void)state;
    static const rbt_step_solver *const SOLVERS[] = {&RBT_LBFGS_H, &RBT_NEWTON};
    for (int k = 0; k < 2; k++) {
        one_step s = one_step_begin("fixed-corotated", 2e4, 0.02, 0.02, "");
        rbt_implicit_options options = {.tolerance = NAN, .max_iterations = -1, .stop = RBT_STOP_CHARACTERISTIC};
        size_t numbers = 9 * s.o.H.start[s.o.H.row_count];
        double *expected = malloc(numbers * sizeof *expected), *z[2];
        for (int most = 1; most <= 2; most++) {
            void *work = SOLVERS[k]->create(&s.o, &options, NULL);
            rbt_stages stages = {0};
            rbt_step_report report = {0};
            rbt_stop stop = rbt_stop_begin(&s.o, RBT_STOP_CHARACTERISTIC, 1e-14, 1);
            z[most - 1] = malloc(s.values * sizeof **z);
            memcpy(z[most - 1], s.z, s.values * sizeof **z);
            SOLVERS[k]->solve(work, s.sim->state.x, z[most - 1], &stop, most, &stages, &report);
            memcpy(expected, s.o.H.value, numbers * sizeof *expected);
            rbt_objective_hessian(&s.o, k == 0 ? s.sim->state.x : most == 1 ? s.z : z[0]);
            assert_memory_equal(s.o.H.value, expected, numbers * sizeof *expected);
            SOLVERS[k]->destroy(work);
        }
        assert_memory_not_equal(z[0], z[1], s.values * sizeof **z);
        free(expected), free(z[0]), free(z[1]);
        one_step_end(&s);
    }
}

// ---- The line search

// The length is the first of 1, 1/2, 1/4 ... that does not raise E, which a search that begins there would find;
// position, value and gradient are those of the new position.
static void searches_do_not_climb(void **state) {
    (void)state;
    int shortened = 0, whole = 0;
    double *there = NULL, *g = NULL;
    for (int round = 0; round < 60; round++) {
        one_step s = one_step_begin("fixed-corotated", 2e4, 0.02, 0.02, "");
        rbt_search search;
        assert_true(rbt_search_init(&search, &s.o, NULL));
        there = calloc(s.values, sizeof *there), g = calloc(s.values, sizeof *g);
        double value = rbt_objective_gradient(&s.o, s.z, s.gradient), first = pow(2, uniform(-1, 1)), slope = 0;
        double far = pow(10, uniform(-2, 2));  // of the minimum of the inertia alone
        for (size_t i = 0; i < s.values; i++) {
            s.p[i] = -far * s.gradient[i] / s.sim->model->mass[i / 3];
            slope += s.p[i] * s.gradient[i];
        }
        search.expected = (int)below(4);
        double before = value, *z = malloc(s.values * sizeof *z);
        memcpy(z, s.z, s.values * sizeof *z);
        double length = rbt_search_along(&search, s.p, slope, first, z, &value, s.gradient);
        assert_true(length > 0 && length <= first && value <= before);
        for (size_t i = 0; i < s.values; i++) assert_true(fabs(z[i] - s.z[i] - length * s.p[i]) < 1e-14);
        assert_true(fabs(rbt_objective_gradient(&s.o, z, g) - value) <= 1e-14 * fabs(value));
        for (size_t i = 0; i < s.values; i++) assert_true(fabs(g[i] - s.gradient[i]) < 1e-12);
        if (length < first) {
            for (size_t i = 0; i < s.values; i++) there[i] = s.z[i] + 2 * length * s.p[i];
            assert_true(rbt_objective_value(&s.o, there) > before);
            shortened++;
        } else whole++;
        free(z), free(there), free(g);
        rbt_search_free(&search);
        one_step_end(&s);
    }
    assert_true(shortened > 10 && whole > 10);
}

// Where the decrease drowns in the rounding of E the slope decides: of a parabola whose minimum is at 1/4 of p,
// neither 1 nor 1/2 of it will do, but 1/4.
static void blind_searches_go_by_the_slope(void **state) {
    (void)state;
    for (int round = 0; round < 20; round++) {
        one_step s = one_step_begin("linear", 2e7, 0, 0, "");
        rbt_search search;
        rbt_search_init(&search, &s.o, NULL);
        double size = 1e-12 * pow(10, uniform(-1, 1)), slope = 0;
        for (size_t i = 0; i < s.values; i++) {
            double off = s.o.constrained[i / 3] ? 0 : size * uniform(-1, 1);
            s.p[i] = -4 * off;
            s.z[i] = s.o.target[i] + off;
        }
        double value = rbt_objective_gradient(&s.o, s.z, s.gradient);
        slope = one_step_dot(&s, s.p, s.gradient);
        assert_true(slope < 0 && -0.5 * slope <= rbt_objective_rounding(&s.o, value));
        double length = rbt_search_along(&search, s.p, slope, 1, s.z, &value, s.gradient);
        assert_true(length == 0.25);
        rbt_search_free(&search);
        one_step_end(&s);
    }
}

int main(void) {
    rbt_threads_set(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_iteration_is_the_papers),
        cmocka_unit_test(the_first_length_is_equation_14),
        cmocka_unit_test(large_bodies_are_divided),
        cmocka_unit_test(rigid_motions_of_groups_are_exact),
        cmocka_unit_test(other_solvers_take_their_own_matrix),
        cmocka_unit_test(searches_do_not_climb),
        cmocka_unit_test(blind_searches_go_by_the_slope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
