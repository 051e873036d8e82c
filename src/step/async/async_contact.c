// Asynchronous contact (Harmon, Vouga, Smith, Tamstorf and Grinspun 2009; Vouga et al. 2011): every force keeps its
// own regular clock, nodes move straight on between kicks, contact is a barrier of nested penalty layers, and
// certificates tell which of them may sleep. Nothing ever penetrates; momentum is kept exactly, energy without drift.
//
// Time is a whole number of ticks, a step is 2^36 of them, and every clock ticks at a step over a power of two. A
// moment is
//   certificates that expire,  impulses of contact layers that tick, elements that tick, kicks,  new certificates
// where all forces see the positions and velocities before any of its kicks: their order does not matter.
//
// The state's memory holds a track per node: position, velocity and tick of its last kick. The state's own x and v are
// the tracks read at the end of the step; reading them changes nothing.
#include "rubato/methods.h"
#include "step/async/async_stepper.h"
#include "step/async/bounds.h"
#include "step/async/window.h"

#include <stdio.h>
#include <string.h>

#define OPTION(member, what) .name = #member, .kind = what, .offset = offsetof(rbt_async_contact_options, member)
static const rbt_field FIELDS[] = {
    {OPTION(stiffness, RBT_REAL), .fallback = {1000}, .flags = RBT_ABOVE, .max = INFINITY, .unit = "N/m",
     .doc =
         "Of the outermost layer, r(1). Any value is safe; a larger one makes contact harder and its clocks faster."},
    {OPTION(thickness, RBT_REAL), .fallback = {NAN}, .flags = RBT_ABOVE | RBT_AUTO, .max = INFINITY, .unit = "m",
     .doc = "Distance at which the outermost layer begins to push, eta(1); \"auto\": a quarter of the mean length of "
            "the edges that can touch, or of the smallest radius of particles, and no more than the smallest gap at "
            "the start."},
    {OPTION(restitution, RBT_REAL), .fallback = {1}, .max = 1,
     .doc = "Coefficient of restitution: what is left of the layers' push while a pair separates."},
    {OPTION(friction, RBT_REAL), .fallback = {0}, .max = INFINITY, .doc = "Coulomb's coefficient, for every layer."},
    {OPTION(safety, RBT_REAL), .fallback = {NAN}, .flags = RBT_ABOVE | RBT_AUTO, .max = 1.9,
     .doc =
         "Step of a layer times the frequency of a contact in which it and all layers before it push: stable below "
         "2, and below 2 / sqrt(n) where n contacts share a node. An impact changes the energy of its pair by about "
         "the square of it, up or down. \"auto\": the root of 0.025^2 + (0.2^2 - 0.025^2) (1 - restitution): where "
         "restitution takes nothing, energy has to stay for thousands of impacts."},
    {OPTION(elastic_safety, RBT_REAL), .fallback = {0.5}, .flags = RBT_ABOVE, .max = 1,
     .doc =
         "Part of its stable step that an elastic element uses at most; its clock is time.step over a power of two."},
    {OPTION(floor, RBT_REAL), .fallback = {1e-13}, .flags = RBT_ABOVE, .max = INFINITY, .unit = "s",
     .doc = "If a layer needs steps below this one, the run stops and names the pair."},
    {OPTION(max_moments, RBT_REAL), .fallback = {1e9}, .min = 1, .max = INFINITY,
     .doc = "If forces must be looked at more often than this in one time.step, the run stops and names the pair "
            "with the "
            "fastest clock: a floor for its progress."},
    {OPTION(contact, RBT_BOOL), .fallback = {1}, .doc = "Whether bodies feel each other and themselves."},
    {OPTION(slack, RBT_BOOL), .fallback = {1},
     .doc = "Whether certificates allow for small changes of velocity (slack trajectories); without, every kick has "
            "those of its nodes "
            "looked at again. Changes what a run costs and no bit of its result."},
};
static const rbt_record OPTIONS = {"async-contact options", "How hard contact is, and how fast its clocks may tick.",
                                   sizeof(rbt_async_contact_options), RBT_FIELDS_WITH_COOKIE(FIELDS)};

rbt_async_contact_options rbt_async_contact_options_default(void) {
    rbt_async_contact_options options;
    rbt_record_default(&OPTIONS, &options);
    return options;
}

