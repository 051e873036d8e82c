// ere against the dense exponential, its exactness on linear problems, its cost and its failures.
#include "dense_step.h"

static rbt_sim *bar(const char *material, const char *options, double h, const char *body, const char *scene) {
    char json[4096];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.07], 'cells': "
        "[3, 1, 1]}}}, 'material': {'model': '%s', 'young': 1e4, 'poisson': 0.3, 'density': 1000}%s}]%s, 'time': "
        "{'step': %g, 'frame': %g, 'end': 10}, 'integrator': {'method': 'ere', 'max_halvings': 0, 'options': {%s}}}",
        material, body, scene, h, h, options);
    return sim_from(json);
}

// Difference of one step, after `before` others, from the dense h phi_1(h J) F; the simulation is freed.
static double off_dense(rbt_sim *sim, double h, int before) {
    advance(sim, before);
    size_t n = 3 * sim->model->node_count;
    double *x = malloc(n * sizeof *x), *v = malloc(n * sizeof *v);
    memcpy(x, sim->state.x, n * sizeof *x);
    memcpy(v, sim->state.v, n * sizeof *v);
    dense_step d = dense_of(sim, 1, h);
    double *dw = rosenbrock_euler(&d, h);
    advance(sim, 1);
    double error = difference(sim, &d, x, v, dw);
    dense_free(&d);
    free(x), free(v), free(dw);
    rbt_sim_free(sim);
    return error;
}

#define MOVING     ", 'velocity': {'linear': [0.2, 0.1, 0.3], 'angular': [1, 2, 3]}"
#define DAMPED     ", 'damping': {'mass': 0.7, 'stiffness': 2e-3}"
#define STRETCHED  ", 'fixed': ['left'], 'deform': [{'stretch': {'axis': [1, 0, 0], 'factor': 1.2}}]"
#define PRESSED    ", 'fixed': ['left'], 'deform': [{'stretch': {'axis': [1, 0, 0], 'factor': 0.55}}]"
#define TWISTED    ", 'deform': [{'twist': {'axis': [1, 0, 0], 'degrees': 60}}]"
#define CONSISTENT ", 'consistent_mass': true"
#define DRIVEN                                                                                                       \
    ", 'driven': [{'where': 'left', 'motions': [{'velocity': {'velocity': [0.1, 0.2, -0.3]}}, {'oscillation': "      \
    "{'amplitude': [0, 0.02, 0], 'frequency': 3}}]}]"
#define GRAVITY ", 'forces': [{'gravity': {'acceleration': [0, -10, 0]}}]"

static void a_step_is_the_exponential(void **state) {
    (void)state;
    static const char *const bodies[] = {STRETCHED MOVING,    STRETCHED MOVING DAMPED, PRESSED MOVING,
                                         TWISTED MOVING,      TWISTED MOVING DAMPED,   DRIVEN MOVING,
                                         DRIVEN MOVING DAMPED};
    static const double tolerances[] = {1e-4, 1e-10};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        for (int consistent = 0; consistent < 2; consistent++)
            for (int t = 0; t < 2; t++) {
                char body[1024], options[64];
                snprintf(body, sizeof body, "%s%s", bodies[i], consistent ? CONSISTENT : "");
                snprintf(options, sizeof options, "'tolerance': %g, 'max_dimension': %d", tolerances[t],
                         i % 2 ? 80 : 12);
                double error =
                    off_dense(bar("stable-neo-hookean", options, 0.02, body, GRAVITY), 0.02, i % 2 ? 2 : 0);
                assert_true(error < 10 * tolerances[t]);
            }
}

// One long step or many short ones: a linear body is where it must be after either.
static void linear_problems_are_exact(void **state) {
    (void)state;
    static const char *const bodies[] = {STRETCHED MOVING, STRETCHED MOVING DAMPED, STRETCHED MOVING CONSISTENT,
                                         DAMPED
                                         ", 'driven': [{'where': 'left', 'motions': [{'velocity': {'velocity': "
                                         "[0.1, 0.2, -0.3]}}]}]"};
    for (int i = 0; i < 4; i++) {
        rbt_sim *once = bar("linear", "'tolerance': 1e-10", 0.4, bodies[i], GRAVITY),
                *often = bar("linear", "'tolerance': 1e-10", 0.01, bodies[i], GRAVITY);
        // The driven nodes start to move at once: a first step takes both to the same motion.
        if (i == 3) {
            size_t n = 3 * once->model->node_count;
            advance(once, 1);
            advance(often, 1);
            memcpy(often->state.x, once->state.x, n * sizeof(double));
            memcpy(often->state.v, once->state.v, n * sizeof(double));
            often->state.t = once->state.t, often->state.frame = 40;
        }
        advance(once, 1);
        advance(often, 40);
        double off = 0, moved = 0, slow = 0, fast = 0;
        for (size_t k = 0; k < 3 * once->model->node_count; k++) {
            off = fmax(off, fabs(once->state.x[k] - often->state.x[k]));
            moved = fmax(moved, fabs(once->state.x[k] - once->model->X[k]));
            slow = fmax(slow, fabs(once->state.v[k] - often->state.v[k]));
            fast = fmax(fast, fabs(once->state.v[k]));
        }
        assert_true(off < 1e-8 * moved && slow < 1e-8 * fast);
        rbt_sim_free(once);
        rbt_sim_free(often);
    }
}

