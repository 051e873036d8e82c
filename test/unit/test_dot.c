// dot from inside: how long its first trial is, where its matrix is taken, how many subdomains it chooses; and the line search of all
// solvers. The solver's own file is part of this program, to look inside.
#include "step/dot.c"

#include "base/threads.h"
#include "scene.h"
#include "scene/sim.h"

#include <math.h>

#include "random.h"

// ---- One step of a bar, by hand

typedef struct one_step {
    rbt_sim *sim;
    rbt_objective o;
    size_t values;
    double *z, *gradient, *p;
} one_step;

// A clamped bar that was bent at random, and where its step starts: further on, at random too.
static one_step begin(const char *material, double young, double bent, double on) {
    char json[1024];
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.8, 0.2, 0.2], 'cells': "
             "[8, 2, 2]}}}, 'material': {'model': '%s', 'young': %g, 'poisson': 0.4, 'density': 1000}, 'fixed': "
             "['left']}], 'time': {'step': 0.02, 'frame': 0.02, 'end': 10}, 'integrator': {'method': "
             "'backward-euler'}}",
             material, young);
    one_step s = {.sim = sim_from(json)};
    const rbt_model *m = s.sim->model;
    s.values = 3 * m->node_count;
    assert_true(rbt_objective_init(&s.o, m, NULL));
    s.o.tau = m->step;
    s.o.base = s.sim->state.x;
    rbt_held_nodes(m, 0, s.o.held);
    s.z = calloc(s.values, sizeof(double));
    s.gradient = calloc(s.values, sizeof(double));
    s.p = calloc(s.values, sizeof(double));
    for (size_t i = 0; i < s.values; i++) {
        bool held = s.o.held[i / 3];
        s.sim->state.x[i] += held ? 0 : bent * uniform(-1, 1);
        s.o.target[i] = s.sim->state.x[i] + (held ? 0 : on * uniform(-1, 1));
        s.z[i] = s.sim->state.x[i] + (held ? 0 : on * uniform(-1, 1));
    }
    return s;
}

static void end(one_step *s) {
    rbt_objective_free(&s->o);
    rbt_sim_free(s->sim);
    free(s->z), free(s->gradient), free(s->p);
}

static double dot_of(const one_step *s, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < s->values; i++) sum += a[i] * b[i];
    return sum;
}

// ---- dot

