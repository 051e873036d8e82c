// Semi-implicit Euler: backward Euler with one linearisation per step (Baraff and Witkin 1998). All of it is in
// linearised.h.
#include "step/core/method.h"
#include "step/linearised/linearised_contact.h"

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
    return rbt_linearised_attempt(self, state, until, state->memory, stages, report);
}

static rbt_outcome free_step(void *self, rbt_state *state, double until, const rbt_free_part *part,
                             rbt_free_step *step, rbt_stages *stages, rbt_step_report *report) {
    double h = rbt_step_length(((rbt_linearised *)self)->model, state, until);
    return rbt_linearised_free_step(self, state, h, part, step, stages, report);
}

static size_t memory_size(const rbt_model *m, const void *options) {
    (void)options;
    return rbt_impulse_memory_size(m);
}

// Work and friction so far stay.
static void forget(void *self, rbt_state *state) { (void)self, (void)state; }

static void set_observer(void *self, const rbt_observer *observer) { rbt_linearised_watch(self, observer); }
static double *spent(const void *self, const rbt_state *state) {
    (void)self;
    rbt_impulse_memory *memory = state->memory;
    return memory ? &memory->work : NULL;
}

static double thickness(const void *self) { return rbt_linearised_thickness(self); }

static bool accepts(void *self, const rbt_state *state, char *text, size_t size) {
    return rbt_linearised_accepts(self, state, text, size);
}
static void energies(void *self, const rbt_state *state, rbt_energies *e) {
    rbt_linearised_energies(self, state->memory, e);
}
static size_t contacts(void *self, const rbt_state *state, rbt_contact_point *points, size_t capacity) {
    return rbt_linearised_contacts(self, state->memory, state, points, capacity);
}
static void contact_forces(void *self, const rbt_state *state, double *f) {
    rbt_linearised_contact_forces(self, state->memory, state, f);
}
static void give_contact(void *self, const rbt_state *state, rbt_contact_handover *to) {
    rbt_impulses_give(((rbt_linearised *)self)->model, state->memory, to);
}
static void take_contact(void *self, rbt_state *state, const rbt_contact_handover *from) {
    rbt_impulses_take(((rbt_linearised *)self)->model, state->memory, from);
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
    rbt_linearised_describe(self, json);  // contact, which goes with no other solver
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

static rbt_step_work work(int solver) {
    if (solver != RBT_LINEAR_CHOLESKY)
        return (rbt_step_work){.gradients = 10, .assemblies = 1};  // products cost about what forces do
    return (rbt_step_work){.gradients = 1, .assemblies = 1, .factors = 1, .solves = 1};
}

static int refine_error(void *self, const rbt_state *state, double h, int order, double *ex, double *ev) {
    rbt_linearised *s = self;
    (void)ex;
    for (size_t i = 0; i < 3 * s->model->node_count; i++) s->moved[i] = h * state->v[i];
    rbt_linearised_add_missed(s, state, h, s->moved, ev);
    return order;
}

const rbt_method RBT_SEMI_IMPLICIT = {
    .name = "semi-implicit",
    .helped = "one solve",
    .doc = "backward Euler with one linearisation: one sparse solve per step",
    .when = "fast, for stiff bodies and large steps; damps motion, and can diverge under strong compression",
    .order = 1,
    .solvers = rbt_linear_name,
    .options = &OPTIONS,
    .on_ranks = on_ranks,
    .subdomains = subdomains,
    .labels = labels,
    .create = create,
    .destroy = destroy,
    .attempt = attempt,
    .free_step = free_step,
    .contact = true,
    .memory_size = memory_size,
    .failure_spares_memory = true,
    .most_attempts = RBT_MOST_ATTEMPTS,
    .forget = forget,
    .set_observer = set_observer,
    .accepts = accepts,
    .thickness = thickness,
    .spent = spent,
    .describe = describe,
    .energies = energies,
    .contacts = contacts,
    .contact_forces = contact_forces,
    .give_contact = give_contact,
    .take_contact = take_contact,
    .work = work,
    .error_law = rbt_linearised_error_law,
    .refine_error = refine_error,
};
