// Mixed implicit-explicit Euler (Fierz, Spillmann and Harders 2011): nodes of elements too badly shaped for the step
// are implicit, all others explicit.
//   explicit nodes:  v+ = v + h M^-1 f(x, v),  x+ = x + h v+                          (symplectic Euler, explicit.h)
//   implicit nodes:  one linearised step with the explicit nodes' new positions known  (their equation (7),
//                    imex_block.h, islands.h)
// Which nodes are which follows from the rest shape, the material and the step (stability.h): of the nodes of
// ill-shaped elements as few as are needed to make the others stable (stability_release.h), where the paper takes
// all. It is certified again whenever an element is stiffer than certificates have covered (imex_envelope.h,
// imex_watch.h) or a node comes within reach of an obstacle (imex_reach.h). The set lies in the state's memory, so
// that a resumed run has it, too. A step below every bound leaves no implicit node and is symplectic Euler bit for
// bit; one above all leaves no explicit node and is semi-implicit Euler, bit for bit with the solvers "auto" and
// "cholesky", to the tolerance with "cg" and "cached", and but for the lag with "lagged".
// In between, the implicit nodes I feel the explicit ones where they will be, and these the others where they were:
// of a free linear body not P = sum m v is constant but P + h sum_I (K u), so that P swings by O(h) without drift.
//
// In scenes with contact obstacles are solid, not a penalty: everything here but semi-implicit Euler's own solver has
// the model without them, and impulses keep bodies apart (imex_contact.h).
#include "step/imex/imex.h"

#include "step/explicit/explicit.h"
#include "step/imex/imex_block.h"
#include "step/imex/imex_contact.h"
#include "step/imex/imex_cost.h"
#include "step/imex/imex_envelope.h"
#include "step/imex/imex_reach.h"
#include "step/imex/imex_watch.h"
#include "step/imex/islands.h"
#include "step/linearised/linearised_contact.h"

#include <string.h>

typedef struct imex {
    rbt_imex_options options;
    int solver;
    const rbt_model *model;  // as the scene has it
    rbt_model plain;         // with contact: the same without obstacles
    rbt_imex_contact meeting;
    const rbt_observer *observer;
    rbt_explicit base;
    rbt_stability stability;
    unsigned char *implicit;  // (node_count)
    rbt_split split;
    double least, most;   // local bounds of elements [s]
    rbt_islands islands;  // one of these two has the implicit nodes, or with `all` none
    rbt_imex_block block;
    bool all;  // every node that can move is implicit, and semi-implicit Euler's own solver is asked for
    rbt_linearised linearised;
    bool reaches;  // it matters who touches obstacles
    rbt_imex_watch watch;
    rbt_imex_edges edges;
    rbt_imex_envelope envelope;  // without an arena: nothing stiffens, or nothing is certified
    double predicted;            // [s] of a step, by the fixed units
    double seconds;              // that steps took so far, and their number, for the report
    int64_t steps, iterations;
} imex;

static void read_options(const void *options, rbt_imex_options *to) {
    if (options) *to = *(const rbt_imex_options *)options;
    else rbt_record_default(&RBT_IMEX_OPTIONS, to);
}

// state->memory: what the watch remembers, the implicit nodes (a byte each, rounded up), with obstacles those within
// their reach (likewise), what the envelope remembers (likewise), and what the block does
typedef struct memory {
    rbt_imex_watched *watched;
    unsigned char *implicit, *reach;
    rbt_imex_allowances envelope;
    void *inverse;  // rbt_islands_memory or rbt_imex_memory; NULL: needs none
} memory;

static size_t mask_size(const rbt_model *m) { return (m->node_count + 7) / 8 * 8; }

// Whether obstacles push by a penalty
static bool has_penalty(const rbt_model *m) { return m->obstacles.count && !m->contact.on; }

static size_t reach_size(const rbt_model *m) { return has_penalty(m) ? mask_size(m) : 0; }

