// Whether positions are apart, and what is wrong with a start in which they are not. See step_contact.h.
//
// Pairs of primitives tell by their distances; an edge that passes through a triangle need not be near any corner or
// edge of it, so leaves whose boxes overlap are tested for that.
#include "math/vec3.h"
#include "step/contact/contact_parts.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Shares of the largest coordinate. A thickness below RESOLVED is used up by rounding: the continuous test keeps a
// tenth of a gap, and needs some dozens of roundings for it (contact/ccd). A gap of the start below CLOSEST leaves no
// room at all.
static const double RESOLVED = 1e4 * DBL_EPSILON, CLOSEST = 64 * DBL_EPSILON;
// Of the thickness that fits the meshes: "auto" is no less. Contact much thinner than that takes hundreds of
// iterations, or no end; what starts closer is pushed apart gently.
static const double THINNEST = 1e-3;
// Energy at the start that is worth a word: what lifts all that is pushed by so many thicknesses against the gravity of
// the earth. Things that rest on each other have about one.
static const double LOUD = 100 * 9.81;

// ---- One pair is enough

typedef struct crossing_search {
    const rbt_step_contact *contact;
    const double *x;
    char *text;
    size_t size;
    bool found;
} crossing_search;

static void look_for_crossing(void *context, int32_t a, int32_t b) {
    crossing_search *s = context;
    const rbt_contact_surface *p = &s->contact->primitives;
    rbt_pair_key keys[15];
    if (s->found || !rbt_leaf_pairs(p, a, b, keys)) return;
    if (!rbt_leaves_cross(p, s->x, a, b) && !rbt_leaves_cross(p, s->x, b, a)) return;
    s->found = true;
    rbt_step_contact_name(s->contact, keys[0], s->text, s->size);
}

// The least distance of a candidate less what it keeps free
static double least_gap(const rbt_step_contact *c, const double *x, rbt_pair_key *key) {
    double least = INFINITY;
    for (size_t i = 0; i < c->candidates.count; i++) {
        double d = rbt_contact_gap_of(&c->pairs[i], x);
        if (d < least) least = d, *key = c->candidates.keys[i];
    }
    return least;
}

bool rbt_contact_is_apart(rbt_step_contact *c, const double *x, char *text, size_t size) {
    rbt_pair_key key = 0;
    if (!rbt_contact_prepare(c, x, x)) {
        snprintf(text, size, "not enough memory");
        return false;
    }
    if (!(least_gap(c, x, &key) > 0)) {
        rbt_step_contact_name(c, key, text, size);
        return false;
    }
    crossing_search search = {.contact = c, .x = x, .text = text, .size = size};
    rbt_candidates_leaves(&c->candidates, look_for_crossing, &search);
    return !search.found;
}

// ---- Sizes

static double body_size(const rbt_body *body) {
    double across[3];
    rbt_subtract(body->box_max, body->box_min, across);
    return rbt_length(across) + (body->kind == RBT_PARTICLES ? 2 * body->particles.radius : 0);
}

static double largest_coordinate(const rbt_model *m) {
    double largest = 0;
    for (size_t i = 0; i < 3 * m->node_count; i++) largest = fmax(largest, fabs(m->x0[i]));
    return largest;
}

bool rbt_contact_check_sizes(const rbt_step_contact *c, rbt_error *error) {
    const rbt_model *m = c->model;
    double far = largest_coordinate(m), finest = RESOLVED * far;
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &m->bodies[b];
        double size = body_size(body), gap = rbt_contact_settings_gap(&m->contact, (int)b);
        if (c->thickness > size)
            return rbt_fail_path(
                error, NULL, "contact.thickness",
                "%g m is more than the whole of \"%s\" measures, %.3g m: it would push itself apart; "
                "%.3g m fits the meshes, and \"auto\" finds it",
                c->thickness, body->name, size, c->fitting);
        if (gap > size)
            return rbt_fail_path(error, NULL, "contact.gap",
                                 "\"%s\" is to keep %g m free, which is more than it measures, %.3g m; take a gap "
                                 "smaller than the distances within its own surface",
                                 body->name, gap, size);
    }
    if (c->thickness >= finest) return true;
    return rbt_fail_path(
        error, NULL, "contact.thickness",
        "%g m is less than positions of up to %.3g m can resolve, %.3g m; take a larger one, or move "
        "the scene to the origin; %.3g m fits the meshes",
        c->thickness, far, finest, c->fitting);
}

// ---- What is wrong with a start

typedef enum fault { CROSSES, BEHIND, OVERLAPS, TOUCHES, NEAR, FAULTS } fault;

enum { KEPT = 64, NAMED = 3 };  // pairs of sides that are told apart, and that a sentence has

