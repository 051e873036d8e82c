// siere against the paper's dense formula (10), the printed Sherman-Morrison-Woodbury form, semi-implicit Euler and
// itself.
#include "base/threads.h"
#include "dense_step.h"
#include "eigen.h"
#include "sampled.h"
#include "step/exponential/siere.h"

#include <stdint.h>

// X (n x m) = A^-1 X where A^-1 is the last operator: (A + Y Z^T)^-1 X = A^-1 X - A^-1 Y (I + Z^T A^-1 Y)^-1 Z^T A^-1
// X, (14)
static void woodbury(size_t n, size_t s, const double *AY, const double *Z, double *AX) {
    double *small = new_matrix(s, s), *b = new_matrix(s, 1);
    for (size_t i = 0; i < s; i++) {
        for (size_t j = 0; j < s; j++)
            for (size_t k = 0; k < n; k++) small[i * s + j] += Z[i * n + k] * AY[j * n + k];
        small[i * s + i] += 1;
        for (size_t k = 0; k < n; k++) b[i] += Z[i * n + k] * AX[k];
    }
    assert_true(rbt_dense_solve(s, small, 1, b));
    for (size_t j = 0; j < s; j++)
        for (size_t k = 0; k < n; k++) AX[k] -= AY[j * n + k] * b[j];
    free(small), free(b);
}

// The paper's Algorithm 1, undamped: solves with I - h J, then equation (14) twice
static double *printed_form(const dense_step *d, double h) {
    size_t N = d->N, n = 2 * N, s = d->s;
    double *J = jacobian(d, false), *JG = jacobian(d, true), *delta = new_matrix(n, 1);
    double *Y[2], *Z[2];
    right_side(d, JG, h, delta);
    for (int i = 0; i < 2; i++) Y[i] = new_matrix(s, n), Z[i] = new_matrix(s, n);
    for (size_t l = 0; l < s; l++)
        for (size_t i = 0; i < N; i++) {
            Y[0][l * n + i] = h * d->U[l * N + i];
            Y[1][l * n + N + i] = -h * d->lambda[l] * d->U[l * N + i];
            for (size_t j = 0; j < N; j++) {
                Z[0][l * n + N + i] += d->M[i * N + j] * d->U[l * N + j];
                Z[1][l * n + i] += d->M[i * N + j] * d->U[l * N + j];
            }
        }
    // All right-hand sides at once: delta, Y_1, Y_2
    size_t m = 1 + 2 * s;
    double *B = new_matrix(n, m);
    for (size_t i = 0; i < n; i++) {
        B[i * m] = delta[i];
        for (size_t l = 0; l < s; l++) B[i * m + 1 + l] = Y[0][l * n + i], B[i * m + 1 + s + l] = Y[1][l * n + i];
    }
    for (size_t i = 0; i < n * n; i++) J[i] = (i % (n + 1) ? 0 : 1) - h * J[i];
    assert_true(rbt_dense_solve(n, J, m, B));
    for (size_t i = 0; i < n; i++) {
        delta[i] = B[i * m];
        for (size_t l = 0; l < s; l++) Y[0][l * n + i] = B[i * m + 1 + l], Y[1][l * n + i] = B[i * m + 1 + s + l];
    }
    woodbury(n, s, Y[0], Z[0], delta);
    for (size_t l = 0; l < s; l++) woodbury(n, s, Y[0], Z[0], Y[1] + l * n);
    woodbury(n, s, Y[1], Z[1], delta);
    free(J), free(JG), free(B);
    for (int i = 0; i < 2; i++) free(Y[i]), free(Z[i]);
    return delta;
}

// ---- Scenes

static rbt_sim *bar_by(const char *solver, const char *options, double h, const char *body, const char *scene) {
    char json[4096];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.07], 'cells': "
        "[3, 1, 1]}}}, 'material': {'model': 'stable-neo-hookean', 'young': 1e4, 'poisson': 0.3, 'density': "
        "1000}%s}]%s, 'time': {'step': %g, 'frame': %g, 'end': 10}, 'integrator': {'method': 'siere', 'solver': "
        "'%s', "
        "'options': {'tolerance': 1e-13%s}}}",
        body, scene, h, h, solver, options);
    return sim_from(json);
}

static rbt_sim *bar(const char *options, double h, const char *body, const char *scene) {
    return bar_by("cholesky", options, h, body, scene);
}

