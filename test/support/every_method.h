// One small scene for every method and solver: a bar that is constrained at its left end and gripped at its right
// one, in the wind. Under the sanitizers it has half of the cells.
#ifndef TEST_SUPPORT_EVERY_METHOD_H
#define TEST_SUPPORT_EVERY_METHOD_H

#include "sampled.h"
#include "scene.h"
#include "sim/sim.h"

#ifndef METHOD_CELLS
#define METHOD_CELLS SAMPLED(8, 4)  // along the bar
#endif
enum { MIDDLE_NODE = (METHOD_CELLS + 1) * 4 + METHOD_CELLS / 2 };  // inside the bar

typedef struct method_case {
    const char *method, *solver;  // solver NULL: none
    char name[96];
} method_case;

// `extra` are more keys of the body, `more` of the scene.
static inline rbt_sim *method_sim_with(const method_case *c, const char *extra, const char *more) {
    char json[4096];
    bool parts = strcmp(c->method, "multirate-euler") == 0 || strcmp(c->method, "schroeder") == 0;
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [1, 0.3, 0.3], 'cells': [%d, "
        "2, 2]}}}, 'material': {'young': 2e4}, 'damping': {'mass': 0.1, 'stiffness': 1e-4}, 'selections': [{'name': "
        "'middle', 'where': {'box': {'min': [0.4, 0, 0], 'max': [0.6, 1, 1], 'relative': true}}}], 'fixed': [{'box': "
        "{'min': [0, 0, 0], 'max': [0.01, 1, 1], 'relative': true}}]%s%s}], 'forces': [{'gravity': {}}%s, 'time': "
        "{'step': 1e-3, 'frame': 4e-3, 'end': 1}, 'integrator': {'method': '%s'%s%s%s}}",
        METHOD_CELLS,
        parts ? ", 'tempo': [{'where': {'box': {'min': [0.7, 0, 0], 'max': [1, 1, 1], 'relative': true}}, "
                "'substeps': 2}]"
              : "",
        extra, more, c->method, c->solver ? ", 'solver': '" : "", c->solver ? c->solver : "", c->solver ? "'" : "");
    return sim_from(json);
}

#define GRIP                                                                                                         \
    ", 'driven': [{'name': 'grip', 'where': {'box': {'min': [0.99, 0, 0], 'max': [1, 1, 1], 'relative': true}}}]"
#define WIND ", {'wind': {'velocity': [0, 0, 3]}}]"

static inline rbt_sim *method_sim(const method_case *c) { return method_sim_with(c, GRIP, WIND); }

// Calls `check` for every method with every one of its solvers that takes the scene; returns how many there were.
static inline int for_every_method(void (*check)(const method_case *c)) {
    int count = 0;
    for (int i = 0; rbt_method_name(i); i++)
        for (int k = 0; k == 0 || rbt_solver_name(i, k); k++) {
            method_case c = {.method = rbt_method_name(i), .solver = rbt_solver_name(i, k)};
            if (c.solver && strncmp(c.solver, "petsc-", 6) == 0) continue;  // of rubato-mpi alone
            if (c.solver && strcmp(c.solver, "lagged") == 0) continue;      // for some materials only
            snprintf(c.name, sizeof c.name, "%s %s", c.method, c.solver ? c.solver : "");
            check(&c);
            count++;
        }
    return count;
}

// The same bits in everything that can be read
static inline void assert_same_motion(const rbt_sim *a, const rbt_sim *b, const char *what) {
    size_t bytes = 3 * rbt_sim_node_count(a) * sizeof(double);
    if (rbt_sim_time(a) != rbt_sim_time(b) || rbt_sim_frame(a) != rbt_sim_frame(b))
        fail_msg("%s: times %.17g and %.17g", what, rbt_sim_time(a), rbt_sim_time(b));
    if (memcmp(rbt_sim_positions(a), rbt_sim_positions(b), bytes) != 0) fail_msg("%s: positions differ", what);
    if (memcmp(rbt_sim_velocities(a), rbt_sim_velocities(b), bytes) != 0) fail_msg("%s: velocities differ", what);
    if (memcmp(&a->state.tally, &b->state.tally, sizeof a->state.tally) != 0) fail_msg("%s: tallies differ", what);
    if (a->state.memory_size != b->state.memory_size ||
        (a->state.memory_size && memcmp(a->state.memory, b->state.memory, a->state.memory_size) != 0))
        fail_msg("%s: memories differ", what);
}

static inline void must(bool good, const rbt_error *error) {
    if (!good) fail_msg("%s", error->message);
}

static inline void steps(rbt_sim *sim, int count) {
    rbt_step_report report;
    for (int i = 0; i < count; i++)
        if (!rbt_sim_step(sim, &report))
            fail_msg("%s in %s: %s", rbt_outcome_name(report.outcome), report.stage, report.hint);
}

#endif