static size_t envelope_size(const rbt_model *m) {
    size_t elements = 0;
    for (size_t g = 0; g < m->group_count; g++) elements += m->groups[g].count;
    return rbt_imex_envelope_needed(m) ? (elements + 1) / 2 * 8 + (rbt_imex_envelope_batches(m) + 7) / 8 * 8 : 0;
}

static bool is_constant(const rbt_model *m) { return m->linear && !has_penalty(m); }

static size_t own_size(const rbt_model *m) {
    size_t block = sizeof(rbt_imex_memory) + 3 * m->node_count * sizeof(double), islands = rbt_islands_memory_size(m);
    return sizeof(rbt_imex_watched) + mask_size(m) + reach_size(m) + envelope_size(m) +
           (is_constant(m)    ? 0
            : block > islands ? block
                              : islands);
}

// What contact remembers comes last.
static size_t contact_offset(const rbt_model *m) { return (own_size(m) + 7) / 8 * 8; }

static size_t memory_size(const rbt_model *m, const void *options) {
    (void)options;
    return m->contact.on ? contact_offset(m) + rbt_impulse_memory_size(m) : own_size(m);
}

static rbt_impulse_memory *contact_memory(const imex *s, const rbt_state *state) {
    if (!s->model->contact.on || !state->memory) return NULL;
    return (rbt_impulse_memory *)((char *)state->memory + contact_offset(s->model));
}

static memory memory_of(const rbt_model *m, rbt_state *state) {
    char *at = state->memory;
    memory parts = {.watched = (rbt_imex_watched *)at, .implicit = (unsigned char *)at + sizeof(rbt_imex_watched)};
    at += sizeof(rbt_imex_watched) + mask_size(m);
    parts.reach = (unsigned char *)at;
    at += reach_size(m);
    parts.envelope.allowed = (float *)at;
    if (!is_constant(m)) parts.inverse = at + envelope_size(m);
    if (envelope_size(m))
        parts.envelope.close = (unsigned char *)at + envelope_size(m) - (rbt_imex_envelope_batches(m) + 7) / 8 * 8;
    return parts;
}

// There is none. Of either kind the first that is remembered is whether there is one.
static void forget_inverse(const memory *parts) {
    if (parts->inverse) memset(parts->inverse, 0, sizeof(uint64_t));
}

static void destroy(void *self) {
    imex *s = self;
    rbt_imex_contact_free(&s->meeting);
    rbt_linearised_free(&s->linearised);
    rbt_islands_free(&s->islands);
    rbt_imex_block_free(&s->block);
    rbt_imex_edges_free(&s->edges);
    rbt_imex_envelope_free(&s->envelope);
    rbt_stability_free(&s->stability);
    rbt_explicit_free(&s->base);
    free(s);
}

static rbt_split_def split_def(const rbt_imex_options *o, double step) {
    return (rbt_split_def){.step = step,
                           .safety = o->safety,
                           .rings = o->rings,
                           .certify = o->certify,
                           .release = o->release && o->certify};
}

// known: as in rbt_stability_init
static bool split_nodes(imex *s, const rbt_model *m, const double *known, rbt_error *error) {
    if (!rbt_stability_init(&s->stability, m, known, error)) return false;
    rbt_split_def def = split_def(&s->options, m->step);
    s->reaches = s->options.certify && rbt_imex_reach_matters(&s->stability, m->step);
    if (s->reaches) {
        memset(s->stability.reach, 0, m->node_count);
        rbt_imex_reach_grow(m, m->x0, m->v0, m->step, s->stability.reach);
    }
    s->split = rbt_stability_split(&s->stability, &def, s->implicit);
    rbt_stability_forget(&s->stability);
    rbt_stability_local_bounds(&s->stability, &s->least, &s->most);
    return true;
}

