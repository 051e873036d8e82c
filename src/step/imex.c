// Mixed implicit-explicit Euler (Fierz, Spillmann and Harders 2011): nodes of elements too badly shaped for the step are implicit, all
// others explicit.
//   explicit nodes:  v+ = v + h M^-1 f(x, v),  x+ = x + h v+                          (symplectic Euler, explicit.h)
//   implicit nodes:  one linearised step with the explicit nodes' new positions known  (their equation (7), imex_block.h)
// Which nodes are which follows from the rest shape, the material and the step, once (stability.h). A step below every bound leaves
// no implicit node and is symplectic Euler bit for bit; one above all leaves no explicit node and is semi-implicit Euler.
// In between, the implicit nodes I feel the explicit ones where they will be, and these the others where they were: of a free
// linear body not P = sum m v is constant but P + h sum_I (K u), so that P swings by O(h) without drift.
#include "step/imex.h"

#include "step/explicit.h"
#include "step/imex_block.h"
#include "step/stability.h"

#include <string.h>

typedef struct imex {
    rbt_imex_options options;
    rbt_explicit base;
    unsigned char *implicit;  // (node_count)
    rbt_split split;
    double least, most;  // local bounds of elements [s]
    size_t element_count;
    rbt_imex_block block;  // empty without implicit nodes
} imex;

static void read_options(const void *options, rbt_imex_options *to) {
    if (options) *to = *(const rbt_imex_options *)options;
    else rbt_record_default(&RBT_IMEX_OPTIONS, to);
}

static size_t memory_size(const rbt_model *m, const void *options) {
    (void)options;
    return m->linear && !m->obstacles.count ? 0 : sizeof(rbt_imex_memory) + 3 * m->node_count * sizeof(double);
}

static void destroy(void *self) {
    imex *s = self;
    rbt_imex_block_free(&s->block);
    rbt_explicit_free(&s->base);
    free(s);
}

static bool split_nodes(imex *s, const rbt_model *m, rbt_error *error) {
    rbt_stability stability;
    if (!rbt_stability_init(&stability, m, NULL, error)) return false;
    s->split = rbt_stability_split(
        &stability,
        &(rbt_split_def){
            .step = m->step, .safety = s->options.safety, .rings = s->options.rings, .certify = s->options.certify},
        s->implicit);
    s->element_count = stability.element_count;
    double low = INFINITY, high = 0;
    for (size_t e = 0; e < stability.element_count; e++) {
        if (!(stability.rate[e] > 0)) continue;
        low = fmin(low, stability.rate[e]);
        high = fmax(high, stability.rate[e]);
    }
    s->least = high > 0 ? 2 / sqrt(high) : INFINITY;
    s->most = 2 / sqrt(low);
    rbt_stability_free(&stability);
    return true;
}

static void *create(const rbt_model *model, int solver, const void *options, rbt_error *error) {
    imex *s = rbt_array_new(1, sizeof *s, "a stepper", error);
    if (!s) return NULL;
    read_options(options, &s->options);
    if (!rbt_explicit_init(&s->base, model, "imex", error)) {
        free(s);
        return NULL;
    }
    s->implicit = rbt_arena_take(s->base.arena, model->node_count, 1);
    bool ok = s->implicit || rbt_fail_memory(error, model->node_count, "a stepper");
    ok = ok && split_nodes(s, model, error);
    if (ok && s->split.implicit_count)
        ok = rbt_imex_block_init(&s->block, model, s->implicit, (rbt_imex_solver)solver, s->options.tolerance,
                                 model->step, error);
    if (ok) return s;
    destroy(s);
    return NULL;
}

static rbt_outcome forces(imex *s, const rbt_state *state, double h) {
    rbt_explicit_external(&s->base, state);
    if (s->block.count) rbt_imex_block_meet(&s->block, state, s->base.f, h);
    rbt_explicit_elastic(&s->base, state);
    if (s->block.count) rbt_imex_block_take(&s->block, s->base.f);
    rbt_explicit_contact_and_damping(&s->base, state);
    return RBT_DONE;
}

static rbt_outcome explicit_part(imex *s, rbt_state *state, double h) {
    rbt_explicit_velocities(&s->base, state, h, s->block.count ? s->implicit : NULL);
    return RBT_DONE;
}

