// The scalar oscillator q'' + d q' + omega^2 q = 0 of Chen et al. (SIERE, appendix): a mass on a spring, and a cube
// of six linear tets of which one corner is free and moves along the cube's diagonal (1, 1, 1), which by symmetry is
// an eigenvector. Each method's own solution is known in closed form, so that it must come out to rounding.
//
// With lambda = -d/2 + i sqrt(omega^2 - d^2/4) and q(0) = 1, q'(0) = 0 the solution is q = 2 Re(c e^(lambda t)),
// c = -conj(lambda) / (lambda - conj(lambda)). Methods replace e^(lambda h) by an amplification factor:
//   backward Euler (and semi-implicit)   1 / (1 - h lambda)
//   implicit midpoint                    (1 + h lambda / 2) / (1 - h lambda / 2)
//   BDF2                                 the roots of (1 - 2 h lambda / 3) z^2 - 4/3 z + 1/3, begun with backward Euler
//   symplectic Euler                     the roots of z^2 - (2 - h^2 omega^2 - h d) z + (1 - h d)
#include "verify.h"

#include <complex.h>

static const double OMEGA = 100;  // [1/s]

// ---- Closed forms

typedef enum scheme { EULER, MIDPOINT, TWO_STEP, SYMPLECTIC, EXACT, UNKNOWN } scheme;

static scheme scheme_of(const char *method) {
    static const char *const euler[] = {"backward-euler", "semi-implicit", "multirate-euler", "schroeder"};
    for (size_t i = 0; i < sizeof euler / sizeof *euler; i++)
        if (strcmp(method, euler[i]) == 0) return EULER;  // all of them with one step for all
    if (strcmp(method, "implicit-midpoint") == 0) return MIDPOINT;
    if (strcmp(method, "bdf2") == 0) return TWO_STEP;
    if (strcmp(method, "ere") == 0 || strcmp(method, "siere") == 0) return EXACT;  // fewer unknowns than modes
    return strcmp(method, "symplectic-euler") == 0 ? SYMPLECTIC : UNKNOWN;
}

static double complex rate(double d) { return -d / 2 + I * sqrt(OMEGA * OMEGA - d * d / 4); }

// Both roots of BDF2, the one that stands for the motion first
static void two_step_roots(double complex hl, double complex z[2]) {
    double complex a = 1 - 2 * hl / 3, root = csqrt(4.0 / 9 - a / 3);
    z[0] = (2.0 / 3 + root) / a;
    z[1] = (2.0 / 3 - root) / a;
    if (cabs(z[0]) < cabs(z[1])) {
        double complex swap = z[0];
        z[0] = z[1];
        z[1] = swap;
    }
}

// Amplification per step of the motion
static double complex factor_of(scheme s, double h, double d) {
    double complex hl = h * rate(d), z[2];
    switch (s) {
    case EULER: return 1 / (1 - hl);
    case MIDPOINT: return (1 + hl / 2) / (1 - hl / 2);
    case TWO_STEP: two_step_roots(hl, z); return z[0];
    case EXACT: return cexp(hl);
    default: {
        double half = 1 - (h * h * OMEGA * OMEGA + h * d) / 2;
        return half + I * csqrt(1 - h * d - half * half);
    }
    }
}

// q after n steps
static double closed_form(scheme s, double h, double d, int n) {
    double complex l = rate(d), c = -conj(l) / (l - conj(l)), g = factor_of(s, h, d), z[2];
    if (s == TWO_STEP) {  // a z0^n + b z1^n with the values 1 and 1 / (1 - h l) of the first two steps
        two_step_roots(h * l, z);
        double complex first = 1 / (1 - h * l), a = (first - z[1]) / (z[0] - z[1]);
        return 2 * creal(c * (a * cpow(z[0], n) + (1 - a) * cpow(z[1], n)));
    }
    if (s == SYMPLECTIC) c = (1 - h * h * OMEGA * OMEGA - conj(g)) / (g - conj(g));  // from q_0 = 1 and q_1
    return 2 * creal(c * cpow(g, n));
}

