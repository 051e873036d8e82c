// One implicit step of a small bar as a function to minimise, for tests that look inside step solvers.
#ifndef TEST_SUPPORT_ONE_STEP_H
#define TEST_SUPPORT_ONE_STEP_H

#include "scene.h"
#include "sim/sim.h"
#include "step/implicit/objective.h"

#include "random.h"

typedef struct one_step {
    rbt_sim *sim;
    rbt_objective o;
    size_t values;
    double *z, *gradient, *p;
} one_step;

// A clamped bar that was bent at random, and where its step starts: further on, at random too. `more`: keys of the body
static inline one_step one_step_begin(const char *material, double young, double bent, double on, const char *more) {
    char json[1024];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.8, 0.2, 0.2], 'cells': "
        "[8, 2, 2]}}}, 'material': {'model': '%s', 'young': %g, 'poisson': 0.4, 'density': 1000}, 'fixed': "
        "['left']%s}], 'time': {'step': 0.02, 'frame': 0.02, 'end': 10}, 'integrator': {'method': "
        "'backward-euler'}}",
        material, young, more);
    one_step s = {.sim = sim_from(json)};
    const rbt_model *m = s.sim->model;
    s.values = 3 * m->node_count;
    assert_true(rbt_objective_init(&s.o, m, NULL));
    s.o.tau = m->step;
    s.o.base = s.sim->state.x;
    rbt_constrained_nodes(m, 0, s.o.constrained);
    s.z = calloc(s.values, sizeof(double));
    s.gradient = calloc(s.values, sizeof(double));
    s.p = calloc(s.values, sizeof(double));
    for (size_t i = 0; i < s.values; i++) {
        bool constrained = s.o.constrained[i / 3];
        s.sim->state.x[i] += constrained ? 0 : bent * uniform(-1, 1);
        s.o.target[i] = s.sim->state.x[i] + (constrained ? 0 : on * uniform(-1, 1));
        s.z[i] = s.sim->state.x[i] + (constrained ? 0 : on * uniform(-1, 1));
    }
    return s;
}

static inline void one_step_end(one_step *s) {
    rbt_objective_free(&s->o);
    rbt_sim_free(s->sim);
    free(s->z), free(s->gradient), free(s->p);
}

static inline double one_step_dot(const one_step *s, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < s->values; i++) sum += a[i] * b[i];
    return sum;
}

#endif