typedef struct quarrel {  // of two sides: bodies, or obstacles as -1 less their number
    int a, b;
    size_t count;
    double worst;    // [m] the least distance less radii
    double gap;      // [m] that they should keep
    double near[3];  // where
} quarrel;

typedef struct start_search {
    const rbt_step_contact *contact;
    const double *x;
    size_t count[FAULTS];
    quarrel quarrels[FAULTS][KEPT];
} start_search;

static quarrel *quarrel_of(start_search *s, fault kind, int a, int b) {
    if (a < 0 || (b >= 0 && b < a)) {  // bodies in their order, obstacles last
        int swap = a;
        a = b, b = swap;
    }
    quarrel *q = s->quarrels[kind];
    for (size_t i = 0; i < s->count[kind] && i < KEPT; i++)
        if (q[i].a == a && q[i].b == b) return &q[i];
    if (s->count[kind]++ >= KEPT) return NULL;
    q += s->count[kind] - 1;
    *q = (quarrel){.a = a, .b = b, .worst = INFINITY};
    return q;
}

static int side_of(const rbt_step_contact *c, int32_t node) { return c->surface.def.body[node]; }

static void note_crossing(void *context, int32_t a, int32_t b) {
    start_search *s = context;
    const rbt_contact_surface *p = &s->contact->primitives;
    rbt_pair_key keys[15];
    int first = side_of(s->contact, p->leaves[a].node[0]), second = side_of(s->contact, p->leaves[b].node[0]);
    // Bodies may be built into obstacles that do not move, if they do not either; not into each other.
    if (!rbt_leaf_pairs(p, a, b, keys) && (first < 0 || second < 0)) return;
    if (!rbt_leaves_cross(p, s->x, a, b) && !rbt_leaves_cross(p, s->x, b, a)) return;
    quarrel *q = quarrel_of(s, CROSSES, first, second);
    if (!q || q->count++) return;
    for (int k = 0; k < p->leaves[a].corners; k++)
        rbt_add_scaled(q->near, 1.0 / p->leaves[a].corners, s->x + 3 * (size_t)p->leaves[a].node[k]);
}

static void note_pair(start_search *s, const rbt_contact_pair *pair) {
    const rbt_step_contact *c = s->contact;
    int last = rbt_pair_corners(pair->barrier.kind) - 1;
    double kept = c->half_gap[pair->node[0]] + c->half_gap[pair->node[last]];
    double gap = rbt_contact_gap_of(pair, s->x), distance = gap + kept;
    if (gap > 0) return;
    bool round = pair->barrier.inside > kept, wall = pair->barrier.kind == RBT_TOUCH_WALL;
    fault kind = distance > 0 && kept > 0 ? NEAR : distance < 0 && wall ? BEHIND : round ? OVERLAPS : TOUCHES;
    quarrel *q = quarrel_of(s, kind, side_of(c, pair->node[0]), side_of(c, pair->node[last]));
    if (!q) return;
    q->count++;
    if (!(distance < q->worst)) return;
    q->worst = distance;
    q->gap = kept;
    memcpy(q->near, s->x + 3 * (size_t)pair->node[0], sizeof q->near);
}

