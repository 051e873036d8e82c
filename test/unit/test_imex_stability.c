// Whether what imex leaves explicit is stable: spectral radii of whole steps on random bodies with damping and obstacles, the step
// bound of symplectic Euler by them, envelopes of elements that stiffen against dense matrices, and runs that blew up before certificates
// knew of all that.
#include "base/threads.h"
#include "delaunay.h"
#include "dense.h"
#include "math/vec3.h"
#include "scene.h"
#include "scene/sim.h"
#include "step/stability.h"

#include <unistd.h>

enum { BODIES = 200, NODES = 12, SOLVERS = 3 };

static char mesh_path[64];

// A body in the unit cube, of which three nodes are fixed: no rigid motion, whose double eigenvalue 1 is blurred
typedef struct body {
    double step;
    double mass, stiffness;  // damping
    double normal[2][3], level[2], contact[2];  // planes; none with contact 0
    const char *solver;
} body;

static rbt_sim *body_sim(const char *method, const body *b) {
    char json[4096], planes[1024] = "";
    for (int p = 0; p < 2; p++) {
        size_t used = strlen(planes);
        if (b->contact[p] > 0)
            snprintf(planes + used, sizeof planes - used,
                     "%s{'plane': {'point': [%.17g, %.17g, %.17g], 'normal': [%.17g, %.17g, %.17g], 'stiffness': %.17g}}",
                     used ? ", " : "", b->level[p] * b->normal[p][0], b->level[p] * b->normal[p][1],
                     b->level[p] * b->normal[p][2], b->normal[p][0], b->normal[p][1], b->normal[p][2], b->contact[p]);
    }
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [{'name': 'body', 'mesh': {'file': '%s'}, 'material': {'model': 'linear', "
             "'young': 1e4, 'poisson': 0.3, 'density': 1000}, 'fixed': [{'nodes': [0, 1, 2]}], 'damping': {'mass': "
             "%.17g, 'stiffness': %.17g}}], 'obstacles': [%s], 'time': {'step': %.17g, 'frame': %.17g, 'end': 1000}, "
             "'integrator': {'method': '%s', 'max_cuts': 0%s}}",
             mesh_path, b->mass, b->stiffness, planes, b->step, b->step, method, b->solver ? b->solver : "");
    return sim_from(json);
}

static void random_mesh(int number, size_t nodes) {
    static delaunay d;
    delaunay_random_body(&d, nodes, (uint64_t)number + 1, 1e-5);
    delaunay_write(&d, mesh_path);
}

// Between low and high, in equal ratios
static double spread(uint64_t *seed, double low, double high) {
    return low * pow(high / low, delaunay_random(seed));
}

// What a step makes of a state next to rest: (u / h, v)
static void step_from_rest(rbt_sim *sim, size_t moved, double by, double *result) {
    size_t n = 3 * sim->model->node_count;
    double h = sim->model->step;
    rbt_step_report report = {0};
    memcpy(sim->state.x, sim->model->X, n * sizeof(double));
    memset(sim->state.v, 0, n * sizeof(double));
    if (moved < n) sim->state.x[moved] += by;
    else if (moved < 2 * n) sim->state.v[moved - n] = by / h;
    sim->state.t = 0;
    if (rbt_stepper_advance(&sim->stepper, &sim->state, h, &report) != RBT_DONE) fail_msg("%s", report.hint);
    for (size_t i = 0; i < n; i++) {
        result[i] = (sim->state.x[i] - sim->model->X[i]) / h;
        result[n + i] = sim->state.v[i];
    }
}

// The distance of the closest node to a plane: motions below it change nothing about who touches
static double clearance(const rbt_model *m, const body *b) {
    double least = 1;
    for (size_t n = 0; n < m->node_count; n++)
        for (int p = 0; p < 2; p++)
            if (b->contact[p] > 0) least = fmin(least, fabs(rbt_dot(m->X + 3 * n, b->normal[p]) - b->level[p]));
    return least;
}

// A step as a matrix over (u / h, v), by differences: it is affine while the same nodes touch.
static double spectral_radius(rbt_sim *sim, const body *b) {
    size_t n = 3 * sim->model->node_count;
    double *B = calloc(4 * n * n, sizeof *B), *rest = calloc(2 * n, sizeof *rest);
    double by = 0.2 * clearance(sim->model, b);
    step_from_rest(sim, 2 * n, 0, rest);
    for (size_t j = 0; j < 2 * n; j++) {
        step_from_rest(sim, j, by, B + 2 * n * j);
        for (size_t i = 0; i < 2 * n; i++) B[2 * n * j + i] = (B[2 * n * j + i] - rest[i]) * sim->model->step / by;
    }
    double radius = dense_radius(B, 2 * n);
    free(B);
    free(rest);
    return radius;
}

// The largest gap between nodes along a normal; its middle
static double gap(const rbt_model *m, const double *normal) {
    double best = 0, level = 0;
    for (size_t a = 0; a < m->node_count; a++) {
        double own = rbt_dot(m->X + 3 * a, normal), next = INFINITY;
        for (size_t c = 0; c < m->node_count; c++) {
            double other = rbt_dot(m->X + 3 * c, normal);
            if (other > own) next = fmin(next, other);
        }
        if (!(next < INFINITY && next - own > best)) continue;
        best = next - own;
        level = 0.5 * (own + next);
    }
    return level;
}

// Random damping and planes, of sizes that matter at this step: h alpha, beta / h and h^2 k A / m from little to much. A plane lies below
// all nodes, above all, or between them.
static void randomise(const rbt_model *m, double step, uint64_t *seed, body *b) {
    double area = 0, mass = 0;
    for (size_t n = 0; n < m->node_count; n++) {
        area += m->node_area[n];
        mass += m->mass[n];
    }
    *b = (body){.step = step};
    if (delaunay_random(seed) < 0.8) b->mass = spread(seed, 1e-2, 1) / step;
    if (delaunay_random(seed) < 0.8) b->stiffness = spread(seed, 1e-2, 1e2) * step;
    for (int p = 0; p < 2; p++) {
        for (int i = 0; i < 3; i++) b->normal[p][i] = 2 * delaunay_random(seed) - 1;
        rbt_normalize(b->normal[p], b->normal[p]);
        if (delaunay_random(seed) < 0.8) b->contact[p] = spread(seed, 1e-2, 1e2) * mass / (area * step * step);
        double where = delaunay_random(seed);
        b->level[p] = where < 0.2 ? -3 : where < 0.4 ? 3 : gap(m, b->normal[p]);
    }
}

static const double OVER[] = {0.4, 1.3, 3, 10};  // steps in units of the undamped body's bound
enum { STEPS = sizeof OVER / sizeof *OVER };

static size_t implicit_count(const rbt_sim *sim) {
    rbt_text words = {0};
    sim->stepper.method->describe(sim->stepper.self, &words);
    size_t count = (size_t)strtoul(strstr(words.text, "\"implicit\": ") + strlen("\"implicit\": "), NULL, 10);
    rbt_text_free(&words);
    return count;
}

// Whole steps of imex: the certificate covers what they do, whoever touches.
static void damped_steps_against_obstacles_are_stable(void **state) {
    (void)state;
    static const char *const NAMES[SOLVERS] = {NULL, ", 'solver': 'cholesky'",
                                               ", 'solver': 'cg', 'options': {'tolerance': 1e-11}"};
    double worst = 0;
    size_t mixed = 0, plain_steps = 0;
    uint64_t seed = 11;
    for (int k = 0; k < BODIES; k++) {
        random_mesh(k, NODES);
        rbt_sim *plain = body_sim("symplectic-euler", &(body){.step = 1e-3});
        double whole = rbt_stability_step_bound(plain->model, NULL, NULL, NULL);
        for (int i = 0; i < STEPS; i++) {
            body b;
            randomise(plain->model, OVER[i] * whole, &seed, &b);
            b.solver = NAMES[(k + i) % SOLVERS];
            rbt_sim *sim = body_sim("imex", &b);
            size_t count = implicit_count(sim);
            mixed += count > 0 && count < plain->model->node_count - 3;
            plain_steps += count == 0;
            worst = fmax(worst, spectral_radius(sim, &b));
            rbt_sim_free(sim);
        }
        rbt_sim_free(plain);
    }
    print_message("spectral radius 1 + %.2g in %d steps, %zu of them mixed, %zu explicit\n", worst - 1, BODIES * STEPS,
                  mixed, plain_steps);
    assert_true(worst <= 1 + 1e-7);
    assert_true(mixed > BODIES / 2 && plain_steps > 0);
}

// A step at the bound is stable and one 5 % above it is not: the certificate takes 4 % off h^2 P(h), which is linear in h where damping
// rules, and 0.1 % is what the search leaves.
static void the_bound_of_explicit_steps_is_theirs(void **state) {
    (void)state;
    uint64_t seed = 17;
    double below = 0, above = INFINITY;
    for (int k = 0; k < BODIES / 4; k++) {
        random_mesh(k, NODES);
        rbt_sim *plain = body_sim("symplectic-euler", &(body){.step = 1e-3});
        body b;
        size_t node = SIZE_MAX;
        randomise(plain->model, rbt_stability_step_bound(plain->model, NULL, NULL, NULL), &seed, &b);
        for (int p = 0; p < 2; p++) b.level[p] = 3;  // every node touches
        rbt_sim_free(plain);
        rbt_sim *damped = body_sim("symplectic-euler", &b);
        double bound = rbt_stability_step_bound(damped->model, NULL, &node, NULL);
        assert_true(node >= 3 && node < damped->model->node_count);
        rbt_sim_free(damped);
        for (int side = 0; side < 2; side++) {
            b.step = side ? 1.05 * bound : bound;
            rbt_sim *sim = body_sim("symplectic-euler", &b);
            double radius = spectral_radius(sim, &b);
            if (side) above = fmin(above, radius);
            else below = fmax(below, radius);
            rbt_sim_free(sim);
        }
    }
    print_message("spectral radius 1 + %.2g at the bound, at least %.4f above it\n", below - 1, above);
    assert_true(below <= 1 + 1e-7);
    assert_true(above > 1 + 1e-3);
}

// ---- Stiffening

// Largest eigenvalue of M^-1/2 K M^-1/2
static double largest_rate(const rbt_model *m, double *K) {
    size_t n = 3 * m->node_count;
    double *lambda = malloc(n * sizeof *lambda);
    for (size_t i = 0; i < n * n; i++) K[i] /= sqrt(m->mass[i / n / 3] * m->mass[i % n / 3]);
    dense_eigenvalues(K, n, lambda);
    double largest = lambda[n - 1];
    free(lambda);
    return largest;
}

static double *dense_stiffness(const rbt_model *m, const double *x) {
    rbt_stiffness s;
    assert_true(rbt_stiffness_build(&s, m, NULL));
    rbt_stiffness_assemble(&s, m, RBT_TANGENT, x);
    double *K = dense_of_blocks(&s.K);
    rbt_stiffness_free(&s);
    return K;
}

// K(X) + sum d G, with every element's own d at x
static double *envelope_at(const rbt_model *m, const double *x) {
    size_t n = 3 * m->node_count;
    double *K = dense_stiffness(m, m->X), *p = calloc(n, sizeof *p);
    for (size_t j = 0; j < n; j++) {
        p[j] = 1;
        for (size_t g = 0; g < m->group_count; g++)
            for (size_t e = 0; e < m->groups[g].count; e++) {
                const rbt_group *group = &m->groups[g];
                double d = group->type->stiffening(group, e, x) * group->type->modulus(group, e);
                group->type->laplacian(group, e, d, p, K + n * j);
            }
        p[j] = 0;
    }
    free(p);
    return K;
}

static rbt_sim *material_sim(const char *material) {
    char json[1024];
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [{'name': 'body', 'mesh': {'file': '%s'}, 'material': {'model': '%s', "
             "'young': 1e4, 'poisson': 0.3, 'density': 1000}}], 'integrator': {'method': 'symplectic-euler'}}",
             mesh_path, material);
    return sim_from(json);
}

// lambda_max of K(x) over that of the envelope that just covers it. `amount`: of a random gradient of displacements, and a tenth of it
// of each node by itself, if `loose`.
static double covered(const rbt_model *m, double amount, bool loose, uint64_t *seed, double *growth) {
    size_t n = 3 * m->node_count;
    double *x = malloc(n * sizeof *x), G[9];
    for (int i = 0; i < 9; i++) G[i] = (i % 4 == 0) + amount * (2 * delaunay_random(seed) - 1);
    for (size_t i = 0; i < n; i++) {
        x[i] = rbt_dot(G + 3 * (i % 3), m->X + 3 * (i / 3));
        if (loose) x[i] += 0.1 * amount * (2 * delaunay_random(seed) - 1);
    }
    double *K = dense_stiffness(m, x), *most = envelope_at(m, x), *rest = dense_stiffness(m, m->X);
    double now = largest_rate(m, K), ratio = now / largest_rate(m, most);
    *growth = fmax(*growth, now / largest_rate(m, rest));
    free(K);
    free(most);
    free(rest);
    free(x);
    return ratio;
}

// Where all tets turn alike this is a theorem. Where they do not, what counts is that it stays within the 4 % that certificates keep.
static void envelopes_are_stiffer_than_what_they_cover(void **state) {
    (void)state;
    static const char *const NAMES[] = {"st-venant-kirchhoff", "stable-neo-hookean", "neo-hookean", "fixed-corotated",
                                        "arap"};
    static const double AMOUNTS[] = {0.01, 0.1, 0.5};
    uint64_t seed = 23;
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
        double worst[2] = {0}, growth = 0;
        for (int b = 0; b < 24; b++) {
            random_mesh(b, NODES - 2);
            rbt_sim *sim = material_sim(NAMES[k]);
            for (int loose = 0; loose < 2; loose++) {
                double ratio = covered(sim->model, AMOUNTS[b % 3], loose, &seed, &growth);
                if (isnan(ratio)) continue;  // inside out, where neo-Hookean has no stiffness
                worst[loose] = fmax(worst[loose], ratio);
            }
            rbt_sim_free(sim);
        }
        print_message("%s: up to %.6f of the envelope, %.4f with nodes moved by themselves; up to %.3g times as stiff\n",
                      NAMES[k], worst[0], worst[1], growth);
        assert_true(worst[0] > 0 && worst[0] <= 1 + 1e-9);
        assert_true(worst[1] > 0 && worst[1] <= 1.04);
    }
}

// ---- Runs that blew up

typedef struct energies {
    double start, first, second;  // the largest of the first and the second half
} energies;

static energies run(const char *json, int steps) {
    rbt_sim *sim = sim_from(json);
    energies e = {.start = rbt_sim_energies(sim).total};
    rbt_step_report report = {0};
    for (int i = 0; i < steps; i++) {
        if (rbt_sim_step(sim, &report) != RBT_DONE) fail_msg("step %d: %s", i, report.hint);
        double now = rbt_sim_energies(sim).total, *most = i < steps / 2 ? &e.first : &e.second;
        *most = fmax(*most, now);
    }
    rbt_sim_free(sim);
    return e;
}

// Symplectic Euler keeps E - h v . f / 2, so that at a frequency w E swings by (1 + h w / 2) / (1 - h w / 2). Certified are
// (h w)^2 <= 4 (1 - 0.04), and explosions go beyond any number.
static double swing(void) { return (1 + sqrt(0.96)) / (1 - sqrt(0.96)); }

static const char BAR[] =
    "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'bar': {'size': [0.2, 0.04, 0.04], 'cells': [%s]}}, "
    "'slivers': {'share': %s, 'height': %s, 'seed': 6}}, 'material': {'model': '%s', 'young': 30000, 'poisson': 0.3, "
    "'density': 1000}, %s}], %s 'time': {'step': %s, 'frame': %s, 'end': 100}, 'integrator': {'method': 'imex', "
    "'max_cuts': 0}}";
static const char HELD_AND_BENT[] =
    "'fixed': [{'box': {'min': [0, 0, 0], 'max': [0.001, 1, 1], 'relative': true}}], 'deform': [{'bend': {'axis': [1, "
    "0, 0], 'towards': [0, 1, 0], 'degrees': %d}}]%s";

// Below the bound of the undamped bar, above that of the damped one: 0.003 J became more than 1,000
static void damped_bars_come_to_rest(void **state) {
    (void)state;
    char json[2048], more[512];
    snprintf(more, sizeof more, HELD_AND_BENT, 20, ", 'damping': {'stiffness': 2e-4}");
    snprintf(json, sizeof json, BAR, "16, 5, 5", "0.005", "0.36", "corotational", more, "", "0.0004", "0.0004");
    energies e = run(json, 500);
    print_message("%g J, then %g and %g\n", e.start, e.first, e.second);
    assert_true(e.first < swing() * e.start && e.second < e.first);
}

// Stiff planes under a falling bar
static void stiff_planes_give_no_energy(void **state) {
    (void)state;
    static const char *const STIFFNESS[] = {"1e7", "1e8", "1e11"};
    for (int k = 0; k < 3; k++) {
        char json[2048], planes[256];
        snprintf(planes, sizeof planes,
                 "'obstacles': [{'plane': {'point': [0, -0.05, 0], 'normal': [0.1, 1, 0], 'stiffness': %s}}],",
                 STIFFNESS[k]);
        snprintf(json, sizeof json, BAR, "12, 3, 3", "0.005", "0.36", "corotational",
                 "'velocity': {'linear': [0, -1, 0]}", planes, "0.0004", "0.0004");
        energies e = run(json, 400);
        print_message("%s Pa/m: %g J, then %g and %g\n", STIFFNESS[k], e.start, e.first, e.second);
        assert_true(e.first < swing() * e.start && e.second < 1.01 * e.first);
    }
}

// St. Venant-Kirchhoff's slivers, which stiffen most where edges show least
static void slivers_that_stiffen_give_no_energy(void **state) {
    (void)state;
    static const char *const STEP[] = {"0.0004", "0.0006", "0.001"};
    for (int k = 0; k < 3; k++) {
        char json[2048], more[512];
        snprintf(more, sizeof more, HELD_AND_BENT, 60, "");
        snprintf(json, sizeof json, BAR, "10, 3, 3", "0.05", "0.1", "st-venant-kirchhoff", more, "", STEP[k], STEP[k]);
        energies e = run(json, 3000);
        print_message("%s s: %g J, then %g and %g\n", STEP[k], e.start, e.first, e.second);
        assert_true(e.first < swing() * e.start && e.second < 1.01 * e.first);
    }
}

static int remove_mesh(void **state) {
    (void)state;
    return unlink(mesh_path);
}

int main(void) {
    rbt_threads_set(1);  // many small steps
    snprintf(mesh_path, sizeof mesh_path, "/tmp/rubato_imex_stability_%d.mesh", (int)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damped_steps_against_obstacles_are_stable),
        cmocka_unit_test(the_bound_of_explicit_steps_is_theirs),
        cmocka_unit_test(envelopes_are_stiffer_than_what_they_cover),
        cmocka_unit_test(damped_bars_come_to_rest),
        cmocka_unit_test(stiff_planes_give_no_energy),
        cmocka_unit_test(slivers_that_stiffen_give_no_energy),
    };
    return cmocka_run_group_tests(tests, NULL, remove_mesh);
}