// One step from a moving state, and what the dense formula makes of the same; the simulation is freed.
typedef double *(*dense_formula)(const dense_step *d, double h);

static double step_against(dense_formula formula, rbt_sim *sim, size_t s, double h, int before, double *lowest) {
    advance(sim, before);
    size_t n = 3 * sim->model->node_count;
    double *x = malloc(n * sizeof *x), *v = malloc(n * sizeof *v);
    memcpy(x, sim->state.x, n * sizeof *x);
    memcpy(v, sim->state.v, n * sizeof *v);
    dense_step d = dense_of(sim, s, h);
    double *dw = formula(&d, h);
    if (lowest) *lowest = d.lambda[0];
    advance(sim, 1);
    double error = difference(sim, &d, x, v, dw);
    dense_free(&d);
    free(x), free(v), free(dw);
    rbt_sim_free(sim);
    return error;
}

static double against(dense_formula formula, const char *options, size_t s, double h, int before, const char *body,
                      const char *scene, double *lowest) {
    return step_against(formula, bar(options, h, body, scene), s, h, before, lowest);
}

#define MOVING    ", 'velocity': {'linear': [0.2, 0.1, 0.3], 'angular': [1, 2, 3]}"
#define DAMPED    ", 'damping': {'mass': 0.7, 'stiffness': 2e-3}"
#define STRETCHED ", 'fixed': ['left'], 'deform': [{'stretch': {'axis': [1, 0, 0], 'factor': 1.2}}]"
#define PRESSED   ", 'fixed': ['left'], 'deform': [{'stretch': {'axis': [1, 0, 0], 'factor': 0.55}}]"
#define GRAVITY   ", 'forces': [{'gravity': {'acceleration': [0, -10, 0]}}]"

static void a_step_is_formula_10(void **state) {
    (void)state;
    static const char *const masses[] = {"", ", 'consistent_mass': true"};
    for (int consistent = 0; consistent < 2; consistent++) {
        char body[1024];
        double lowest;
#define BODY(text) (snprintf(body, sizeof body, "%s%s", text, masses[consistent]), body)
        // lambda > 0: long and short steps; the first step and later ones, whose modes are followed
        assert_true(against(formula_10, "", 5, 0.02, 0, BODY(STRETCHED MOVING), GRAVITY, &lowest) < 1e-12 &&
                    lowest > 0);
        assert_true(against(formula_10, "", 5, 0.02, 3, BODY(STRETCHED MOVING), GRAVITY, NULL) < 1e-12);
        assert_true(against(formula_10, "", 5, 0.3, 0, BODY(STRETCHED MOVING), GRAVITY, NULL) < 1e-12);
        assert_true(against(formula_10, "", 5, 0.02, 0, BODY(STRETCHED MOVING DAMPED), GRAVITY, NULL) < 1e-12);
        assert_true(against(formula_10, "", 5, 0.3, 0, BODY(STRETCHED MOVING DAMPED), GRAVITY, NULL) < 1e-12);
        assert_true(against(formula_10, ", 'modes': 1", 1, 0.02, 2, BODY(STRETCHED MOVING DAMPED), "", NULL) < 1e-12);
        assert_true(against(formula_10, ", 'modes': 17", 17, 0.02, 2, BODY(STRETCHED MOVING DAMPED), "", NULL) <
                    1e-12);
        // lambda = 0: a free body at rest in itself
        assert_true(against(formula_10, ", 'modes': 8", 8, 0.02, 0, BODY(MOVING), GRAVITY, &lowest) < 1e-12);
        assert_true(fabs(lowest) < 1e-6);
        assert_true(against(formula_10, ", 'modes': 8", 8, 0.02, 0, BODY(MOVING DAMPED), GRAVITY, &lowest) < 1e-12);
        // lambda < 0
        assert_true(against(formula_10, "", 5, 0.02, 0, BODY(PRESSED MOVING), GRAVITY, &lowest) < 1e-12 &&
                    lowest < 0);
        assert_true(against(formula_10, "", 5, 0.02, 1, BODY(PRESSED MOVING DAMPED), GRAVITY, &lowest) < 1e-12);
#undef BODY
    }
}