// Whether islands are the cheaper solver of the implicit nodes; what a step costs follows, too.
static bool prefers_islands(imex *s) {
    rbt_split_def def = split_def(&s->options, s->base.model->step);
    rbt_imex_work work;
    bool can = rbt_islands_can(s->base.model, s->options.rotation_lag);
    if (!rbt_imex_guess(&s->stability, &def, s->implicit, can, &work, NULL)) return can;
    s->predicted = rbt_imex_cost(&work);
    return work.kept;
}

// The solver of the implicit nodes as they are in s->implicit
static bool build_implicit(imex *s, rbt_error *error) {
    const rbt_model *m = s->base.model;
    rbt_linearised_free(&s->linearised);
    rbt_islands_free(&s->islands);
    rbt_imex_block_free(&s->block);
    rbt_imex_edges_free(&s->edges);
    if (s->options.certify && !m->linear && !rbt_imex_edges_build(&s->edges, &s->stability, s->implicit, error))
        return false;
    bool islands = prefers_islands(s);
    bool direct = s->model->contact.on;
    s->all = (s->solver == RBT_IMEX_CHOLESKY || s->solver == RBT_IMEX_AUTO) && s->split.implicit_count > 0;
    for (size_t n = 0; n < m->node_count; n++) s->all = s->all && (s->implicit[n] || s->stability.constrained[n]);
    if (s->all) {
        if (!rbt_linearised_init(&s->linearised, s->model, RBT_LINEAR_CHOLESKY, -1, error)) return false;
        rbt_linearised_watch(&s->linearised, s->observer);
        return true;
    }
    if (!s->split.implicit_count) return true;
    rbt_imex_solver solver = direct ? RBT_IMEX_CHOLESKY : (rbt_imex_solver)s->solver;
    if (solver == RBT_IMEX_LAGGED || (solver == RBT_IMEX_AUTO && islands))
        return rbt_islands_init(&s->islands, m, s->implicit, s->options.rotation_lag, error);
    return rbt_imex_block_init(&s->block, m, s->implicit, solver, s->options.tolerance, m->step, error);
}

static const char *solver_name(int i) {
    static const char *const NAMES[RBT_IMEX_SOLVERS] = {[RBT_IMEX_AUTO] = "auto",
                                                        [RBT_IMEX_CHOLESKY] = "cholesky",
                                                        [RBT_IMEX_CG] = "cg",
                                                        [RBT_IMEX_CACHED] = "cached",
                                                        [RBT_IMEX_LAGGED] = "lagged"};
    return i >= 0 && i < RBT_IMEX_SOLVERS ? NAMES[i] : NULL;
}

static bool knows_contact(const rbt_model *m, int solver, const rbt_imex_options *o, rbt_error *error) {
    if (!m->contact.on) return true;
    if (solver != RBT_IMEX_AUTO && solver != RBT_IMEX_CHOLESKY)
        return rbt_fail_path(
            error, NULL, "contact",
            "the solver %s does not know contact, which needs entries of a factor; take cholesky, or "
            "leave \"contact\" out",
            solver_name(solver));
    if (!o->certify)
        return rbt_fail_path(error, NULL, "integrator.options.certify",
                             "is false, but contact needs explicit nodes that are certified; set it to true, or take "
                             "semi-implicit");
    return true;
}

