#include "step/multirate/rest_modes.h"

#include "math/oscillator.h"
#include "math/vector.h"
#include "solve/modes.h"
#include "solve/vectors.h"
#include "step/exponential/siere_contact.h"

#include <string.h>

size_t rbt_rest_modes_memory(const rbt_model *m, int modes) { return rbt_siere_modes_memory(m, modes); }

static bool can_be(const rbt_model *m, int modes, rbt_error *error) {
    static const char PATH[] = "integrator.options.modes";
    if (m->motions.node_count)
        return rbt_fail_path(error, NULL, PATH,
                             "is %d, but %zu nodes are driven, whose motion modes beside parts do not feel; leave "
                             "\"driven\" out, or take 0 or siere",
                             modes, m->motions.node_count);
    for (size_t b = 0; b < m->body_count; b++)
        if (m->bodies[b].consistent_mass)
            return rbt_fail_path(
                error, NULL, PATH,
                "is %d, but \"%s\" has a consistent mass; set consistent_mass to false, or take 0 or "
                "siere",
                modes, m->bodies[b].name);
    return true;
}

rbt_rest_modes *rbt_rest_modes_new(const rbt_model *m, const rbt_mass *mass, int modes, rbt_error *error) {
    if (!can_be(m, modes, error)) return NULL;
    rbt_rest_modes *s = rbt_array_new(1, sizeof *s, "modes", error);
    if (!s) return NULL;
    s->model = m;
    s->mass = mass;
    s->plain = *m;
    s->plain.contact.on = false;
    s->plain.obstacles.count = 0;
    size_t n = 3 * m->node_count, capacity = rbt_modes_capacity((size_t)modes);
    double **each[] = {&s->b, &s->G, &s->share, &s->pushed, &s->by_displacement, &s->by_velocity};
    double **vectors[] = {&s->velocity, &s->taken, &s->work, &s->product};
    bool good = (s->arena = rbt_arena_new()) != NULL;
    for (size_t i = 0; good && i < sizeof each / sizeof *each; i++)
        good = (*each[i] = rbt_arena_take(s->arena, 2 * capacity, sizeof(double))) != NULL;
    for (size_t i = 0; good && i < sizeof vectors / sizeof *vectors; i++)
        good = (*vectors[i] = rbt_arena_take(s->arena, n, sizeof(double))) != NULL;
    good = good && (s->resolved = rbt_arena_take(s->arena, capacity, sizeof *s->resolved));
    if (!good) rbt_fail_memory(error, 4 * n * sizeof(double), "modes");
    if (good && (s->siere = rbt_siere_modes_new(&s->plain, modes, error))) return s;
    rbt_rest_modes_free(s);
    return NULL;
}

void rbt_rest_modes_free(rbt_rest_modes *s) {
    if (!s) return;
    rbt_siere_modes_free(s->siere);
    rbt_arena_free(s->arena);
    free(s);
}

// to += factor U share
static void combine(const rbt_rest_modes *s, double factor, const double *share, double *to) {
    size_t n = 3 * s->model->node_count;
    for (size_t l = 0; l < s->modes.count; l++)
        if (share[l] != 0) rbt_vector_add_scaled(n, to, factor * share[l], s->modes.U + l * n);
}

static void inner(const rbt_rest_modes *s, const double *x, double *share) {
    rbt_vectors_inner(3 * s->model->node_count, s->modes.count, s->modes.U, 1, x, share, s->modes.partial);
}

// to += factor M U share
static void add_mass_product(rbt_rest_modes *s, double factor, const double *share, double *to) {
    size_t n = 3 * s->model->node_count;
    memset(s->work, 0, n * sizeof *s->work);
    combine(s, factor, share, s->work);
    rbt_mass_product(s->mass, s->work, s->product);
    for (size_t i = 0; i < n; i++) to[i] += s->product[i];
}

static void find_resolved(rbt_rest_modes *s) {
    for (size_t l = 0; l < s->modes.count; l++)
        s->resolved[l] = rbt_siere_is_resolved(s->modes.lambda[l], s->modes.damping[l], s->h);
}

rbt_outcome rbt_rest_modes_find(rbt_rest_modes *s, rbt_state *state, double h, bool touches, rbt_stages *stages,
                                rbt_step_report *report) {
    size_t n = 3 * s->model->node_count;
    s->h = h;
    rbt_outcome outcome = rbt_siere_find_modes(s->siere, state, h, stages, report, &s->modes);
    if (outcome != RBT_DONE) return outcome;
    s->found = s->modes.count;
    if (touches) s->modes.count = rbt_siere_resolved(s->found, s->modes.lambda, s->modes.damping, h);
    rbt_mass_product(s->mass, state->v, s->product);
    inner(s, s->product, s->b);
    inner(s, s->modes.force, s->G);
    rbt_vector_copy(n, s->velocity, state->v);
    combine(s, -1, s->b, s->velocity);
    memset(s->taken, 0, n * sizeof *s->taken);
    add_mass_product(s, 1, s->G, s->taken);
    find_resolved(s);
    return RBT_DONE;
}

void rbt_rest_modes_remember(const rbt_rest_modes *s, rbt_state *state, rbt_step_report *report) {
    if (s->found) rbt_siere_remember_modes(s->siere, state, report);
}

void rbt_rest_modes_split(rbt_rest_modes *s, const double *J, double *to) {
    inner(s, J, s->pushed);
    for (size_t l = 0; l < s->modes.count; l++)
        if (!s->resolved[l]) s->pushed[l] = 0;
    rbt_vector_copy(3 * s->model->node_count, to, J);
    add_mass_product(s, -1, s->pushed, to);
}

// x -= U U^T M x: sub-cycling does not commute with K, and leaves something in the modes, which know better. Modes
// whose part of impulses the rest has keep it.
static void project(rbt_rest_modes *s, double *x) {
    rbt_mass_product(s->mass, x, s->product);
    inner(s, s->product, s->share);
    for (size_t l = 0; s->model->contact.on && l < s->modes.count; l++)
        if (!s->resolved[l]) s->share[l] = 0;
    combine(s, -1, s->share, x);
}

void rbt_rest_modes_add(rbt_rest_modes *s, bool pushed, double *way, double *velocity, double *given) {
    size_t count = s->modes.count;
    project(s, way);
    project(s, velocity);
    double *a = s->share, *b = s->share + count;
    for (size_t l = 0; l < count; l++) {
        rbt_response r = rbt_oscillator_response(s->h, s->modes.lambda[l], s->modes.damping[l]);
        double G = s->G[l] + (pushed ? s->pushed[l] / s->h : 0);
        a[l] = s->b[l] * r.impulse + G * r.step;
        b[l] = s->b[l] * (1 + r.slope) + G * r.impulse;
    }
    combine(s, 1, a, way);
    combine(s, 1, b, velocity);
    if (!given) return;
    for (size_t i = 0; i < 3 * s->model->node_count; i++) given[i] += s->h * s->taken[i];
    if (pushed) add_mass_product(s, 1, s->pushed, given);
}
