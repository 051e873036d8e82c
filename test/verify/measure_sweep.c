// Whether a step that says it is solved is right, whatever the body: size, stiffness, Poisson's ratio, step,
// material, load, integrator and solver are drawn at random over the range that people use.
//
// The reference is newton iterated until its residual no longer falls. After 20 steps every node that is not driven
// must be within 1 % of the largest displacement of these steps that remains once the best rigid motion is taken out:
// what a body does beyond flying and turning. Halving a step is not allowed: it would change what is compared.
#include "math/svd3.h"
#include "step/implicit/solver.h"
#include "verify.h"

#include <math.h>

enum { STEPS = 20, ALONG = 8 };

typedef enum load { GRAVITY, PULL, START, DRIVE, LOADS } load;
static const char *const LOAD_NAMES[LOADS] = {"gravity", "pull", "start velocity", "driven end"};
static const char *const METHODS[] = {"backward-euler", "backward-euler", "backward-euler", "bdf2",
                                      "implicit-midpoint"};

typedef struct sweep_case {
    bool shell, across, spin;  // across: loads bend, else they stretch; spin: free, turning at the start
    double size;               // length of the bar or strip [m]
    double young, poisson, density, step;
    double strain;  // that the load is chosen for, but for gravity
    int material;   // of solids
    load load;
    const char *method;
    int solver;
} sweep_case;

typedef struct sweep_result {
    bool finished;
    rbt_step_report report;
    int64_t iterations;
    double moved;  // largest displacement without rigid motion, of the reference [m]
    double error;  // largest distance to the reference [m]
} sweep_result;

static double log_uniform(double low, double high) { return exp(verify_random(log(low), log(high))); }

static int pick(int count) { return (int)verify_random(0, count) % count; }

static int count_names(rbt_name_of name) {
    int count = 0;
    while (name(count)) count++;
    return count;
}

static double slenderness(const sweep_case *c) { return c->shell ? 100 : 4; }

// ---- Cases

// How far a beam that is constrained at one end sags under its own weight, over its length: 3/2 rho g l^3 / (E t^2)
static double sag(const sweep_case *c) {
    return 1.5 * c->density * 9.81 * c->size * pow(slenderness(c), 2) / c->young;
}

// A body whose sag is many times its length does not stand up to gravity at all: it folds, and where it ends depends
// on the last bit of where it began. Unless it has no time to.
static bool folds(const sweep_case *c) {
    double fall = 0.5 * 9.81 * pow(STEPS * c->step, 2) / c->size;
    return c->load == GRAVITY && fmin(sag(c), fall) > 0.5;
}

static sweep_case draw_case(int number) {
    sweep_case c;
    do {
        double poissons[] = {0.3, 0.4, 0.45, 0.49, 0.4999};
        c = (sweep_case){
            .shell = pick(5) == 0,
            .across = pick(2) == 0,
            .size = log_uniform(1e-3, 30),
            .young = log_uniform(1e3, 2e11),
            .poisson = poissons[pick(5)],
            .step = log_uniform(1e-4, 0.04),
            .strain = log_uniform(1e-4, 0.1),
            .material = pick(count_names(rbt_material_name)),
            .load = (load)pick(LOADS),
            .method = METHODS[pick(sizeof METHODS / sizeof *METHODS)],
            .solver = number % count_names(rbt_step_solver_name),
        };
        c.density = c.young > 1e9 ? 7800 : 1000;
        if (c.shell && c.poisson > 0.49) c.poisson = 0.49;
        // Linear elasticity knows small rotations only.
        c.spin = c.load == START && pick(2) == 0 && (c.shell || !rbt_material_at(c.material)->constant_stiffness);
        if (c.shell && strcmp(rbt_step_solver_name(c.solver), "admm-pd") == 0) c.shell = false;
    } while (folds(&c));
    return c;
}

// The speed of waves: what is thrown at that speed is strained by about 1.
static double wave_speed(const sweep_case *c) { return sqrt(c->young / c->density); }