static imex *build(const rbt_model *whole, int solver, const void *options, const double *known, rbt_error *error) {
    imex *s = rbt_array_new(1, sizeof *s, "a stepper", error);
    if (!s) return NULL;
    s->solver = solver;
    s->model = whole;
    s->plain = *whole;
    if (whole->contact.on) s->plain.obstacles.count = 0;
    const rbt_model *model = whole->contact.on ? &s->plain : whole;
    read_options(options, &s->options);
    if (!knows_contact(whole, solver, &s->options, error)) {
        free(s);
        return NULL;
    }
    bool can = solver != RBT_IMEX_LAGGED || rbt_islands_can(model, s->options.rotation_lag);
    if (!can)
        rbt_fail_path(error, NULL, "integrator.solver",
                      "\"lagged\" is for corotational and linear tets without obstacles and shells, and with a "
                      "rotation_lag above 0; "
                      "take \"auto\"");
    if (!can || !rbt_explicit_init(&s->base, model, "imex", error)) {
        free(s);
        return NULL;
    }
    s->implicit = rbt_arena_take(s->base.arena, model->node_count, 1);
    bool ok = s->implicit || rbt_fail_memory(error, model->node_count, "a stepper");
    if (ok && s->options.certify && rbt_imex_envelope_needed(model))
        ok = rbt_imex_envelope_init(&s->envelope, model, error);
    ok = ok && (!whole->contact.on || rbt_imex_contact_init(&s->meeting, whole, error));
    if (ok && split_nodes(s, model, known, error) && build_implicit(s, error)) return s;
    destroy(s);
    return NULL;
}

static void *create(const rbt_model *model, int solver, const void *options, rbt_error *error) {
    return build(model, solver, options, NULL, error);
}

// Rates of tets by their numbers; other elements have none here
static void rates_by_tet(const rbt_model *m, const double *rate, double *of_tet) {
    for (size_t g = 0; g < m->group_count; rate += m->groups[g++].count)
        for (size_t e = 0; m->groups[g].type == &RBT_TETS && e < m->groups[g].count; e++)
            of_tet[m->groups[g].members[e]] = rate[e];
}

// A tet around whose nodes nothing has changed has the rate it had.
static void carry_rates(const rbt_change *change, const double *of_tet, double *known) {
    const rbt_model *m = change->after;
    for (size_t g = 0; g < m->group_count; known += m->groups[g++].count)
        for (size_t e = 0; e < m->groups[g].count; e++) {
            const rbt_group *group = &m->groups[g];
            known[e] = NAN;
            if (group->type != &RBT_TETS) continue;
            const int32_t *node = group->nodes + 4 * e;
            if (change->touched[node[0]] || change->touched[node[1]] || change->touched[node[2]] ||
                change->touched[node[3]])
                continue;
            known[e] = of_tet[change->origin[group->members[e]]];
        }
}

// After a cut only the elements are looked at whose one-ring has changed; the implicit nodes are then split and
// certified again.
static void *follow(void *before, const rbt_change *change, int solver, const void *options, rbt_error *error) {
    const imex *old = before;
    size_t elements = 0;
    for (size_t g = 0; g < change->after->group_count; g++) elements += change->after->groups[g].count;
    double *of_tet = rbt_array_new(change->before->tet_count, sizeof *of_tet, "a stepper", error);
    double *known = rbt_array_new(elements, sizeof *known, "a stepper", error);
    imex *s = NULL;
    if (of_tet && known) {
        rates_by_tet(change->before, old->stability.rate, of_tet);
        carry_rates(change, of_tet, known);
        s = build(change->after, solver, options, known, error);
    }
    free(of_tet);
    free(known);
    if (s) {
        s->seconds = old->seconds;
        s->steps = old->steps;
        s->iterations = old->iterations;
        s->watch = old->watch;
    }
    return s;
}

static rbt_outcome forces(imex *s, const rbt_state *state, double h) {
    rbt_explicit_external(&s->base, state);
    if (s->islands.count) rbt_islands_take_external(&s->islands, s->base.f);
    if (s->block.count) rbt_imex_block_meet(&s->block, state, s->base.f, h);
    rbt_explicit_elastic(&s->base, state);
    if (s->block.count) rbt_imex_block_take(&s->block, s->base.f);
    if (s->islands.count) rbt_islands_take(&s->islands, s->base.f);
    rbt_explicit_contact_and_damping(&s->base, state);
    return RBT_DONE;
}

static rbt_outcome explicit_part(imex *s, rbt_state *state, double h) {
    rbt_explicit_velocities(&s->base, state, h, s->split.implicit_count ? s->implicit : NULL);
    return RBT_DONE;
}

