// Stepping: methods against exact and dense answers, loads, driven nodes, the attempt loop.
#include "math/vec3.h"
#include "model/force.h"
#include "model/mass.h"
#include "model/stiffness.h"
#include "scene.h"
#include "sim/sim.h"

static const char *const METHODS[] = {"semi-implicit", "symplectic-euler", "backward-euler", "implicit-midpoint",
                                      "bdf2"};
enum { EULERS = 2, ALL = 5 };

// A bar of 0.4 x 0.1 x 0.1 m, soft enough for explicit steps of 1 ms, with more members of the scene as text.
static rbt_sim *bar(const char *method, double step, const char *body, const char *scene) {
    char json[4096];
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.1], "
             "'cells': [4, 1, 1]}}}, "
             "'material': {'model': 'stable-neo-hookean', 'young': 1e4, 'poisson': 0.3, 'density': 1000}%s}]%s, "
             "'time': {'step': %g, 'frame': %g, 'end': 10}, 'integrator': {'method': '%s'}}",
             body, scene, step, step, method);
    return sim_from(json);
}

// Every node falls alike: v = n h g, x = X + h^2 g n (n + 1) / 2, exactly what the Euler schemes give without stress.
static void free_fall_is_exact(void **state) {
    (void)state;
    for (int m = 0; m < EULERS + 1; m++) {
        rbt_sim *sim = bar(METHODS[m], 1e-3, "", ", 'forces': [{'gravity': {'acceleration': [0, -10, 1]}}]");
        advance(sim, 20);
        for (size_t n = 0; n < sim->model->node_count; n++) {
            const double *x = sim->state.x + 3 * n, *X = sim->model->X + 3 * n, *v = sim->state.v + 3 * n;
            assert_true(fabs(v[1] + 0.2) < 1e-12 && fabs(v[2] - 0.02) < 1e-12 && fabs(v[0]) < 1e-12);
            assert_true(fabs(x[1] - X[1] + 1e-6 * 10 * 210) < 1e-12);
        }
        rbt_sim_free(sim);
    }
}

// Internal forces sum to zero and have no torque. Symplectic Euler keeps both momenta; semi-implicit the linear one.
static void momentum_is_kept(void **state) {
    (void)state;
    for (int m = 0; m < 2; m++) {
        rbt_sim *sim = bar(METHODS[m], 2e-4,
                           ", 'deform': [{'twist': {'axis': [1, 0, 0], 'degrees': 60}}], 'velocity': {'linear': "
                           "[1, 2, 3], 'angular': [0, 0, 4]}",
                           "");
        rbt_energies before = rbt_sim_energies(sim);
        advance(sim, 100);
        rbt_energies after = rbt_sim_energies(sim);
        for (int i = 0; i < 3; i++) {
            assert_true(fabs(after.momentum[i] - before.momentum[i]) < 1e-12 * rbt_length(before.momentum) * 100);
            if (m == 1)
                assert_true(fabs(after.angular_momentum[i] - before.angular_momentum[i]) <
                            1e-12 * rbt_length(before.angular_momentum) * 100);
        }
        assert_true(after.elastic < before.elastic);
        rbt_sim_free(sim);
    }
}

// Column j of K by central differences of the elastic force
static double *dense_stiffness(const rbt_model *m, const double *x) {
    size_t n = 3 * m->node_count;
    double *K = calloc(n * n, sizeof *K), *y = malloc(n * sizeof *y), *f[2],
           *corner = calloc(3 * m->plan.slot_count, sizeof *corner);
    for (int side = 0; side < 2; side++) f[side] = malloc(n * sizeof **f);
    const double s = 1e-6;
    for (size_t j = 0; j < n; j++) {
        for (int side = 0; side < 2; side++) {
            memcpy(y, x, n * sizeof *y);
            y[j] += side ? s : -s;
            memset(f[side], 0, n * sizeof *y);
            rbt_force_elastic(m, y, NULL, corner, f[side]);
        }
        for (size_t i = 0; i < n; i++) K[i * n + j] = -(f[1][i] - f[0][i]) / (2 * s);
    }
    free(y), free(f[0]), free(f[1]), free(corner);
    return K;
}