// The first step after the start too when it is short: all modes move freely then
static void short_steps_and_driven_nodes(void **state) {
    (void)state;
    assert_true(against(formula_10, "", 5, 1e-4, 0, STRETCHED MOVING, GRAVITY, NULL) < 1e-12);
    static const char *const bodies[] = {"", ", 'consistent_mass': true", DAMPED, DAMPED ", 'consistent_mass': true"};
    for (int i = 0; i < 4; i++)
        for (int before = 0; before < 3; before += 2) {
            char body[1024];
            snprintf(body, sizeof body,
                     "%s" MOVING ", 'driven': [{'where': 'left', 'motions': [{'velocity': {'velocity': [0.1, 0.2, "
                     "-0.3]}}, {'oscillation': {'amplitude': [0, 0.02, 0], 'frequency': 3}}]}]",
                     bodies[i]);
            assert_true(against(formula_10, "", 5, 0.02, before, body, GRAVITY, NULL) < 1e-12);
        }
}

static void all_modes_are_rosenbrock_euler(void **state) {
    (void)state;
    assert_true(against(rosenbrock_euler, ", 'modes': 36", 36, 0.02, 2, STRETCHED MOVING, GRAVITY, NULL) < 1e-11);
    assert_true(against(rosenbrock_euler, ", 'modes': 900", 36, 0.02, 2, STRETCHED MOVING DAMPED, "", NULL) < 1e-11);
    assert_true(against(rosenbrock_euler, ", 'modes': 48", 36, 0.02, 0, STRETCHED MOVING ", 'consistent_mass': true",
                        "", NULL) < 1e-11);
    assert_true(against(rosenbrock_euler, ", 'modes': 36", 36, 0.02, 0, PRESSED MOVING, GRAVITY, NULL) < 1e-11);
}

static void the_printed_form_is_the_same(void **state) {
    (void)state;
    assert_true(against(printed_form, "", 5, 0.02, 0, STRETCHED MOVING, GRAVITY, NULL) < 1e-12);
    assert_true(against(printed_form, "", 5, 0.02, 2, STRETCHED MOVING ", 'consistent_mass': true", GRAVITY, NULL) <
                1e-12);
    assert_true(against(printed_form, "", 5, 0.02, 0, PRESSED MOVING, GRAVITY, NULL) < 1e-12);
}

// ---- Modes that damping or contact couples to the rest

// h |E| / (1 + h d + h^2 lambda), E = D u - M u d, in the norm of M^-1: the largest of all modes. (M is lumped here.)
static double coupled_by_damping(const dense_step *d, double h) {
    double most = 0;
    for (size_t l = 0; l < d->s; l++) {
        double *Du = new_matrix(d->N, 1), rate = 0, square = 0;
        const double *u = d->U + l * d->N;
        for (size_t i = 0; i < d->N; i++) {
            for (size_t j = 0; j < d->N; j++) Du[i] += d->D[i * d->N + j] * u[j];
            rate += u[i] * Du[i];
        }
        for (size_t i = 0; i < d->N; i++) {
            double m = d->M[i * d->N + i], E = Du[i] - rate * m * u[i];
            square += E * E / m;
        }
        most = fmax(most, h * sqrt(square) / (1 + h * rate + h * h * d->lambda[l]));
        free(Du);
    }
    return most;
}

