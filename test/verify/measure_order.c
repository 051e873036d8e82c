// The order of every method on smooth non-linear problems: errors in x and v at a fixed time against classical
// Runge-Kutta of fourth order with a much finer step, which shares nothing with the methods but the forces.
#include "verify.h"

typedef struct problem {
    const char *name;
    const char *cells;
    const char *body;   // members of the body,
    const char *scene;  // and of the scene
} problem;

// A soft bar of 0.4 m whose slowest vibrations take about half a second and the fastest a twentieth.
static const problem PROBLEMS[] = {
    {"bent, thrown and fixed at one end", "[4, 1, 1]",
     "'fixed': ['left'], 'deform': [{'bend': {'axis': [1, 0, 0], 'towards': [0, 1, 0], 'degrees': 30}}], 'velocity': "
     "{'linear': [0, 0.2, 0.3], 'angular': [1, 0, 0.5]}",
     ""},
    {"twisted by a driven end, under gravity", "[4, 1, 1]",
     "'fixed': ['left'], 'driven': [{'where': 'right', 'motions': [{'rotation': {'point': [0, 0, 0], 'axis': [1, 0, "
     "0], "
     "'rate': 3}}, {'oscillation': {'amplitude': [0.02, 0, 0], 'frequency': 2}}]}]",
     ", 'forces': [{'gravity': {'acceleration': [0, -2, 0]}}]"},
    // In tension everywhere, where no element has a negative stiffness: there all methods damp with the same D.
    {"damped inside a stretched hull", "[4, 3, 3]",
     "'fixed': [{'not': {'box': {'min': [0.1, 0.1, 0.1], 'max': [0.9, 0.9, 0.9], 'relative': true}}}], 'damping': "
     "{'mass': 1, 'stiffness': 0.002}, 'deform': [{'scale': {'factors': [1.1, 1.1, 1.1]}}], 'velocity': {'linear': "
     "[0.5, "
     "0.5, 0], 'angular': [3, 0, 0]}",
     ", 'forces': [{'gravity': {'acceleration': [0, -5, 0]}}]"},
};
enum { PROBLEM_COUNT = sizeof PROBLEMS / sizeof PROBLEMS[0] };

static const double END = 0.1;  // [s]

// `tempo`: a member of the body that gives parts of it steps of their own, "" for none
static rbt_sim *start(const problem *p, const rbt_method *method, const char *tempo, int steps) {
    double h = END / steps;
    // Solver errors must stay below those of the finest step, about 1e-7.
    const char *options =
        method->options && rbt_record_field(method->options, "tolerance") ? ", 'options': {'tolerance': 1e-10}" : "";
    return verify_sim(
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.1], "
        "'cells': %s}}}, 'material': {'model': 'stable-neo-hookean', 'young': 1e4, 'poisson': 0.3, "
        "'density': 1000}, %s%s}]%s, 'time': {'step': %.17g, 'frame': %.17g, 'end': %.17g}, 'integrator': "
        "{'method': '%s'%s}}",
        p->cells, p->body, tempo, p->scene, h, END, END, method->name, options);
}

// ---- The reference: y = (x, v), y' = (v, M^-1 (f_ext - dW/dx - D v)), D = alpha M + beta K(x), or with beta D(x) of
// energy/group.h instead of beta K(x) for methods that damp rates of strain

typedef struct reference {
    const rbt_model *m;
    bool strain_rates;
    rbt_stiffness stiffness;
    unsigned char *constrained;
    double *f, *product;
} reference;

// Positions and velocities of constrained nodes at time t; their velocity from a difference, exact to 1e-10.
static void hold(reference *r, double t, double *x, double *v) {
    const rbt_motions *motions = &r->m->motions;
    const double s = 1e-4;
    for (size_t n = 0; n < r->m->node_count; n++)
        if (r->m->role[n] == RBT_FIXED) memset(v + 3 * n, 0, 3 * sizeof *v);
    for (size_t i = 0; i < motions->node_count; i++) {
        size_t n = (size_t)motions->node[i];
        const rbt_motion_group *group = &motions->groups[motions->group[i]];
        double p[4][3];
        static const double at[4] = {1, -1, 2, -2};
        for (int k = 0; k < 4; k++) rbt_motion_position(group, r->m->x0 + 3 * n, t + at[k] * s, p[k]);
        rbt_motion_position(group, r->m->x0 + 3 * n, t, x + 3 * n);
        for (size_t k = 0; k < 3; k++)
            v[3 * n + k] = t < 2 * s ? v[3 * n + k] : (8 * (p[0][k] - p[1][k]) - (p[2][k] - p[3][k])) / (12 * s);
    }
}

