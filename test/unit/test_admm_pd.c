// admm-pd: the local step against brute force in nine dimensions, the fixed point, the minimum of newton, and what
// happens when a step reaches its limit of iterations, for every solver. The solver's own file is part of this
// program, to look inside.
#include "step/implicit/admm_pd.c"

#include "base/threads.h"
#include "math/svd3.h"
#include "scene.h"
#include "sim/sim.h"

#include <math.h>

#include "random.h"

// ---- The local step

// A tet whose rest shape is the corner of the unit cube: F has the positions of corners 1, 2, 3 as columns, and P
// follows from the forces on them.
typedef struct one_tet {
    const rbt_material *material;
    rbt_tet_batch batch;
    double mu, lambda, weight;  // of psi; k
} one_tet;

static one_tet tet_of(const rbt_material *material, double young, double poisson) {
    one_tet t = {.material = material};
    rbt_material_def def = {.model = (int)material->id, .young = young, .poisson = poisson};
    double mu, lambda;
    rbt_small_strain_lame(&def, &mu, &lambda);
    t.weight = lambda + 2 * mu / 3;
    rbt_material_lame(material, young, poisson, &t.mu, &t.lambda);
    for (int l = 0; l < RBT_W; l++) {
        for (int i = 0; i < 9; i++) t.batch.B[i][l] = i % 4 == 0;
        for (int a = 0; a < 4; a++) t.batch.node[a][l] = a;
        t.batch.volume[l] = 1;
        t.batch.k.mu[l] = t.mu;
        t.batch.k.lambda[l] = t.lambda;
    }
    return t;
}

static void place(const double F[9], double x[12]) {
    for (int i = 0; i < 3; i++) {
        x[i] = 0;
        for (int a = 0; a < 3; a++) x[3 * (a + 1) + i] = F[3 * i + a];
    }
}

static void stress_from(const double g[12], double P[9]) {
    for (int i = 0; i < 3; i++)
        for (int a = 0; a < 3; a++) P[3 * i + a] = g[3 * (a + 1) + i];
}

// phi(Z) = psi(Z) + k/2 |Z - G|^2 and its gradient
static double phi(const one_tet *t, const double G[9], const double Z[9], double gradient[9]) {
    double x[12], g[12], value;
    place(Z, x);
    rbt_tet_kernels_with(t->material, RBT_PLAIN)->gradient(&t->batch, 1, x, &value, g);
    stress_from(g, gradient);
    for (int i = 0; i < 9; i++) {
        gradient[i] += t->weight * (Z[i] - G[i]);
        value += 0.5 * t->weight * (Z[i] - G[i]) * (Z[i] - G[i]);
    }
    return isnan(value) ? INFINITY : value;
}

static double norm(const double *v, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += v[i] * v[i];
    return sqrt(sum);
}

// BFGS with the whole inverse, which knows nothing of singular values
static double brute_force(const one_tet *t, const double G[9], double Z[9]) {
    double D[81] = {0}, g[9], value = phi(t, G, Z, g);
    for (int i = 0; i < 9; i++) D[10 * i] = 1 / (2 * t->mu + t->weight);
    for (int k = 0; k < 400 && norm(g, 9) > 1e-10 * t->weight; k++) {
        double p[9], trial[9], h[9], s[9], y[9], Dy[9], slope = 0, length = 1, next, ys = 0, yDy = 0;
        for (int i = 0; i < 9; i++) {
            p[i] = 0;
            for (int j = 0; j < 9; j++) p[i] -= D[9 * i + j] * g[j];
            slope += p[i] * g[i];
        }
        for (;; length *= 0.5) {
            for (int i = 0; i < 9; i++) trial[i] = Z[i] + length * p[i];
            next = phi(t, G, trial, h);
            if (next <= value + 1e-4 * length * slope || length < 1e-12) break;
        }
        if (!(next < value)) break;
        for (int i = 0; i < 9; i++) s[i] = trial[i] - Z[i], y[i] = h[i] - g[i], ys += s[i] * y[i];
        for (int i = 0; i < 9; i++) {
            Dy[i] = 0;
            for (int j = 0; j < 9; j++) Dy[i] += D[9 * i + j] * y[j];
            yDy += y[i] * Dy[i];
        }
        for (int i = 0; ys > 0 && i < 9; i++)
            for (int j = 0; j < 9; j++)
                D[9 * i + j] += (1 + yDy / ys) * s[i] * s[j] / ys - (Dy[i] * s[j] + s[i] * Dy[j]) / ys;
        memcpy(Z, trial, sizeof trial);
        memcpy(g, h, sizeof h);
        value = next;
    }
    return value;
}

