#include "step/core/stepper.h"

#include "step/core/body_methods.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Bytes of x, v and the method's memory
static size_t saved_size(const rbt_stepper *s) { return 6 * s->model->node_count * sizeof(double) + s->memory_size; }

// Where what steps by error remember begins, behind so many bytes of the method's own
static size_t control_offset(size_t own) { return (own + sizeof(double) - 1) / sizeof(double) * sizeof(double); }

rbt_step_memory *rbt_stepper_step_memory(const rbt_stepper *s, const rbt_state *state) {
    if (!s->control.on || state->memory_size != s->memory_size) return NULL;
    return (void *)((char *)state->memory + s->memory_size - rbt_step_memory_size(s->model));
}

// The methods that know the contact of a scene, as a sentence lists them
static const char *methods_with_contact(char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; rbt_method_at(i); i++)
        if (rbt_method_at(i)->contact && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", rbt_method_name(i));
    return text;
}

// What only a method with contact of its own knows must not be left out silently by others.
static bool check_bodies(const rbt_model *m, const rbt_method *method, rbt_error *error) {
    char path[64], names[256];
    if (m->contact.on && !method->contact)
        return rbt_fail_path(error, NULL, "contact", "%s does not know contact yet; take one that does (%s)",
                             method->name, methods_with_contact(names, sizeof names));
    if (method->own_contact) return true;
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &m->bodies[b];
        bool yields = body->kind == RBT_SHELL && body->shell.yield < INFINITY;
        if (!yields && !(body->kind == RBT_NET && body->springs.limit > 0)) continue;
        snprintf(path, sizeof path, "bodies[%zu].%s", b, yields ? "shell.yield" : "springs.limit");
        return rbt_fail_path(error, NULL, path, "%s does not know %s; leave \"%s\" out or take async-contact",
                             method->name, yields ? "hinges that yield" : "limits of springs",
                             yields ? "yield" : "limit");
    }
    return true;
}

// Obstacles by penalty are simple shapes at rest.
static bool check_obstacles(const rbt_model *m, const rbt_method *method, rbt_error *error) {
    char path[64];
    if (rbt_method_has_contact(method, m)) return true;
    for (size_t i = 0; i < m->obstacles.count; i++) {
        snprintf(path, sizeof path, "obstacles[%zu]", i);
        if (m->obstacles.items[i].which == RBT_OBSTACLE_MESH)
            return rbt_fail_path(
                error, NULL, path,
                "%s pushes bodies out of planes, spheres, boxes and capsules only, not out of meshes; "
                "take one of these, or a method with contact and \"contact\" in the scene, or async-contact",
                method->name);
        if (m->obstacle_motions[i].motion_count)
            return rbt_fail_path(
                error, NULL, path,
                "%s knows obstacles that move only in a scene with contact; leave \"motions\" out, or take a "
                "method with contact and \"contact\" in the scene, or async-contact",
                method->name);
    }
    return true;
}

bool rbt_stepper_knows(const rbt_model *model, const rbt_method *method, rbt_error *error) {
    return rbt_body_methods_fit(model, method, error) && check_bodies(model, method, error) &&
           check_obstacles(model, method, error);
}

static bool begin(rbt_stepper *s, const rbt_model *model, const rbt_integrator_def *def, rbt_error *error) {
    *s = (rbt_stepper){.model = model, .method = rbt_method_at(def->method), .max_halvings = def->max_halvings};
    if (!s->method) return rbt_fail(error, "there is no method number %d", def->method);
    if (!rbt_stepper_knows(model, s->method, error)) return false;
    if (s->method->own_steps) s->max_halvings = 0;
    s->memory_size = s->method->memory_size ? s->method->memory_size(model, def->options) : 0;
    if (model->asked.error > 0 && s->method->error_law) {
        if (!rbt_step_control_init(&s->control, model, error)) return false;
        s->memory_size = control_offset(s->memory_size) + rbt_step_memory_size(model);
    }
    s->saved = rbt_array_new((size_t)(1 + s->max_halvings), saved_size(s), "saved states", error);
    s->energies = rbt_array_new(model->plan.chunk_count + 1, sizeof *s->energies, "energies", error);
    return s->saved && s->energies;
}

bool rbt_stepper_init(rbt_stepper *s, const rbt_model *model, const rbt_integrator_def *def, rbt_error *error) {
    if (begin(s, model, def, error) && (s->self = s->method->create(model, def->solver, def->options, error)))
        return true;
    rbt_stepper_free(s);
    return false;
}

