// Semi-implicit Euler: backward Euler with one linearisation per step (Baraff and Witkin 1998). All of it is in
// linearised.h.
#include "step/core/method.h"
#include "step/linearised/linearised_contact.h"

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
    return rbt_linearised_attempt(self, state, until, state->memory, stages, report);
}

static size_t memory_size(const rbt_model *m, const void *options) {
    (void)options;
    return rbt_impulse_memory_size(m);
}

// Work and friction so far stay.
static void forget(void *self, rbt_state *state) { (void)self, (void)state; }

static void set_observer(void *self, const rbt_observer *observer) { rbt_linearised_watch(self, observer); }
static bool accepts(void *self, const rbt_state *state, char *text, size_t size) {
    return rbt_linearised_accepts(self, state, text, size);
}
static void describe(const void *self, rbt_text *json) { rbt_linearised_describe(self, json); }
static void energies(void *self, const rbt_state *state, rbt_energies *e) {
    rbt_linearised_energies(self, state->memory, e);
}
static size_t contacts(void *self, const rbt_state *state, rbt_contact_point *points, size_t capacity) {
    return rbt_linearised_contacts(self, state->memory, state, points, capacity);
}
static void contact_forces(void *self, const rbt_state *state, double *f) {
    rbt_linearised_contact_forces(self, state->memory, state, f);
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
    .contact = true,
    .memory_size = memory_size,
    .failure_spares_memory = true,
    .forget = forget,
    .set_observer = set_observer,
    .accepts = accepts,
    .describe = describe,
    .energies = energies,
    .contacts = contacts,
    .contact_forces = contact_forces,
    .error_law = rbt_linearised_error_law,
};