static void add_load(const sweep_case *c, rbt_text *body, rbt_text *forces) {
    double l = c->size, s = slenderness(c), t = l / s, area = c->shell ? t * l / 4 : t * t;
    double bend = c->across ? 0.25 / (s * s) : 1;  // of a beam's stiffness across to that along
    const char *end = "{'box': {'min': [0.99, 0, 0], 'max': [1, 1, 1], 'relative': true}}";
    switch (c->load) {
    case GRAVITY: rbt_text_add(forces, "{'gravity': {}}"); break;
    case PULL: {
        double f = c->strain * c->young * area * bend;
        rbt_text_add(forces, "{'pull': {'where': %s, 'force': [%.17g, %.17g, 0]}}", end, c->across ? 0 : f,
                     c->across ? f : 0);
        break;
    }
    case START: {
        // A turn of at most half a radian a step, with the strain of its centrifugal force
        double v = c->strain * wave_speed(c), turn = fmin(sqrt(c->strain) * wave_speed(c) / l, 0.5 / c->step);
        if (c->spin) rbt_text_add(body, ", 'velocity': {'angular': [0, %.17g, %.17g]}", 0.3 * turn, turn);
        else rbt_text_add(body, ", 'velocity': {'linear': [%.17g, %.17g, 0]}", c->across ? 0 : v, c->across ? v : 0);
        break;
    }
    case DRIVE: {
        double v = c->strain * l / (STEPS * c->step);
        rbt_text_add(body, ", 'driven': [{'where': %s, 'motions': [{'velocity': {'velocity': [%.17g, %.17g, 0]}}]}]",
                     end, c->across ? 0 : v, c->across ? v : 0);
        break;
    }
    case LOADS: break;
    }
}

static rbt_sim *make(const sweep_case *c, const char *solver, const char *options) {
    double l = c->size;
    rbt_text body = {0}, forces = {0};
    if (c->shell)
        rbt_text_add(&body,
                     "'mesh': {'shape': {'ribbon': {'length': %.17g, 'width': %.17g, 'cells_along': %d, "
                     "'cells_across': 2}}}, 'shell': {'thickness': %.17g}, 'material': {'young': %.17g",
                     l, l / 4, ALONG, l / slenderness(c), c->young);
    else
        rbt_text_add(&body,
                     "'mesh': {'shape': {'cuboid': {'size': [%.17g, %.17g, %.17g], 'cells': [%d, 2, 2]}}}, "
                     "'material': {'model': '%s', 'young': %.17g",
                     l, l / slenderness(c), l / slenderness(c), ALONG, rbt_material_name(c->material), c->young);
    rbt_text_add(&body, ", 'poisson': %g, 'density': %g}", c->poisson, c->density);
    // Two rows of a strip: one would be a hinge.
    if (!c->spin)
        rbt_text_add(&body, ", 'fixed': [{'box': {'min': [0, 0, 0], 'max': [%g, 1, 1], 'relative': true}}]",
                     c->shell ? 1.01 / ALONG : 0.01);
    add_load(c, &body, &forces);
    rbt_sim *sim = verify_sim(
        "{'rubato': 1, 'bodies': [{'name': 'body', %s}], 'forces': [%s], 'time': {'step': %.17g, 'frame': %.17g, "
        "'end': "
        "%.17g}, 'integrator': {'method': '%s', 'solver': '%s', 'max_halvings': 0, 'options': {%s}}}",
        body.text, forces.text ? forces.text : "", c->step, c->step, 100 * c->step, c->method, solver, options);
    rbt_text_free(&body);
    rbt_text_free(&forces);
    return sim;
}

// ---- What came of them

// The rigid motion x = R (X - A) + a that brings X closest to x, by the singular value decomposition of sum (x - a)
// (X - A)^T (Kabsch 1976)
static void fit_rigid(const rbt_model *m, const double *x, double R[9], double A[3], double a[3]) {
    double S[9] = {0}, U[9], sigma[3], V[9];
    for (size_t i = 0; i < 3; i++) {
        A[i] = a[i] = 0;
        for (size_t n = 0; n < m->node_count; n++) {
            A[i] += m->X[3 * n + i] / (double)m->node_count;
            a[i] += x[3 * n + i] / (double)m->node_count;
        }
    }
    for (size_t n = 0; n < m->node_count; n++)
        for (size_t i = 0; i < 9; i++) S[i] += (x[3 * n + i / 3] - a[i / 3]) * (m->X[3 * n + i % 3] - A[i % 3]);
    rbt_svd3(S, U, sigma, V);
    for (size_t i = 0; i < 9; i++) {
        R[i] = 0;
        for (size_t k = 0; k < 3; k++) R[i] += U[3 * (i / 3) + k] * V[3 * (i % 3) + k];
    }
}

// The largest displacement of the model at x without its rigid motion; driven nodes left out.
static double deformation(const rbt_model *m, const double *x) {
    double R[9], A[3], a[3], most = 0;
    fit_rigid(m, x, R, A, a);
    for (size_t n = 0; n < m->node_count; n++) {
        double from[3], left[3];
        if (m->role[n] == RBT_DRIVEN) continue;
        rbt_subtract(m->X + 3 * n, A, from);
        for (size_t i = 0; i < 3; i++) left[i] = x[3 * n + i] - a[i] - rbt_dot(R + 3 * i, from);
        most = verify_larger(most, rbt_length(left));
    }
    return most;
}

