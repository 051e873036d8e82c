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
#include "math/vec3.h"
#include "model/prescribed_motions.h"
#include "rubato/methods.h"
#include "step/async/async_surface.h"
#include "step/async/bounds.h"
#include "step/async/clocks.h"
#include "step/async/window.h"
#include "step/core/method.h"

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

typedef struct memory_head {  // of the state's memory; then x, v, ticks and how far hinges have flowed
    double step;              // [s] that ticks are counted in; 0: nothing was stored yet
    double work;              // by prescribed nodes [J]
    int64_t started;          // whether clocks have ticked
} memory_head;

typedef struct async_contact {
    const rbt_model *model;
    rbt_async_contact_options options;
    rbt_arena *arena;
    rbt_clocks clocks;
    rbt_tracks tracks;
    rbt_contact contact;
    rbt_model_surface surface;  // what contact is about
    bool touching;              // there is something to touch
    bool gaps;                  // bodies keep some room free
    bool moving;                // obstacles may, in this attempt
    bool synchronised;          // tracks are those of some state
    int64_t now;                // the last moment that was dealt with [ticks]
    int64_t end;                // of the last attempt
    int64_t next;               // when contact wants the next moment; not after `now`: to be asked
    bool slow, blamed;          // a step took more moments than allowed; because of a pair
    memory_head head;
    double *flow;                       // (rbt_clocks_memory) of hinges, beside the tracks
    size_t node_count;                  // of the model and of obstacles
    int64_t moments, forces;            // so far
    int64_t step, step_begin;           // the last one, and how many moments there were before it
    int64_t max_moments;                // that one may have
    const rbt_observer *observer;       // NULL: nobody
    double *shown;                      // (node_count x 3) places that the observer sees
    signed char *finest;                // (node_count) levels of the fastest clocks of nodes, work space
    int timed_every;                    // moments
    int64_t next_timed;                 // the number of the next one that is
    double reading;                     // what it takes to read the time [s]
    double seconds[4], all_seconds[4];  // of this attempt, of all
} async_contact;

// One moment in so many is timed and counts for all of them; primes, since clocks are powers of two apart. Reading
// the time takes as long as a few nodes do.
enum { TIMED = 13, TIMED_OF_FEW = 251, FEW_NODES = 64 };

enum { ELASTIC, CONTACT, CERTIFY, SEARCH, STAGES };
static const char *const STAGE_NAMES[STAGES] = {"elastic", "contact", "certify", "search"};

// Least time between two readings of the clock [s]
static double reading_time(void) {
    double least = INFINITY;
    for (int i = 0; i < 16; i++) {
        double before = rbt_now();
        least = fmin(least, rbt_now() - before);
    }
    return least;
}

// ---- Geometry

// Mean length of edges, or the least radius of particles
static double mean_edge(const rbt_model *m) {
    double sum = 0;
    size_t count = 0;
    for (size_t t = 0; t < m->triangle_count; t++)
        for (size_t k = 0; k < 3; k++, count++) {
            double along[3];
            rbt_subtract(m->X + 3 * (size_t)m->triangles[3 * t + k],
                         m->X + 3 * (size_t)m->triangles[3 * t + (k + 1) % 3], along);
            sum += rbt_length(along);
        }
    for (size_t e = 0; e < m->edge_count; e++, count++) {
        double along[3];
        rbt_subtract(m->X + 3 * (size_t)m->edges[2 * e], m->X + 3 * (size_t)m->edges[2 * e + 1], along);
        sum += rbt_length(along);
    }
    double mean = count ? sum / (double)count : INFINITY;
    for (size_t b = 0; b < m->body_count; b++)
        if (m->bodies[b].kind == RBT_PARTICLES && m->bodies[b].particles.radius > 0)
            mean = fmin(mean, m->bodies[b].particles.radius);
    return isfinite(mean) ? mean : 0.1;
}