// One moment in so many is timed and counts for all of them; primes, since clocks are powers of two apart. Reading
// the time takes as long as a few nodes do.
enum { TIMED = 13, TIMED_OF_FEW = 251, FEW_NODES = 64 };

static const char *const STAGE_NAMES[RBT_ASYNC_STAGES] = {"elastic", "contact", "certify", "search"};

// Least time between two readings of the clock [s]
static double reading_time(void) {
    double least = INFINITY;
    for (int i = 0; i < 16; i++) {
        double before = rbt_now();
        least = fmin(least, rbt_now() - before);
    }
    return least;
}

// ---- Life

static size_t memory_size(const rbt_model *m, const void *options) {
    (void)options;
    return rbt_async_memory_size(m);
}

static void destroy(void *self) {
    rbt_async_stepper *s = self;
    if (s->touching) rbt_contact_free(&s->contact);
    rbt_clocks_free(&s->clocks);
    rbt_arena_free(s->arena);
    free(s);
}

static bool is_simple(const rbt_model *m, rbt_error *error) {
    for (size_t b = 0; b < m->body_count; b++)
        if (m->bodies[b].consistent_mass)
            return rbt_fail_path(error, NULL, "bodies",
                                 "\"%s\" has a consistent mass, but async-contact needs a mass per node; set "
                                 "consistent_mass to false or take an implicit method",
                                 m->bodies[b].name);
    return true;
}

static void *create(const rbt_model *model, int solver, const void *options, rbt_error *error) {
    (void)solver;
    if (!is_simple(model, error)) return NULL;
    rbt_async_stepper *s = rbt_array_new(1, sizeof *s, "a stepper", error);
    if (!s) return NULL;
    s->model = model;
    if (options) s->options = *(const rbt_async_contact_options *)options;
    else rbt_record_default(&OPTIONS, &s->options);
    if (model->cut_count && s->options.contact) {
        free(s);
        rbt_fail(
            error,
            "async-contact keeps surfaces apart, but the faces of a cut touch each other; leave \"cuts\" out, set "
            "integrator.options.contact to false or take another method");
        return NULL;
    }
    s->node_count = rbt_model_surface_node_count(model);
    s->timed_every = s->node_count < FEW_NODES ? TIMED_OF_FEW : TIMED;
    s->reading = reading_time();
    s->max_moments = (int64_t)fmin(s->options.max_moments, 0x1p62);
    s->arena = rbt_arena_new();
    size_t n = s->node_count;
    s->tracks = (rbt_tracks){.count = n, .tick = ldexp(model->step, -RBT_TICK_BITS)};
    bool ok = s->arena && (s->tracks.x = rbt_arena_take(s->arena, 3 * n, sizeof(double))) &&
              (s->tracks.v = rbt_arena_take(s->arena, 3 * n, sizeof(double))) &&
              (s->tracks.t = rbt_arena_take(s->arena, n, sizeof(int64_t))) &&
              (s->tracks.inverse_mass = rbt_arena_take(s->arena, n, sizeof(double))) &&
              (s->shown = rbt_arena_take(s->arena, 3 * n, sizeof(double))) &&
              (s->finest = rbt_arena_take(s->arena, n, 1)) &&
              (s->flow = rbt_arena_take(s->arena, rbt_clocks_memory(model), sizeof(double)));
    if (!ok) rbt_fail_memory(error, 8 * n * sizeof(double), "a stepper");
    ok = ok && rbt_clocks_init(&s->clocks, model, s->options.elastic_safety, error) &&
         (!s->options.contact ? rbt_async_take_settings(s, error) : rbt_async_make_contact(s, error));
    if (ok) {
        s->clocks.work = s->contact.work = &s->head.work;
        return s;
    }
    destroy(s);
    return NULL;
}

static void reset(void *self) { ((rbt_async_stepper *)self)->synchronised = false; }

// Work so far and how far hinges have flowed are no part of the motion.
static void forget(void *self, rbt_state *state) {
    (void)self;
    rbt_async_head *head = state->memory;
    *head = (rbt_async_head){.work = head->work};
}

// ---- Moments

static double lap(rbt_async_stepper *s, int stage, double since) {
    double now = rbt_now();
    s->seconds[stage] += s->timed_every * fmax(now - since - s->reading, 0);
    return now;
}

static bool search(rbt_async_stepper *s, int64_t t) {
    double start = rbt_now();
    bool ok = rbt_contact_window(&s->contact, t);
    s->seconds[RBT_ASYNC_STAGE_SEARCH] += rbt_now() - start;
    return ok;
}

