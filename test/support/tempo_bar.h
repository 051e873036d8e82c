// Bars with parts that take steps of their own.
#ifndef TEST_SUPPORT_TEMPO_BAR_H
#define TEST_SUPPORT_TEMPO_BAR_H

#include "base/threads.h"
#include "dense_step.h"
#include "sampled.h"

// ---- Scenes: a bar of seven layers of four nodes

static inline rbt_sim *bar_with(const char *model, const char *method, double h, const char *options,
                                const char *body, const char *scene) {
    char json[4096];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.6, 0.1, 0.07], 'cells': "
        "[6, 1, 1]}}}, 'material': {'model': '%s', 'young': 2e4, 'poisson': 0.3, 'density': 1000}, "
        "'deform': [{'bend': {'axis': [1, 0, 0], 'towards': [0, 1, 0], 'degrees': 8}}], 'velocity': {'linear': "
        "[0.1, 0.3, 0.2], 'angular': [1, 2, 3]}%s}]%s, 'time': {'step': %.17g, 'frame': %.17g, 'end': 100}, "
        "'integrator': {'method': '%s'%s}}",
        model, body, scene, h, h, method, options);
    return sim_from(json);
}
static inline rbt_sim *bar(const char *options, double h, const char *body, const char *scene) {
    return bar_with("linear", "multirate-euler", h, options, body, scene);
}

#define LAYERS(from, to, m)                                                                                          \
    "{'where': {'box': {'min': [" from ", 0, 0], 'max': [" to ", 1, 1], 'relative': true}}, 'substeps': " m "}"
#define LU      ", 'solver': 'lu'"
#define AT_END  ", 'options': {'interpolation': 'end'}"
#define DAMPED  ", 'damping': {'mass': 0.7, 'stiffness': 2e-3}"
#define MASS    ", 'consistent_mass': true"
#define FIXED   ", 'fixed': [{'box': {'min': [0.45, 0, 0], 'max': [0.55, 1, 1], 'relative': true}}]"
#define GRAVITY ", 'forces': [{'gravity': {'acceleration': [0, -10, 0]}}]"
#define PULSE                                                                                                        \
    ", 'forces': [{'gravity': {}}, {'pulse': {'where': {'nodes': [0, 1]}, 'peak': [0, 3, 1], 'duration': 0.09, "     \
    "'from': 0.004}}, {'pull': {'where': {'nodes': [24, 27]}, 'force': [0.3, 0, 0], 'from': 0.025, 'until': "        \
    "0.041}}]"

static inline double largest(const double *a, const double *b, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

#define ENDS(m)      ", 'tempo': [" LAYERS("0", "0.2", m) "]"
#define TWO(m, o)    ", 'tempo': [" LAYERS("0", "0.2", m) ", " LAYERS("0.8", "1", o) "]"
#define NESTED(m, o) ", 'tempo': [" LAYERS("0", "0.7", m) ", " LAYERS("0", "0.2", o) "]"

static inline double distance(const rbt_sim *a, const rbt_sim *b) {
    size_t n = 3 * a->model->node_count;
    double size = 0, x = 0, v = 0;
    for (size_t i = 0; i < n; i++) {
        size = fmax(size, fabs(a->state.v[i]));
        x = fmax(x, fabs(a->state.x[i] - b->state.x[i]));
        v = fmax(v, fabs(a->state.v[i] - b->state.v[i]));
    }
    return fmax(x, v / size);
}

// Two steps have the same bits with any number of threads, and a new simulation that is given the state continues with
// them.
static inline void check_threads_and_pauses(rbt_sim *(*make)(const char *), const char *what) {
    static const int threads[] = {1, 3, 2, 8};
    enum { COUNT = SAMPLED(4, 2) };
    rbt_sim *sims[COUNT + 1];
    for (int i = 0; i < COUNT; i++) {
        rbt_threads_set(threads[i]);
        sims[i] = make(what);
        advance(sims[i], 2);
    }
    rbt_threads_set(1);
    rbt_sim *first = sims[0], *resumed = sims[COUNT] = make(what);
    size_t bytes = 3 * first->model->node_count * sizeof(double);
    for (int i = 1; i < COUNT; i++) {
        assert_memory_equal(sims[i]->state.x, first->state.x, bytes);
        assert_memory_equal(sims[i]->state.v, first->state.v, bytes);
    }
    memcpy(resumed->state.x, first->state.x, bytes);
    memcpy(resumed->state.v, first->state.v, bytes);
    resumed->state.t = first->state.t;
    resumed->state.frame = first->state.frame;
    advance(first, 2);
    advance(resumed, 2);
    assert_memory_equal(resumed->state.x, first->state.x, bytes);
    assert_memory_equal(resumed->state.v, first->state.v, bytes);
    for (int i = 0; i <= COUNT; i++) rbt_sim_free(sims[i]);
}

#endif