static bool limits_are_kept(const async_contact *s, rbt_error *error) {
    double length;
    int32_t leaf = rbt_limit_broken(&s->contact, s->surface.x, &length);
    if (leaf < 0) return true;
    const int32_t *node = s->contact.surface.leaves[leaf].node;
    const rbt_body *body = &s->model->bodies[s->model->node_body[node[0]]];
    return rbt_fail_path(
        error, NULL, "bodies",
        "the spring between nodes %zu and %zu of \"%s\" is %.3g m long at the start, but its limit lets "
        "it differ from its length at rest by %g %% only; deform the body less",
        (size_t)node[0] - body->node_begin, (size_t)node[1] - body->node_begin, body->name, length,
        100 * body->springs.limit);
}

// An impact of random phase changes the energy of its pair by 0.1 to 1 safety^2 (standard deviation; shallow and deep
// ones, measured with bench/async-contact/reproduce.py), and while it lasts the energy read is off by up to safety /
// 2. Without loss these add up as a random walk: 0.025 leaves 1.25 % for the reading and half a percent for 4,000
// impacts of one pair. With restitution c an impact takes 1 - c of the energy anyway, and an error of a few percent
// of that does not matter.
static double safety_of(double restitution) {
    const double elastic = 0.025, plastic = 0.2;
    return sqrt(elastic * elastic + (plastic * plastic - elastic * elastic) * (1 - restitution));
}

// Gaps of the start, where layers must not be awake: "auto" yields to them, down to a limit, and a thickness that was
// given must not bury a pair under more layers than this.
static const double THINNEST = 1e-3;  // of the thickness that fits the mesh
enum { BURIED_UNDER = 256 };          // layers: a gap of a quarter of the thickness

static bool start_is_loose(async_contact *s, double fitting, rbt_error *error) {
    bool chosen = isnan(s->options.thickness);
    rbt_start_gap nearest;
    char text[160];
    if (!rbt_contact_start_gap(&s->contact, s->surface.x, !chosen, &nearest)) return true;
    rbt_model_surface_name(&s->surface, &s->contact.surface, nearest.key, text, sizeof text);
    if (chosen && nearest.gap >= THINNEST * fitting) {
        rbt_contact_set_thickness(&s->contact, nearest.gap * (1 - 1e-9));
        return true;
    }
    if (chosen)
        return rbt_fail_path(
            error, NULL, "bodies",
            "%s are %.3g m apart at the start, less than a thousandth of the thickness of %.3g m that fits "
            "the mesh; move the bodies apart, or give %s",
            text, nearest.gap, fitting, s->model->contact.on ? "contact.thickness" : "integrator.options.thickness");
    if (nearest.gap > nearest.eta / sqrt(sqrt(BURIED_UNDER))) return true;
    return rbt_fail_path(
        error, NULL, s->model->contact.on ? "contact.thickness" : "integrator.options.thickness",
        "%s are %.3g m apart at the start, but their layers are %.3g m thick: contact would begin with "
        "%.3g J and throw them apart; a thickness of %.3g m fits, as \"auto\" would find, or move the bodies apart",
        text, nearest.gap, nearest.eta, nearest.energy, nearest.gap);
}

// ---- What the scene says about contact

static bool said_twice(const char *key, rbt_error *error) {
    char path[64];
    snprintf(path, sizeof path, "integrator.options.%s", key);
    return rbt_fail_path(error, NULL, path,
                         "the scene has \"contact\", which says it as contact.%s; leave one of them out", key);
}

// "contact" of a scene means here what it means for other methods: thickness is that of the outermost layer, friction
// that of each pair, and a gap lies inside of everything, as radii do. Other things have no counterpart.
static bool take_settings(async_contact *s, rbt_error *error) {
    const rbt_contact_settings *set = &s->model->contact;
    if (!set->on) return true;
    if (!s->options.contact)
        return rbt_fail_path(error, NULL, "integrator.options.contact",
                             "is false, but the scene has \"contact\"; leave one of them out");
    if (set->augmented)
        return rbt_fail_path(
            error, NULL, "contact.solver",
            "async-contact has layers in place of an augmented-lagrangian, and no step to solve; leave "
            "\"solver\" out, or take an implicit method");
    if (!isnan(set->slip_speed))
        return rbt_fail_path(error, NULL, "contact.slip_speed",
                             "is %g m/s, but with async-contact surfaces stick wholly; leave \"slip_speed\" out, or "
                             "take an implicit method",
                             set->slip_speed);
    if (!isnan(s->options.thickness)) return said_twice("thickness", error);
    if (s->options.friction > 0) return said_twice("friction", error);
    s->options.thickness = set->thickness;
    return true;
}

