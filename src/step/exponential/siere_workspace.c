// The workspace of siere: its options, how the state's memory is divided, and its life.
#include "step/exponential/siere.h"

// ---- The options

static const char *indefinite_name(int i) {
    static const char *const NAMES[] = {"project", "factor"};
    return i >= 0 && i < 2 ? NAMES[i] : NULL;
}

#define OPTION(member, what) .name = #member, .kind = what, .offset = offsetof(rbt_siere_options, member)
static const rbt_field FIELDS[] = {
    {OPTION(modes, RBT_INT), .flags = RBT_AUTO, .fallback = {5}, .max = 1000,
     .doc = "Lowest modes that are integrated exactly; a free body has six at frequency 0. 0: semi-implicit Euler; "
            "auto: as "
            "many as modes_below or modes_energy ask for, again in every step."},
    {OPTION(modes_below, RBT_REAL), .flags = RBT_AUTO, .fallback = {NAN}, .max = INFINITY, .unit = "Hz",
     .doc =
         "With modes auto: all modes of a lower frequency; auto: those with more than ten steps in a period, 1 / (10 "
         "step). 0: frequencies do not count."},
    {OPTION(modes_energy, RBT_REAL), .flags = RBT_BELOW, .max = 1,
     .doc = "With modes auto: so many that they have this share of the kinetic energy when a step begins. 0: energy "
            "does not "
            "count."},
    {OPTION(max_modes, RBT_INT), .fallback = {50}, .min = 1, .max = 1000, .doc = "With modes auto: never more."},
    {OPTION(tolerance, RBT_REAL), .fallback = {0.3}, .flags = RBT_ABOVE, .max = 1,
     .doc = "Residual |K u - lambda M u| of the modes, relative to lambda + 1 / step^2."},
    {OPTION(indefinite, RBT_CHOICE), .of.names = indefinite_name,
     .doc = "What a step does whose matrix is indefinite: project its stiffness, or factor it as it is if there are "
            "enough "
            "modes for all unstable directions."},
    {OPTION(subdomains, RBT_INT), .flags = RBT_AUTO, .fallback = {-1}, .min = 1, .max = 1e6,
     .doc = "Of solver schwarz: parts whose matrices are factored one by one, at most as many as there are elements; "
            "auto: one for every 2,048 nodes. run.json says how many there are."},
};
const rbt_record RBT_SIERE_OPTIONS = {"siere options", "Which modes are integrated exactly.",
                                      sizeof(rbt_siere_options), RBT_FIELDS_WITH_COOKIE(FIELDS)};

rbt_siere_options rbt_siere_options_default(void) {
    rbt_siere_options options;
    rbt_record_default(&RBT_SIERE_OPTIONS, &options);
    return options;
}

void rbt_siere_read_options(const void *options, rbt_siere_options *to) {
    if (options) *to = *(const rbt_siere_options *)options;
    else rbt_record_default(&RBT_SIERE_OPTIONS, to);
}

// ---- The state's memory: modes, then contact

size_t rbt_siere_capacity(const rbt_siere_options *o) {
    return o->modes == 0 ? 0 : rbt_modes_capacity((size_t)(o->modes > 0 ? o->modes : o->max_modes));
}

size_t rbt_siere_modes_size(const rbt_model *m, size_t capacity) {
    return capacity ? sizeof(rbt_siere_memory) + 3 * capacity * m->node_count * sizeof(double) : 0;
}

size_t rbt_siere_memory_size(const rbt_model *m, const void *options) {
    rbt_siere_options o;
    rbt_siere_read_options(options, &o);
    return rbt_siere_modes_size(m, rbt_siere_capacity(&o)) + rbt_impulse_memory_size(m);
}

rbt_impulse_memory *rbt_siere_contact_memory(const rbt_siere *s, const rbt_state *state) {
    if (!s->base.impulses || !state->memory) return NULL;
    return (void *)((char *)state->memory + rbt_siere_modes_size(s->base.model, s->capacity));
}

// ---- Life

void rbt_siere_destroy(void *self) {
    rbt_siere *s = self;
    rbt_modes_free(&s->modes);
    rbt_mode_space_free(&s->space);
    rbt_block_operator_free(s->stiffness);
    rbt_linearised_free(&s->base);
    free(s);
}

static bool allocate(rbt_siere *s, const rbt_model *m, rbt_error *error) {
    rbt_arena *arena = s->base.arena;
    size_t values = 3 * m->node_count, c = s->capacity;
    double **each[] = {&s->b, &s->g, &s->ramp, &s->da, &s->db, &s->c, &s->d, &s->z, &s->taken, &s->by_Q, &s->by_KU};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof each / sizeof *each; i++)
        ok = (*each[i] = rbt_arena_take(arena, c, sizeof(double))) != NULL;
    ok = ok && (s->small = rbt_arena_take(arena, c, c * sizeof(double))) &&
         (s->right = rbt_arena_take(arena, 1 + c, values * sizeof(double))) &&
         (s->solution = rbt_arena_take(arena, 1 + c, values * sizeof(double))) &&
         (s->carried = rbt_arena_take(arena, values, sizeof(double))) &&
         (s->mass_share = rbt_arena_take(arena, m->node_count, sizeof(double))) &&
         (s->stiffness_share = rbt_arena_take(arena, m->node_count, sizeof(double))) &&
         (!s->base.contact || (s->extra = rbt_arena_take(arena, 3 * values, sizeof(double)))) &&
         (s->keep = rbt_arena_take(arena, m->node_count, 1)) &&
         (s->hashed = rbt_arena_take(arena, m->node_count, 1)) &&
         (!m->ranks || (s->bits = rbt_arena_take(arena, (m->ranks->whole_nodes + 63) / 64, sizeof(double))));
    return ok || rbt_fail_memory(error, 2 * (1 + c) * values * sizeof(double), "modes");
}

static bool init_space(rbt_siere *s, int solver, rbt_error *error) {
    rbt_linearised *base = &s->base;
    if (solver == RBT_LINEAR_CHOLESKY) return true;
    s->modes.space = &s->space.functions;
    return rbt_mode_space_init(&s->space, base->arena, base->model, &base->stiffness.K, &base->linear, solver,
                               s->options.subdomains, s->capacity) ||
           rbt_fail_memory(error, s->capacity * sizeof(rbt_sum), "modes");
}

void *rbt_siere_create(const rbt_model *model, int solver, const void *options, rbt_error *error) {
    rbt_siere *s = rbt_array_new(1, sizeof *s, "a stepper", error);
    if (!s) return NULL;
    rbt_siere_read_options(options, &s->options);
    s->capacity = rbt_siere_capacity(&s->options);
    s->driven = model->motions.node_count > 0 || model->ranks;  // another rank may have one
    bool ok =
        solver == RBT_LINEAR_CHOLESKY || s->options.indefinite == RBT_INDEFINITE_PROJECTS ||
        rbt_fail_path(error, NULL, "integrator.options.indefinite",
                      "the solver %s has no factor of an indefinite matrix; take project, or the solver cholesky",
                      rbt_linear_name(solver));
    ok = ok && rbt_linearised_init(&s->base, model, solver, s->options.subdomains, error);
    if (ok && s->capacity)
        ok = (s->stiffness = rbt_block_operator_new(&s->base.stiffness.K, error)) &&
             rbt_modes_init(&s->modes, model->node_count, s->capacity, error) && allocate(s, model, error) &&
             init_space(s, solver, error);
    if (ok) return s;
    rbt_siere_destroy(s);
    return NULL;
}