// ---- The body

// Young's modulus such that the free corner has the frequency OMEGA; K is proportional to it.
static double modulus(size_t *node) {
    rbt_sim *sim =
        verify_sim("{'rubato': 1, 'bodies': [{'name': 'cube', 'mesh': {'shape': {'cuboid': {'cells': [1, 1, "
                   "1]}}}, 'material': {'model': 'linear', 'young': 1, 'poisson': 0.3}}], 'integrator': "
                   "{'method': 'symplectic-euler'}}");
    const rbt_model *m = sim->model;
    rbt_stiffness s;
    if (!rbt_stiffness_build(&s, m, NULL)) verify_stop("no memory for a stiffness matrix");
    rbt_stiffness_assemble(&s, m, RBT_HESSIAN, m->X);
    *node = 0;
    while (*node < m->node_count && (m->X[3 * *node] < 0 || m->X[3 * *node + 1] < 0 || m->X[3 * *node + 2] < 0))
        ++*node;
    if (*node == m->node_count) verify_stop("the cube has no upper corner");
    const double *K = s.K.value + 9 * (s.K.start[*node + 1] - 1);
    double row[3];
    for (int i = 0; i < 3; i++) row[i] = K[3 * i] + K[3 * i + 1] + K[3 * i + 2];
    if (fabs(row[0] - row[1]) + fabs(row[0] - row[2]) > 1e-12 * row[0])
        verify_stop("the diagonal of the cube is no eigenvector of its corner");
    double young = OMEGA * OMEGA * m->mass[*node] / row[0];
    rbt_stiffness_free(&s);
    rbt_sim_free(sim);
    return young;
}

static rbt_sim *cube(const char *method, double h, double d) {
    size_t node;
    double young = modulus(&node);
    const rbt_method *known = rbt_method_at(rbt_method_find(method));
    rbt_sim *sim = verify_sim(
        "{'rubato': 1, 'bodies': [{'name': 'cube', 'mesh': {'shape': {'cuboid': {'cells': [1, 1, "
        "1]}}}, 'material': {'model': 'linear', 'young': %.17g, 'poisson': 0.3}, 'damping': "
        "{'mass': %.17g}, 'fixed': [{'not': {'nodes': [%zu]}}]}], 'time': {'step': %.17g, 'frame': "
        "%.17g, 'end': 1000}, 'integrator': {'method': '%s'%s}}",
        young, d, node, h, h, method,
        known->options && rbt_record_field(known->options, "tolerance") ? ", 'options': {'tolerance': 1e-13}" : "");
    for (size_t i = 0; i < 3; i++) sim->state.x[3 * node + i] += 1;
    return sim;
}

// The scene that comes with rubato: a mass on a spring of 4 m; omega, d and h as in the paper.
static rbt_sim *spring(const char *method) {
    char choice[64], message[2048];
    snprintf(choice, sizeof choice, "integrator.method=%s", method);
    const char *settings[] = {choice, "integrator.options.tolerance=1e-13"};
    const rbt_record *options = rbt_method_at(rbt_method_find(method))->options;
    size_t count = options && rbt_record_field(options, "tolerance") ? 2 : 1;
    rbt_error error;
    rbt_scene_file *file = rbt_scene_read(RBT_SOURCE_DIR "/scenes/oscillator.json", settings, count, &error);
    rbt_sim *sim = file ? rbt_sim_create(rbt_scene_of(file), &error) : NULL;
    if (!sim) verify_stop("%s", rbt_error_text(&error, message, sizeof message));
    rbt_scene_free(file);
    return sim;
}

static double along_spring(const rbt_sim *sim) { return sim->state.x[3] - sim->state.x[0] - 4; }