// Sides of nodes, and half of what their bodies keep free added to radii
static bool take_sides(async_contact *s, rbt_contact_law *law, rbt_error *error) {
    const rbt_model *m = s->model;
    if (!m->contact.on) return true;
    double *radius = rbt_arena_take(s->arena, s->node_count, sizeof *radius);
    int32_t *side = rbt_arena_take(s->arena, s->node_count, sizeof *side);
    if (!radius || !side) return rbt_fail_memory(error, s->node_count * sizeof *radius, "contact");
    for (size_t n = 0; n < s->node_count; n++) {
        bool own = n < m->node_count;
        side[n] = own ? m->node_body[n] : -1 - s->surface.obstacle[n];
        radius[n] = s->surface.def.radius[n] + (own ? 0.5 * rbt_contact_settings_gap(&m->contact, side[n]) : 0);
        s->gaps |= own && rbt_contact_settings_gap(&m->contact, side[n]) > 0;
    }
    s->surface.def.radius = radius;
    law->rubbing = &m->contact;
    law->side = side;
    return true;
}

static bool make_contact(async_contact *s, rbt_error *error) {
    const rbt_model *m = s->model;
    if (!take_settings(s, error) || !rbt_model_surface_make(&s->surface, m, s->arena, error)) return false;
    memcpy(s->tracks.x, s->surface.x, 3 * s->node_count * sizeof(double));
    rbt_contact_law law = {s->options.stiffness,
                           s->options.thickness,
                           s->options.restitution,
                           s->options.friction,
                           isnan(s->options.safety) ? safety_of(s->options.restitution) : s->options.safety,
                           m->step,
                           0,
                           !s->options.slack,
                           NULL,
                           NULL};
    if (!take_sides(s, &law, error)) return false;
    double fitting = 0.25 * mean_edge(m);
    if (isnan(law.thickness)) law.thickness = fitting;
    while (law.deepest < RBT_TICK_BITS && ldexp(m->step, -law.deepest - 1) >= s->options.floor) law.deepest++;
    if (!rbt_contact_init(&s->contact, &law, &s->surface.def, &s->tracks, error)) return false;
    s->touching = true;
    char text[192];
    if (!limits_are_kept(s, error)) return false;
    if (rbt_contact_is_legal(&s->contact, s->surface.x, text, sizeof text))
        return start_is_loose(s, fitting, error) && rbt_prescribed_motions_are_possible(m, error);
    return rbt_fail_path(
        error, NULL, "bodies",
        "%s touch or cross at the start (node numbers count through all bodies)%s, but contact needs a gap; "
        "move the bodies apart",
        text, s->gaps ? " or are closer than the gap that they keep" : "");
}

// ---- Life

static size_t own_size(const rbt_model *m) {
    return sizeof(memory_head) + 7 * m->node_count * sizeof(double) + rbt_clocks_memory(m) * sizeof(double);
}

static size_t memory_size(const rbt_model *m, const void *options) {
    (void)options;
    return own_size(m);
}

static void destroy(void *self) {
    async_contact *s = self;
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
    async_contact *s = rbt_array_new(1, sizeof *s, "a stepper", error);
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
         (!s->options.contact ? take_settings(s, error) : make_contact(s, error));
    if (ok) {
        s->clocks.work = s->contact.work = &s->head.work;
        return s;
    }
    destroy(s);
    return NULL;
}

// ---- The state's memory

