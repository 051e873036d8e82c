// Semi-implicit Euler: backward Euler with one linearisation per step (Baraff and Witkin 1998). All of it is in
// linearised.h.
#include "step/core/method.h"
#include "step/linearised/linearised.h"

static void destroy(void *self) {
    rbt_linearised_free(self);
    free(self);
}

static void *create(const rbt_model *model, int solver, const void *options, rbt_error *error) {
    (void)options;
    rbt_linearised *s = rbt_array_new(1, sizeof *s, "a stepper", error);
    if (s && rbt_linearised_init(s, model, solver == 1, error)) return s;
    free(s);
    return NULL;
}

static rbt_outcome attempt(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    return rbt_linearised_attempt(self, state, until, stages, report);
}

static rbt_step_work work(int solver) {
    if (solver == 1) return (rbt_step_work){.gradients = 10, .assemblies = 1};  // products cost about what forces do
    return (rbt_step_work){.gradients = 1, .assemblies = 1, .factors = 1, .solves = 1};
}

static const char *solver_name(int i) { return i == 0 ? "cholesky" : i == 1 ? "cg" : NULL; }

const rbt_method RBT_SEMI_IMPLICIT = {
    .name = "semi-implicit",
    .doc = "backward Euler with one linearisation: one sparse solve per step",
    .when =
        "the fast default for stiff bodies and large steps; damps motion, and can diverge under strong compression",
    .order = 1,
    .solvers = solver_name,
    .create = create,
    .destroy = destroy,
    .attempt = attempt,
    .work = work,
    .error_law = rbt_linearised_error_law,
};
