// imex with damping and obstacles: spectral radii of whole steps on random bodies, the certificate against dense matrices, and runs
// that blew up before the certificate knew of either.
#include "base/threads.h"
#include "delaunay.h"
#include "dense.h"
#include "math/vec3.h"
#include "scene.h"
#include "scene/sim.h"
#include "step/stability.h"

#include <unistd.h>

enum { BODIES = 200, NODES = 12 };

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

static void damped_steps_against_obstacles_are_stable(void **state) {
    (void)state;
    static const char *const SOLVERS[] = {NULL, ", 'solver': 'cholesky'", ", 'solver': 'cg'"};
    double worst[3] = {0};
    uint64_t seed = 11;
    for (int k = 0; k < BODIES; k++) {
        random_mesh(k, NODES);
        rbt_sim *plain = body_sim("symplectic-euler", &(body){.step = 1e-3});
        double whole = rbt_stability_step_bound(plain->model, NULL, NULL, NULL);
        for (int i = 0; i < STEPS; i++) {
            body b;
            randomise(plain->model, OVER[i] * whole, &seed, &b);
            for (int s = 0; s < 3; s++) {
                b.solver = SOLVERS[s];
                rbt_sim *sim = body_sim("imex", &b);
                double radius = spectral_radius(sim, &b);
                if (radius > 1 + 1e-7 ) print_message("body %d step %d solver %d radius 1 + %g\n", k, i, s, radius-1);
                worst[s] = fmax(worst[s], radius);
                rbt_sim_free(sim);
            }
        }
        rbt_sim_free(plain);
    }
    print_message("spectral radius 1 + %.2g, 1 + %.2g, 1 + %.2g\n", worst[0] - 1, worst[1] - 1, worst[2] - 1);
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
    };
    return cmocka_run_group_tests(tests, NULL, remove_mesh);
}