// Time in ticks; times that are steps but for rounding are steps.
static int64_t ticks_of(const async_contact *s, double t) {
    double steps = t / s->model->step, whole = nearbyint(steps);
    if (fabs(steps - whole) <= 1e-6 * fmax(1, 1e-6 * whole)) return (int64_t)whole << RBT_TICK_BITS;
    double below = floor(steps);
    return ((int64_t)below << RBT_TICK_BITS) + (int64_t)nearbyint(ldexp(steps - below, RBT_TICK_BITS));
}

static double time_of(const async_contact *s, int64_t t) { return rbt_clocks_time(&s->clocks, &s->tracks, t); }

typedef struct memory_parts {
    memory_head *head;
    double *x, *v, *flow;
    int64_t *t;
} memory_parts;

static memory_parts parts_of(const async_contact *s, const rbt_state *state) {
    size_t n = s->model->node_count;
    memory_parts p = {.head = state->memory};
    p.x = (double *)(p.head + 1);
    p.v = p.x + 3 * n;
    p.t = (int64_t *)(void *)(p.v + 3 * n);
    p.flow = (double *)(void *)(p.t + n);
    return p;
}

static bool same_memory(const async_contact *s, const memory_parts *p) {
    size_t n = s->model->node_count;
    return memcmp(p->head, &s->head, sizeof s->head) == 0 && memcmp(p->t, s->tracks.t, n * sizeof *p->t) == 0 &&
           memcmp(p->x, s->tracks.x, 3 * n * sizeof *p->x) == 0 &&
           memcmp(p->v, s->tracks.v, 3 * n * sizeof *p->v) == 0 &&
           memcmp(p->flow, s->flow, s->clocks.memory_count * sizeof *p->flow) == 0;
}

// Obstacles go where their prescribed motions want them; within a step, as since its beginning.
static void drive(async_contact *s, int64_t t) {
    t = t >> RBT_TICK_BITS << RBT_TICK_BITS;
    rbt_async_surface_drive(&s->surface, &s->tracks, t, time_of(s, t), s->model->step);
}

// Makes the tracks those of the state, unless they are that already.
static bool load(async_contact *s, const rbt_state *state) {
    size_t n = s->model->node_count;
    memory_parts p = parts_of(s, state);
    int64_t t = ticks_of(s, state->t);
    if (s->synchronised && s->end == t && same_memory(s, &p)) return true;
    s->head = *p.head;
    bool stored = s->head.step == s->model->step;
    memcpy(s->tracks.x, stored ? p.x : state->x, 3 * n * sizeof *p.x);
    memcpy(s->tracks.v, stored ? p.v : state->v, 3 * n * sizeof *p.v);
    memcpy(s->flow, p.flow, s->clocks.memory_count * sizeof *p.flow);
    rbt_clocks_recall(&s->clocks, s->flow);
    for (size_t i = 0; i < n; i++) s->tracks.t[i] = stored ? p.t[i] : t;
    if (s->touching) drive(s, t);
    if (!stored) s->head = (memory_head){.step = s->model->step, .work = s->head.work};
    s->now = s->next = t - 1;
    s->end = t;
    s->synchronised = true;
    rbt_constrained_nodes(s->model, time_of(s, t), s->clocks.constrained);
    for (size_t i = 0; i < n; i++) s->tracks.inverse_mass[i] = s->clocks.constrained[i] ? 0 : 1 / s->model->mass[i];
    if (!s->touching) return true;
    s->contact.stall.found = s->contact.out_of_memory = s->slow = false;
    s->step = -1;
    s->synchronised = rbt_contact_window(&s->contact, t);
    return s->synchronised;
}

static void store(const async_contact *s, rbt_state *state, int64_t end) {
    size_t n = s->model->node_count;
    memory_parts p = parts_of(s, state);
    *p.head = s->head;
    memcpy(p.x, s->tracks.x, 3 * n * sizeof *p.x);
    memcpy(p.v, s->tracks.v, 3 * n * sizeof *p.v);
    memcpy(p.t, s->tracks.t, n * sizeof *p.t);
    memcpy(p.flow, s->flow, s->clocks.memory_count * sizeof *p.flow);
    memcpy(state->v, s->tracks.v, 3 * n * sizeof *p.v);
    for (size_t i = 0; i < n; i++) rbt_track_at(&s->tracks, i, end, state->x + 3 * i);
}