bool rbt_stepper_follow(rbt_stepper *s, const rbt_change *change, const rbt_integrator_def *def, rbt_state *state,
                        rbt_error *error) {
    rbt_stepper next;
    bool good = begin(&next, change->after, def, error);
    void *memory =
        good && next.memory_size ? rbt_array_new(next.memory_size, 1, "the memory of a method", error) : NULL;
    good = good && (memory || !next.memory_size);
    if (good)
        next.self = s->method->follow ? s->method->follow(s->self, change, def->solver, def->options, error)
                                      : s->method->create(change->after, def->solver, def->options, error);
    if (!good || !next.self) {
        free(memory);
        rbt_stepper_free(&next);
        return false;
    }
    double *before = s->method->spent ? s->method->spent(s->self, state) : NULL, spent[2] = {0};
    if (before) memcpy(spent, before, sizeof spent);
    free(state->memory);
    state->memory = memory;
    state->memory_size = next.memory_size;
    if (before) memcpy(s->method->spent(next.self, state), spent, sizeof spent);
    next.stages = s->stages;
    memcpy(next.statistics, s->statistics, sizeof next.statistics);
    next.control.log = s->control.log;
    rbt_stepper_free(s);
    *s = next;
    return true;
}

void rbt_stepper_free(rbt_stepper *s) {
    if (s->self) s->method->destroy(s->self);
    rbt_step_control_free(&s->control);
    rbt_fall_back_free(&s->fall_back);
    free(s->saved);
    free(s->energies);
    *s = (rbt_stepper){0};
}

static void copy_motion(const rbt_stepper *s, int level, rbt_state *state, bool save) {
    size_t bytes = 3 * s->model->node_count * sizeof(double);
    char *x = s->saved + (size_t)level * saved_size(s), *v = x + bytes;
    memcpy(save ? (void *)x : state->x, save ? state->x : (void *)x, bytes);
    memcpy(save ? (void *)v : state->v, save ? state->v : (void *)v, bytes);
}

static void copy_memory(const rbt_stepper *s, int level, rbt_state *state, bool save) {
    char *memory = s->saved + (size_t)level * saved_size(s) + 6 * s->model->node_count * sizeof(double);
    if (s->memory_size) memcpy(save ? memory : state->memory, save ? state->memory : memory, s->memory_size);
}

bool rbt_stepper_prepare(const rbt_stepper *s, rbt_state *state, rbt_error *error) {
    if (state->memory_size == s->memory_size) return true;
    free(state->memory);
    state->memory_size = 0;
    state->memory = s->memory_size ? rbt_array_new(s->memory_size, 1, "the memory of a method", error) : NULL;
    if (s->memory_size && !state->memory) return false;
    state->memory_size = s->memory_size;
    return true;
}

rbt_energies rbt_stepper_energies(const rbt_stepper *s, const rbt_state *state) {
    rbt_energies e = rbt_model_energies(s->model, state, s->energies);
    if (s->method->energies) s->method->energies(s->self, state, &e);
    return e;
}

void rbt_stepper_set_observer(rbt_stepper *s, const rbt_observer *observer) {
    if (!s->method->set_observer) return;
    s->method->set_observer(s->self, observer);
    rbt_fall_back_set_observer(&s->fall_back, observer);
}

void rbt_stepper_reset(const rbt_stepper *s) {
    if (s->method->reset) s->method->reset(s->self);
}

void rbt_stepper_forget(const rbt_stepper *s, rbt_state *state) {
    rbt_stepper_reset(s);
    rbt_step_memory *steps = rbt_stepper_step_memory(s, state);
    if (steps) memset(steps, 0, rbt_step_memory_size(s->model));
    if (s->method->forget) s->method->forget(s->self, state);
    else if (state->memory_size) memset(state->memory, 0, state->memory_size);
}

void rbt_stepper_undo(const rbt_stepper *s, rbt_state *state, double t) {
    copy_motion(s, 0, state, false);
    copy_memory(s, 0, state, false);
    state->t = t;
}

// Whether to retry with half the step. Not if an explicit one is unstable: the user chooses another step then. Not
// without memory: that must not change the motion.
static bool is_for_shorter_steps(const rbt_method *method, rbt_outcome outcome) {
    return (outcome != RBT_UNSTABLE || !method->cheap_steps) && outcome != RBT_STOPPED &&
           outcome != RBT_OUT_OF_MEMORY && outcome != RBT_STALLED;
}

// What the first rank has to say on which the attempt failed
static void share_report(rbt_stepper *s, rbt_step_report *report) {
    const rbt_ranks *ranks = s->model->ranks;
    const char *stage = report->stage;
    int from = ranks->first(ranks->self, s->stages.at_fault);
    if (from == ranks->count) return;
    ranks->tell(ranks->self, from, report, sizeof *report);
    report->stage = stage;
    report->element_kind = report->element >= 0 ? rbt_body_element(&s->model->bodies[report->body]) : NULL;
}

// ---- Pieces of a step

enum { FIRST_PATIENCE = 2, MOST_PATIENCE = 16 };

