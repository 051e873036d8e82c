#include "step/core/energy_watch.h"

#include "math/vec3.h"
#include "model/force.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KINETIC_EVERY = 8, CHEAP_STEPS = 64 };  // steps between looks
static const double SURPRISE = 4;              // times the scale: a kinetic energy to be looked into

// ---- Making

// sum |f|^2 / 2 m of gravity and of all loads at once
static double acceleration(const rbt_model *m) {
    double sum, g = rbt_dot(m->gravity, m->gravity);
    rbt_terms terms;
    rbt_terms_begin(&terms, 1);
    for (size_t n = 0; n < m->node_count; n++)
        if (m->role[n] == RBT_FREE && rbt_ranks_owns(m, n))
            terms.value[0][rbt_terms_next(&terms)] = 0.5 * m->mass[n] * g;
    for (size_t k = 0; k < m->loads.node_load_count; k++) {
        const rbt_node_load *load = &m->loads.node_loads[k];
        for (size_t i = 0; i < load->node_count; i++) {
            double mass = m->mass[load->nodes[i]], share = load->share[i];
            if (mass > 0 && rbt_ranks_owns(m, (size_t)load->nodes[i]))
                terms.value[0][rbt_terms_next(&terms)] =
                    0.5 * share * share * rbt_dot(load->force, load->force) / mass;
        }
    }
    rbt_terms_end(&terms, m, &sum);
    return sum;
}

static double given_acceleration(const rbt_model *m) {
    double sum = 0;
    for (size_t n = 0; rbt_force_is_given(m) && n < m->node_count; n++) {
        const double *f = m->input->force + 3 * n;
        if (m->mass[n] > 0) sum += 0.5 * rbt_dot(f, f) / m->mass[n];
    }
    return sum;
}

// Rounding of energies, 1e-12 of the numbers that they are sums of (4,000 units in the last place, for sums of
// millions), and all nodes moving by a millionth of their body's size in the whole run
static double noise(const rbt_model *m) {
    double sum, whole = m->frame_interval * (double)(m->frame_count > 0 ? m->frame_count : 1);
    rbt_terms terms;
    rbt_terms_begin(&terms, 1);
    for (size_t t = 0; t < m->tet_count; t++)
        if (rbt_ranks_counts_tet(m, t)) terms.value[0][rbt_terms_next(&terms)] = 1e-12 * rbt_model_tet_energy(m, t);
    for (size_t n = 0; n < m->node_count; n++)
        if (rbt_ranks_owns(m, n))
            terms.value[0][rbt_terms_next(&terms)] = 1e-12 * fabs(m->mass[n] * rbt_dot(m->gravity, m->x0 + 3 * n));
    rbt_terms_end(&terms, m, &sum);
    sum += 1e-12 * m->sheet_energy;
    for (size_t b = 0; b < m->body_count; b++) {
        double size[3];
        rbt_subtract(m->bodies[b].box_max, m->bodies[b].box_min, size);
        sum += 0.5 * m->bodies[b].mass * 1e-12 * rbt_dot(size, size) / (whole * whole);
    }
    return sum;
}

bool rbt_energy_watch_init(rbt_energy_watch *w, const rbt_stepper *stepper, rbt_error *error) {
    const rbt_model *m = stepper->model;
    *w = (rbt_energy_watch){.t = NAN};
    const rbt_method *method = stepper->method;
    bool is_explicit = method->cheap_steps;
    if (!rbt_outside_init(&w->outside, m, !method->own_contact, is_explicit, error)) return false;
    w->cheap = is_explicit || m->linear;  // a linear body has one factor for all steps
    w->stepper = stepper;
    w->acceleration = acceleration(m);
    w->given = given_acceleration(m);
    w->noise = noise(m);
    return true;
}

void rbt_energy_watch_free(rbt_energy_watch *w) {
    rbt_outside_free(&w->outside);
    *w = (rbt_energy_watch){0};
}

// ---- The ledger

static bool counts_work(const rbt_energy_watch *w) {
    return rbt_method_has_contact(w->stepper->method, w->stepper->model);
}

// What the method has counted itself
static double own_work(const rbt_energy_watch *w, const rbt_energies *e) {
    return counts_work(w) && isfinite(e->work) ? e->work : 0;
}

static double accounted_for(const rbt_energy_watch *w, const rbt_ledger *l) {
    double h = w->stepper->control.on ? w->stepper->control.longest : w->stepper->model->step;
    return l->start + l->effort + fmax(0, l->top - l->gravity) + h * h * (w->acceleration + w->given) + w->noise;
}

static void see(rbt_energy_watch *w, const rbt_state *state) {
    w->energies = rbt_stepper_energies(w->stepper, state);
    w->t = state->t;
}