static void local_step_of(const one_tet *t, rbt_proximal minimise, const double G[9], double Z[9]) {
    double x[12], g[12], force[9];
    rbt_duals duals = {0};
    for (int l = 0; l < RBT_W; l++) duals.weight[l] = t->weight;
    // F and u with F + u = G
    double F[9], u[9];
    for (int i = 0; i < 9; i++) {
        u[i] = uniform(-0.3, 0.3);
        F[i] = G[i] - u[i];
        for (int l = 0; l < RBT_W; l++) duals.u[i][l] = u[i];
    }
    place(F, x);
    minimise(&t->batch, &duals, 1, x, g);
    stress_from(g, force);
    for (int i = 0; i < 9; i++) Z[i] = G[i] - duals.u[i][0];
    // The springs: k (F - Z + u), with the new u
    for (int i = 0; i < 9; i++)
        assert_true(fabs(force[i] - t->weight * (F[i] - Z[i] + duals.u[i][0])) <=
                    1e-12 * t->weight * (1 + norm(G, 9)));
}

// What is claimed: Z is a minimum (k u = P(Z), and no descent in nine dimensions from nearby ends lower), and no
// higher than G, where the search begins. Where psi is convex it is the only one, and a descent from rest ends there,
// too; elsewhere phi may have others, some of them lower, which ADMM does not ask for. Newton's last step is below
// 1e-8 of the size, and squares it; what remains is the rounding of P, whose terms grow like |G|^3.
static void check_local_step(const one_tet *t, const double G[9]) {
    uint64_t stream = random_test_stream;
    for (int set = 0; set < RBT_INSTRUCTION_SETS; set++) {
        rbt_proximal minimise = rbt_proximal_with(t->material, (rbt_instruction_set)set);
        double Z[9], gradient[9];
        if (!minimise) continue;
        random_test_stream = stream;
        local_step_of(t, minimise, G, Z);
        double value = phi(t, G, Z, gradient), stiffness = t->mu + t->lambda + t->weight;
        assert_true(norm(gradient, 9) <= 1e-12 * stiffness * (1 + pow(norm(G, 9), 3)));
        double slack = 1e-10 * (value + stiffness), other[9];
        assert_true(value <= phi(t, G, G, gradient) + slack || !isfinite(phi(t, G, G, gradient)));
        for (int i = 0; i < 9; i++) other[i] = Z[i] + uniform(-1e-2, 1e-2);
        assert_true(value <= brute_force(t, G, other) + slack);
        if (!t->material->constant_stiffness) continue;
        for (int i = 0; i < 9; i++) other[i] = i % 4 == 0;
        assert_true(value <= brute_force(t, G, other) + slack);
    }
}

static void local_step_is_a_minimum(void **state) {
    (void)state;
    static const double POISSON[] = {0, 0.2, 0.3, 0.45};
    for (int trial = 0; trial < 7 * 120; trial++) {
        one_tet t = tet_of(rbt_material_at(trial % 7), 1e5, POISSON[trial / 7 % 4]);
        double G[9], spread = trial % 3 == 0 ? 0.3 : trial % 3 == 1 ? 1 : 2;
        for (int i = 0; i < 9; i++) G[i] = (i % 4 == 0) + uniform(-spread, spread);
        for (int i = 0; trial % 5 == 0 && i < 3; i++) G[i] = -G[i];  // mirrored
        check_local_step(&t, G);
    }
}