static void reset(void *self) { ((async_contact *)self)->synchronised = false; }

// Work so far and how far hinges have flowed are no part of the motion.
static void forget(void *self, rbt_state *state) {
    memory_parts p = parts_of(self, state);
    *p.head = (memory_head){.work = p.head->work};
}

// ---- Moments

static double lap(async_contact *s, int stage, double since) {
    double now = rbt_now();
    s->seconds[stage] += s->timed_every * fmax(now - since - s->reading, 0);
    return now;
}

static bool search(async_contact *s, int64_t t) {
    double start = rbt_now();
    bool ok = rbt_contact_window(&s->contact, t);
    s->seconds[SEARCH] += rbt_now() - start;
    return ok;
}

// Whether the step that t lies in may have another moment; if not, the pair with the fastest clock is to blame.
static bool has_time(async_contact *s, int64_t t) {
    if (t >> RBT_TICK_BITS != s->step) s->step = t >> RBT_TICK_BITS, s->step_begin = s->moments;
    if (s->moments - s->step_begin < s->max_moments || !s->touching) return true;
    s->slow = true;
    s->blamed = rbt_contact_blame(&s->contact, t);
    return false;
}

static inline void tick(async_contact *s, int64_t t, int slowest) {
    s->forces += (int64_t)rbt_clocks_tick(&s->clocks, &s->tracks, t, !s->head.started, s->flow);
    if (slowest == 0) s->forces++;  // gravity
    s->head.started = 1;
}