void rbt_energy_watch_begin(rbt_energy_watch *w, rbt_state *state) {
    rbt_ledger *l = &state->tally.ledger;
    see(w, state);
    const rbt_energies *e = &w->energies;
    double own = own_work(w, e);
    rbt_outside_begin(&w->outside, state);
    w->begun = true;
    if (!isfinite(e->total)) return;
    bool first = l->looks == 0;
    if (first)
        *l = (rbt_ledger){.looks = 1, .time = state->t, .energy = e->total, .level = e->total - own, .own_work = own};
    for (size_t i = 0; first && i < RBT_LEDGER_RECENT; i++) l->recent[i] = l->level;
    l->work += l->own_work - own;  // another method counts from 0
    l->own_work = own;
    if (!first && (l->time != state->t || e->total == l->energy)) return;
    l->jumps += e->total - l->energy;
    l->energy = e->total;
    l->gravity = l->top = e->gravity;
    l->start = e->kinetic + e->elastic + e->contact;
    l->scale = fmax(l->scale, accounted_for(w, l));
}

static void add_work(rbt_ledger *l, const rbt_outside_work *work) {
    l->work += work->loads + work->prescribed;
    l->effort += fabs(work->loads) + fabs(work->prescribed);
    l->slack += work->slack;
}

double rbt_energy_watch_work(const rbt_energy_watch *w, const rbt_state *state, const rbt_energies *e) {
    const rbt_ledger *l = &state->tally.ledger;
    if (l->looks == 0) return 0;
    bool known = rbt_outside_is_idle(&w->outside) || (w->begun && state->t == w->outside.last.t);
    return known ? l->work + own_work(w, e) : NAN;
}

bool rbt_ledger_is_sound(const rbt_ledger *l) {
    for (size_t i = 0; i < RBT_LEDGER_RECENT; i++)
        if (!isfinite(l->recent[i])) return false;
    return l->looks >= 0 && l->frames >= 0 && l->effort >= 0 && l->slack >= 0 && l->scale >= 0 && l->gain >= 0 &&
           isfinite(l->time + l->energy + l->gravity + l->work + l->own_work + l->jumps + l->start + l->top +
                    l->level) &&
           isfinite(l->effort + l->slack + l->scale + l->gain + l->gain_time);
}

double rbt_ledger_gain(const rbt_ledger *l) { return l->scale > 0 ? l->gain / l->scale : 0; }

static const char *remedy(const rbt_method *method) {
    return method->gain_remedy ? method->gain_remedy : "backward-euler";
}

bool rbt_ledger_text(const rbt_ledger *l, const rbt_method *method, char text[320]) {
    if (!(rbt_ledger_gain(l) > RBT_GAIN_NOTABLE)) return false;
    snprintf(text, 320,
             "%s gained energy that nothing gave: %.3g J by %g s, %.3g times the %.3g J that the start, outside work "
             "and gravity account for; take a smaller step, or %s",
             method->name, l->gain, l->gain_time, rbt_ledger_gain(l), l->scale, remedy(method));
    return true;
}

// ---- Looking

// Of lumped masses, which is no less than that of consistent ones
static double kinetic_energy(const rbt_model *m, const double *v, size_t begin, size_t end) {
    double sum;
    rbt_terms terms;
    rbt_terms_begin(&terms, 1);
    for (size_t n = begin; n < end; n++)
        if (rbt_ranks_owns(m, n)) terms.value[0][rbt_terms_next(&terms)] = m->mass[n] * rbt_dot(v + 3 * n, v + 3 * n);
    rbt_terms_end(&terms, m, &sum);
    return 0.5 * sum;
}

// In the body with most of the kinetic energy, the node with most of it
static size_t most_energetic(const rbt_model *m, const double *v) {
    const rbt_body *body = &m->bodies[0];
    double most = -1;
    for (size_t b = 0; b < m->body_count; b++) {
        double kinetic = kinetic_energy(m, v, m->bodies[b].node_begin, m->bodies[b].node_end);
        if (kinetic > most) most = kinetic, body = &m->bodies[b];
    }
    size_t node = body->node_begin;
    most = -1;
    for (size_t n = body->node_begin; n < body->node_end; n++) {
        double kinetic = m->mass[n] * rbt_dot(v + 3 * n, v + 3 * n);
        if (kinetic > most) most = kinetic, node = n;
    }
    return node;
}

static void report_gain(const rbt_energy_watch *w, const rbt_state *state, const rbt_ledger *now,
                        rbt_step_report *report) {
    const rbt_model *m = w->stepper->model;
    rbt_report_node(report, m, state->x, most_energetic(m, state->v));
    report->outcome = RBT_UNSTABLE;
    report->stage = "energy";
    snprintf(
        report->hint, sizeof report->hint,
        "by %g s %s has gained %.3g J from nothing and has %.3g J, where start, work and gravity account for %.3g "
        "J; take a step below %.3g s (explicit ones: %.3g s here) or %s",
        state->t, w->stepper->method->name, now->gain, now->energy, now->scale, m->step,
        m->bodies[report->body].explicit_step, remedy(w->stepper->method));
}

