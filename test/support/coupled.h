// A step of a method on a random linear body with damping and planes, as a matrix: its spectral radius.
#ifndef TEST_SUPPORT_COUPLED_H
#define TEST_SUPPORT_COUPLED_H

#include "delaunay.h"
#include "dense.h"
#include "math/vec3.h"
#include "random.h"
#include "rubato/rubato.h"
#include "sim/sim.h"
#include "step/explicit/stability.h"

enum { COUPLED_BODIES = 200, COUPLED_NODES = 12, COUPLED_STEPS = 4, COUPLED_SOLVERS = 3 };

// Steps in units of the undamped body's bound
static const double COUPLED_OVER[COUPLED_STEPS] = {0.4, 0.9, 1.5, 3};

// To rounding: where planes push far, an error of the default's size would be larger than the motions that a step's
// matrix is made of.
static const char *const COUPLED_SOLVER[COUPLED_SOLVERS] = {", 'options': {'tolerance': 1e-13}",
                                                            ", 'solver': 'cholesky'",
                                                            ", 'solver': 'cg', 'options': {'tolerance': 1e-13}"};

typedef struct coupled {
    double step;                                // [s]
    double mass, stiffness;                     // damping
    double normal[2][3], level[2], contact[2];  // planes; none with contact 0
    const char *solver;                         // and options, as in a scene
} coupled;