static rbt_outcome update(imex *s, rbt_state *state, double h, rbt_step_report *report) {
    if (s->block.count) rbt_imex_block_add(&s->block, state);
    if (s->islands.count) rbt_islands_add(&s->islands, state);
    for (size_t i = 0; i < 3 * s->base.model->node_count; i++) state->x[i] += h * state->v[i];
    return rbt_check_motion(s->base.model, state, h, report);
}

// The cheapest step, for scenes that ask for it
static double choose_step(const rbt_model *model, const void *options, rbt_error *error) {
    rbt_imex_options o;
    rbt_stability stability;
    read_options(options, &o);
    if (!rbt_stability_init(&stability, model, NULL, error)) return 0;
    rbt_split_def def = split_def(&o, 0);
    double step = rbt_imex_cheapest(&stability, &def, rbt_islands_can(model, o.rotation_lag), error);
    rbt_stability_free(&stability);
    return step;
}

// More nodes may touch than were certified for. Those that obstacles alone would make unstable become implicit at once.
static void watch_reach(imex *s, const rbt_state *state, const memory *parts) {
    const rbt_model *m = s->base.model;
    rbt_stability *own = &s->stability;
    size_t before = s->split.moved_count;
    memcpy(own->reach, parts->reach, m->node_count);
    if (!rbt_imex_reach_missed(own, state, m->step, s->implicit)) return;
    rbt_imex_reach_grow(m, state->x, state->v, m->step, own->reach);
    for (size_t n = 0; n < m->node_count; n++) {
        double alone = own->contact_norm * rbt_stability_contact(own, n);
        if (parts->reach[n] || s->implicit[n] || !(m->step * m->step * alone > 4)) continue;
        s->implicit[n] = 1;
        s->split.moved_count++;
    }
    memcpy(parts->reach, own->reach, m->node_count);
    own->added = s->envelope.arena ? s->envelope.added : NULL;
    rbt_stability_certify(own, m->step, s->envelope.arena ? m->X : state->x, s->implicit, &s->split);
    own->added = NULL;
    s->watch.certificates++;
    s->watch.moved += (int64_t)(s->split.moved_count - before);
}

// The implicit nodes are those of the memory. A new state has none in it yet; one that was resumed or restored may
// have others than this workspace; and a body that is strained more than before may need more of them.
static rbt_outcome watch(imex *s, rbt_state *state, const memory *parts) {
    const rbt_model *m = s->base.model;
    bool fresh = !parts->watched->begun, other = !fresh && memcmp(parts->implicit, s->implicit, m->node_count) != 0;
    if (other) memcpy(s->implicit, parts->implicit, m->node_count);
    size_t before = s->split.moved_count;
    if (fresh && s->reaches) memcpy(parts->reach, s->stability.reach, m->node_count);
    if (s->reaches) watch_reach(s, state, parts);
    if (s->envelope.arena) {
        size_t until_now = s->split.moved_count;
        s->envelope.stale |= other || until_now != before;
        if (fresh)
            rbt_imex_envelope_open(&s->envelope, &s->stability, s->implicit, &s->split, parts->envelope.allowed);
        if (rbt_imex_envelope_look(&s->envelope, &s->stability, state->x, parts->watched->steps, parts->envelope,
                                   s->implicit, &s->split))
            s->watch.certificates++;
        s->watch.moved += (int64_t)(s->split.moved_count - until_now);
    }
    if (s->options.certify && !m->linear)
        rbt_imex_watch_look(&s->watch, &s->edges, &s->stability, parts->watched, state->x, s->implicit, &s->split);
    bool moved = s->split.moved_count != before;
    s->envelope.stale |= moved;
    parts->watched->begun = 1;
    if (fresh || moved) memcpy(parts->implicit, s->implicit, m->node_count);
    if (!other && !moved) return RBT_DONE;
    if (moved) forget_inverse(parts);  // of fewer nodes
    s->split.implicit_count = 0;
    for (size_t n = 0; n < m->node_count; n++) s->split.implicit_count += s->implicit[n];
    return build_implicit(s, NULL) ? RBT_DONE : RBT_OUT_OF_MEMORY;
}