// Enters energies and work into the ledger; false: the gain is beyond the limit.
static bool enter(const rbt_energy_watch *w, const rbt_outside_work *work, const rbt_state *state, rbt_ledger *l) {
    const rbt_energies *e = &w->energies;
    bool frame = state->step == 0;
    double own = own_work(w, e);
    add_work(l, work);
    l->effort += fabs(own - l->own_work);
    l->own_work = own;
    l->looks++;
    l->time = state->t;
    l->energy = e->total;
    l->gravity = e->gravity;
    l->scale = fmax(l->scale, accounted_for(w, l));
    double balance = l->energy - l->work - l->own_work - l->jumps, highest = -INFINITY;
    if (frame) l->recent[l->frames++ % RBT_LEDGER_RECENT] = balance;
    for (size_t i = 0; i < RBT_LEDGER_RECENT; i++) highest = fmax(highest, l->recent[i]);
    l->level = fmin(l->level, highest);
    double gain = balance - e->contact - l->level - l->slack;
    if (gain > l->gain) l->gain = gain, l->gain_time = state->t;
    return !(gain > RBT_GAIN_LIMIT * l->scale);
}

static rbt_outcome look(rbt_energy_watch *w, rbt_state *state, const rbt_outside_work *work,
                        rbt_step_report *report) {
    rbt_ledger next = state->tally.ledger;
    if (!next.looks) {  // the energy of the start was not known
        rbt_energy_watch_begin(w, state);
        return RBT_DONE;
    }
    see(w, state);
    if (isnan(w->energies.total)) {  // a method that does not know its energies yet
        add_work(&state->tally.ledger, work);
        rbt_outside_keep(&w->outside);
        return RBT_DONE;
    }
    if (enter(w, work, state, &next)) {
        state->tally.ledger = next;
        report->gain = rbt_ledger_gain(&next);
        rbt_outside_keep(&w->outside);
        return RBT_DONE;
    }
    report_gain(w, state, &next, report);
    w->t = NAN;
    return RBT_UNSTABLE;
}

rbt_outcome rbt_energy_watch_look(rbt_energy_watch *w, rbt_state *state, rbt_step_report *report) {
    rbt_outside_work work = rbt_outside_sample_at(&w->outside, state);
    return look(w, state, &work, report);
}

bool rbt_energy_watch_due(rbt_energy_watch *w, const rbt_state *state, int64_t count, bool last) {
    int64_t after = state->step + count, steps = state->tally.steps;
    w->in_turn = last && (w->every_frame || !w->cheap || (steps + count) / CHEAP_STEPS != steps / CHEAP_STEPS);
    return last || after / KINETIC_EVERY != state->step / KINETIC_EVERY;
}

rbt_outcome rbt_energy_watch_step(rbt_energy_watch *w, rbt_state *state, bool due, rbt_step_report *report) {
    const rbt_model *m = w->stepper->model;
    rbt_ledger *l = &state->tally.ledger;
    if (due && (w->in_turn || !(kinetic_energy(m, state->v, 0, m->node_count) <= SURPRISE * l->scale)))
        return rbt_energy_watch_look(w, state, report);
    if (rbt_outside_due(&w->outside, state)) {
        rbt_outside_work work = rbt_outside_sample_at(&w->outside, state);
        add_work(l, &work);
        rbt_outside_keep(&w->outside);
    }
    return RBT_DONE;
}

// ---- What a caller prescribes

void rbt_energy_watch_before_input(rbt_energy_watch *w, rbt_state *state) {
    if (!w->begun || !(state->t > w->outside.last.t)) return;
    rbt_outside_work work = rbt_outside_sample_at(&w->outside, state);
    add_work(&state->tally.ledger, &work);
    rbt_outside_keep(&w->outside);
}

void rbt_energy_watch_after_input(rbt_energy_watch *w, const rbt_state *state) {
    w->given = given_acceleration(w->stepper->model);
    if (w->begun) rbt_outside_begin(&w->outside, state);
}

// ---- As bytes

typedef struct rbt_packed_watch {
    double t;
    rbt_energies energies;
    int64_t begun;
} rbt_packed_watch;

size_t rbt_energy_watch_packed_size(const rbt_energy_watch *w) {
    return sizeof(rbt_packed_watch) + rbt_outside_packed_size(&w->outside);
}

void rbt_energy_watch_pack(const rbt_energy_watch *w, void *bytes) {
    rbt_packed_watch head = {.t = w->t, .energies = w->energies, .begun = w->begun};
    memcpy(bytes, &head, sizeof head);
    rbt_outside_pack(&w->outside, (char *)bytes + sizeof head);
}

bool rbt_energy_watch_unpack(rbt_energy_watch *w, const void *bytes, size_t size) {
    rbt_packed_watch head;
    if (size < sizeof head || !rbt_outside_unpack(&w->outside, (const char *)bytes + sizeof head, size - sizeof head))
        return false;
    memcpy(&head, bytes, sizeof head);
    w->t = head.t;
    w->energies = head.energies;
    w->begun = head.begun;
    w->given = given_acceleration(w->stepper->model);
    return true;
}