// D(x) v of all elements; with so much damping that the gradient does not count
static void strain_rate_forces(const rbt_model *m, const double *x, const double *v, double *product) {
    memset(product, 0, 3 * m->node_count * sizeof *product);
    for (size_t g = 0; g < m->group_count; g++) {
        const rbt_group *group = &m->groups[g];
        size_t corners = (size_t)group->type->corners;
        double *beta = calloc(group->count, sizeof *beta), *all = calloc(3 * corners * group->count, sizeof *all);
        if (!beta || !all) verify_stop("no memory for a reference");
        for (size_t e = 0; e < group->count; e++) beta[e] = 0x1p100;
        group->type->damped_gradient(group, 0, group->count, x, v, beta, all);
        for (size_t k = 0; k < corners * group->count; k++)
            for (size_t i = 0; i < 3; i++) product[3 * (size_t)group->nodes[k] + i] += 0x1p-100 * all[3 * k + i];
        free(beta), free(all);
    }
}

static void slope(reference *r, double t, double *x, double *v, double *dx, double *dv) {
    const rbt_model *m = r->m;
    hold(r, t, x, v);
    verify_elastic_force(m, x, dv);
    rbt_force_external(m, t, x, v, r->f);
    bool damped = m->bodies[0].damping.stiffness > 0;
    if (damped && r->strain_rates) strain_rate_forces(m, x, v, r->product);
    else if (damped) {
        rbt_stiffness_assemble(&r->stiffness, m, RBT_HESSIAN, x);
        rbt_block_matrix_product(&r->stiffness.K, v, r->product);
    }
    for (size_t i = 0; i < 3 * m->node_count; i++) {
        dx[i] = v[i];
        dv[i] = (dv[i] + r->f[i] - (damped ? m->bodies[0].damping.stiffness * r->product[i] : 0)) / m->mass[i / 3] -
                m->bodies[0].damping.mass * v[i];
        if (r->constrained[i / 3]) dx[i] = dv[i] = 0;
    }
}