// ---- With what is in the way

static rbt_outcome finish(const imex *s, const rbt_state *state, double h, rbt_step_report *report) {
    rbt_outcome outcome = rbt_check_motion(s->model, state, h, report);
    if (outcome == RBT_DONE) rbt_impulses_remember(s->meeting.impulses, state->x, contact_memory(s, state));
    return outcome;
}

// The same step with velocities of its own, and then impulses
static rbt_outcome meet(imex *s, rbt_state *state, void *inverse, double h, rbt_stages *stages,
                        rbt_step_report *report) {
    rbt_imex_contact *c = &s->meeting;
    rbt_state next = *state;
    memcpy(c->velocity, state->v, 3 * s->model->node_count * sizeof(double));
    next.v = c->velocity;
    RBT_STAGE("force", forces(s, &next, h));
    RBT_STAGE("explicit", explicit_part(s, &next, h));
    if (s->block.count) {
        rbt_outcome outcome = rbt_imex_block_solve(&s->block, &next, inverse, s->base.constrained, h, stages, report);
        if (outcome != RBT_DONE) return outcome;
        rbt_imex_block_add(&s->block, &next);
    }
    c->block = s->block.count ? &s->block : NULL;
    c->constrained = s->base.constrained;
    c->h = h;
    rbt_outcome outcome = rbt_imex_meet(c, state, stages, report);
    if (outcome != RBT_DONE) return outcome;
    RBT_STAGE("update", finish(s, state, h, report));
    return RBT_DONE;
}

static rbt_outcome take_step(imex *s, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    double h = rbt_step_length(s->base.model, state, until);
    memory parts = memory_of(s->base.model, state);
    RBT_STAGE("certify", watch(s, state, &parts));  // who is implicit
    if (s->all) return rbt_linearised_attempt(&s->linearised, state, until, contact_memory(s, state), stages, report);
    if (s->model->contact.on) return meet(s, state, parts.inverse, h, stages, report);
    RBT_STAGE("force", forces(s, state, h));            // f = f_ext - dW/dx - D v
    RBT_STAGE("explicit", explicit_part(s, state, h));  // v += h M^-1 f of explicit nodes
    if (s->block.count) {                               // A dv = h (f - D v - h K v) of implicit ones
        rbt_outcome outcome =
            rbt_imex_block_solve(&s->block, state, parts.inverse, s->base.constrained, h, stages, report);
        if (outcome != RBT_DONE) return outcome;
    }
    if (s->islands.count) {
        rbt_outcome outcome =
            rbt_islands_solve(&s->islands, state, parts.inverse, s->base.constrained, h, stages, report);
        if (outcome != RBT_DONE) return outcome;
    }
    RBT_STAGE("update", update(s, state, h, report));  // v += dv, x += h v
    return RBT_DONE;
}

static rbt_outcome attempt(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    imex *s = self;
    memory parts = memory_of(s->base.model, state);
    rbt_imex_watched watched = *parts.watched;
    int64_t before = report->statistics[RBT_STAT_ITERATIONS];
    double start = rbt_now();
    rbt_outcome outcome = take_step(s, state, until, stages, report);
    if (outcome != RBT_DONE) {
        *parts.watched = watched;
        forget_inverse(&parts);
    }
    s->seconds += rbt_now() - start;
    s->iterations += report->statistics[RBT_STAT_ITERATIONS] - before;
    s->steps++;
    return outcome;
}

// ---- What it tells

rbt_imex_contact *rbt_imex_contact_of(void *self) { return &((imex *)self)->meeting; }