// Whether a piece of so many halvings is too long to be worth an attempt
static bool is_too_long(const rbt_pieces_memory *p, int depth) {
    return depth < p->depth - 1 || (depth == p->depth - 1 && p->waiting > 0);
}

static void note_success(rbt_pieces_memory *p, int depth) {
    if (depth < p->depth) p->patience = FIRST_PATIENCE;
    else if (p->waiting > 0) p->waiting--;
    p->depth = depth;
}

static void note_failure(rbt_pieces_memory *p, int depth) {
    bool longer = depth < p->depth;
    if (longer && p->patience < MOST_PATIENCE) p->patience *= 2;
    p->waiting = p->patience;
    p->depth = depth + 1;
}

// By the method, or at last by backward Euler; x, v and memory of before are saved at `level`.
static rbt_outcome find(rbt_stepper *s, rbt_state *state, double until, int halvings, int level,
                        rbt_step_report *report) {
    rbt_outcome outcome = s->method->attempt(s->self, state, until, &s->stages, report);
    if (outcome == RBT_DONE || !is_for_shorter_steps(s->method, outcome) ||
        !rbt_fall_back_concerns(s->model, s->method, halvings))
        return outcome;
    copy_motion(s, level, state, false);
    if (!s->method->failure_spares_memory) copy_memory(s, level, state, false);
    return rbt_fall_back_attempt(&s->fall_back, s->model, s->method, s->self, state, until, &s->stages, report);
}

static rbt_outcome attempt(rbt_stepper *s, rbt_state *state, double until, int depth, rbt_step_report *report) {
    s->pieces.attempts++;
    rbt_outcome outcome = find(s, state, until, depth, depth, report);
    if (s->model->ranks && outcome != RBT_DONE) {
        outcome = rbt_stage_agree(&s->stages, outcome);
        share_report(s, report);
    }
    if (outcome == RBT_DONE) {
        state->t = until;
        report->steps++;
        note_success(&s->pieces, depth);
    } else {
        note_failure(&s->pieces, depth);
        s->pieces.failure = outcome;
    }
    return outcome;
}

// What stopped the latest attempt that failed stays in the report.
static rbt_outcome give_up(const rbt_stepper *s, double t, double piece, rbt_step_report *report) {
    char last[sizeof report->hint];
    memcpy(last, report->hint, sizeof last);
    snprintf(
        report->hint, sizeof report->hint,
        "%d attempts have brought this step from %g to %g s, the next piece is %.3g s; take a smaller step; last "
        "failure: %s, %.90s",
        s->pieces.attempts, s->pieces.start, t, piece, rbt_outcome_name(s->pieces.failure), last);
    return RBT_STALLED;
}

static rbt_outcome advance(rbt_stepper *s, rbt_state *state, double until, int depth, rbt_step_report *report) {
    double start = state->t;
    bool lasting = s->method->failure_spares_memory, too_long = is_too_long(&s->pieces, depth);
    copy_motion(s, depth, state, true);
    if (!lasting || too_long || (s->undoable && depth == 0)) copy_memory(s, depth, state, true);
    s->stages.ranks = s->model->ranks;
    rbt_outcome outcome = RBT_DONE;
    if (!too_long) {
        if (s->method->most_attempts && s->pieces.attempts == s->method->most_attempts)
            return give_up(s, start, until - start, report);
        outcome = attempt(s, state, until, depth, report);
        if (outcome == RBT_DONE) return RBT_DONE;
        copy_motion(s, depth, state, false);
        if (!lasting) copy_memory(s, depth, state, false);
        if (depth == s->max_halvings || !is_for_shorter_steps(s->method, outcome)) return outcome;
        if (lasting) copy_memory(s, depth, state, true);  // before smaller steps change it
    }
    if (report->halvings < depth + 1) report->halvings = depth + 1;
    double middle = start + 0.5 * (until - start);
    outcome = advance(s, state, middle, depth + 1, report);
    if (outcome == RBT_DONE) outcome = advance(s, state, until, depth + 1, report);
    if (outcome != RBT_DONE) {
        copy_motion(s, depth, state, false);
        copy_memory(s, depth, state, false);
        state->t = start;
    }
    return outcome;
}

static void count(rbt_tally *tally, const rbt_step_report *before, const rbt_step_report *after) {
    int64_t unconverged = after->unconverged - before->unconverged;
    tally->steps += after->steps - before->steps;
    if (unconverged && !tally->unconverged) tally->first = after->first_unconverged;
    tally->unconverged += unconverged;
    if (unconverged && !(after->worst_residual <= tally->worst_residual))
        tally->worst_residual = after->worst_residual;
}

static void begin_report(rbt_step_report *report) {
    report->body = report->element = -1;
    report->element_kind = NULL;
    report->value = 0;
    report->hint[0] = '\0';
    report->halvings = 0;
}