static void assembled_stiffness_is_force_gradient(void **state) {
    (void)state;
    rbt_sim *sim = bar("semi-implicit", 1e-3, ", 'deform': [{'twist': {'axis': [1, 0, 0], 'degrees': 90}}]", "");
    const rbt_model *m = sim->model;
    size_t n = 3 * m->node_count;
    double *K = dense_stiffness(m, sim->state.x), largest = 0;
    rbt_stiffness s;
    assert_true(rbt_stiffness_build(&s, m, NULL));
    rbt_stiffness_assemble(&s, m, RBT_HESSIAN, sim->state.x);
    for (size_t i = 0; i < n * n; i++) largest = fmax(largest, fabs(K[i]));
    for (size_t i = 0; i < m->node_count; i++)
        for (size_t k = s.K.start[i]; k < s.K.start[i + 1]; k++)
            for (size_t r = 0; r < 9; r++) {
                double *entry = &K[(3 * i + r / 3) * n + 3 * (size_t)s.K.column[k] + r % 3];
                assert_true(fabs(*entry - s.K.value[9 * k + r]) < 1e-6 * largest);
                *entry = 0;
            }
    for (size_t i = 0; i < n; i++)  // nothing outside the pattern
        for (size_t j = 0; j <= i; j++) assert_true(fabs(K[i * n + j]) < 1e-6 * largest);
    rbt_stiffness_free(&s);
    free(K);
    rbt_sim_free(sim);
}

// One step against (M + hD + h^2 K) dv = h (f - D v - h K v) with K dense, rows of constrained nodes replaced by what
// they must do.
static void check_semi_implicit(bool consistent) {
    const double h = 4e-3, alpha = 0.7, beta = 2e-3;
    char body[1024];
    snprintf(body, sizeof body,
             ", 'consistent_mass': %s, 'deform': [{'bend': {'axis': [1, 0, 0], 'towards': [0, 1, 0], 'degrees': "
             "40}}], 'velocity': "
             "{'angular': [3, 1, 2]}, 'damping': {'mass': 0.7, 'stiffness': 2e-3}, 'driven': [{'where': {'box': "
             "{'min': [-1, -1, -1], "
             "'max': [0.01, 1, 1]}}, 'motions': [{'velocity': {'velocity': [0.1, 0.2, -0.3]}}]}]",
             consistent ? "true" : "false");
    rbt_sim *sim = bar("semi-implicit", h, body, ", 'forces': [{'gravity': {'acceleration': [0, -10, 0]}}]");
    const rbt_model *m = sim->model;
    size_t n = 3 * m->node_count;
    double *x = malloc(n * sizeof *x), *v = malloc(n * sizeof *v), *f = malloc(n * sizeof *f),
           *dv = malloc(n * sizeof *dv);
    double *Mdv = malloc(n * sizeof *Mdv), *Mv = malloc(n * sizeof *Mv);
    double *corner = calloc(3 * m->plan.slot_count, sizeof *corner), *K = dense_stiffness(m, sim->state.x);
    memcpy(x, sim->state.x, n * sizeof *x);
    memcpy(v, sim->state.v, n * sizeof *v);
    rbt_force_external(m, 0, x, v, f);
    rbt_force_elastic(m, x, NULL, corner, f);
    advance(sim, 1);
    rbt_stiffness pattern;
    rbt_mass mass;
    assert_true(rbt_stiffness_build(&pattern, m, NULL) && rbt_mass_build(&mass, pattern.arena, m, &pattern.K, NULL));
    for (size_t i = 0; i < n; i++) dv[i] = sim->state.v[i] - v[i];
    rbt_mass_product(&mass, dv, Mdv);
    rbt_mass_product(&mass, v, Mv);
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        double left = (1 + h * alpha) * Mdv[i], right = h * (f[i] - alpha * Mv[i]);
        assert_true(fabs(sim->state.x[i] - x[i] - h * sim->state.v[i]) < 1e-14);
        if (m->role[i / 3] == RBT_DRIVEN) {
            const double target[3] = {0.1, 0.2, -0.3};
            assert_true(fabs(sim->state.v[i] - target[i % 3]) < 1e-12);
            continue;
        }
        for (size_t j = 0; j < n; j++) {
            left += h * (h + beta) * K[i * n + j] * dv[j];
            right -= h * (h + beta) * K[i * n + j] * v[j];
        }
        largest = fmax(largest, fabs(right));
        assert_true(fabs(left - right) < 1e-8 * fmax(largest, 1e-3));  // K by differences is good to about 1e-9
    }
    rbt_stiffness_free(&pattern);
    free(x), free(v), free(f), free(dv), free(Mdv), free(Mv), free(corner), free(K);
    rbt_sim_free(sim);
}