// NULL without contact
static rbt_impulses *impulses_of(const void *self) {
    const imex *s = self;
    return s->all ? s->linearised.impulses : s->meeting.impulses;
}

static void describe(const void *self, rbt_text *json) {
    const imex *s = self;
    rbt_text_add(json, "\"elements\": %zu, \"ill_shaped\": %zu, \"nodes\": %zu, \"implicit\": %zu, ",
                 s->stability.element_count, s->split.ill_count, s->base.model->node_count, s->split.implicit_count);
    rbt_text_add(json, "\"moved_by_certificate\": %zu, \"rounds\": %d, \"certified_step\": ", s->split.moved_count,
                 s->split.rounds);
    rbt_text_add_json_number(json, s->split.bound);
    rbt_text_add(json, ", \"certified_again\": %lld, \"moved_then\": %lld, \"largest_strain\": ",
                 (long long)s->watch.certificates, (long long)s->watch.moved);
    rbt_text_add_json_number(json, fmax(s->watch.strain, s->envelope.strain));
    rbt_text_add(json, ", \"min_local_bound\": ");
    rbt_text_add_json_number(json, s->least);
    rbt_text_add(json, ", \"largest_local_bound\": ");
    rbt_text_add_json_number(json, s->most);
    rbt_text_add(json, ", \"implicit_elements\": %zu, \"implicit_solver\": \"%s\"",
                 s->block.part.element_count + s->islands.part.element_count,
                 s->all             ? "cholesky"
                 : s->islands.count ? "lagged"
                 : s->block.count   ? solver_name((int)s->block.solver)
                                    : "none");
    if (s->islands.count)
        rbt_text_add(json, ", \"islands\": %zu, \"islands_renewed\": %lld", s->islands.island_count,
                     (long long)s->islands.renewed);
    double each = s->steps ? s->seconds / (double)s->steps : NAN, step = s->base.model->step;
    rbt_text_add(json, ", \"iterations_per_step\": ");
    rbt_text_add_json_number(json, s->steps ? (double)s->iterations / (double)s->steps : NAN);
    rbt_text_add(json, ", \"seconds_per_second\": {\"predicted\": ");
    rbt_text_add_json_number(json, s->predicted / step);
    rbt_text_add(json, ", \"measured\": ");
    rbt_text_add_json_number(json, each / step);
    rbt_text_add(json, "}");
    if (!impulses_of(s)) return;
    rbt_text_add(json, ", ");
    rbt_impulses_describe(impulses_of(s), json);
}

static void set_observer(void *self, const rbt_observer *observer) {
    imex *s = self;
    s->observer = observer;
    rbt_linearised_watch(&s->linearised, observer);
    if (s->meeting.impulses) s->meeting.impulses->contact->observer = observer;
}
static bool accepts(void *self, const rbt_state *state, char *text, size_t size) {
    return rbt_impulses_accept(impulses_of(self), state, text, size);
}
static double thickness(const void *self) { return rbt_impulses_thickness(impulses_of(self)); }
static double *spent(const void *self, const rbt_state *state) {
    rbt_impulse_memory *own = contact_memory(self, state);
    return own ? &own->work : NULL;
}
static void energies(void *self, const rbt_state *state, rbt_energies *e) {
    if (impulses_of(self)) rbt_impulses_energies(contact_memory(self, state), e);
}
static size_t contacts(void *self, const rbt_state *state, rbt_contact_point *points, size_t capacity) {
    const rbt_impulse_memory *own = contact_memory(self, state);
    return impulses_of(self) && own ? rbt_impulses_points(impulses_of(self), own, state, points, capacity) : 0;
}
static void contact_forces(void *self, const rbt_state *state, double *f) {
    rbt_impulses_forces(impulses_of(self), ((imex *)self)->model, contact_memory(self, state), state, f);
}
static void give_contact(void *self, const rbt_state *state, rbt_contact_handover *to) {
    rbt_impulses_give(((imex *)self)->model, contact_memory(self, state), to);
}
static void take_contact(void *self, rbt_state *state, const rbt_contact_handover *from) {
    rbt_impulses_take(((imex *)self)->model, contact_memory(self, state), from);
}