// Whether the step that t lies in may have another moment; if not, the pair with the fastest clock is to blame.
static bool has_time(rbt_async_stepper *s, int64_t t) {
    if (t >> RBT_TICK_BITS != s->step) s->step = t >> RBT_TICK_BITS, s->step_begin = s->moments;
    if (s->moments - s->step_begin < s->max_moments || !s->touching) return true;
    s->slow = true;
    s->blamed = rbt_contact_blame(&s->contact, t);
    return false;
}

static inline void tick(rbt_async_stepper *s, int64_t t, int slowest) {
    s->forces += (int64_t)rbt_clocks_tick(&s->clocks, &s->tracks, t, !s->head.started, s->flow);
    if (slowest == 0) s->forces++;  // gravity
    s->head.started = 1;
}

// Nodes that elements, gravity or prescribed motions have kicked
static inline void check(rbt_async_stepper *s, int64_t t, int slowest) {
    rbt_contact *c = &s->contact;
    if (slowest == 0) {
        rbt_contact_check(c, NULL, 0, s->moving ? s->node_count : s->model->node_count, t);
        return;
    }
    for (size_t i = 0; i < s->clocks.count; i++) {
        const rbt_clock *k = &s->clocks.clocks[i];
        if (k->level >= slowest) rbt_contact_check(c, k->nodes, 0, k->node_count, t);
    }
}

// A moment in which nothing ticks but elements: no certificate expires, no layer is awake or none ticks.
static bool quiet_moment(rbt_async_stepper *s, int64_t t, int slowest, bool timed) {
    double clock = timed ? rbt_now() : 0;
    tick(s, t, slowest);
    if (timed) clock = lap(s, RBT_ASYNC_STAGE_ELASTIC, clock);
    bool ok = true;
    if (s->touching) {
        check(s, t, slowest);
        if (s->contact.moment.cone_violator_count || s->contact.moment.line_violator_count) {
            ok = rbt_contact_settle(&s->contact, t);
            s->next = t;
        }
        if (timed) lap(s, RBT_ASYNC_STAGE_CERTIFY, clock);
    }
    return ok;
}

static bool full_moment(rbt_async_stepper *s, int64_t t, int slowest, bool timed) {
    rbt_contact *c = &s->contact;
    if (t >= c->window.end && !search(s, t)) return false;
    double clock = timed ? rbt_now() : 0;
    rbt_contact_expire(c, t);
    if (timed) clock = lap(s, RBT_ASYNC_STAGE_CERTIFY, clock);
    rbt_contact_measure(c, t);
    if (timed) clock = lap(s, RBT_ASYNC_STAGE_CONTACT, clock);
    bool elastic = slowest <= s->clocks.finest;
    if (elastic) tick(s, t, slowest);
    if (timed) clock = lap(s, RBT_ASYNC_STAGE_ELASTIC, clock);
    rbt_contact_kick(c, t);
    if (timed) clock = lap(s, RBT_ASYNC_STAGE_CONTACT, clock);
    if (elastic) check(s, t, slowest);
    bool ok = rbt_contact_settle(c, t);
    if (timed) lap(s, RBT_ASYNC_STAGE_CERTIFY, clock);
    return ok;
}

// quiet: contact has nothing to do before the kicks.
static bool moment(rbt_async_stepper *s, int64_t t, bool quiet) {
    if (!has_time(s, t)) return false;
    int slowest = rbt_tick_level(t);
    if (s->moving && slowest == 0) rbt_async_drive(s, t);
    bool timed = s->moments++ == s->next_timed;
    if (timed) s->next_timed += s->timed_every;
    bool ok = quiet ? quiet_moment(s, t, slowest, timed) : full_moment(s, t, slowest, timed);
    s->now = t;
    return ok && s->contact.window.cut ? search(s, t) : ok;
}

// A tick of the attempt that follows from its beginning alone, as if drawn (the finaliser of splitmix64).
static int64_t drawn_tick(int64_t begin, int64_t end) {
    uint64_t z = (uint64_t)begin + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return begin + (int64_t)(z % (uint64_t)(end - begin > 0 ? end - begin : 1));
}

static void show(const rbt_async_stepper *s, int64_t t, double time) {
    for (size_t i = 0; i < s->model->node_count; i++) rbt_track_at(&s->tracks, i, t, s->shown + 3 * i);
    s->observer->see(s->observer->context, RBT_SEEN_EVENT, time, s->shown);
}