static void runge_kutta(rbt_sim *sim, int steps, bool strain_rates) {
    static const double part[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    const rbt_model *m = sim->model;
    size_t n = 3 * m->node_count;
    double *x = sim->state.x, *v = sim->state.v, *y = verify_vector(m), *w = verify_vector(m),
           *sum_x = verify_vector(m), *sum_v = verify_vector(m), *dx = verify_vector(m), *dv = verify_vector(m),
           h = END / steps;
    reference r = {.m = m,
                   .strain_rates = strain_rates,
                   .constrained = calloc(m->node_count, 1),
                   .f = verify_vector(m),
                   .product = verify_vector(m)};
    if (!r.constrained || !rbt_stiffness_build(&r.stiffness, m, NULL)) verify_stop("no memory for a reference");
    rbt_constrained_nodes(m, 0, r.constrained);
    for (int k = 0; k < steps; k++) {
        double t = k * h;
        memset(dx, 0, n * sizeof *dx), memset(dv, 0, n * sizeof *dv);
        memset(sum_x, 0, n * sizeof *dx), memset(sum_v, 0, n * sizeof *dv);
        for (int stage = 0; stage < 4; stage++) {
            for (size_t i = 0; i < n; i++)
                y[i] = x[i] + part[stage] * h * dx[i], w[i] = v[i] + part[stage] * h * dv[i];
            slope(&r, t + part[stage] * h, y, w, dx, dv);
            for (size_t i = 0; i < n; i++)
                sum_x[i] += weight[stage] * h * dx[i], sum_v[i] += weight[stage] * h * dv[i];
        }
        for (size_t i = 0; i < n; i++) x[i] += sum_x[i], v[i] += sum_v[i];
    }
    hold(&r, END, x, v);
    rbt_stiffness_free(&r.stiffness);
    free(r.constrained), free(r.f), free(r.product);
    free(y), free(w), free(sum_x), free(sum_v), free(dx), free(dv);
}

// ---- Errors of a method

typedef struct errors {
    double x, v;  // root of the mean square over free nodes
} errors;

static errors errors_of(const problem *p, const rbt_method *method, const char *tempo, int steps,
                        const rbt_sim *exact) {
    rbt_sim *sim = start(p, method, tempo, steps);
    verify_must_step(sim, steps);
    errors e = {0};
    size_t count = 0;
    for (size_t i = 0; i < 3 * sim->model->node_count; i++) {
        if (sim->model->role[i / 3] != RBT_FREE) continue;
        e.x += pow(sim->state.x[i] - exact->state.x[i], 2);
        e.v += pow(sim->state.v[i] - exact->state.v[i], 2);
        count++;
    }
    rbt_sim_free(sim);
    return (errors){sqrt(e.x / (double)count), sqrt(e.v / (double)count)};
}

static void check_method(verify *v, const problem *p, const rbt_method *method, const char *words, const char *tempo,
                         int steps, const rbt_sim *exact, double known) {
    errors coarse = errors_of(p, method, tempo, steps / 2, exact), fine = errors_of(p, method, tempo, steps, exact);
    double order_x = log2(coarse.x / fine.x), order_v = log2(coarse.v / fine.v);
    bool damped = exact->model->bodies[0].damping.stiffness > 0;
    int order = damped && method->damped_order ? method->damped_order : method->order;
    verify_row(v, fabs(order_x - order) < 0.1 && fabs(order_v - order) < 0.1 && known < 0.01 * fine.x,
               "%s%s|%.2e m|%.2e m|%.2e m/s|%.2e m/s|%.3f|%.3f|%d", method->name, words, coarse.x, fine.x, coarse.v,
               fine.v, order_x, order_v, order);
}

static void check_problem(verify *v, const problem *p) {
    int steps = v->full ? 3200 : 1600;
    rbt_sim *exact = start(p, &RBT_SYMPLECTIC_EULER, "", steps), *half = start(p, &RBT_SYMPLECTIC_EULER, "", steps);
    rbt_sim *rates = start(p, &RBT_SYMPLECTIC_EULER, "", steps);
    runge_kutta(exact, 3200, false);
    runge_kutta(half, 1600, false);
    runge_kutta(rates, 3200, true);
    double known = verify_distance(exact->state.x, half->state.x, 3 * exact->model->node_count) / 15;
    verify_say(v, "\n**%s** — the reference is known to %.0e m.\n", p->name, known);
    verify_table(v, "method|error in x, coarse|fine|error in v, coarse|fine|order in x|order in v|theory");
    for (int i = 0; rbt_method_at(i); i++) {
        const rbt_method *method = rbt_method_at(i);
        check_method(v, p, method, "", "", steps, method->damps_strain_rates ? rates : exact, known);
    }
    check_method(
        v, p, &RBT_MULTIRATE_EULER, ", a part of it with 4 steps in each",
        ", 'tempo': [{'where': {'box': {'min': [0, 0, 0], 'max': [0.6, 1, 1], 'relative': true}}, 'substeps': 4}]",
        steps, exact, known);
    rbt_sim_free(exact);
    rbt_sim_free(half);
    rbt_sim_free(rates);
}

void verify_order(verify *v) {
    int steps = v->full ? 3200 : 1600;
    verify_say(
        v,
        "## Order of the methods\n\n"
        "A soft stable neo-Hookean bar, three smooth motions over %.1f s with %d and %d steps. Root-mean-square "
        "errors over the free nodes against classical Runge-Kutta of fourth order with 3200 steps. The order "
        "log2(coarse / fine) must be within 0.1 of what the method declares (ere: 2, with stiffness damping 1, since "
        "its matrix leaves "
        "out how D changes with x). The damped body is in tension: where "
        "elements are compressed, implicit methods damp with the projected stiffness and the others with the exact "
        "one, so that they converge to slightly different motions. async-contact, which damps rates of strain, has a "
        "reference that does so too.\n",
        END, steps / 2, steps);
    for (int i = 0; i < PROBLEM_COUNT; i++) check_problem(v, &PROBLEMS[i]);
}