#define OPTION(member, what) .name = #member, .kind = what, .offset = offsetof(rbt_imex_options, member)
static const rbt_field FIELDS[] = {
    {OPTION(safety, RBT_REAL), .fallback = {0.93}, .flags = RBT_ABOVE, .max = 1,
     .doc = "An element is ill-shaped if the step is above this share of its local bound."},
    {OPTION(rings, RBT_INT), .max = 10,
     .doc = "Rings of nodes around those of ill-shaped elements that are implicit, too."},
    {OPTION(certify, RBT_BOOL), .fallback = {1},
     .doc =
         "Whether the explicit nodes are proved to be stable together with the implicit ones, with damping and with "
         "the "
         "obstacles within reach, and more of them made implicit until they are; again when elements become stiffer, "
         "and before more nodes touch, than was proved. Without, the local test alone decides, as in the paper, and "
         "can be wrong."},
    {OPTION(release, RBT_BOOL), .fallback = {1},
     .doc =
         "Whether nodes of ill-shaped elements stay explicit where the others of the element being implicit is "
         "enough: "
         "fewer implicit nodes, so faster steps and less numerical damping. Only with certify and without rings; not "
         "where every element is ill-shaped. Without, all nodes of ill-shaped elements are implicit, as in the "
         "paper."},
    {OPTION(tolerance, RBT_REAL), .fallback = {1e-4}, .flags = RBT_ABOVE, .max = 0.1,
     .doc = "With the solvers cg and cached: error of the implicit nodes' change of velocity relative to it, in the "
            "norm of "
            "their kinetic energy and the elastic one of a step."},
    {OPTION(rotation_lag, RBT_REAL), .fallback = {0.3}, .max = 0.3,
     .doc = "With solver lagged: how far elements may turn before the stiffness of their island is computed again, "
            "1/20 of "
            "this in radians, less "
            "where step times rate of a node's elements is above 20. 0: no such solver."},
};
const rbt_record RBT_IMEX_OPTIONS = {"imex options", "Which nodes are implicit, and how exactly.",
                                     sizeof(rbt_imex_options), RBT_FIELDS_WITH_COOKIE(FIELDS)};

rbt_imex_options rbt_imex_options_default(void) {
    rbt_imex_options options;
    rbt_record_default(&RBT_IMEX_OPTIONS, &options);
    return options;
}

static int labels(const void *self, int32_t *label) {
    const imex *s = self;
    for (size_t n = 0; n < s->base.model->node_count; n++) label[n] = s->implicit[n];
    return RBT_LABEL_IMPLICIT_SET;
}

const rbt_method RBT_IMEX = {
    .name = "imex",
    .helped = "one solve",
    .alone = "what an impulse does to it is no symmetric matrix, which no minimum has",
    .doc = "explicit where elements allow the step, implicit at the nodes of those that do not",
    .when = "a few bad elements force tiny explicit steps on a body that would else take larger ones; little "
            "numerical damping",
    .cheap_steps = true,
    .order = 1,
    .needs_lumped_mass = true,
    .solvers = solver_name,
    .options = &RBT_IMEX_OPTIONS,
    .memory_size = memory_size,
    .failure_spares_memory = true,
    .most_attempts = RBT_MOST_ATTEMPTS,
    .create = create,
    .follow = follow,
    .destroy = destroy,
    .attempt = attempt,
    .contact = true,
    .set_observer = set_observer,
    .accepts = accepts,
    .thickness = thickness,
    .spent = spent,
    .energies = energies,
    .contacts = contacts,
    .contact_forces = contact_forces,
    .give_contact = give_contact,
    .take_contact = take_contact,
    .describe = describe,
    .labels = labels,
    .choose_step = choose_step,
};