// An undamped linear body keeps its energy, however long the step.
static void linear_energy_is_kept(void **state) {
    (void)state;
    rbt_sim *sim = bar("linear", "'tolerance': 1e-9", 0.1, STRETCHED MOVING, "");
    double start = rbt_sim_energies(sim).total;
    for (int i = 0; i < 50; i++) {
        advance(sim, 1);
        assert_true(fabs(rbt_sim_energies(sim).total / start - 1) < 1e-7);
    }
    rbt_sim_free(sim);
}

static void the_cost_is_told_and_grows_with_stiffness(void **state) {
    (void)state;
    int64_t products[2], parts[2];
    for (int stiff = 0; stiff < 2; stiff++) {
        rbt_sim *sim = bar("stable-neo-hookean", "'max_dimension': 20", stiff ? 0.2 : 0.002, STRETCHED, GRAVITY);
        rbt_step_report report;
        assert_true(rbt_sim_advance_frame(sim, &report));
        products[stiff] = report.statistics[RBT_STAT_ITERATIONS], parts[stiff] = report.statistics[RBT_STAT_SUBSTEPS];
        assert_true(report.statistics[RBT_STAT_RESIDUAL] > 0 && report.statistics[RBT_STAT_RESIDUAL] < 1e-6);
        rbt_sim_free(sim);
    }
    assert_true(parts[0] == 1 && products[0] <= 20);
    assert_true(parts[1] > 2 && products[1] > 10 * products[0]);
}

static void giving_up_is_an_outcome(void **state) {
    (void)state;
    rbt_sim *sim = bar("stable-neo-hookean", "'max_products': 50, 'max_dimension': 20", 0.2, STRETCHED MOVING, "");
    size_t bytes = 3 * sim->model->node_count * sizeof(double);
    rbt_step_report report;
    assert_false(rbt_sim_advance_frame(sim, &report));
    assert_int_equal(report.outcome, RBT_NOT_CONVERGED);
    assert_string_equal(report.stage, "exponential");
    assert_non_null(strstr(report.hint, " of the step: the body is too stiff for it; take siere or a smaller step"));
    assert_memory_equal(sim->state.x, sim->model->x0, bytes);
    assert_memory_equal(sim->state.v, sim->model->v0, bytes);
    rbt_sim_free(sim);
}

// Everything that a model can be made of, in one scene; nothing may go wrong, and contact must hold.
static void sheets_contact_and_wind(void **state) {
    (void)state;
    static const char *const membranes[] = {"constant-strain", "springs"};
    for (int i = 0; i < 2; i++) {
        char json[2048];
        snprintf(
            json, sizeof json,
            "{'rubato': 1, 'bodies': [{'name': 'cloth', 'mesh': {'shape': {'cloth': {'length': 0.3, 'width': 0.3, "
            "'cells_along': 5, 'cells_across': 5}}}, 'material': {'young': 1e4, 'density': 500}, 'shell': "
            "{'thickness': 0.002, 'bending': 1e-3, 'membrane': '%s'}, 'transform': {'translate': [0, 0.02, 0]}, "
            "'damping': {'mass': 2, 'stiffness': 1e-3}}], 'forces': [{'gravity': {}}, {'wind': {'velocity': [1, 0, "
            "0], "
            "'gust': 0}}], 'obstacles': [{'plane': {'stiffness': 1e5}}], 'time': {'step': 0.002, 'frame': 0.002, "
            "'end': 1}, 'integrator': {'method': 'ere'}}",
            membranes[i]);
        rbt_sim *sim = sim_from(json);
        double lowest = 0;
        for (int k = 0; k < 150; k++) {
            advance(sim, 1);
            for (size_t n = 0; n < sim->model->node_count; n++) lowest = fmin(lowest, sim->state.x[3 * n + 1]);
        }
        // It arrives with 0.6 m/s; 1 kg/m^2 on 1e5 Pa/m stop it after 2 mm.
        assert_true(lowest < -1e-3 && lowest > -3e-3);
        rbt_sim_free(sim);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_the_exponential), cmocka_unit_test(linear_problems_are_exact),
        cmocka_unit_test(linear_energy_is_kept),     cmocka_unit_test(the_cost_is_told_and_grows_with_stiffness),
        cmocka_unit_test(giving_up_is_an_outcome),   cmocka_unit_test(sheets_contact_and_wind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