// Singular values that are the same, nearly the same, or 0, in a turned frame
static void local_step_is_a_minimum_where_stretches_agree(void **state) {
    (void)state;
    static const double STRETCHES[][3] = {{1, 1, 1},       {2, 2, 2},          {0.3, 0.3, 0.3},          {1, 1, 0.5},
                                          {1.5, 0.5, 0.5}, {1, 1 + 1e-9, 0.5}, {1, 1 + 1e-15, 1 - 1e-8}, {1, 1, -0.5},
                                          {1, 0.5, 0},     {2, 1e-3, 0},       {0.8, 0.7, -0.69}};
    for (int m = 0; m < 7; m++)
        for (size_t k = 0; k < sizeof STRETCHES / sizeof *STRETCHES; k++) {
            one_tet t = tet_of(rbt_material_at(m), 1e5, 0.3);
            double any[9], U[9], s[3], V[9], G[9] = {0};
            for (int i = 0; i < 9; i++) any[i] = uniform(-1, 1);
            rbt_svd3(any, U, s, V);
            for (int i = 0; i < 27; i++)
                G[i / 3] += U[3 * (i / 9) + i % 3] * STRETCHES[k][i % 3] * V[3 * (i / 3 % 3) + i % 3];
            check_local_step(&t, G);
        }
}

// Numbers that are none, or too large, come back as such and do not hang.
static void local_step_ends_on_anything(void **state) {
    (void)state;
    static const double ODD[] = {NAN, INFINITY, 1e200, 0, 1e-200};
    for (int m = 0; m < 7; m++)
        for (size_t k = 0; k < sizeof ODD / sizeof *ODD; k++) {
            one_tet t = tet_of(rbt_material_at(m), 1e5, 0.3);
            rbt_duals duals = {0};
            double x[12], g[12], G[9];
            for (int i = 0; i < 9; i++) G[i] = ODD[k];
            for (int l = 0; l < RBT_W; l++) duals.weight[l] = t.weight;
            place(G, x);
            rbt_proximal_of(t.material)(&t.batch, &duals, 1, x, g);
            if (isnan(ODD[k])) assert_true(isnan(g[11]));
        }
}

// ---- A whole step

typedef struct problem {
    rbt_sim *sim;
    rbt_objective objective;
    double *start, *z;  // (node_count x 3)
} problem;

static const char *const BODIES[] = {
    "'fixed': ['left']",
    "'fixed': ['left'], 'damping': {'mass': 3, 'stiffness': 5e-3}, 'consistent_mass': true",
};

// One step of backward Euler of 10 ms, of a soft bar that starts bent and moving
static problem make(const char *material, const char *body) {
    char json[2048];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.1], 'cells': "
        "[4, 1, 1]}}}, 'material': {'model': '%s', 'young': 1e4, 'poisson': 0.3, 'density': 1000}, 'deform': "
        "[{'bend': {'axis': [1, 0, 0], 'towards': [0, 1, 0], 'degrees': 25}}], 'velocity': {'angular': [1, 2, "
        "3]}, %s}], 'forces': [{'gravity': {}}], 'time': {'step': 0.01, 'frame': 0.01, 'end': 1}, 'integrator': "
        "{'method': 'backward-euler'}}",
        material, body);
    problem p = {.sim = sim_from(json)};
    const rbt_model *m = p.sim->model;
    rbt_state *state = &p.sim->state;
    size_t values = 3 * m->node_count;
    assert_true(rbt_objective_init(&p.objective, m, NULL));
    rbt_objective *o = &p.objective;
    p.start = malloc(values * sizeof *p.start);
    p.z = malloc(values * sizeof *p.z);
    o->tau = m->step;
    o->base = state->x;
    rbt_constrained_nodes(m, 0, o->constrained);
    rbt_objective_freeze_damping(o, state->x);
    rbt_force_external(m, o->tau, state->x, state->v, o->external);
    for (size_t i = 0; i < values; i++) {
        o->target[i] = state->x[i] + o->tau * state->v[i];
        p.start[i] = o->constrained[i / 3] ? state->x[i] : o->target[i];
    }
    memcpy(p.z, p.start, values * sizeof *p.z);
    return p;
}