static void semi_implicit_solves_its_equation(void **state) {
    (void)state;
    check_semi_implicit(false);
    check_semi_implicit(true);
}

// Rows of the consistent mass sum to the lumped one; energy and momenta of a moving body agree with the integral of
// rho v^2 / 2: a turning bar has 1/2 omega^2 times its moment of inertia, which the lumped mass overestimates.
static void consistent_mass_is_exact_for_linear_fields(void **state) {
    (void)state;
    double kinetic[2], inertia = 4 * (0.4 * 0.4 + 0.1 * 0.1) / 12;
    for (int consistent = 0; consistent < 2; consistent++) {
        rbt_sim *sim = bar("backward-euler", 1e-3,
                           consistent ? ", 'consistent_mass': true, 'velocity': {'angular': [0, 3, 0]}"
                                      : ", 'velocity': {'angular': [0, 3, 0]}",
                           "");
        rbt_energies e = rbt_sim_energies(sim);
        kinetic[consistent] = e.kinetic;
        if (consistent) assert_true(fabs(e.angular_momentum[1] - 3 * inertia) < 1e-12);
        rbt_sim_free(sim);
    }
    assert_true(fabs(kinetic[1] - 0.5 * 9 * inertia) < 1e-12);
    assert_true(kinetic[0] > 1.01 * kinetic[1]);
    rbt_sim *sim = bar("backward-euler", 1e-3, ", 'consistent_mass': true", "");
    rbt_stiffness pattern;
    rbt_mass mass;
    assert_true(rbt_stiffness_build(&pattern, sim->model, NULL));
    assert_true(rbt_mass_build(&mass, pattern.arena, sim->model, &pattern.K, NULL));
    size_t n = 3 * sim->model->node_count;
    double *ones = malloc(n * sizeof *ones), *rows = malloc(n * sizeof *rows);
    for (size_t i = 0; i < n; i++) ones[i] = 1;
    rbt_mass_product(&mass, ones, rows);
    for (size_t i = 0; i < n; i++) assert_true(fabs(rows[i] - sim->model->mass[i / 3]) < 1e-14);
    free(ones), free(rows);
    rbt_stiffness_free(&pattern);
    rbt_sim_free(sim);
}

// The state after a step satisfies the scheme's own equation, M (v+ - v') = tau f(z), to the solver's tolerance:
//   backward-euler: v' = v, tau = h, z = x+;   midpoint: tau = h, z = (x + x+) / 2;
//   bdf2: v' = (4 v - v_-) / 3, tau = 2h/3, z = x+
static void implicit_steps_solve_their_equations(void **state) {
    (void)state;
    const double h = 5e-3;
    for (int rule = 2; rule < ALL; rule++) {
        char json[1024];
        snprintf(json, sizeof json,
                 "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.1], "
                 "'cells': [4, 1, 1]}}}, "
                 "'material': {'model': 'fixed-corotated', 'young': 1e4, 'poisson': 0.3, 'density': 1000}, 'fixed': "
                 "['left'], 'deform': "
                 "[{'twist': {'axis': [1, 0, 0], 'degrees': 70}}]}], 'forces': [{'gravity': {}}], 'time': {'step': "
                 "%g, 'frame': %g, 'end': "
                 "1}, 'integrator': {'method': '%s', 'options': {'tolerance': 1e-10}}}",
                 h, h, METHODS[rule]);
        rbt_sim *sim = sim_from(json);
        const rbt_model *m = sim->model;
        size_t n = 3 * m->node_count;
        double *x = malloc(n * sizeof *x), *v = malloc(n * sizeof *v), *before = malloc(n * sizeof *before);
        double *z = malloc(n * sizeof *z), *f = malloc(n * sizeof *f),
               *partial = calloc(3 * m->plan.slot_count, sizeof *partial);
        advance(sim, 2);
        memcpy(before, sim->state.v, n * sizeof *before);
        advance(sim, 1);
        memcpy(x, sim->state.x, n * sizeof *x);
        memcpy(v, sim->state.v, n * sizeof *v);
        advance(sim, 1);
        for (size_t i = 0; i < n; i++) z[i] = rule == 3 ? 0.5 * (x[i] + sim->state.x[i]) : sim->state.x[i];
        rbt_force_external(m, 0, z, v, f);
        rbt_force_elastic(m, z, NULL, partial, f);
        double error = 0, size = 0;
        for (size_t i = 0; i < n; i++) {
            if (m->role[i / 3] != RBT_FREE) continue;
            double from = rule == 4 ? (4 * v[i] - before[i]) / 3 : v[i], tau = rule == 4 ? 2 * h / 3 : h;
            error = fmax(error, fabs(m->mass[i / 3] * (sim->state.v[i] - from) - tau * f[i]));
            size = fmax(size, fabs(tau * f[i]));
        }
        assert_true(error < 1e-7 * size);
        free(x), free(v), free(before), free(z), free(f), free(partial);
        rbt_sim_free(sim);
    }
}