// A body in the unit cube. Three nodes are fixed: no rigid motion, whose double eigenvalue 1 is blurred. NULL: it is
// refused.
static inline rbt_sim *coupled_sim(const char *mesh, const char *method, const coupled *c) {
    char json[4096], planes[1024] = "";
    for (int p = 0; p < 2; p++) {
        size_t used = strlen(planes);
        const double *n = c->normal[p], at = c->level[p];
        if (c->contact[p] > 0)
            snprintf(planes + used, sizeof planes - used,
                     "%s{'plane': {'point': [%.17g, %.17g, %.17g], 'normal': [%.17g, %.17g, %.17g], 'stiffness': "
                     "%.17g}}",
                     used ? ", " : "", at * n[0], at * n[1], at * n[2], n[0], n[1], n[2], c->contact[p]);
    }
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [{'name': 'body', 'mesh': {'file': '%s'}, 'material': {'model': 'linear', "
             "'young': 1e4, 'poisson': 0.3, 'density': 1000}, 'fixed': [{'nodes': [0, 1, 2]}], 'damping': {'mass': "
             "%.17g, 'stiffness': %.17g}}], 'obstacles': [%s], 'time': {'step': %.17g, 'frame': %.17g, 'end': 1000}, "
             "'integrator': {'method': '%s', 'max_halvings': 0%s}}",
             mesh, c->mass, c->stiffness, planes, c->step, c->step, method, c->solver ? c->solver : "");
    for (char *quote = json; *quote; quote++)
        if (*quote == '\'') *quote = '"';
    rbt_error error;
    rbt_scene_file *file = rbt_scene_parse(json, strlen(json), "coupled.json", NULL, 0, &error);
    rbt_sim *sim = file ? rbt_sim_create(rbt_scene_of(file), &error) : NULL;
    rbt_scene_free(file);
    return sim;
}

static inline void coupled_mesh(const char *mesh, int number) {
    static delaunay d;
    delaunay_random_body(&d, COUPLED_NODES, random_stream("coupled", (uint64_t)number), 1e-5);
    delaunay_write(&d, mesh);
}

// ---- Random damping and planes

// Between low and high, in equal ratios
static inline double coupled_spread(uint64_t *seed, double low, double high) {
    return low * pow(high / low, delaunay_random(seed));
}

// The middle of the largest gap between nodes along a normal
static inline double coupled_gap(const rbt_model *m, const double *normal) {
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

// Of sizes that matter at this step: h alpha, beta / h and h^2 k A / m from little to much. A plane lies below all
// nodes, above all, or between them.
static inline coupled coupled_random(const rbt_model *m, double step, uint64_t *seed) {
    coupled c = {.step = step};
    double area = 0, mass = 0;
    for (size_t n = 0; n < m->node_count; n++) {
        area += m->node_area[n];
        mass += m->mass[n];
    }
    if (delaunay_random(seed) < 0.8) c.mass = coupled_spread(seed, 1e-3, 1) / step;
    if (delaunay_random(seed) < 0.8) c.stiffness = coupled_spread(seed, 1e-3, 10) * step;
    for (int p = 0; p < 2; p++) {
        for (int i = 0; i < 3; i++) c.normal[p][i] = 2 * delaunay_random(seed) - 1;
        rbt_normalize(c.normal[p], c.normal[p]);
        if (delaunay_random(seed) < 0.8) c.contact[p] = coupled_spread(seed, 1e-2, 1e2) * mass / (area * step * step);
        double where = delaunay_random(seed);
        c.level[p] = where < 0.2 ? -3 : where < 0.4 ? 3 : coupled_gap(m, c.normal[p]);
    }
    return c;
}

// ---- A step

// What a step makes of a state next to rest: (u / h, v); false if it fails
static inline bool coupled_step(rbt_sim *sim, size_t moved, double by, double *result) {
    size_t n = 3 * sim->model->node_count;
    double h = sim->model->step;
    rbt_step_report report = {0};
    memcpy(sim->state.x, sim->model->X, n * sizeof(double));
    memset(sim->state.v, 0, n * sizeof(double));
    if (moved < n) sim->state.x[moved] += by;
    else if (moved < 2 * n) sim->state.v[moved - n] = by / h;
    sim->state.t = 0;
    if (rbt_stepper_advance(&sim->stepper, &sim->state, h, &report) != RBT_DONE) return false;
    for (size_t i = 0; i < n; i++) {
        result[i] = (sim->state.x[i] - sim->model->X[i]) / h;
        result[n + i] = sim->state.v[i];
    }
    return true;
}

// The distance of the closest node to a plane: motions below it change nothing about who touches
static inline double coupled_clearance(const rbt_model *m, const coupled *c) {
    double least = 1;
    for (size_t n = 0; n < m->node_count; n++)
        for (int p = 0; p < 2; p++)
            if (c->contact[p] > 0) least = fmin(least, fabs(rbt_dot(m->X + 3 * n, c->normal[p]) - c->level[p]));
    return least;
}

// Of a step as a matrix over (u / h, v), by differences: it is affine while the same nodes touch. Infinite if a step
// fails.
static inline double coupled_radius(rbt_sim *sim, const coupled *c) {
    size_t n = 3 * sim->model->node_count;
    double *B = calloc(4 * n * n, sizeof *B), *rest = calloc(2 * n, sizeof *rest), radius = INFINITY;
    double by = 0.2 * coupled_clearance(sim->model, c);
    bool good = coupled_step(sim, 2 * n, 0, rest);
    for (size_t j = 0; good && j < 2 * n; j++) {
        good = coupled_step(sim, j, by, B + 2 * n * j);
        for (size_t i = 0; i < 2 * n; i++) B[2 * n * j + i] = (B[2 * n * j + i] - rest[i]) * sim->model->step / by;
    }
    if (good) radius = dense_radius(B, 2 * n);
    free(B);
    free(rest);
    return radius;
}

static inline size_t coupled_implicit(const rbt_sim *sim) {
    rbt_text words = {0};
    sim->stepper.method->describe(sim->stepper.self, &words);
    size_t count = (size_t)strtoul(strstr(words.text, "\"implicit\": ") + strlen("\"implicit\": "), NULL, 10);
    rbt_text_free(&words);
    return count;
}

// ---- The study

typedef struct coupled_found {
    double worst;           // spectral radius
    size_t mixed, without;  // steps with some nodes of each kind, and without implicit ones
} coupled_found;

// imex at COUPLED_OVER[which] on bodies 0 to count - 1; the mesh is a file that is written over.
static inline coupled_found coupled_study(const char *mesh, int which, int count) {
    coupled_found found = {0};
    uint64_t seed = random_stream(__func__, (uint64_t)which);
    for (int k = 0; k < count; k++) {
        coupled_mesh(mesh, k);
        rbt_sim *plain = coupled_sim(mesh, "symplectic-euler", &(coupled){.step = 1e-3});
        double whole = rbt_stability_step_bound(plain->model, NULL, NULL, NULL);
        coupled c = coupled_random(plain->model, COUPLED_OVER[which] * whole, &seed);
        size_t moving = plain->model->node_count - 3;
        rbt_sim_free(plain);
        c.solver = COUPLED_SOLVER[(k + which) % COUPLED_SOLVERS];
        rbt_sim *sim = coupled_sim(mesh, "imex", &c);
        size_t implicit = coupled_implicit(sim);
        found.mixed += implicit > 0 && implicit < moving;
        found.without += implicit == 0;
        found.worst = fmax(found.worst, coupled_radius(sim, &c));
        rbt_sim_free(sim);
    }
    return found;
}

#endif