static void unmake(problem *p) {
    free(p->start);
    free(p->z);
    rbt_objective_free(&p->objective);
    rbt_sim_free(p->sim);
}

static void minimise(problem *p, const rbt_step_solver *solver, double epsilon, int most, double *z) {
    rbt_stages stages = {0};
    rbt_step_report report = {0};
    rbt_error error;
    void *work = solver->create(&p->objective, NULL, &error);
    assert_non_null(work);
    rbt_stop stop = rbt_stop_begin(&p->objective, RBT_STOP_CHARACTERISTIC, epsilon, 1);
    rbt_outcome outcome = solver->solve(work, p->start, z, &stop, most, &stages, &report);
    if (outcome != RBT_DONE) print_error("%s: %s, %s\n", solver->name, rbt_outcome_name(outcome), report.hint);
    assert_int_equal(outcome, RBT_DONE);
    solver->destroy(work);
}

static double min_mass(const rbt_model *m) {
    double least = INFINITY;
    for (size_t n = 0; n < m->node_count; n++) least = fmin(least, m->mass[n]);
    return least;
}

static double distance(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

// Both gradients are below the tolerance, and E'' is not below M here, whose least eigenvalue is a node's mass, or a
// fifth of it for consistent mass (Wathen 1987): the distance is at most 2 tolerance / that. 1e-6 of the
// characteristic gradient is far more than rounding, and less than a step moves by many orders.
static void minimum_is_newtons(void **state) {
    (void)state;
    for (int m = 0; m < 7; m++)
        for (size_t b = 0; b < sizeof BODIES / sizeof *BODIES; b++) {
            problem p = make(rbt_material_name(m), BODIES[b]);
            size_t values = 3 * p.sim->model->node_count;
            double tolerance = rbt_objective_tolerance(&p.objective, 1e-9);
            double *z = malloc(values * sizeof *z), bound = 2 * tolerance / (0.2 * min_mass(p.sim->model));
            memcpy(z, p.start, values * sizeof *z);
            minimise(&p, &RBT_NEWTON, 1e-9, 100, p.z);
            minimise(&p, &RBT_ADMM_PD, 1e-9, 5000, z);
            assert_true(distance(z, p.z, values) <= bound);
            assert_true(distance(p.start, p.z, values) > 1e4 * bound);
            free(z);
            unmake(&p);
        }
}

// u = P(F(z)) / k in every tet
static void set_duals(admm *s, const double *z) {
    const rbt_model *m = s->objective->model;
    for (size_t g = 0; g < m->group_count; g++) {
        const rbt_group *group = &m->groups[g];
        const rbt_tets *tets = group->data;
        for (size_t e = 0; e < group->count; e++) {
            rbt_duals *duals = &s->locals[g].duals[e / RBT_W];
            const int32_t *n = group->nodes + 4 * e;
            double force[12], volume = tets->batches[e / RBT_W].volume[e % RBT_W];
            group->type->local(group, e, z, force, RBT_HESSIAN, NULL);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    double P = 0;  // V P g_a = -force_a
                    for (int a = 1; a < 4; a++)
                        P -= force[3 * a + i] * (m->X[3 * n[a] + j] - m->X[3 * n[0] + j]) / volume;
                    duals->u[3 * i + j][e % RBT_W] = P / duals->weight[e % RBT_W];
                }
        }
    }
}

