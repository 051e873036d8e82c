// The workspace of the implicit methods: its life, how the state's memory is divided, and what it is asked between
// steps.
#include "step/implicit/energy_euler.h"

#include <math.h>
#include <string.h>

// ---- Life

void rbt_implicit_destroy(void *self) {
    rbt_implicit *s = self;
    if (s->work) s->solver->destroy(s->work);
    rbt_other_methods_free(s->objective.others);
    rbt_step_contact_free(s->objective.pairs);
    rbt_energy_leash_free(&s->leash);
    rbt_rigid_free(&s->rigid);
    rbt_objective_free(&s->objective);
    rbt_arena_free(s->arena);
    free(s);
}

static bool check_contact(const rbt_implicit *s, const rbt_model *m, rbt_error *error) {
    if (!m->contact.on || s->solver->contact) return true;
    return rbt_fail_path(error, NULL, "contact",
                         "the solver %s does not know contact; take newton, dot or lbfgs-h, or leave \"contact\" out",
                         s->solver->name);
}

static bool make_contact(rbt_implicit *s, const rbt_model *m, rbt_error *error) {
    if (!m->contact.on) return true;
    double tau = s->rule == RBT_RULE_MIDPOINT ? 0.5 * m->step
                 : s->rule == RBT_RULE_BDF2   ? 2 * m->step / 3
                                              : sqrt(rbt_energy_euler_whole(s)) * m->step;
    return (s->objective.pairs = rbt_step_contact_new(m, tau, &s->objective.H, error)) != NULL;
}

// Bodies of other methods are those of backward Euler only (rbt_method.joins).
static bool make_others(rbt_implicit *s, const rbt_model *m, rbt_error *error) {
    if (!rbt_other_methods_any(m)) return true;
    if (m->contact.on && s->solver != &RBT_NEWTON)
        return rbt_fail_path(
            error, NULL, "integrator.solver",
            "%s does not know bodies with a method of their own, which bring a matrix and modes with "
            "them; take newton",
            s->solver->name);
    return (s->objective.others = rbt_other_methods_new(m, &s->objective.H, error)) != NULL;
}

void *rbt_implicit_create(rbt_implicit_rule which, const rbt_model *model, int solver, const void *options,
                          rbt_error *error) {
    rbt_implicit *s = rbt_array_new(1, sizeof *s, "a stepper", error);
    if (!s) return NULL;
    s->rule = which;
    s->theta = s->theta_now = 1;
    s->solver = rbt_step_solver_at(solver);
    s->arena = rbt_arena_new();
    if (options) s->options = *(const rbt_implicit_options *)options;
    else rbt_record_default(&RBT_SOLVER_OPTIONS, &s->options);
    double **vectors[] = {&s->base, &s->velocity, &s->z, &s->other, &s->constrained_velocity};
    bool ok = s->arena;
    for (size_t i = 0; ok && i < sizeof vectors / sizeof *vectors; i++)
        ok = (*vectors[i] = rbt_arena_take(s->arena, 3 * model->node_count, sizeof(double))) != NULL;
    if (!ok) rbt_fail_memory(error, 15 * model->node_count * sizeof(double), "a stepper");
    if (ok && check_contact(s, model, error) && rbt_objective_init(&s->objective, model, error) &&
        rbt_rigid_init(&s->rigid, &s->objective, error) && rbt_energy_euler_init(s, options, error) &&
        make_contact(s, model, error) && make_others(s, model, error) &&
        (s->work = s->solver->create(&s->objective, &s->options, error)))
        return s;
    rbt_implicit_destroy(s);
    return NULL;
}

// ---- The state's memory

static size_t bdf2_memory(const rbt_model *m) { return (1 + 6 * m->node_count) * sizeof(double); }

size_t rbt_implicit_memory_size(const rbt_model *m, const void *options) {
    (void)options;
    return rbt_contact_memory_size(m) + rbt_other_methods_memory(m);
}

size_t rbt_implicit_memory_size_bdf2(const rbt_model *m, const void *options) {
    return bdf2_memory(m) + rbt_implicit_memory_size(m, options);
}

static size_t debt_memory(const rbt_model *m) { return m->body_count * sizeof(double); }

size_t rbt_implicit_memory_size_energy(const rbt_model *m, const void *options) {
    return debt_memory(m) + rbt_implicit_memory_size(m, options);
}

static size_t own_memory(const rbt_implicit *s) {
    const rbt_model *m = s->objective.model;
    return s->rule == RBT_RULE_BDF2 ? bdf2_memory(m) : s->rule == RBT_RULE_ENERGY_EULER ? debt_memory(m) : 0;
}

rbt_contact_memory *rbt_implicit_contact_memory(const rbt_implicit *s, const rbt_state *state) {
    size_t before = own_memory(s);
    return s->objective.pairs && state->memory ? (void *)((char *)state->memory + before) : NULL;
}