// Nodes that elements, gravity or prescribed motions have kicked
static inline void check(async_contact *s, int64_t t, int slowest) {
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
static bool quiet_moment(async_contact *s, int64_t t, int slowest, bool timed) {
    double clock = timed ? rbt_now() : 0;
    tick(s, t, slowest);
    if (timed) clock = lap(s, ELASTIC, clock);
    bool ok = true;
    if (s->touching) {
        check(s, t, slowest);
        if (s->contact.moment.cone_violator_count || s->contact.moment.line_violator_count) {
            ok = rbt_contact_settle(&s->contact, t);
            s->next = t;
        }
        if (timed) lap(s, CERTIFY, clock);
    }
    return ok;
}

static bool full_moment(async_contact *s, int64_t t, int slowest, bool timed) {
    rbt_contact *c = &s->contact;
    if (t >= c->window.end && !search(s, t)) return false;
    double clock = timed ? rbt_now() : 0;
    rbt_contact_expire(c, t);
    if (timed) clock = lap(s, CERTIFY, clock);
    rbt_contact_measure(c, t);
    if (timed) clock = lap(s, CONTACT, clock);
    bool elastic = slowest <= s->clocks.finest;
    if (elastic) tick(s, t, slowest);
    if (timed) clock = lap(s, ELASTIC, clock);
    rbt_contact_kick(c, t);
    if (timed) clock = lap(s, CONTACT, clock);
    if (elastic) check(s, t, slowest);
    bool ok = rbt_contact_settle(c, t);
    if (timed) lap(s, CERTIFY, clock);
    return ok;
}

// quiet: contact has nothing to do before the kicks.
static bool moment(async_contact *s, int64_t t, bool quiet) {
    if (!has_time(s, t)) return false;
    int slowest = rbt_tick_level(t);
    if (s->moving && slowest == 0) drive(s, t);
    bool timed = s->moments++ == s->next_timed;
    if (timed) s->next_timed += s->timed_every;
    bool ok = quiet ? quiet_moment(s, t, slowest, timed) : full_moment(s, t, slowest, timed);
    s->now = t;
    return ok && s->contact.window.cut ? search(s, t) : ok;
}

static rbt_outcome explain(async_contact *s, const rbt_state *state, rbt_step_report *report) {
    const rbt_contact *c = &s->contact;
    s->synchronised = false;
    if (c->out_of_memory) return RBT_OUT_OF_MEMORY;
    char text[160];
    int32_t node[4];
    if (s->slow && !s->blamed) {
        snprintf(report->hint, sizeof report->hint, "more than %.3g moments in a step, without contact",
                 s->options.max_moments);
        return RBT_STALLED;
    }
    rbt_pair_nodes(&c->surface, c->stall.pair, node);
    if ((size_t)node[0] < s->model->node_count) rbt_report_node(report, s->model, state->x, (size_t)node[0]);
    report->value = c->stall.gap;
    // Places beyond any size make rounding larger than every gap.
    if (!isfinite(c->stall.gap) || !isfinite(c->stall.speed) || !(c->trajectories.scale < 1e30)) {
        snprintf(report->hint, sizeof report->hint,
                 "a node has a place or a speed beyond any size; check forces and speeds, or take a smaller step");
        return RBT_NOT_FINITE;
    }
    rbt_model_surface_name(&s->surface, &c->surface, c->stall.pair, text, sizeof text);
    if (c->stall.watched && !s->slow)
        snprintf(report->hint, sizeof report->hint,
                 "%.100s: prescribed motions make these meet, a gap of %.3g m closes at %.3g m/s", text, c->stall.gap,
                 c->stall.speed);
    else if (s->slow)
        snprintf(report->hint, sizeof report->hint,
                 "%.90s: a gap of %.3g m closes at %.3g m/s, with over %.2g moments a step", text, c->stall.gap,
                 c->stall.speed, s->options.max_moments);
    else
        snprintf(report->hint, sizeof report->hint,
                 "%.100s: a gap of %.3g m closes at %.3g m/s, layers need steps below %.3g s", text, c->stall.gap,
                 c->stall.speed, ldexp(s->model->step, -c->law.deepest));
    return RBT_STALLED;
}

// A tick of the attempt that follows from its beginning alone, as if drawn (the finaliser of splitmix64).
static int64_t drawn_tick(int64_t begin, int64_t end) {
    uint64_t z = (uint64_t)begin + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return begin + (int64_t)(z % (uint64_t)(end - begin > 0 ? end - begin : 1));
}

static void show(const async_contact *s, int64_t t, double time) {
    for (size_t i = 0; i < s->model->node_count; i++) rbt_track_at(&s->tracks, i, t, s->shown + 3 * i);
    s->observer->see(s->observer->context, RBT_SEEN_EVENT, time, s->shown);
}

static rbt_outcome move(async_contact *s, rbt_state *state, double until, const rbt_stages *stages,
                        rbt_step_report *report) {
    s->moving = s->touching && rbt_model_surface_moves(&s->surface);
    if (!load(s, state)) return explain(s, state, report);
    int64_t begin = s->end, end = ticks_of(s, until);
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
        if (!moment(s, t, quiet)) return explain(s, state, report);
        if (t < show_from) continue;
        show(s, t, time_of(s, t));
        if (!s->observer->every) show_from = INT64_MAX;
    }
    s->now = end - 1;
    s->end = end;
    store(s, state, end);
    rbt_outcome outcome = rbt_check_motion(s->model, state, fmin(until - state->t, s->model->step), report);
    if (outcome != RBT_DONE) s->synchronised = false;
    return outcome;
}

static bool accepts(void *self, const rbt_state *state, char *text, size_t size) {
    async_contact *s = self;
    int64_t t = ticks_of(s, state->t);
    if (!s->touching) return true;
    memcpy(s->shown, state->x, 3 * s->model->node_count * sizeof *s->shown);
    drive(s, t);
    for (size_t n = s->model->node_count; n < s->node_count; n++) rbt_track_at(&s->tracks, n, t, s->shown + 3 * n);
    s->synchronised = false;
    double length;
    if (rbt_limit_broken(&s->contact, s->shown, &length) < 0)
        return rbt_contact_is_legal(&s->contact, s->shown, text, size);
    snprintf(text, size, "a spring of %.3g m and its limit", length);
    return false;
}