// At the minimum, with k u the stress there, Z = F and r = grad E: an iteration moves z by no more than |grad E| /
// least eigenvalue of M, but for rounding, which is 1e-13 of the characteristic size of a gradient.
static void minimum_is_a_fixed_point(void **state) {
    (void)state;
    for (int m = 0; m < 7; m++)
        for (size_t b = 0; b < sizeof BODIES / sizeof *BODIES; b++) {
            problem p = make(rbt_material_name(m), BODIES[b]);
            rbt_objective *o = &p.objective;
            size_t values = 3 * o->model->node_count;
            minimise(&p, &RBT_NEWTON, 1e-11, 100, p.z);
            double *z = malloc(values * sizeof *z);
            memcpy(z, p.z, values * sizeof *z);
            admm *s = RBT_ADMM_PD.create(o, NULL, NULL);
            rbt_step_report report = {0};
            assert_int_equal(rbt_laplacian_prepare(&s->laplacian, z, &report), RBT_DONE);
            double bound = rbt_objective_tolerance(o, 1e-11 + 1e-13) / (0.2 * min_mass(o->model));
            set_duals(s, z);
            for (int k = 0; k < 3; k++) {
                local_step(s, z);
                assert_int_equal(global_step(s, z), RBT_DONE);
            }
            assert_true(distance(z, p.z, values) <= 3 * bound);
            // With other duals it does not stay.
            forget(s);
            local_step(s, z);
            global_step(s, z);
            assert_true(distance(z, p.z, values) > 100 * bound);
            RBT_ADMM_PD.destroy(s);
            free(z);
            unmake(&p);
        }
}

// ---- The limit of iterations

static rbt_sim *run(const char *solver, const char *options, const char *cells, const char *rest) {
    char json[2048];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.1], 'cells': "
        "%s}}}, 'material': {'model': 'fixed-corotated', 'young': 1e5, 'poisson': 0.4}, 'fixed': ['left'], "
        "'driven': [{'where': 'right', 'motions': [{'velocity': {'velocity': [0.5, 0, 0]}}]}]}], 'forces': "
        "[{'gravity': {}}], %s 'time': {'step': 0.02, 'frame': 0.04, 'end': 1}, 'integrator': {'method': "
        "'backward-euler', 'solver': '%s', 'max_halvings': 2, 'options': {%s}}}",
        cells, rest, solver, options);
    return sim_from(json);
}

static void every_solver_continues_at_its_limit(void **state) {
    (void)state;
    for (int i = 0; rbt_step_solver_at(i); i++) {
        rbt_sim *sim = run(rbt_step_solver_name(i), "'max_iterations': 1, 'tolerance': 1e-9, 'at_cap': 'continue'",
                           "[4, 1, 1]", "");
        rbt_step_report report;
        assert_true(rbt_sim_advance_frame(sim, &report));
        assert_int_equal(report.outcome, RBT_DONE);
        assert_true(report.steps == 2 && report.unconverged == 2 && report.halvings == 0 && report.at_cap);
        assert_true(report.first_unconverged == 0);
        assert_true(report.worst_residual >= report.statistics[RBT_STAT_RESIDUAL] &&
                    report.statistics[RBT_STAT_RESIDUAL] > 1);
        double worst = report.worst_residual;
        assert_true(rbt_sim_advance_frame(sim, &report));
        assert_true(report.unconverged == 2 && report.first_unconverged == 0.04);
        worst = fmax(worst, report.worst_residual);
        const rbt_tally *tally = &sim->state.tally;
        assert_true(tally->steps == 4 && tally->unconverged == 4 && tally->first == 0);
        assert_true(tally->worst_residual == worst);
        for (size_t k = 0; k < 3 * sim->model->node_count; k++) assert_true(isfinite(sim->state.x[k]));
        rbt_sim_free(sim);
    }
}