// Two bodies that are alike but for their damping have modes in common, each a mixture of both: D U is none of them,
// E of the derivation is as large as D itself, and a step is formula (10) with these modes, whichever mixtures they
// are. Asked for three, siere takes the fourth, too: its frequency is the third's.
static void bodies_damped_differently_are_formula_10(void **state) {
    (void)state;
    static const char *const dampings[] = {"'mass': 300", "'mass': 60, 'stiffness': 2", "'stiffness': 1"};
    const double h = 0.02;
    int strong = 0;
    for (int i = 0; i < 3; i++)
        for (int before = 0; before < 3; before += 2) {
            char json[4096];
#define HALF(name, at, damping)                                                                                      \
    "{'name': '" name                                                                                                \
    "', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.07], 'cells': [2, 1, 1]}}}, 'transform': "                \
    "{'translate': [0, 0, " at                                                                                       \
    "]}, 'material': {'model': 'linear', 'young': 1e4, 'poisson': 0.3, 'density': 1000}, "                           \
    "'fixed': ['left']" MOVING ", 'damping': {" damping "}}"
            snprintf(json, sizeof json,
                     "{'rubato': 1, 'bodies': [" HALF("a", "0", "'mass': 1") ", " HALF(
                         "b", "1", "%s") "], 'time': {'step': %g, 'frame': %g, 'end': 10}, 'integrator': {'method': "
                                         "'siere', 'options': {'modes': %d, 'tolerance': 1e-13}}}",
                     dampings[i], h, h, before ? 3 : 4);
#undef HALF
            rbt_sim *sim = sim_from(json);
            advance(sim, before);
            size_t n = 3 * sim->model->node_count;
            double *x = malloc(n * sizeof *x), *v = malloc(n * sizeof *v);
            memcpy(x, sim->state.x, n * sizeof *x);
            memcpy(v, sim->state.v, n * sizeof *v);
            dense_step d = dense_of(sim, 4, h);
            advance(sim, 1);
            // The modes that the step took: behind three numbers of the memory
            const double *U = (const double *)((const uint64_t *)sim->state.memory + 3);
            for (size_t l = 0; l < 4; l++)
                for (size_t k = 0; k < d.N; k++) d.U[l * d.N + k] = U[l * n + d.free[k]];
            double *dw = formula_10(&d, h), error = difference(sim, &d, x, v, dw),
                   coupled = coupled_by_damping(&d, h);
            strong += coupled > 0.3;
            double bound = coupled > 0.3 ? 1e-11 : coupled * coupled;  // weakly coupled: but for its square
            if (!(error < bound)) print_error("%s: off by %g, E %g\n", dampings[i], error, coupled);
            assert_true(error < bound);
            dense_free(&d);
            free(x), free(v), free(dw);
            rbt_sim_free(sim);
        }
    assert_true(strong >= 3);
}

// A ball that falls on a floor far stiffer than its modes: contact in the modes would be symplectic Euler beyond its
// limit, which makes energy of nothing. (What the floor itself holds while the ball is in it does not count: how deep
// it comes in one step is for the step to say.)
static void stiff_floors_give_no_energy(void **state) {
    (void)state;
    static const char *const stiffnesses[] = {"1e7", "1e9", "1e11"};
    for (int i = 0; i < 3; i++) {
        char json[2048];
        snprintf(
            json, sizeof json,
            "{'rubato': 1, 'bodies': [{'name': 'ball', 'mesh': {'shape': {'ball': {'radius': 0.1, 'layers': 2}}}, "
            "'material': {'model': 'corotational', 'young': 1e5, 'poisson': 0.3, 'density': 1000}, 'transform': "
            "{'translate': [0, 0.12, 0]}, 'velocity': {'linear': [0, -3, 0]}}], 'obstacles': [{'plane': "
            "{'stiffness': %s}}], 'time': {'step': 0.005, 'frame': 0.005, 'end': 10}, 'integrator': {'method': "
            "'siere', 'options': {'modes': 12}}}",
            stiffnesses[i]);
        rbt_sim *sim = sim_from(json);
        double start = rbt_sim_energies(sim).total, most = 0, low = INFINITY;
        for (int k = 0; k < 60; k++) {
            advance(sim, 1);
            rbt_energies e = rbt_sim_energies(sim);
            most = fmax(most, e.kinetic + e.elastic);
            for (size_t n = 0; n < sim->model->node_count; n++) low = fmin(low, sim->state.x[3 * n + 1]);
        }
        if (!(most < 1.01 * start && low < 0))
            print_error("%s: %g J of %g J, at %g m\n", stiffnesses[i], most, start, low);
        assert_true(low < 0);  // it did meet the floor
        assert_true(most < 1.01 * start);
        rbt_sim_free(sim);
    }
}

// ---- Shells and nets