void *rbt_implicit_others_memory(const rbt_implicit *s, const rbt_state *state) {
    size_t before = own_memory(s) + rbt_contact_memory_size(s->objective.model);
    return state->memory ? (char *)state->memory + before : NULL;
}

// ---- What it is asked between steps

rbt_step_work rbt_implicit_work(int solver) { return rbt_step_solver_at(solver)->work; }

void rbt_implicit_set_precision(void *self, double share) {
    rbt_implicit *s = self;
    s->precision = share;
}

void rbt_implicit_describe(const void *self, rbt_text *json) {
    const rbt_implicit *s = self;
    size_t before = json->size;
    if (s->solver->describe) s->solver->describe(s->work, json);
    if (!s->objective.pairs) return;
    if (json->size > before) rbt_text_add(json, ", ");
    rbt_step_contact_describe(s->objective.pairs, json);
}

int rbt_implicit_labels(const void *self, int32_t *label) {
    const rbt_implicit *s = self;
    return s->solver->labels ? s->solver->labels(s->work, label) : -1;
}

bool rbt_implicit_on_ranks(int solver, const void *options) {
    const rbt_step_solver *own = rbt_step_solver_at(solver);
    rbt_implicit_options standard = rbt_implicit_options_default();
    return own && own->on_ranks && own->on_ranks(options ? options : &standard);
}

size_t rbt_implicit_subdomains(const rbt_model *m, int solver, const void *options) {
    const rbt_step_solver *own = rbt_step_solver_at(solver);
    rbt_implicit_options standard = rbt_implicit_options_default();
    return own && own->subdomains ? own->subdomains(m, options ? options : &standard) : 0;
}

void rbt_implicit_set_observer(void *self, const rbt_observer *observer) {
    rbt_implicit *s = self;
    if (s->objective.pairs) s->objective.pairs->observer = observer;
}

// Positions that somebody has set must be apart.
bool rbt_implicit_accepts(void *self, const rbt_state *state, char *text, size_t size) {
    rbt_implicit *s = self;
    return !s->objective.pairs || rbt_step_contact_is_apart(s->objective.pairs, state->t, state->x, text, size);
}

double *rbt_implicit_spent(const void *self, const rbt_state *state) {
    rbt_contact_memory *memory = rbt_implicit_contact_memory(self, state);
    return memory ? &memory->work : NULL;
}

double rbt_implicit_thickness(const void *self) {
    const rbt_implicit *s = self;
    return s->objective.pairs ? s->objective.pairs->thickness : 0;
}

// BDF2 starts again, debts and modes are forgotten; the work of contact and friction so far stays.
void rbt_implicit_forget(void *self, rbt_state *state) {
    rbt_implicit *s = self;
    if (!state->memory) return;
    memset(state->memory, 0, own_memory(s));
    if (s->objective.others)
        memset(rbt_implicit_others_memory(s, state), 0, rbt_other_methods_memory(s->objective.model));
}

void rbt_implicit_energies(void *self, const rbt_state *state, rbt_energies *e) {
    rbt_implicit *s = self;
    const rbt_contact_memory *memory = rbt_implicit_contact_memory(s, state);
    if (!s->objective.pairs) return;
    e->contact = rbt_contact_energy_at(s->objective.pairs, state, memory);
    e->total = e->kinetic + e->elastic + e->gravity + e->contact;
    if (!memory) return;
    e->work = memory->work;
    e->friction = memory->dissipation;
}

bool rbt_implicit_warn(void *self, char text[320]) {
    rbt_implicit *s = self;
    return s->objective.pairs && rbt_step_contact_foresee(s->objective.pairs, text);
}

size_t rbt_implicit_contacts(void *self, const rbt_state *state, rbt_contact_point *points, size_t capacity) {
    rbt_implicit *s = self;
    rbt_step_contact *pairs = s->objective.pairs;
    return pairs ? rbt_contact_points(pairs, state, rbt_implicit_contact_memory(s, state), points, capacity) : 0;
}

void rbt_implicit_contact_forces(void *self, const rbt_state *state, double *f) {
    rbt_implicit *s = self;
    if (s->objective.pairs)
        rbt_contact_add_forces(s->objective.pairs, state, rbt_implicit_contact_memory(s, state), f);
    else rbt_force_contact(s->objective.model, state->x, f, NULL);
}

// Of constraints
void rbt_implicit_give_contact(void *self, const rbt_state *state, rbt_contact_handover *to) {
    rbt_implicit *s = self;
    memset(to->force, 0, 3 * state->node_count * sizeof(double));
    rbt_implicit_contact_forces(s, state, to->force);
    rbt_contact_give(s->objective.pairs, rbt_implicit_contact_memory(s, state), to);
}

void rbt_implicit_take_contact(void *self, rbt_state *state, const rbt_contact_handover *from) {
    rbt_implicit *s = self;
    rbt_contact_take(s->objective.pairs, rbt_implicit_contact_memory(s, state), from);
}