static void every_solver_fails_at_its_limit(void **state) {
    (void)state;
    for (int i = 0; rbt_step_solver_at(i); i++) {
        rbt_sim *sim = run(rbt_step_solver_name(i), "'max_iterations': 1, 'tolerance': 1e-9", "[4, 1, 1]", "");
        rbt_step_report report;
        assert_false(rbt_sim_advance_frame(sim, &report));
        assert_int_equal(report.outcome, RBT_NOT_CONVERGED);
        assert_true(report.halvings == 2 && report.at_cap && report.unconverged == 0);
        assert_true(report.body == 0 && report.element >= 0 && report.stage[0]);
        assert_non_null(strstr(report.hint, "times the tolerance, most at node "));
        assert_true(sim->state.t == 0 && sim->state.tally.steps == 0);
        rbt_sim_free(sim);
    }
}

// Steps that converge are not counted, whatever the option says.
static void converged_steps_are_not_counted(void **state) {
    (void)state;
    for (int i = 0; rbt_step_solver_at(i); i++) {
        rbt_sim *sim = run(rbt_step_solver_name(i), "'at_cap': 'continue'", "[4, 1, 1]", "");
        rbt_step_report report;
        assert_true(rbt_sim_advance_frame(sim, &report));
        assert_true(report.unconverged == 0 && !report.at_cap && report.statistics[RBT_STAT_RESIDUAL] <= 1);
        assert_true(sim->state.tally.steps == 2 && sim->state.tally.unconverged == 0);
        rbt_sim_free(sim);
    }
}

// ---- Threads and refusals

static void threads_do_not_matter(void **state) {
    (void)state;
    static const int COUNTS[] = {1, 2, 3, 8};
    double *first = NULL;
    for (int k = 0; k < 4; k++) {
        rbt_threads_set(COUNTS[k]);
        rbt_sim *sim = run("admm-pd", "'max_iterations': 15, 'at_cap': 'continue'", "[24, 6, 6]", "");
        size_t bytes = 3 * sim->model->node_count * sizeof(double);
        rbt_step_report report;
        assert_true(sim->model->node_count >= RBT_PARALLEL_FROM);
        assert_true(rbt_sim_advance_frame(sim, &report));
        if (first) assert_memory_equal(sim->state.x, first, bytes);
        else first = memcpy(malloc(bytes), sim->state.x, bytes);
        rbt_sim_free(sim);
    }
    rbt_threads_set(0);
    free(first);
}

static void refuses_exactly(const char *json, const char *sentence) {
    rbt_scene_file *file = scene_from(json);
    rbt_error error = {0};
    assert_null(rbt_sim_create(rbt_scene_of(file), &error));
    assert_string_equal(error.message, sentence);
    rbt_scene_free(file);
}

static void what_it_cannot_do_is_refused(void **state) {
    (void)state;
#define REST "'integrator': {'method': 'backward-euler', 'solver': 'admm-pd'}, 'time': {'step': 0.01, 'end': 1}}"
    refuses_exactly(
        "{'rubato': 1, 'bodies': [{'name': 'flag', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, "
        "'cells_along': 2, 'cells_across': 2}}}, 'material': {'young': 1e5}, 'shell': {'thickness': 0.01}}], " REST,
        "solver \"admm-pd\" knows bodies of tets only, but \"flag\" is made of triangles; take the solver newton, "
        "dot, lbfgs-h or lbfgs-pd");
    refuses_exactly(
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [1, 1, 1], 'cells': [1, 1, "
        "1]}}}, 'material': {'young': 1e5}}], 'obstacles': [{'plane': {}}], " REST,
        "solver \"admm-pd\" knows no obstacles, but the scene has 1; take the solver newton, dot, lbfgs-h or "
        "lbfgs-pd");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_step_is_a_minimum),
        cmocka_unit_test(local_step_is_a_minimum_where_stretches_agree),
        cmocka_unit_test(local_step_ends_on_anything),
        cmocka_unit_test(minimum_is_newtons),
        cmocka_unit_test(minimum_is_a_fixed_point),
        cmocka_unit_test(every_solver_continues_at_its_limit),
        cmocka_unit_test(every_solver_fails_at_its_limit),
        cmocka_unit_test(converged_steps_are_not_counted),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(what_it_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