// Only the free corner has left its place: along the diagonal, in each direction alike.
static double along_diagonal(const rbt_sim *sim) {
    double sum = 0;
    for (size_t i = 0; i < 3 * sim->model->node_count; i++) sum += sim->state.x[i] - sim->model->X[i];
    return sum / 3;
}

// Largest difference between a run and its closed form over `steps` steps; the simulation is freed.
static double difference(rbt_sim *sim, double (*q)(const rbt_sim *sim), double d, int steps, double *last) {
    scheme s = scheme_of(sim->stepper.method->name);
    double worst = 0;
    for (int n = 1; n <= steps; n++) {
        verify_must_step(sim, 1);
        *last = q(sim);
        worst = verify_larger(worst, fabs(*last - closed_form(s, sim->model->step, d, n)));
    }
    rbt_sim_free(sim);
    return worst;
}

// Every step rounds positions of the size 1 to eps, velocities of the size 100 to some eps / h; nothing grows.
static const double BOUND = 1e-11;

void verify_oscillator(verify *v) {
    const double h = 0.01, d = 1;
    const int steps = 100;
    double complex l = rate(d);
    verify_say(
        v,
        "## A damped oscillator, step by step\n\n"
        "q'' + d q' + omega² q = 0 with omega = 100 /s, d = 1 /s, h = 0.01 s (Chen et al., SIERE, Fig. 19): a mass "
        "on a "
        "spring (`scenes/oscillator.json`), and the free corner of a cube of linear tets. After %d steps the "
        "amplitude should be %.4f of the start and the "
        "frequency is %.3f rad/s; h omega = 1 is a long step, and methods are off in amplitude or frequency, but "
        "each must "
        "give its own closed form to rounding in all steps.\n",
        steps, exp(creal(l) * h * steps), cimag(l));
    verify_table(v, "method|amplitude left|frequency|damping / d|q at the end|off closed form: spring|tets|bound");
    for (int i = 0; rbt_method_at(i); i++) {
        const char *name = rbt_method_name(i);
        if (scheme_of(name) == UNKNOWN) continue;
        double complex g = factor_of(scheme_of(name), h, d);
        double last, tets = difference(cube(name, h, d), along_diagonal, d, steps, &last),
                     off = difference(spring(name), along_spring, d, steps, &last);
        verify_row(v, off < BOUND && tets < BOUND, "%s|%.3g|%.3f rad/s|%.3f|%+.3e|%.1e|%.1e|%.0e", name,
                   pow(cabs(g), steps), carg(g) / h, -2 * log(cabs(g)) / h / d, last, off, tets, BOUND);
    }
}

void verify_artificial_damping(verify *v) {
    static const double products[] = {0.1, 0.3, 1, 3, 10};
    static const char *const methods[] = {"backward-euler", "bdf2", "implicit-midpoint"};
    verify_say(v,
               "## Artificial damping\n\n"
               "The same oscillator without damping (d = 0; Fig. 18 of the same paper): methods damp it as a "
               "coefficient d would that depends on h omega only, exp(-d t / 2) = |amplification|. Runs of 50 steps "
               "against the closed form.\n");
    verify_table(v, "h omega|d / omega, backward Euler|BDF2|implicit midpoint|from closed form|bound");
    for (size_t k = 0; k < sizeof products / sizeof products[0]; k++) {
        double h = products[k] / OMEGA, worst = 0, last, damping[3];
        for (int i = 0; i < 3; i++) {
            worst = verify_larger(worst, difference(cube(methods[i], h, 0), along_diagonal, 0, 50, &last));
            damping[i] = -2 * log(cabs(factor_of(scheme_of(methods[i]), h, 0))) / products[k];
            if (fabs(damping[i]) < 1e-12) damping[i] = 0;
        }
        verify_row(v, worst < BOUND && damping[2] == 0 && damping[1] < damping[0], "%g|%.4f|%.4f|%.4f|%.1e|%.0e",
                   products[k], damping[0], damping[1], damping[2], worst, BOUND);
    }
}