static void set_observer(void *self, const rbt_observer *observer) { ((async_contact *)self)->observer = observer; }

static rbt_outcome attempt(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    async_contact *s = self;
    memset(s->seconds, 0, sizeof s->seconds);
    report->stage = "moments";
    rbt_outcome outcome = move(s, state, until, stages, report);
    for (int i = 0; i < STAGES; i++) {
        rbt_stage_add(stages, STAGE_NAMES[i], s->seconds[i]);
        s->all_seconds[i] += s->seconds[i];
    }
    return outcome;
}

static void refine(const async_contact *s, const int32_t *nodes, size_t count, int level) {
    for (size_t i = 0; i < count; i++) {
        size_t n = nodes ? (size_t)nodes[i] : i;
        if (s->finest[n] < level) s->finest[n] = (signed char)level;
    }
}

// How many nodes that nothing holds have their fastest clock, of elements or of layers that are awake, at each level
static void add_clocks_of_nodes(const async_contact *s, rbt_text *json) {
    size_t counts[RBT_TICK_BITS + 1] = {0}, deepest = 0;
    memset(s->finest, 0, s->node_count);
    for (size_t i = 0; i < s->clocks.count; i++)
        refine(s, s->clocks.clocks[i].nodes, s->clocks.clocks[i].node_count, s->clocks.clocks[i].level);
    for (size_t i = 0; i < s->contact.pairs.count; i++) {
        const rbt_pair *pair = &s->contact.pairs.items[i];
        refine(s, pair->node, (size_t)rbt_pair_corners(rbt_pair_key_kind(pair->key)), pair->level);
    }
    for (size_t n = 0; n < s->model->node_count; n++) {
        if (s->tracks.inverse_mass[n] == 0) continue;
        size_t level = (size_t)s->finest[n];
        counts[level]++;
        if (level > deepest) deepest = level;
    }
    for (size_t k = 0; k <= deepest; k++) rbt_text_add(json, "%s%zu", k ? ", " : "", counts[k]);
}

// Forces of elements and of contacts, the share of the time that went into certificates, and how fast nodes continue at
// present
static void describe(const void *self, rbt_text *json) {
    const async_contact *s = self;
    const rbt_contact_counts *c = &s->contact.counts;
    double all = 0, rescheduling = s->all_seconds[CERTIFY] + s->all_seconds[SEARCH];
    for (int i = 0; i < STAGES; i++) all += s->all_seconds[i];
    int64_t forces = s->forces + c->impulses, events = s->forces + c->layers;
    rbt_text_add(json, "\"events\": %lld, \"forces\": %lld, \"elastic_forces\": %lld, \"contact_forces\": %lld, ",
                 (long long)events, (long long)forces, (long long)s->forces, (long long)c->impulses);
    rbt_text_add(json, "\"layer_ticks\": %lld, \"moments\": %lld, ", (long long)c->layers, (long long)s->moments);
    rbt_text_add(json, "\"certificates\": %lld, \"cones\": %lld, \"searches\": %lld, \"cut_searches\": %lld, ",
                 (long long)c->certificates, (long long)c->cones, (long long)c->windows, (long long)c->cut_windows);
    rbt_text_add(json, "\"repairs\": %lld, ", (long long)c->repairs);
    rbt_text_add(json, "\"candidates\": %lld, \"clocks\": %zu, \"fastest_clock\": ", (long long)c->candidates,
                 s->clocks.count);
    rbt_text_add_json_number(json,
                             ldexp(s->model->step, -(c->deepest > s->clocks.finest ? c->deepest : s->clocks.finest)));
    rbt_text_add(json, ", \"events_per_second\": ");
    rbt_text_add_json_number(json, all > 0 ? (double)events / all : 0);
    rbt_text_add(json, ", \"rescheduling_share\": ");
    rbt_text_add_json_number(json, all > 0 ? rescheduling / all : 0);
    if (s->touching) {
        rbt_text_add(json, ", \"thickness\": ");
        rbt_text_add_json_number(json, s->contact.law.thickness);
        rbt_text_add(json, ", \"safety\": ");
        rbt_text_add_json_number(json, s->contact.law.safety);
    }
    rbt_text_add(json, ", \"nodes_by_clock\": [");
    add_clocks_of_nodes(s, json);
    rbt_text_add(json, "]");
}