static rbt_outcome move(rbt_async_stepper *s, rbt_state *state, double until, const rbt_stages *stages,
                        rbt_step_report *report) {
    s->moving = s->touching && rbt_model_surface_moves(&s->surface);
    if (!rbt_async_load(s, state)) return rbt_async_explain(s, state, report);
    int64_t begin = s->end, end = rbt_async_ticks_of(s, until);
    int64_t show_from = !s->observer ? INT64_MAX : s->observer->every ? begin : drawn_tick(begin, end);
    if (s->observer) s->observer->see(s->observer->context, RBT_SEEN_START, state->t, state->x);
    int shift = RBT_TICK_BITS - s->clocks.finest;
    for (;;) {
        int64_t t = ((s->now >> shift) + 1) << shift;
        if (s->next <= s->now) s->next = s->touching ? rbt_contact_next(&s->contact, s->now) : INT64_MAX;
        bool quiet = t < s->next;
        if (!quiet) t = s->next;
        if (t >= end) break;
        if (rbt_stage_stopped(stages)) {
            s->synchronised = false;
            return RBT_STOPPED;
        }
        if (!moment(s, t, quiet)) return rbt_async_explain(s, state, report);
        if (t < show_from) continue;
        show(s, t, rbt_async_time_of(s, t));
        if (!s->observer->every) show_from = INT64_MAX;
    }
    s->now = end - 1;
    s->end = end;
    rbt_async_store(s, state, end);
    rbt_outcome outcome = rbt_check_motion(s->model, state, fmin(until - state->t, s->model->step), report);
    if (outcome != RBT_DONE) s->synchronised = false;
    return outcome;
}

static bool accepts(void *self, const rbt_state *state, char *text, size_t size) {
    rbt_async_stepper *s = self;
    int64_t t = rbt_async_ticks_of(s, state->t);
    if (!s->touching) return true;
    memcpy(s->shown, state->x, 3 * s->model->node_count * sizeof *s->shown);
    rbt_async_drive(s, t);
    for (size_t n = s->model->node_count; n < s->node_count; n++) rbt_track_at(&s->tracks, n, t, s->shown + 3 * n);
    s->synchronised = false;
    double length;
    if (rbt_limit_broken(&s->contact, s->shown, &length) < 0)
        return rbt_contact_is_legal(&s->contact, s->shown, text, size);
    snprintf(text, size, "a spring of %.3g m and its limit", length);
    return false;
}

static void set_observer(void *self, const rbt_observer *observer) {
    ((rbt_async_stepper *)self)->observer = observer;
}

static rbt_outcome attempt(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    rbt_async_stepper *s = self;
    memset(s->seconds, 0, sizeof s->seconds);
    report->stage = "moments";
    rbt_outcome outcome = move(s, state, until, stages, report);
    for (int i = 0; i < RBT_ASYNC_STAGES; i++) {
        rbt_stage_add(stages, STAGE_NAMES[i], s->seconds[i]);
        s->all_seconds[i] += s->seconds[i];
    }
    return outcome;
}

// Elements and layers have clocks of their own below it: all it decides is how often the state is a whole one.
static double choose_step(const rbt_model *model, const void *options, rbt_error *error) {
    (void)options, (void)error;
    return fmin(model->frame_interval, 0.01);
}

const rbt_method RBT_ASYNC_CONTACT = {
    .name = "async-contact",
    .alone = "every force has a clock of its own",
    .doc = "explicit: every element and every contact at its own rate; nothing ever penetrates",
    .when = "bodies touch themselves or each other, tightly or fast, and nothing may pass through anything",
    .gain_remedy = "options with a smaller safety",
    .order = 1,
    .damps_strain_rates = true,
    .keeps_angular_momentum = true,
    .options = &OPTIONS,
    .own_contact = true,
    .contact = true,
    .own_steps = true,
    .undamped = true,
    .choose_step = choose_step,
    .needs_lumped_mass = true,
    .memory_size = memory_size,
    .create = create,
    .destroy = destroy,
    .set_observer = set_observer,
    .reset = reset,
    .forget = forget,
    .accepts = accepts,
    .attempt = attempt,
    .energies = rbt_async_energies,
    .contacts = rbt_async_contacts,
    .contact_forces = rbt_async_contact_forces,
    .describe = rbt_async_describe,
};