static dot *solver_of(one_step *s, int variant, int count) {
    rbt_solver_options options = {.tolerance = NAN, .max_iterations = -1, .subdomains = count, .variant = variant};
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

// After one iteration z has gone along -D grad E by the first length or a half, a quarter ... of it, where D and eq. 14 are of H at the start
// of the step as published, and H at the start of the iteration, with the length 1, in the fast variant.
static void one_iteration_is_the_papers(void **state) {
    (void)state;
    int between = 0;
    for (int round = 0; round < 12; round++)
        for (int fast = 0; fast < 2; fast++) {
            one_step s = begin("fixed-corotated", 2e4, 0.02, 0.02);
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
            assert_int_equal(rbt_subdomains_apply(&solver->subdomains, s.gradient, s.p), RBT_DONE);
            double length = fast ? 1 : length_14(&s, s.p, -dot_of(&s, s.p, s.gradient)), size = dot_of(&s, s.p, s.p);
            between += length > 0.1 && length < 1;
            for (size_t i = 0; i < s.values; i++) z[i] -= s.z[i];
            double gone = dot_of(&s, z, s.p) / size, halvings = log2(length / gone), off = 0;
            assert_true(halvings > -1e-9 && fabs(halvings - nearbyint(halvings)) < 1e-9);
            for (size_t i = 0; i < s.values; i++) off = fmax(off, fabs(z[i] - gone * s.p[i]));
            assert_true(off < 1e-12);
            free(expected), free(z);
            destroy(solver);
            end(&s);
        }
    assert_true(between > 6);
}

static void the_first_length_is_equation_14(void **state) {
    (void)state;
    one_step s = begin("stable-neo-hookean", 2e4, 0.02, 0.02);
    dot *solver = solver_of(&s, RBT_DOT_PAPER, 1);
    rbt_objective_hessian(&s.o, s.z);
    for (int k = 0; k < 50; k++) {
        for (size_t i = 0; i < s.values; i++) s.p[i] = s.o.held[i / 3] ? 0 : uniform(-1, 1);
        double curvature = rbt_block_matrix_form(&s.o.H, s.p), share = pow(10, uniform(-2, 1));
        assert_true(curvature > 0);
        double expected = share < 0.1 ? 0.1 : share > 1 ? 1 : share;
        assert_true(fabs(first_length(solver, s.p, -share * curvature) - expected) < 1e-12);
    }
    destroy(solver);
    end(&s);
}

// Where a factor costs more than the iterations that subdomains need to agree, there are several: here a solid of 18,081 nodes by the
// characteristic test, and fewer for a small one.
static void large_bodies_are_divided(void **state) {
    (void)state;
    static const int cells[2][3] = {{40, 20, 20}, {4, 2, 2}};
    for (int i = 0; i < 2; i++) {
        char json[1024];
        snprintf(json, sizeof json,
                 "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.8, 0.4, 0.4], "
                 "'cells': [%d, %d, %d]}}}, 'material': {'young': 1e4}}], 'time': {'step': 0.02, 'frame': 0.02, 'end': "
                 "1}, 'integrator': {'method': 'symplectic-euler'}}",
                 cells[i][0], cells[i][1], cells[i][2]);
        rbt_sim *sim = sim_from(json);
        rbt_objective o;
        assert_true(rbt_objective_init(&o, sim->model, NULL));
        size_t by_movement = 0, by_force = 0;
        assert_true(choose_count(&o, RBT_STOP_CHARACTERISTIC, &by_movement, NULL));
        if (i == 0) assert_in_range(by_movement, 2, sim->model->node_count / 256);
        else assert_int_equal(by_movement, 1);
        if (i == 1) assert_true(choose_count(&o, RBT_STOP_FORCE, &by_force, NULL) && by_force == 1);
        rbt_objective_free(&o);
        rbt_sim_free(sim);
    }
    // More subdomains where one factor of a solid would cost 1e13 flops
    costs one = estimate(&(rbt_model){.tet_count = 500000, .node_count = 100000}, 1e13, 1e9),
          many = estimate(&(rbt_model){.tet_count = 500000, .node_count = 100000}, 1e13 / 64, 1e9 / 4);
    assert_true(step_cost(&many, RBT_STOP_CHARACTERISTIC, 64) < step_cost(&one, RBT_STOP_CHARACTERISTIC, 1));
}

// ---- The line search

// The length is the first of 1, 1/2, 1/4 ... that does not raise E, which a search that begins there would find; position, value and
// gradient are those of the new position.
static void searches_do_not_climb(void **state) {
    (void)state;
    int shortened = 0, whole = 0;
    double *there = NULL, *g = NULL;
    for (int round = 0; round < 60; round++) {
        one_step s = begin("fixed-corotated", 2e4, 0.02, 0.02);
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
        end(&s);
    }
    assert_true(shortened > 10 && whole > 10);
}

// Where the decrease drowns in the rounding of E the slope decides: of a parabola whose minimum is at 1/4 of p, neither 1 nor 1/2 of it
// will do, but 1/4.
static void blind_searches_go_by_the_slope(void **state) {
    (void)state;
    for (int round = 0; round < 20; round++) {
        one_step s = begin("linear", 2e7, 0, 0);
        rbt_search search;
        rbt_search_init(&search, &s.o, NULL);
        double size = 1e-12 * pow(10, uniform(-1, 1)), slope = 0;
        for (size_t i = 0; i < s.values; i++) {
            double off = s.o.held[i / 3] ? 0 : size * uniform(-1, 1);
            s.p[i] = -4 * off;
            s.z[i] = s.o.target[i] + off;
        }
        double value = rbt_objective_gradient(&s.o, s.z, s.gradient);
        slope = dot_of(&s, s.p, s.gradient);
        assert_true(slope < 0 && -0.5 * slope <= rbt_objective_rounding(&s.o, value));
        double length = rbt_search_along(&search, s.p, slope, 1, s.z, &value, s.gradient);
        assert_true(length == 0.25);
        rbt_search_free(&search);
        end(&s);
    }
}

int main(void) {
    rbt_threads_set(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_iteration_is_the_papers), cmocka_unit_test(the_first_length_is_equation_14),
        cmocka_unit_test(large_bodies_are_divided),    cmocka_unit_test(searches_do_not_climb),
        cmocka_unit_test(blind_searches_go_by_the_slope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