// ---- Questions

// Half-way along the normal from the nearest point of A: of planes no other point is known.
static void place_of(const async_contact *s, const rbt_pair *pair, const rbt_gap *gap, rbt_contact_point *to) {
    rbt_touch_kind kind = rbt_pair_key_kind(pair->key);
    int first = rbt_pair_first(kind), corners = rbt_pair_corners(kind);
    *to = (rbt_contact_point){.count_a = first, .count_b = corners - first, .gap = gap->distance - pair->radius};
    for (int k = 0; k < corners; k++) {
        double x[3];
        to->nodes[k] = pair->node[k];
        rbt_track_at(&s->tracks, (size_t)pair->node[k], s->end, x);
        if (k < first) rbt_add_scaled(to->point, -gap->weight[k], x);
    }
    rbt_add_scaled(to->point, 0.5 * gap->distance, gap->normal);
    memcpy(to->normal, gap->normal, sizeof to->normal);
    int32_t a = pair->node[0], b = pair->node[corners - 1];
    to->body_a = s->surface.obstacle[a] >= 0 ? -1 - s->surface.obstacle[a] : s->model->node_body[a];
    to->body_b = s->surface.obstacle[b] >= 0 ? -1 - s->surface.obstacle[b] : s->model->node_body[b];
}

static bool is_between_surfaces(const rbt_pair *pair) {
    rbt_touch_kind kind = rbt_pair_key_kind(pair->key);
    return kind != RBT_TOUCH_STRETCH && kind != RBT_TOUCH_SHRINK;
}

static size_t contacts(void *self, const rbt_state *state, rbt_contact_point *items, size_t capacity) {
    async_contact *s = self;
    size_t count = 0;
    rbt_gap gap;
    double force;
    if (!s->touching || !load(s, state)) return 0;
    rbt_pair_walk walk = rbt_pair_walk_all(&s->contact);
    for (const rbt_pair *pair; (pair = rbt_contact_next_push(&s->contact, &walk, s->end, &gap, &force));) {
        if (!is_between_surfaces(pair)) continue;
        if (count < capacity) {
            place_of(s, pair, &gap, &items[count]);
            items[count].force = force;
        }
        count++;
    }
    return count;
}

static void contact_forces(void *self, const rbt_state *state, double *f) {
    async_contact *s = self;
    rbt_gap gap;
    double force;
    if (!s->touching || !load(s, state)) return;
    rbt_pair_walk walk = rbt_pair_walk_all(&s->contact);
    for (const rbt_pair *pair; (pair = rbt_contact_next_push(&s->contact, &walk, s->end, &gap, &force));)
        for (int k = 0; k < rbt_pair_corners(rbt_pair_key_kind(pair->key)); k++)
            if ((size_t)pair->node[k] < s->model->node_count)
                rbt_add_scaled(f + 3 * (size_t)pair->node[k], force * gap.weight[k], gap.normal);
}

// Obstacles are layers here, not the penalty of other methods.
static void energies(void *self, const rbt_state *state, rbt_energies *e) {
    async_contact *s = self;
    bool known =
        load(s, state) || !s->contact.out_of_memory;  // a state that no step can continue from has energies too
    e->elastic = known ? rbt_clocks_energy(&s->clocks, state->x) : NAN;
    e->work = s->head.work;
    if (s->options.contact) e->contact = known ? rbt_contact_energy(&s->contact, s->end) : NAN;
    e->total = e->kinetic + e->elastic + e->gravity + e->contact;
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
    .energies = energies,
    .contacts = contacts,
    .contact_forces = contact_forces,
    .describe = describe,
};