// The error of one method against itself at half the step halves: first order.
static void both_methods_are_first_order(void **state) {
    (void)state;
    for (int m = 0; m < 2; m++) {
        double *x[3];
        size_t n = 0;
        for (int level = 0; level < 3; level++) {
            rbt_sim *sim = bar(METHODS[m], 4e-4 / (1 << level),
                               ", 'deform': [{'stretch': {'axis': [1, 0, 0], 'factor': 1.1}}]", "");
            advance(sim, 50 << level);
            n = 3 * sim->model->node_count;
            x[level] = malloc(n * sizeof(double));
            memcpy(x[level], sim->state.x, n * sizeof(double));
            rbt_sim_free(sim);
        }
        double coarse = 0, fine = 0;
        for (size_t i = 0; i < n; i++) {
            coarse += (x[0][i] - x[1][i]) * (x[0][i] - x[1][i]);
            fine += (x[1][i] - x[2][i]) * (x[1][i] - x[2][i]);
        }
        double order = 0.5 * log2(coarse / fine);
        assert_true(fabs(order - 1) < 0.15);
        for (int level = 0; level < 3; level++) free(x[level]);
    }
}

// Total momentum gained: pull F t, pulse 2/pi F T; nothing before or after.
static void pulls_give_their_impulse(void **state) {
    (void)state;
    rbt_sim *sim = bar("semi-implicit", 1e-3, "",
                       ", 'forces': [{'pull': {'where': {'box': {'min': [0.9, 0, 0], 'max': [1, 1, 1], 'relative': "
                       "true}}, 'force': [2, 0, 0], "
                       "'from': 0.01, 'until': 0.03}}, {'pulse': {'where': 'everything', 'peak': [0, 3, 0], 'from': "
                       "0, 'duration': 0.04}}]");
    advance(sim, 60);
    rbt_energies e = rbt_sim_energies(sim);
    assert_true(fabs(e.momentum[0] - 2 * 0.02) < 2 * 1e-3 + 1e-9);  // the window is met to within a step
    assert_true(fabs(e.momentum[1] - 2 / acos(-1.0) * 3 * 0.04) < 1e-4);
    assert_true(fabs(e.momentum[2]) < 1e-9);
    rbt_sim_free(sim);
}

static void wind_pushes_downwind(void **state) {
    (void)state;
    rbt_sim *sim = bar("semi-implicit", 1e-3, "", ", 'forces': [{'wind': {'velocity': [0, 0, 10], 'gust': 0}}]");
    advance(sim, 1);
    // Two faces of 0.4 x 0.1 m stand against it; h 1/2 rho U^2 each, as the body is at rest and both sides push.
    rbt_energies e = rbt_sim_energies(sim);
    assert_true(e.momentum[2] > 0 && fabs(e.momentum[2] - 1e-3 * 0.5 * 1.2 * 100 * 0.08) < 0.05 * e.momentum[2]);
    assert_true(fabs(e.momentum[0]) < 1e-6 * e.momentum[2]);
    rbt_sim_free(sim);
}

static void released_nodes_move_freely(void **state) {
    (void)state;
    for (int m = 0; m < ALL - 1; m++) {  // BDF2 looks back over the release
        rbt_sim *sim = bar(METHODS[m], 1e-3,
                           ", 'driven': [{'where': 'everything', 'motions': [{'velocity': {'velocity': [0, 1, 0]}}], "
                           "'release': 0.01}]",
                           ", 'forces': [{'gravity': {'acceleration': [0, -10, 0]}}]");
        advance(sim, 10);
        assert_true(fabs(sim->state.v[1] - 1) < 1e-9);
        advance(sim, 10);
        assert_true(fabs(sim->state.v[1] - 0.9) < 1e-9);
        rbt_sim_free(sim);
    }
}