static rbt_outcome end_report(rbt_stepper *s, rbt_state *state, const rbt_step_report *before,
                              rbt_step_report *report) {
    report->halved_steps += report->halvings > 0;
    rbt_statistics_add_change(s->statistics, before->statistics, report->statistics);
    if (report->halvings < before->halvings) report->halvings = before->halvings;
    if (report->outcome == RBT_DONE) {
        count(&state->tally, before, report);
        report->stage = "done";
        report->body = report->element = -1;
        report->element_kind = NULL;
        report->hint[0] = '\0';
    }
    return report->outcome;
}

rbt_outcome rbt_stepper_advance(rbt_stepper *s, rbt_state *state, double until, rbt_step_report *report) {
    const rbt_step_report before = *report;
    begin_report(report);
    s->pieces = (rbt_pieces_memory){.start = state->t, .patience = FIRST_PATIENCE};
    report->outcome = advance(s, state, until, 0, report);
    return end_report(s, state, &before, report);
}

// ---- Steps by error

static void note(const rbt_stepper *s, double t, double h, double estimate, bool accepted, const char *why) {
    const rbt_step_log *log = &s->control.log;
    const rbt_step_attempt attempt = {.t = t, .step = h, .estimate = estimate, .accepted = accepted, .why = why};
    if (log->note) log->note(log->context, &attempt);
}

// One attempt with its estimate, as E over what it may be; the state is behind it, whatever comes of it
static rbt_outcome try_step(rbt_stepper *s, rbt_state *state, double until, double h, int failures, double *ratio,
                            int *order, rbt_step_report *report) {
    rbt_step_memory *memory = rbt_stepper_step_memory(s, state);
    rbt_step_control *c = &s->control;
    const double *v = (const double *)(s->saved + 3 * s->model->node_count * sizeof(double));
    double constant = 0, t = state->t;
    if (s->method->set_precision) s->method->set_precision(s->self, memory->precision > 0 ? memory->precision : 1);
    rbt_outcome outcome = find(s, state, until, failures, 0, report);
    if (outcome != RBT_DONE) return outcome;
    *order = s->method->error_law(s->self, memory->last > 0 ? h / memory->last : 1, &constant);
    *order = rbt_step_control_estimate(c, memory, s->model, state, v, h, *order, constant);
    if (s->method->refine_error) *order = s->method->refine_error(s->self, state, h, *order, c->ex, c->ev);
    *ratio = rbt_step_control_ratio(c, memory, s->model, t, h);
    return RBT_DONE;
}

static rbt_outcome advance_by_error(rbt_stepper *s, rbt_state *state, double until, double longest,
                                    rbt_step_report *report) {
    const rbt_step_control *c = &s->control;
    const double *v = (const double *)(s->saved + 3 * s->model->node_count * sizeof(double));
    rbt_step_memory *memory = rbt_stepper_step_memory(s, state);
    double t = state->t, h = fmin(rbt_step_control_plan(c, memory, until - t), longest);
    bool as_planned = h == rbt_step_control_plan(c, memory, INFINITY);
    copy_motion(s, 0, state, true);
    copy_memory(s, 0, state, true);
    bool shortened = false;
    for (int failures = 0;;) {
        bool last = h == until - t;
        double end = last ? until : t + h, ratio = NAN;
        int order = 1;
        rbt_outcome outcome = try_step(s, state, end, h, failures, &ratio, &order, report);
        if (outcome == RBT_DONE) {
            rbt_step_verdict verdict = rbt_step_control_judge(c, memory, ratio, h, order, !as_planned);
            note(s, t, h, ratio, verdict.accepted, verdict.why);
            // the next one is no longer than what was too much a moment ago
            if (shortened && verdict.accepted) verdict.next = fmin(verdict.next, h);
            if (verdict.accepted) {
                rbt_step_control_remember(c, memory, s->model, state, v, t, h, &verdict, ratio);
                state->t = end;
                report->steps++;
                return RBT_DONE;
            }
            report->statistics[RBT_STAT_REJECTED]++;
            h = verdict.next;
        } else {
            note(s, t, h, NAN, false, rbt_outcome_name(outcome));
            failures++;
            h = fmax(0.5 * h, c->shortest);
        }
        rbt_stepper_undo(s, state, t);
        rbt_stepper_reset(s);
        as_planned = shortened = true;
        if (outcome == RBT_DONE) continue;
        if (failures > s->max_halvings || !is_for_shorter_steps(s->method, outcome)) return outcome;
        if (report->halvings < failures) report->halvings = failures;
    }
}

rbt_outcome rbt_stepper_advance_by_error(rbt_stepper *s, rbt_state *state, double until, double longest,
                                         rbt_step_report *report) {
    const rbt_step_report before = *report;
    begin_report(report);
    report->outcome = advance_by_error(s, state, until, longest, report);
    return end_report(s, state, &before, report);
}