static rbt_sim *sheet(const char *kind, const char *options, double h) {
    char json[2048];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'cloth', 'mesh': {'shape': {'cloth': {'length': 0.3, 'width': 0.2, "
        "'cells_along': 3, 'cells_across': 2}}}, 'material': {'young': 1e5, 'density': 500}, 'shell': {'thickness': "
        "0.002, 'bending': 1e-3, 'membrane': '%s'}, 'fixed': ['left'], 'deform': [{'stretch': {'axis': [1, 0, 0.2], "
        "'factor': 1.1}}], 'velocity': {'linear': [0.1, 0.4, 0.2]}, 'damping': {'mass': 0.1, 'stiffness': 1e-3}}], "
        "'forces': [{'gravity': {}}, {'wind': {'velocity': [0, 2, 1], 'gust': 0}}], 'time': {'step': %g, 'frame': "
        "%g, "
        "'end': 1}, 'integrator': {'method': 'siere', 'options': {'tolerance': 1e-13%s}}}",
        kind, h, h, options);
    return sim_from(json);
}

static void sheets_too(void **state) {
    (void)state;
    static const char *const kinds[] = {"constant-strain", "springs"};
    for (int i = 0; i < 2; i++)
        for (int before = 0; before < 3; before++)
            assert_true(step_against(formula_10, sheet(kinds[i], "", 0.01), 5, 0.01, before, NULL) < 1e-11);
}

// ---- Modes

// The modes in the memory after a step are those at its start: ARPACK's and a dense solver's.
static void modes_are_the_lowest(void **state) {
    (void)state;
    for (int steps = 1; steps < 30; steps += SAMPLED(7, 21)) {
        rbt_sim *sim =
            bar("", 0.01, MOVING ", 'deform': [{'bend': {'axis': [1, 0, 0], 'towards': [0, 1, 0], 'degrees': 40}}]",
                GRAVITY);
        advance(sim, steps - 1);
        const rbt_model *m = sim->model;
        size_t n = 3 * m->node_count;
        dense_step d = dense_of(sim, 5, 0.01);
        rbt_stiffness K;
        unsigned char *keep = malloc(m->node_count);
        memset(keep, 1, m->node_count);
        assert_true(rbt_stiffness_build(&K, m, NULL));
        rbt_stiffness_assemble(&K, m, RBT_TANGENT, sim->state.x);
        rbt_eigen_def def = rbt_eigen_def_default();
        def.count = 12;
        def.shift = -1e4;
        rbt_eigen *eigen = rbt_eigen_new(m->node_count, keep, 12, NULL);
        double lambda[12], residual[12], *u = malloc(12 * n * sizeof *u);
        assert_true(rbt_eigen_solve(eigen, &def, &K.K, m->mass, lambda, u, residual, NULL));
        advance(sim, 1);
        const double *U = (const double *)((const uint64_t *)sim->state.memory + 3);
        for (int l = 0; l < 5; l++) {
            // Of equal eigenvalues any combination will do: the length of the shadow on all of ARPACK's
            double shadow = 0, rayleigh = 0;
            double *Ku = calloc(n, sizeof *Ku);
            rbt_block_matrix_product(&K.K, U + (size_t)l * n, Ku);
            for (size_t i = 0; i < n; i++) rayleigh += U[(size_t)l * n + i] * Ku[i];
            free(Ku);
            for (int k = 0; k < 12; k++) {
                double dot = 0;
                for (size_t i = 0; i < n; i++) dot += U[(size_t)l * n + i] * m->mass[i / 3] * u[(size_t)k * n + i];
                if (fabs(lambda[k] - lambda[l]) < 1e-3 * (1 + fabs(lambda[l]))) shadow += dot * dot;
            }
            assert_true(fabs(rayleigh - lambda[l]) < 1e-7 && fabs(rayleigh - d.lambda[l]) < 1e-7);
            assert_true(fabs(shadow - 1) < 1e-9);
        }
        dense_free(&d);
        rbt_eigen_free(eigen);
        rbt_stiffness_free(&K);
        free(keep), free(u);
        rbt_sim_free(sim);
    }
}

// With the default tolerance modes are not exact. What this changes must be little beside what another step changes.
static void loose_modes_change_little(void **state) {
    (void)state;
    enum { EXACT, LOOSE, HALF, STEPS = SAMPLED(50, 20) };
    double *x[3], by_modes = 0, by_step = 0;
    size_t n = 0;
    for (int run = EXACT; run <= HALF; run++) {
        rbt_sim *sim =
            bar(run == LOOSE ? ", 'max_modes': 49" : "", run == HALF ? 0.005 : 0.01, STRETCHED MOVING, GRAVITY);
        if (run == LOOSE) {
            rbt_siere_options options;
            rbt_record_default(&RBT_SIERE_OPTIONS, &options);
            rbt_integrator_def def = {.method = rbt_method_find("siere"), .options = &options};
            rbt_stepper_free(&sim->stepper);
            assert_true(rbt_stepper_init(&sim->stepper, sim->model, &def, NULL));
        }
        n = 3 * sim->model->node_count;
        advance(sim, run == HALF ? 2 * STEPS : STEPS);
        x[run] = malloc(n * sizeof(double));
        memcpy(x[run], sim->state.x, n * sizeof(double));
        rbt_sim_free(sim);
    }
    for (size_t i = 0; i < n; i++) {
        by_modes = fmax(by_modes, fabs(x[LOOSE][i] - x[EXACT][i]));
        by_step = fmax(by_step, fabs(x[HALF][i] - x[EXACT][i]));
    }
    assert_true(by_modes > 0 && by_modes < 0.25 * by_step);
    for (int run = EXACT; run <= HALF; run++) free(x[run]);
}

// Frequencies of the bar at rest, constrained at one end: as many modes as are below; likewise by energy, and never
// more than allowed
static void automatic_modes_follow_frequency_and_energy(void **state) {
    (void)state;
    dense_step all = {0};
    rbt_sim *rest = bar("", 0.02, ", 'fixed': ['left']", "");
    all = dense_of(rest, 36, 0.02);
    rbt_sim_free(rest);
    for (int below = 1; below <= 40; below += 13) {
        char options[128];
        size_t expected = 0;
        while (expected < 36 && sqrt(all.lambda[expected]) < 2 * acos(-1.0) * below) expected++;
        snprintf(options, sizeof options, ", 'modes': 'auto', 'modes_below': %d", below);
        assert_true(step_against(formula_10, bar(options, 0.02, ", 'fixed': ['left']", GRAVITY), expected, 0.02, 0,
                                 NULL) < 1e-12);
        if (expected > 3)
            assert_true(step_against(formula_10, bar(options, 0.02, ", 'fixed': ['left']", GRAVITY), 3, 0.02, 0,
                                     NULL) > 1e-6);
    }
    // default: ten steps in a period
    size_t expected = 0;
    while (expected < 36 && sqrt(all.lambda[expected]) < 2 * acos(-1.0) * 5) expected++;
    assert_true(against(formula_10, ", 'modes': 'auto'", expected, 0.02, 0, ", 'fixed': ['left']", GRAVITY, NULL) <
                1e-12);
    assert_true(against(formula_10, ", 'modes': 'auto', 'modes_below': 1000, 'max_modes': 7", 7, 0.02, 0,
                        ", 'fixed': ['left']", GRAVITY, NULL) < 1e-12);
    // half of the kinetic energy
    rest = bar("", 0.02, STRETCHED MOVING, "");
    dense_step moving = dense_of(rest, 36, 0.02);
    double whole = 0, sum = 0;
    for (size_t i = 0; i < moving.N; i++) whole += moving.M[i * moving.N + i] * moving.v[i] * moving.v[i];
    for (expected = 0; expected < 36 && sum < 0.9 * whole; expected++) {
        double b = 0;
        for (size_t i = 0; i < moving.N; i++)
            b += moving.U[expected * moving.N + i] * moving.M[i * moving.N + i] * moving.v[i];
        sum += b * b;
    }
    assert_true(expected > 1 && expected < 30);
    assert_true(against(formula_10, ", 'modes': 'auto', 'modes_below': 0, 'modes_energy': 0.9", expected, 0.02, 0,
                        STRETCHED MOVING, "", NULL) < 1e-12);
    dense_free(&moving);
    dense_free(&all);
    rbt_sim_free(rest);
}

// ---- Indefinite matrices: pressed so that some lambda < -1/h^2

static void indefinite_matrices_are_told(void **state) {
    (void)state;
    double lowest;
    assert_true(against(formula_10, ", 'indefinite': 'factor'", 5, 0.05, 0, PRESSED MOVING, GRAVITY, &lowest) <
                1e-10);
    assert_true(lowest < -400);
    static const struct {
        const char *options;
        int64_t indefinite, projected;
    } cases[] = {{"", 0, 1}, {", 'indefinite': 'factor'", 1, 0}, {", 'indefinite': 'factor', 'modes': 1", 0, 1}};
    for (int i = 0; i < 3; i++) {
        rbt_sim *sim = bar(cases[i].options, 0.05, PRESSED MOVING, GRAVITY);
        rbt_step_report report;
        assert_true(rbt_sim_advance_frame(sim, &report));
        assert_int_equal(report.halvings, 0);
        assert_int_equal(report.statistics[RBT_STAT_INDEFINITE], cases[i].indefinite);
        assert_int_equal(report.statistics[RBT_STAT_PROJECTED], cases[i].projected);
        rbt_sim_free(sim);
    }
}

// A bar twisted by 200 degrees is let go: semi-implicit Euler fails in the second step, siere continues.
// Solvers by conjugate gradients: the same modes, the same motion, the same answer to an indefinite matrix. Each of the
// steps leaves 1e-9 in its residual; the condition of their matrices is below 1e3.
static void other_solvers_agree(void **state) {
    (void)state;
    static const struct {
        const char *solver, *options;
    } cases[] = {{"cg", ""}, {"schwarz", ", 'subdomains': 1"}, {"schwarz", ", 'subdomains': 3"}};
    static const struct {
        double h;
        const char *body;
        int steps;
    } motions[] = {{0.02, MOVING, SAMPLED(20, 6)}, {0.001, MOVING, 5}, {0.05, PRESSED MOVING, 1}};
    for (int k = 0; k < 3; k++) {
        rbt_step_report expected = {0}, report = {0};
        rbt_sim *direct = bar("", motions[k].h, motions[k].body, GRAVITY);
        for (int i = 0; i < motions[k].steps; i++) assert_true(rbt_sim_advance_frame(direct, &expected));
        for (int c = 0; c < 3; c++) {
            rbt_sim *sim = bar_by(cases[c].solver, cases[c].options, motions[k].h, motions[k].body, GRAVITY);
            double worst = 0;
            for (int i = 0; i < motions[k].steps; i++) assert_true(rbt_sim_advance_frame(sim, &report));
            for (size_t i = 0; i < 3 * sim->model->node_count; i++)
                worst = fmax(worst, fabs(sim->state.x[i] - direct->state.x[i]));
            assert_true(worst < motions[k].steps * 1e-6 * 0.4);  // of the bar's length
            assert_int_equal(report.statistics[RBT_STAT_PROJECTED], expected.statistics[RBT_STAT_PROJECTED]);
            rbt_sim_free(sim);
        }
        rbt_sim_free(direct);
    }
}

static void untwisting_goes_on(void **state) {
    (void)state;
    static const char *const integrators[] = {"{'method': 'semi-implicit', 'max_halvings': 0}",
                                              "{'method': 'siere', 'max_halvings': 0, 'options': {'modes': 10}}"};
    for (int i = 0; i < 2; i++) {
        char json[1024];
        snprintf(
            json, sizeof json,
            "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.1], "
            "'cells': "
            "[12, 3, 3]}}}, 'material': {'young': 1e5, 'poisson': 0.45}, 'deform': [{'twist': {'axis': [1, 0, 0], "
            "'degrees': 200}}]}], 'time': {'step': 0.01, 'frame': 0.01, 'end': 1}, 'integrator': %s}",
            integrators[i]);
        rbt_sim *sim = sim_from(json);
        rbt_step_report report;
        int steps = 0;
        while (steps < 20 && rbt_sim_advance_frame(sim, &report)) steps++;
        if (i) assert_int_equal(steps, 20);
        else assert_true(steps < 3 && report.outcome != RBT_DONE);
        rbt_sim_free(sim);
    }
}

// ---- Limits

static void same_state(const rbt_sim *a, const rbt_sim *b) {
    size_t bytes = 3 * a->model->node_count * sizeof(double);
    assert_memory_equal(a->state.x, b->state.x, bytes);
    assert_memory_equal(a->state.v, b->state.v, bytes);
}

static rbt_sim *drop(const char *integrator, const char *material) {
    char json[2048];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'shape': {'cuboid': {'size': [0.3, 0.1, 0.1], 'cells': [6, "
        "2, 2]}}}, 'material': {'model': '%s', 'young': 3e4}, 'transform': {'translate': [0, 0.06, 0]}, 'damping': "
        "{'mass': 0.1, 'stiffness': 1e-3}, 'velocity': {'angular': [0, 0, 2]}}, {'name': 'b', 'mesh': {'shape': "
        "{'cuboid': {'size': [0.1, 0.1, 0.3], 'cells': [2, 2, 6]}}}, 'material': {'young': 5e4}, 'transform': "
        "{'translate': [0, 0.3, 0]}, 'driven': [{'where': 'top', 'motions': [{'velocity': {'velocity': [0, 0.1, "
        "0]}}], 'release': 0.08}]}], 'forces': [{'gravity': {}}], 'obstacles': [{'plane': {'stiffness': 1e6}}], "
        "'time': {'step': 0.01, 'frame': 0.01, 'end': 10}, 'integrator': %s}",
        material, integrator);
    return sim_from(json);
}

static void no_modes_is_semi_implicit_bit_for_bit(void **state) {
    (void)state;
    static const char *const materials[] = {"stable-neo-hookean", "linear"};
    for (int i = 0; i < 2; i++) {
        rbt_sim *a = drop("{'method': 'semi-implicit'}", materials[i]),
                *b = drop("{'method': 'siere', 'options': {'modes': 0}}", materials[i]);
        for (int k = 0; k < 15; k++) {
            advance(a, 1);
            advance(b, 1);
            same_state(a, b);
        }
        assert_int_equal(b->state.memory_size, 0);
        rbt_sim_free(a);
        rbt_sim_free(b);
    }
}

// A copy of the state in a new simulation continues with the same bits: contact, a release of nodes, two bodies damped
// differently.
static void resumed_runs_are_equal(void **state) {
    (void)state;
    static const char *const materials[] = {"stable-neo-hookean", "linear", "fixed-corotated"};
    for (int i = 0; i < 3; i++) {
        rbt_sim *a = drop("{'method': 'siere'}", materials[i]), *b = drop("{'method': 'siere'}", materials[i]);
        for (int before = 0; before < 12; before++) {
            size_t bytes = 3 * a->model->node_count * sizeof(double);
            rbt_sim_free(b);
            b = drop("{'method': 'siere'}", materials[i]);
            memcpy(b->state.x, a->state.x, bytes);
            memcpy(b->state.v, a->state.v, bytes);
            memcpy(b->state.memory, a->state.memory, a->state.memory_size);
            b->state.t = a->state.t, b->state.frame = a->state.frame, b->state.step = a->state.step;
            advance(a, 1);
            advance(b, 1);
            same_state(a, b);
            assert_memory_equal(a->state.memory, b->state.memory, a->state.memory_size);
        }
        rbt_sim_free(a);
        rbt_sim_free(b);
    }
}

// A step that fails, at once or after smaller ones were tried, leaves everything as it was, the modes included.
static void failed_steps_leave_no_trace(void **state) {
    (void)state;
    static const char *const integrators[] = {"{'method': 'siere', 'max_halvings': 0}",
                                              "{'method': 'siere', 'max_halvings': 2}"};
    static const char *const materials[] = {"stable-neo-hookean", "linear"};
    for (int i = 0; i < 4; i++) {
        rbt_sim *a = drop(integrators[i / 2], materials[i % 2]), *b = drop(integrators[i / 2], materials[i % 2]);
        advance(a, 3);
        advance(b, 3);
        rbt_step_report report;
        double before = b->state.v[0];
        b->state.v[0] = 1e308;
        assert_false(rbt_sim_advance_frame(b, &report));
        assert_int_equal(report.halvings, 2 * (i / 2));
        assert_true(b->state.v[0] == 1e308);
        b->state.v[0] = before;
        same_state(a, b);
        assert_memory_equal(a->state.memory, b->state.memory, a->state.memory_size);
        advance(a, 3);
        advance(b, 3);
        same_state(a, b);
        rbt_sim_free(a);
        rbt_sim_free(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_formula_10),
        cmocka_unit_test(short_steps_and_driven_nodes),
        cmocka_unit_test(all_modes_are_rosenbrock_euler),
        cmocka_unit_test(the_printed_form_is_the_same),
        cmocka_unit_test(bodies_damped_differently_are_formula_10),
        cmocka_unit_test(stiff_floors_give_no_energy),
        cmocka_unit_test(sheets_too),
        cmocka_unit_test(modes_are_the_lowest),
        cmocka_unit_test(loose_modes_change_little),
        cmocka_unit_test(automatic_modes_follow_frequency_and_energy),
        cmocka_unit_test(indefinite_matrices_are_told),
        cmocka_unit_test(other_solvers_agree),
        cmocka_unit_test(untwisting_goes_on),
        cmocka_unit_test(no_modes_is_semi_implicit_bit_for_bit),
        cmocka_unit_test(resumed_runs_are_equal),
        cmocka_unit_test(failed_steps_leave_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