static void a_body_rests_on_the_ground(void **state) {
    (void)state;
    rbt_sim *sim =
        bar("semi-implicit", 5e-3, ", 'damping': {'mass': 20}, 'transform': {'translate': [0, 0.06, 0]}",
            ", 'forces': [{'gravity': {'acceleration': [0, -10, 0]}}], 'obstacles': [{'plane': {'stiffness': 1e7}}]");
    advance(sim, 400);
    rbt_energies e = rbt_sim_energies(sim);
    // Weight 4 kg * 10 on 0.04 m^2 sinks 1e3 Pa / 1e7 Pa/m = 0.1 mm into the penalty layer.
    double deepest = 0;
    for (size_t n = 0; n < sim->model->node_count; n++) deepest = fmin(deepest, sim->state.x[3 * n + 1]);
    assert_true(e.kinetic < 1e-12 && deepest < -0.3e-4 && deepest > -3e-4);
    rbt_sim_free(sim);
}

// ---- The attempt loop, on a method that refuses steps longer than it likes

typedef struct refuser {
    double longest;
    int calls;
    double before;  // the time up to which it refuses; 0: always
} refuser;

static rbt_outcome refuse(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    refuser *r = self;
    double h = until - state->t;
    r->calls++;
    rbt_stage_add(stages, "refuse", 0);
    report->stage = "refuse";
    for (size_t i = 0; i < 3 * state->node_count; i++) state->x[i] += h, state->v[i] = 7;
    bool willing = r->before > 0 && state->t >= r->before * (1 - 1e-12);
    return h > r->longest * (1 + 1e-12) && !willing ? RBT_NOT_CONVERGED : RBT_DONE;
}

static const rbt_method REFUSER = {.name = "refuser", .attempt = refuse};

static void failing_steps_are_cut_and_undone(void **state) {
    (void)state;
    rbt_sim *sim = bar("symplectic-euler", 1e-3, "", "");
    size_t bytes = 3 * sim->model->node_count * sizeof(double);
    double *x = malloc(bytes);
    memcpy(x, sim->state.x, bytes);
    refuser self = {.longest = 1e-3 / 8};
    rbt_stepper stepper = {.model = sim->model, .method = &REFUSER, .self = &self, .max_halvings = 4};
    stepper.saved = calloc(5, 2 * bytes);
    rbt_step_report report = {0};
    assert_int_equal(rbt_stepper_advance(&stepper, &sim->state, 1e-3, &report), RBT_DONE);
    assert_int_equal(report.halvings, 3);
    assert_int_equal(report.steps, 8);
    assert_int_equal(self.calls, 13);  // 8 pieces, 3 longer ones on the way down, and 2 after 2 and 4 pieces
    assert_true(sim->state.t == 1e-3 && fabs(sim->state.x[0] - x[0] - 1e-3) < 1e-15);

    memcpy(x, sim->state.x, bytes);
    self.longest = 1e-3 / 64;
    report = (rbt_step_report){0};
    assert_int_equal(rbt_stepper_advance(&stepper, &sim->state, 2e-3, &report), RBT_NOT_CONVERGED);
    assert_int_equal(report.halvings, 4);
    assert_string_equal(report.stage, "refuse");
    assert_true(sim->state.t == 1e-3);
    assert_memory_equal(x, sim->state.x, bytes);
    free(stepper.saved);
    free(x);
    rbt_sim_free(sim);
}

// Where all of a step needs short pieces, attempts at longer ones become rare: after 2, 4, 8, 16, 16 and 16 of 64
// pieces. Pieces are long again where long ones are possible.
static void pieces_have_the_length_that_works(void **state) {
    (void)state;
    rbt_sim *sim = bar("symplectic-euler", 1e-3, "", "");
    size_t bytes = 3 * sim->model->node_count * sizeof(double);
    refuser self = {.longest = 1e-3 / 64};
    rbt_stepper stepper = {.model = sim->model, .method = &REFUSER, .self = &self, .max_halvings = 6};
    stepper.saved = calloc(7, 2 * bytes);
    rbt_step_report report = {0};
    assert_int_equal(rbt_stepper_advance(&stepper, &sim->state, 1e-3, &report), RBT_DONE);
    assert_int_equal(report.steps, 64);
    assert_int_equal(self.calls, 64 + 6 + 6);

    self = (refuser){.longest = 1e-3 / 64, .calls = 0, .before = 1e-3 + 1e-3 / 32};
    report = (rbt_step_report){0};
    assert_int_equal(rbt_stepper_advance(&stepper, &sim->state, 2e-3, &report), RBT_DONE);
    assert_int_equal(report.steps, 2 + 5);  // two of 1/64, then 1/32, 1/16, ... 1/2
    assert_int_equal(self.calls, 6 + 2 + 5);
    assert_true(sim->state.t == 2e-3);
    free(stepper.saved);
    rbt_sim_free(sim);
}