static rbt_outcome update(imex *s, rbt_state *state, double h, rbt_step_report *report) {
    if (s->block.count) rbt_imex_block_add(&s->block, state);
    for (size_t i = 0; i < 3 * s->base.model->node_count; i++) state->x[i] += h * state->v[i];
    return rbt_check_motion(s->base.model, state, h, report);
}

static rbt_outcome attempt(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    imex *s = self;
    double h = rbt_step_length(s->base.model, state, until);
    RBT_STAGE("force", forces(s, state, h));            // f = f_ext - dW/dx - D v
    RBT_STAGE("explicit", explicit_part(s, state, h));  // v += h M^-1 f of explicit nodes
    if (s->block.count) {                               // A dv = h (f - D v - h K v) of implicit ones
        rbt_outcome outcome = rbt_imex_block_solve(&s->block, state, state->memory, s->base.held, h, stages, report);
        if (outcome != RBT_DONE) return outcome;
    }
    RBT_STAGE("update", update(s, state, h, report));  // v += dv, x += h v
    return RBT_DONE;
}

static const char *solver_name(int i) {
    static const char *const NAMES[RBT_IMEX_SOLVERS] = {
        [RBT_IMEX_AUTO] = "auto", [RBT_IMEX_CHOLESKY] = "cholesky", [RBT_IMEX_CG] = "cg"};
    return i >= 0 && i < RBT_IMEX_SOLVERS ? NAMES[i] : NULL;
}

static void describe(const void *self, rbt_text *json) {
    const imex *s = self;
    rbt_text_add(json, "\"elements\": %zu, \"ill_shaped\": %zu, \"nodes\": %zu, \"implicit\": %zu, ",
                 s->element_count, s->split.ill_count, s->base.model->node_count, s->split.implicit_count);
    rbt_text_add(json, "\"moved_by_certificate\": %zu, \"rounds\": %d, \"certified_step\": ", s->split.moved_count,
                 s->split.rounds);
    rbt_text_add_json_number(json, s->split.bound);
    rbt_text_add(json, ", \"least_local_bound\": ");
    rbt_text_add_json_number(json, s->least);
    rbt_text_add(json, ", \"largest_local_bound\": ");
    rbt_text_add_json_number(json, s->most);
    rbt_text_add(json, ", \"implicit_elements\": %zu, \"implicit_solver\": \"%s\"", s->block.part.element_count,
                 s->block.count ? solver_name((int)s->block.solver) : "none");
}

#define OPTION(member, what) .name = #member, .kind = what, .offset = offsetof(rbt_imex_options, member)
static const rbt_field FIELDS[] = {
    {OPTION(safety, RBT_REAL), .fallback = {0.93}, .flags = RBT_ABOVE, .max = 1,
     .doc = "An element is ill-shaped if the step is above this share of its local bound."},
    {OPTION(rings, RBT_INT), .max = 10,
     .doc = "Rings of nodes around those of ill-shaped elements that are implicit, too."},
    {OPTION(certify, RBT_BOOL), .fallback = {1},
     .doc = "Whether the explicit nodes are proved to be stable, and more of them made implicit until they are; "
            "without, the local "
            "test alone decides, as in the paper, and can be wrong."},
    {OPTION(tolerance, RBT_REAL), .fallback = {1e-8}, .flags = RBT_ABOVE, .max = 0.1,
     .doc = "Residual of the implicit nodes' equation relative to its right-hand side."},
};
const rbt_record RBT_IMEX_OPTIONS = {"imex options", "Which nodes are implicit, and how exactly.",
                                     sizeof(rbt_imex_options), RBT_FIELDS(FIELDS)};

const rbt_method RBT_IMEX = {
    .name = "imex",
    .doc = "explicit where elements allow the step, implicit at the nodes of those that do not",
    .when = "a few bad elements force tiny explicit steps on a body that would else take larger ones; little "
            "numerical damping",
    .order = 1,
    .needs_lumped_mass = true,
    .solvers = solver_name,
    .options = &RBT_IMEX_OPTIONS,
    .memory_size = memory_size,
    .create = create,
    .destroy = destroy,
    .attempt = attempt,
    .describe = describe,
};
