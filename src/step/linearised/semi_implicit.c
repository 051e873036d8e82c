// Semi-implicit Euler: backward Euler with one linearisation per step (Baraff and Witkin 1998). All of it is in
// linearised.h.
#include "step/core/method.h"
#include "step/linearised/linearised.h"

static void destroy(void *self) {
    rbt_linearised_free(self);
    free(self);
}

static void *create(const rbt_model *model, int solver, const void *options, rbt_error *error) {
    const rbt_semi_implicit_options *own = options;
    rbt_linearised *s = rbt_array_new(1, sizeof *s, "a stepper", error);
    if (s && rbt_linearised_init(s, model, solver, own ? own->subdomains : -1, error)) return s;
    free(s);
    return NULL;
}

static rbt_outcome attempt(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    return rbt_linearised_attempt(self, state, until, stages, report);
}

static bool on_ranks(int solver, const void *options) {
    (void)options;
    return rbt_linear_on_ranks(solver);
}

static size_t subdomains(const rbt_model *model, int solver, const void *options) {
    const rbt_semi_implicit_options *own = options;
    return rbt_linear_subdomains(model, solver, own ? own->subdomains : -1);
}

static void describe(const void *self, rbt_text *json) {
    const rbt_linear_solver *other = &((const rbt_linearised *)self)->linear.other;
    if (other->self && other->describe) other->describe(other->self, json);
}

static int labels(const void *self, int32_t *label) {
    const rbt_linear_solver *other = &((const rbt_linearised *)self)->linear.other;
    return other->self && other->labels ? other->labels(other->self, label) : -1;
}

static const rbt_field FIELDS[] = {
    {.name = "subdomains",
     .kind = RBT_INT,
     .offset = offsetof(rbt_semi_implicit_options, subdomains),
     .flags = RBT_AUTO,
     .fallback = {-1},
     .min = 1,
     .max = 1e6,
     .doc = "Of solver schwarz: parts whose matrices are factored one by one, at most as many as there are elements; "
            "auto: "
            "one for every 2,048 nodes. run.json says how many there are."},
};
static const rbt_record OPTIONS = {"semi-implicit options", "How the linear system of a step is divided.",
                                   sizeof(rbt_semi_implicit_options), RBT_FIELDS_WITH_COOKIE(FIELDS)};

rbt_semi_implicit_options rbt_semi_implicit_options_default(void) {
    rbt_semi_implicit_options options;
    rbt_record_default(&OPTIONS, &options);
    return options;
}

const rbt_method RBT_SEMI_IMPLICIT = {
    .name = "semi-implicit",
    .doc = "backward Euler with one linearisation: one sparse solve per step",
    .when =
        "the fast default for stiff bodies and large steps; damps motion, and can diverge under strong compression",
    .order = 1,
    .solvers = rbt_linear_name,
    .options = &OPTIONS,
    .on_ranks = on_ranks,
    .subdomains = subdomains,
    .describe = describe,
    .labels = labels,
    .create = create,
    .destroy = destroy,
    .attempt = attempt,
    .error_law = rbt_linearised_error_law,
};