// A method that says what a step is worth is not asked more often: six that are too long, two pieces of 1/64, four and
// six more, and a longer one in vain before both. The state is as it was, and the report says how far the step came,
// and what stopped it.
static void steps_that_get_on_by_little_are_given_up(void **state) {
    (void)state;
    rbt_sim *sim = bar("symplectic-euler", 1e-3, "", "");
    size_t bytes = 3 * sim->model->node_count * sizeof(double);
    double *x = malloc(bytes);
    memcpy(x, sim->state.x, bytes);
    rbt_method worth_twenty = REFUSER;
    worth_twenty.most_attempts = 20;
    refuser self = {.longest = 1e-3 / 64};
    rbt_stepper stepper = {.model = sim->model, .method = &worth_twenty, .self = &self, .max_halvings = 6};
    stepper.saved = calloc(7, 2 * bytes);
    rbt_step_report report = {0};
    assert_int_equal(rbt_stepper_advance(&stepper, &sim->state, 1e-3, &report), RBT_STALLED);
    assert_int_equal(self.calls, 20);
    assert_true(sim->state.t == 0);
    assert_memory_equal(x, sim->state.x, bytes);
    assert_non_null(strstr(report.hint, "20 attempts have brought this step from 0 to 0.0001875 s"));
    assert_non_null(strstr(report.hint, "not converged"));

    self = (refuser){.longest = 1e-3 / 8};  // thirteen are enough here: 3 + 2 + 1 + 4 + 1 + 2
    report = (rbt_step_report){0};
    assert_int_equal(rbt_stepper_advance(&stepper, &sim->state, 1e-3, &report), RBT_DONE);
    assert_int_equal(self.calls, 13);
    free(stepper.saved);
    free(x);
    rbt_sim_free(sim);
}

// Speeds beyond anything end in an outcome that names body and element, with finite numbers.
static void divergence_is_an_outcome(void **state) {
    (void)state;
    rbt_sim *sim = bar("symplectic-euler", 1e-3, ", 'velocity': {'linear': [1e12, 0, 0]}", "");
    rbt_step_report report;
    while (rbt_sim_frame(sim) < 50 && rbt_sim_advance_frame(sim, &report)) continue;
    assert_int_equal(report.outcome, RBT_NOT_FINITE);
    assert_int_equal(report.body, 0);
    assert_true(report.element >= 0 && report.hint[0]);
    for (size_t i = 0; i < 3 * sim->model->node_count; i++)
        assert_true(isfinite(sim->state.x[i]) && isfinite(sim->state.v[i]));
    rbt_sim_free(sim);
}

static void steps_divide_the_frame(void **state) {
    (void)state;
    rbt_scene_file *file =
        scene_from("{'rubato': 1, 'bodies': [{'name': 'box', 'mesh': {'shape': {'cuboid': {}}}}], 'time': "
                   "{'step': 0.03, 'frame': 0.04, 'end': 1}}");
    rbt_error error;
    rbt_model *m = rbt_model_compile(rbt_scene_of(file), &error);
    assert_non_null(m);
    assert_int_equal(m->steps_per_frame, 2);
    assert_int_equal(m->frame_count, 25);
    assert_int_equal(m->warning_count, 1);
    rbt_model_free(m);
    rbt_scene_free(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_fall_is_exact),
        cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(assembled_stiffness_is_force_gradient),
        cmocka_unit_test(semi_implicit_solves_its_equation),
        cmocka_unit_test(consistent_mass_is_exact_for_linear_fields),
        cmocka_unit_test(implicit_steps_solve_their_equations),
        cmocka_unit_test(both_methods_are_first_order),
        cmocka_unit_test(pulls_give_their_impulse),
        cmocka_unit_test(wind_pushes_downwind),
        cmocka_unit_test(released_nodes_move_freely),
        cmocka_unit_test(a_body_rests_on_the_ground),
        cmocka_unit_test(failing_steps_are_cut_and_undone),
        cmocka_unit_test(pieces_have_the_length_that_works),
        cmocka_unit_test(steps_that_get_on_by_little_are_given_up),
        cmocka_unit_test(divergence_is_an_outcome),
        cmocka_unit_test(steps_divide_the_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