// Whether the reference could be found
static bool run_case(const sweep_case *c, const char *options, sweep_result *r) {
    *r = (sweep_result){.finished = true};
    rbt_sim *reference = make(c, "newton", "'stop': 'stall', 'max_iterations': 1000, 'at_cap': 'continue'");
    rbt_sim *sim = make(c, rbt_step_solver_name(c->solver), options);
    const rbt_model *m = reference->model;
    rbt_step_report report;
    bool known = true;
    for (int k = 0; known && r->finished && k < STEPS; k++) {
        known = verify_steps(reference, 1, &report);
        r->finished = verify_steps(sim, 1, &r->report);
        r->iterations += r->report.statistics[RBT_STAT_ITERATIONS];
        if (known) r->moved = verify_larger(r->moved, deformation(m, reference->state.x));
    }
    for (size_t n = 0; n < m->node_count; n++)
        if (m->role[n] != RBT_DRIVEN)
            r->error = verify_larger(r->error, verify_distance(sim->state.x + 3 * n, reference->state.x + 3 * n, 3));
    rbt_sim_free(sim);
    rbt_sim_free(reference);
    return known;
}

// ---- The section

typedef struct sweep_sum {  // of one solver
    int judged, wrong, untouched, ended;
    double worst, iterations;
} sweep_sum;

static void describe(const sweep_case *c, const sweep_result *r, int number, char *text, size_t size) {
    snprintf(text, size,
             "case %d: %s with %s, %s, %s%s%s, %.2g m, %.2g Pa, Poisson %g, step %.2g s, strain %.2g: off by %.2g of "
             "%.2g m after %lld iterations",
             number, c->method, rbt_step_solver_name(c->solver), c->shell ? "shell" : rbt_material_name(c->material),
             LOAD_NAMES[c->load], c->across ? " across" : "", c->spin ? ", spinning" : "", c->size, c->young,
             c->poisson, c->step, c->strain, r->error / r->moved, r->moved, (long long)r->iterations);
}

static void judge(const sweep_case *c, int number, sweep_sum *sum) {
    sweep_result r;
    char text[512];
    bool known = run_case(c, "", &r);
    if (!known) return;
    sum->judged++;
    if (!r.finished) {
        sum->ended++;
        return;
    }
    double off = r.error / r.moved;
    bool wrong = !(off <= 0.01), untouched = r.iterations == 0 && r.moved > 0;
    sum->iterations += (double)r.iterations / STEPS;
    sum->worst = verify_larger(sum->worst, off);
    sum->wrong += wrong;
    sum->untouched += untouched;
    if (!wrong && !untouched) return;
    describe(c, &r, number, text, sizeof text);
    fprintf(stderr, "%s\n", text);
}

void verify_sweep(verify *v) {
    int cases = v->full ? 1000 : 120, solvers = count_names(rbt_step_solver_name), judged = 0;
    sweep_sum sums[16] = {{0}};
    for (int k = 0; k < cases; k++) {
        sweep_case c = draw_case(k);
        judge(&c, k, &sums[c.solver]);
    }
    for (int s = 0; s < solvers; s++) judged += sums[s].judged;
    verify_say(
        v,
        "## Steps that count as solved\n\n"
        "Bars and clamped strips drawn at random: 1 mm to 30 m long, 1e3 to 2e11 Pa, Poisson's ratio 0.3 to 0.4999, "
        "steps of 0.1 to 40 ms, all materials, shells, gravity, a pull, a start velocity or spin, or a driven end; "
        "backward Euler, BDF2 and the midpoint rule with all default options. After %d steps every node must be "
        "within "
        "1 %% of the largest deformation of the run of where newton, iterated until its residual no longer falls, "
        "has it. A run may end with an outcome instead, those of newton and dot in at most 2 %% of the cases; none "
        "may "
        "move on without an iteration. %d cases, of which %d have a reference.\n",
        STEPS, cases, judged);
    verify_table(v, "solver|cases|wrong|largest error / deformation|ended with an outcome|iterations a step");
    for (int s = 0; s < solvers; s++) {
        const sweep_sum *sum = &sums[s];
        const char *name = rbt_step_solver_name(s);
        bool robust = strcmp(name, "newton") == 0 || strcmp(name, "dot") == 0;
        bool holds = sum->wrong == 0 && sum->untouched == 0 && sum->judged > sum->ended &&
                     (!robust || sum->ended <= ceil(0.02 * sum->judged));
        verify_row(v, holds, "%s|%d|%d|%.2g %%|%d|%.1f", name, sum->judged, sum->wrong, 100 * sum->worst, sum->ended,
                   sum->iterations / (sum->judged > sum->ended ? sum->judged - sum->ended : 1));
    }
}