static void say(char *text, size_t size, const char *format, ...) RBT_PRINTF(3, 4);
static void say(char *text, size_t size, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

static void name_side(const rbt_step_contact *c, int side, char name[80]) {
    if (side < 0) snprintf(name, 80, "obstacles[%d]", -1 - side);
    else snprintf(name, 80, "\"%.60s\"", c->model->bodies[side].name);
}

// "a" passes through itself (3 places)
static void describe(const rbt_step_contact *c, fault kind, const quarrel *q, char *text, size_t size) {
    char a[80], b[80];
    bool self = q->a == q->b, obstacle = q->b < 0;
    name_side(c, q->a, a);
    name_side(c, q->b, b);
    const char *many = q->count == 1 ? "" : "s";
    switch (kind) {
    case CROSSES:
        if (self) say(text, size, "%s passes through itself", a);
        else if (obstacle) say(text, size, "%s passes through %s", a, b);
        else say(text, size, "%s and %s pass through each other", a, b);
        say(text, size, " (%zu place%s)", q->count, many);
        break;
    case BEHIND:
        say(text, size, "%s is behind the plane %s (%zu node%s, up to %.3g m)", a, b, q->count, many, -q->worst);
        break;
    case OVERLAPS:
        if (self) say(text, size, "parts of %s overlap", a);
        else say(text, size, "%s and %s overlap", a, b);
        say(text, size, " (%zu pair%s, by up to %.3g m)", q->count, many, -q->worst);
        break;
    case TOUCHES:
        if (self) say(text, size, "%s touches itself", a);
        else say(text, size, "%s touches %s", a, b);
        say(text, size, " (%zu place%s)", q->count, many);
        break;
    default:
        if (self) say(text, size, "parts of %s", a);
        else say(text, size, "%s and %s", a, b);
        say(text, size, " are %.3g m apart, but must keep more than %.3g m", q->worst, q->gap);
        break;
    }
}

static bool complain(const start_search *s, fault kind, rbt_error *error) {
    static const char *const remedies[FAULTS] = {
        [CROSSES] = "move them apart: contact keeps apart what is, and cannot separate what is not",
        [BEHIND] = "move the body to the side that the normal of the plane points to",
        [OVERLAPS] = "move them apart, or make the radius smaller",
        [TOUCHES] = "leave a gap between them, however small",
        [NEAR] = "take a smaller gap, or move them apart",
    };
    char text[700] = "at the start ";
    const quarrel *q = s->quarrels[kind];
    size_t count = s->count[kind];
    for (size_t i = 0; i < count && i < NAMED; i++) {
        if (i) say(text, sizeof text, ", ");
        describe(s->contact, kind, &q[i], text, sizeof text);
    }
    if (count > NAMED)
        say(text, sizeof text, " and %zu%s more pairs of bodies", (count < KEPT ? count : (size_t)KEPT) - NAMED,
            count > KEPT ? " or" : "");
    return rbt_fail_path(error, NULL, "contact", "%s, first near (%.4g, %.4g, %.4g); %s", text, q->near[0],
                         q->near[1], q->near[2], remedies[kind]);
}

static bool is_clear(start_search *s, rbt_error *error) {
    const rbt_step_contact *c = s->contact;
    for (size_t i = 0; i < c->candidates.count; i++) note_pair(s, &c->pairs[i]);
    rbt_candidates_leaves(&c->candidates, note_crossing, s);
    for (int kind = 0; kind < FAULTS; kind++)
        if (s->count[kind]) return complain(s, (fault)kind, error);
    return true;
}

bool rbt_contact_check_start(rbt_step_contact *c, rbt_error *error) {
    double far = largest_coordinate(c->model);
    char text[160];
    c->least_gap = INFINITY;
    if (c->model->is_cut) return true;  // cuts have put nodes to where they are now, not to where they start
    rbt_model_surface_start(&c->surface, c->motion);
    start_search *s = rbt_array_new(1, sizeof *s, "contact", error);
    if (!s) return false;
    *s = (start_search){.contact = c, .x = c->motion};
    bool good = rbt_contact_prepare(c, c->motion, c->motion) || rbt_fail_memory(error, sizeof *c->pairs, "contact");
    good = good && is_clear(s, error);
    free(s);
    if (!good) return false;
    c->least_gap = least_gap(c, c->motion, &c->least);
    if (isnan(c->model->contact.thickness))
        c->thickness = fmin(c->fitting, fmax(0.9 * c->least_gap, THINNEST * c->fitting));
    if (c->least_gap >= CLOSEST * far) return true;
    rbt_step_contact_name(c, c->least, text, sizeof text);
    return rbt_fail_path(error, NULL, "contact",
                         "%s are %.3g m apart at the start, but less than %.3g m cannot be told from nothing at "
                         "positions of up to %.3g m; move them apart",
                         text, c->least_gap, CLOSEST * far, far);
}

// ---- What is worth a word

// Mass of the free nodes that pairs push [kg]
static double pushed_mass(const rbt_step_contact *c) {
    double mass = 0;
    for (size_t n = 0; n < c->model->node_count; n++)
        if (c->hardness[n] > 0 && c->model->role[n] == RBT_FREE) mass += c->model->mass[n];
    return mass;
}

bool rbt_step_contact_foresee(rbt_step_contact *c, char text[320]) {
    char pair[160];
    double energy = 0;
    if (!(c->least_gap < c->thickness)) return false;
    rbt_step_contact_name(c, c->least, pair, sizeof pair);
    if (!rbt_step_contact_look(c, 0, c->model->x0)) return false;
    for (size_t i = 0; i < c->active_count; i++) energy += c->active[i].value;
    double mass = pushed_mass(c);
    if (!(mass > 0) || !(energy > LOUD * mass * c->thickness)) return false;
    snprintf(text, 320,
             "contact begins with %.3g J: %zu pairs are closer than its thickness of %.3g m, the nearest %.130s with "
             "%.3g m; this throws them apart with about %.3g m/s",
             energy, c->active_count, c->thickness, pair, c->least_gap, sqrt(2 * energy / mass));
    return true;
}
