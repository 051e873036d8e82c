// The rounds of a step with impulses, and which pairs have some. See impulses.h.
#include "step/contact/impulses.h"

#include "math/vec3.h"
#include "math/vector.h"
#include "model/force.h"
#include "step/contact/contact_parts.h"
#include "step/contact/impulse_balance.h"

#include <stdio.h>
#include <string.h>

// Rounds; of them, from where the step begins
enum { MAX_ROUNDS = 20, STRAIGHT_ROUNDS = 10 };
enum { CORRECTIONS = 6 };             // of impulses whose motion is not quite what their matrix tells
static const double DEFECT = 1e-3;    // thicknesses by which it may be another one
static const double NEAR = 2;         // thicknesses
static const double SLACK = 0.1;      // of the gap that is wanted, what may be missing without an impulse
static const double ALIKE = 0.999;    // normals of a pair, as their product
static const double MAX_GAIN = 0.25;  // of the energies of a step that impulses may add
static const double LEAST = 0.1;      // thicknesses that a pair gets back that has turned
// Thicknesses below which gaps are widened after a step, and up to which
static const double NARROW = 0.25, WIDE = 0.5;

// ---- Life

// Connected parts of K: every node gets the least node of its part first, then a number.
static size_t find_parts(const rbt_block_matrix *K, int32_t *part) {
    size_t nodes = K->row_count, count = 0;
    for (size_t n = 0; n < nodes; n++) part[n] = (int32_t)n;
    for (size_t n = 0; n < nodes; n++)
        for (size_t k = K->start[n]; k < K->start[n + 1]; k++) {
            int32_t a = (int32_t)n, b = K->column[k];
            while (part[a] != a) a = part[a] = part[part[a]];
            while (part[b] != b) b = part[b] = part[part[b]];
            if (a < b) part[b] = a;
            else part[a] = b;
        }
    // roots come before what they are roots of
    for (size_t n = 0; n < nodes; n++) part[n] = part[n] == (int32_t)n ? -1 - (int32_t)count++ : part[part[n]];
    for (size_t n = 0; n < nodes; n++) part[n] = -1 - part[n];
    return count;
}

static bool build(rbt_impulses *s, const rbt_model *m, const rbt_block_matrix *K, rbt_error *error) {
    s->contact = rbt_step_contact_new(m, m->step, K, error);
    if (!s->contact) return false;
    s->rounding = rbt_model_energy_rounding(m);
    size_t all = 3 * s->contact->node_count, values = 3 * m->node_count;
    double **vectors[] = {&s->move, &s->velocity, &s->J, &s->safe, &s->step_move, &s->push, &s->ignored};
    bool ok = (s->part_of = rbt_arena_take(s->arena, m->node_count, sizeof *s->part_of)) &&
              (s->slot_of = rbt_arena_take(s->arena, m->node_count, sizeof *s->slot_of)) &&
              (s->chunks = rbt_arena_take(s->arena, m->plan.chunk_count + 1, sizeof *s->chunks)) &&
              (s->most_missing = rbt_arena_take(s->arena, m->node_count, sizeof(double))) &&
              (s->free = rbt_arena_take(s->arena, all, sizeof(double))) &&
              (s->free_velocity = rbt_arena_take(s->arena, all, sizeof(double))) &&
              (s->base = rbt_arena_take(s->arena, all, sizeof(double))) &&
              (s->base_velocity = rbt_arena_take(s->arena, all, sizeof(double)));
    for (size_t i = 0; ok && i < sizeof vectors / sizeof *vectors; i++)
        ok = (*vectors[i] = rbt_arena_take(s->arena, values, sizeof(double))) != NULL;
    if (ok) {
        s->part_count = find_parts(K, s->part_of);
        for (size_t n = 0; n < m->node_count; n++) s->slot_of[n] = -1;
        ok = (s->parts = rbt_arena_take(s->arena, s->part_count, sizeof *s->parts)) &&
             (s->used = rbt_arena_take(s->arena, s->part_count, sizeof *s->used)) &&
             (s->momenta = rbt_arena_take(s->arena, s->part_count, sizeof *s->momenta));
        if (ok) memset(s->parts, 0, s->part_count * sizeof *s->parts);
    }
    return ok || rbt_fail_memory(error, 2 * all * sizeof(double), "contact");
}

rbt_impulses *rbt_impulses_new(const rbt_model *model, const rbt_block_matrix *K, rbt_error *error) {
    rbt_impulses *s = rbt_array_new(1, sizeof *s, "contact", error);
    if (!s) return NULL;
    s->arena = rbt_arena_new();
    if (!s->arena) rbt_fail_memory(error, sizeof *s, "contact");
    else if (build(s, model, K, error)) return s;
    rbt_impulses_free(s);
    return NULL;
}

void rbt_impulses_free(rbt_impulses *s) {
    if (!s) return;
    for (size_t i = 0; s->parts && i < s->part_count; i++) {
        rbt_impulse_part *part = &s->parts[i];
        free(part->nodes), free(part->response), free(part->rows);
        free(part->matrix), free(part->images), free(part->value);
    }
    rbt_step_contact_free(s->contact);
    free(s->pairs);
    free(s->proposed);
    free(s->programme.places), free(s->programme.base), free(s->programme.saved), free(s->programme.wanted);
    free(s->programme.number), free(s->programme.factor), free(s->programme.matrix), free(s->programme.right);
    free(s->programme.modal), free(s->programme.amount);
    free(s->entries);
    rbt_arena_free(s->arena);
    free(s);
}

// ---- Pairs

static size_t find(const rbt_impulses *s, size_t count, rbt_pair_key key) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->pairs[middle].pair.key < key) low = middle + 1;
        else high = middle;
    }
    return low;
}

static int by_key(const void *a, const void *b) {
    rbt_pair_key first = ((const rbt_impulse_pair *)a)->pair.key, second = ((const rbt_impulse_pair *)b)->pair.key;
    if (first != second) return first < second ? -1 : 1;
    return ((const rbt_impulse_pair *)a)->number < ((const rbt_impulse_pair *)b)->number ? -1 : 1;
}

// false: nearest points coincide there
static bool linearise(rbt_impulse_pair *k, const double corners[12]) {
    rbt_gap_shape shape;
    rbt_gap gap;
    rbt_gap_measure_any(k->pair.barrier.kind, corners, k->pair.barrier.wall_normal, &gap);
    if (!(fabs(gap.distance) > 0)) return false;
    shape.gap = gap;
    rbt_gap_shape_frame(&shape);
    memcpy(k->weight, gap.weight, sizeof k->weight);
    memcpy(k->normal, gap.normal, sizeof k->normal);
    memcpy(k->tangent, shape.tangent, sizeof k->tangent);
    return true;
}

static bool has_unknowns(const rbt_impulses *s, const int32_t node[4]) {
    for (int i = 0; i < 4; i++)
        if (rbt_impulses_is_free(s, node[i])) return true;
    return false;
}

static void make(const rbt_impulses *s, const rbt_contact_pair *pair, rbt_impulse_pair *k) {
    const rbt_step_contact *c = s->contact;
    *k = (rbt_impulse_pair){.pair = *pair};
    if (c->has_friction) k->friction = rbt_contact_friction_of(c, pair->node, rbt_pair_corners(pair->barrier.kind));
}

// The distance, linearised, for corners
static double across(const rbt_impulse_pair *k, const double corners[12]) {
    double sum[3] = {0};
    for (int i = 0; i < 4; i++) rbt_add_scaled(sum, k->weight[i], corners + 3 * i);
    return rbt_dot(k->normal, sum);
}

// c of impulses.h
static double excess(const rbt_impulse_pair *k, const double corners[12]) {
    return across(k, corners) - k->pair.barrier.inside - k->target;
}

// target = d^, or what the linearised gap is at the start if that is less: gaps are not to grow by impulses, which
// would do work, and where they are all to stay there is always a solution, not to move at all. Only a pair that has
// turned so far that nothing is left of it must get some of it back.
static void aim(const rbt_impulses *s, rbt_impulse_pair *k) {
    double corners[12];
    rbt_contact_gather(k->pair.node, s->contact->x0, corners);
    double start = across(k, corners) - k->pair.barrier.inside, thickness = s->contact->thickness;
    k->target = start > 0 ? fmin(thickness, start) : LEAST * thickness;
}

static bool concerns(const rbt_step_contact *c, size_t i, const double from[12]) {
    if (c->values[i] < 1) return true;
    if (rbt_contact_is_far(&c->pairs[i], from, from, NEAR * c->thickness)) return false;
    return rbt_contact_gap_of(&c->pairs[i], c->y) < NEAR * c->thickness;
}

// The pair of candidate i, linearised where it stopped or where the motion begins. false: it does not matter.
static bool propose(const rbt_impulses *s, size_t i, rbt_impulse_pair *k, double *missing) {
    const rbt_step_contact *c = s->contact;
    const rbt_contact_pair *pair = &c->pairs[i];
    double from[12], to[12], at[12], t = c->values[i];
    rbt_contact_gather(pair->node, c->y, from);
    if (!concerns(c, i, from) || !has_unknowns(s, pair->node)) return false;
    rbt_contact_gather(pair->node, c->motion, to);
    for (int j = 0; j < 12; j++) at[j] = t < 1 ? from[j] + t * (to[j] - from[j]) : from[j];
    make(s, pair, k);
    if (!linearise(k, at)) return false;
    // A pair that stops late in a motion that others stop earlier may have got to the wrong side by then.
    if (t < 1 && !(across(k, from) > k->pair.barrier.inside) && !linearise(k, from)) return false;
    aim(s, k);
    *missing = -excess(k, to);
    return t < 1 || *missing > SLACK * k->target;
}

// Whether the pair is there already, and takes over this linearisation. A pair that turns in the motion gets a second
// one where it stops again (*again), and others up to some number: each is right near its place.
static bool is_known(rbt_impulses *s, size_t count, const rbt_impulse_pair *k, bool stopped, bool relinearise,
                     bool *again) {
    enum { COPIES = 4 };
    size_t first = find(s, count, k->pair.key), nearest = first, copies = 0;
    double best = -2;
    for (size_t i = first; i < count && s->pairs[i].pair.key == k->pair.key; i++, copies++) {
        double alike = rbt_dot(s->pairs[i].normal, k->normal);
        if (alike > best) best = alike, nearest = i;
    }
    if (!copies) return false;
    *again = stopped && best < ALIKE && copies < COPIES;
    if (*again) return false;
    if (!relinearise) return true;
    double impulse[3];
    memcpy(impulse, s->pairs[nearest].impulse, sizeof impulse);
    s->pairs[nearest] = *k;
    memcpy(s->pairs[nearest].impulse, impulse, sizeof impulse);
    return true;
}

// Where flat surfaces meet, most of the pairs say the same. Of those that are not known yet, each node takes the one
// that lacks most; what is still missing when these are solved shows in the next round.
bool rbt_impulses_collect(rbt_impulses *s, bool relinearise) {
    rbt_step_contact *c = s->contact;
    size_t old = s->pair_count, count = 0;
    for (size_t i = 0; i < c->candidates.count; i++) {
        if (!rbt_array_reserve((void **)&s->proposed, &s->proposed_capacity, count + 1, sizeof *s->proposed,
                               "contact", NULL)) {
            c->out_of_memory = true;
            return false;
        }
        rbt_impulse_proposal *p = &s->proposed[count];
        if (!propose(s, i, &p->pair, &p->missing)) continue;
        p->again = false;
        if (is_known(s, old, &p->pair, c->values[i] < 1, relinearise, &p->again)) continue;
        for (int k = 0; k < 4; k++) {
            int32_t node = p->pair.pair.node[k];
            if (rbt_impulses_is_free(s, node)) s->most_missing[node] = -INFINITY;
        }
        count++;
    }
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 4; k++) {
            int32_t node = s->proposed[i].pair.pair.node[k];
            if (rbt_impulses_is_free(s, node))
                s->most_missing[node] = fmax(s->most_missing[node], s->proposed[i].missing);
        }
    for (size_t i = 0; i < count; i++) {
        bool most = s->proposed[i].again;
        for (int k = 0; k < 4; k++) {
            int32_t node = s->proposed[i].pair.pair.node[k];
            most |= rbt_impulses_is_free(s, node) && s->most_missing[node] == s->proposed[i].missing;
        }
        if (!most) continue;
        if (!rbt_array_reserve((void **)&s->pairs, &s->pair_capacity, s->pair_count + 1, sizeof *s->pairs, "contact",
                               NULL)) {
            c->out_of_memory = true;
            return false;
        }
        s->proposed[i].pair.number = (int)s->pair_count;
        s->pairs[s->pair_count++] = s->proposed[i].pair;
    }
    if (s->pair_count > old) qsort(s->pairs, s->pair_count, sizeof *s->pairs, by_key);
    return true;
}

// ---- The rounds

static rbt_outcome in_the_way(const rbt_impulses *s, rbt_step_report *report) {
    const rbt_step_contact *c = s->contact;
    char pair[160];
    int32_t node[4];
    if (c->out_of_memory) return RBT_OUT_OF_MEMORY;
    rbt_pair_nodes(&c->primitives, c->blocking, node);
    report->body = report->element = -1;
    int corners = rbt_pair_corners(rbt_pair_key_kind(c->blocking));
    for (int i = 0; i < corners; i++)
        if ((size_t)node[i] < c->model->node_count) {
            rbt_report_node(report, c->model, s->safe, (size_t)node[i]);
            break;
        }
    rbt_step_contact_name(c, c->blocking, pair, sizeof pair);
    snprintf(report->hint, sizeof report->hint,
             "at %g s the motion of the step remains blocked: %.120s; take a smaller step or backward-euler", c->t,
             pair);
    return RBT_BLOCKED;
}

// Whether the pair that stops the motion has an unknown; else nothing helps.
static bool is_movable(const rbt_impulses *s) {
    int32_t node[4] = {-1, -1, -1, -1};
    rbt_pair_nodes(&s->contact->primitives, s->contact->blocking, node);
    for (int i = rbt_pair_corners(rbt_pair_key_kind(s->contact->blocking)); i < 4; i++) node[i] = -1;
    return has_unknowns(s, node);
}

// Two halves of a step cost less than many rounds that lead nowhere.
static bool is_hopeless(const rbt_impulses *s, int round, double length) {
    return !is_movable(s) || round == MAX_ROUNDS || (round == STRAIGHT_ROUNDS && length < 0.5);
}

static void forget(rbt_impulses *s) {
    for (size_t i = 0; i < s->used_count; i++) {
        rbt_impulse_part *part = &s->parts[s->used[i]];
        for (size_t k = 0; k < part->node_count; k++) s->slot_of[part->nodes[k]] = -1;
        part->node_count = part->known = part->row_count = 0;
    }
    s->used_count = s->pair_count = 0;
}

static rbt_outcome begin(rbt_impulses *s, const rbt_state *state, double h, const unsigned char *constrained,
                         rbt_step_report *report) {
    rbt_step_contact *c = s->contact;
    const rbt_model *m = c->model;
    size_t values = 3 * m->node_count;
    forget(s);
    if (c->observer) c->observer->see(c->observer->context, RBT_SEEN_START, state->t, state->x);
    rbt_step_contact_begin(c, state->t, h, h, 1, state->x, constrained);
    if (c->out_of_memory) return RBT_OUT_OF_MEMORY;
    rbt_outcome outcome = s->method->apply(s->self, NULL, s->move, s->velocity, report);
    if (outcome != RBT_DONE) return outcome;
    const double *sliding = s->method->sliding ? s->method->sliding : s->velocity;
    for (size_t i = 0; i < 3 * c->node_count; i++) {
        s->base[i] = s->free[i] = i < values ? c->x0[i] + s->move[i] : c->x1[i];
        s->base_velocity[i] = s->free_velocity[i] = i < values ? sliding[i] : (c->x1[i] - c->x0[i]) / h;
    }
    memset(s->J, 0, values * sizeof *s->J);
    rbt_vector_copy(values, s->safe, state->x);
    return RBT_DONE;
}

// The motion from the safe position: how much of it is free. Its end is contact->motion.
static rbt_outcome test(rbt_impulses *s, const double *start, double *length) {
    rbt_step_contact *c = s->contact;
    for (size_t i = 0; i < 3 * c->model->node_count; i++)
        s->step_move[i] = s->safe[i] == start[i] ? s->move[i] : start[i] - s->safe[i] + s->move[i];
    *length = rbt_step_contact_limit(c, s->safe, s->step_move, c->share, 1 - c->share);
    return c->out_of_memory ? RBT_OUT_OF_MEMORY : RBT_DONE;
}

// The safe position moves on by this share of the motion.
static void move_on(rbt_impulses *s, double length) {
    rbt_step_contact *c = s->contact;
    size_t values = 3 * c->model->node_count;
    if (length < 1) {
        for (size_t i = 0; i < values; i++) s->safe[i] += length * s->step_move[i];
        c->share += length * (1 - c->share);
    } else {
        rbt_vector_copy(values, s->safe, c->motion);
        c->share = 1;
    }
    if (length > 0) rbt_step_contact_show(c, s->safe);
}

// Impulses of the pairs, and the motion with them. Corrections that leave it further off than they found it, and by
// more than a thickness, say that S~ is not near S: round after round they would grow, with ever more pairs that such a
// motion meets.
static rbt_outcome push(rbt_impulses *s, rbt_step_report *report) {
    double first = 0;
    for (int i = 0;; i++) {
        rbt_outcome outcome = rbt_impulses_solve(s, report);
        if (outcome != RBT_DONE) return outcome;
        rbt_impulses_sum(s, s->J);
        outcome = s->method->apply(s->self, s->J, s->move, s->velocity, report);
        if (outcome != RBT_DONE || !s->method->approximate) return outcome;
        double defect = rbt_impulses_defect(s);
        if (defect <= DEFECT * s->contact->thickness) return RBT_DONE;
        if (i == 0) first = defect;
        if (i < CORRECTIONS) continue;
        if (defect < fmax(first, s->contact->thickness)) return RBT_DONE;
        snprintf(report->hint, sizeof report->hint,
                 "at %g s the motion of the impulses is another one than they were found for, by %.3g m; take a "
                 "smaller step or backward-euler",
                 s->contact->t, defect);
        return RBT_NOT_CONVERGED;
    }
}

// ---- Gaps that have become small

// What is missing of gaps is not made good by impulses, which would throw things apart, but by positions alone:
// impulses of the same programme that widen gaps move nodes as those of contact do, and leave velocities as they are,
// as far as the continuous test allows.
static rbt_outcome restore(rbt_impulses *s, rbt_step_report *report) {
    rbt_step_contact *c = s->contact;
    size_t values = 3 * c->model->node_count;
    bool any = false;
    if (!s->pair_count) return RBT_DONE;
    for (size_t k = 0; k < s->pair_count; k++) {
        double corners[12];
        rbt_contact_gather(s->pairs[k].pair.node, c->motion, corners);
        double gap = across(&s->pairs[k], corners) - s->pairs[k].pair.barrier.inside;
        s->programme.wanted[k] = gap < NARROW * c->thickness ? WIDE * c->thickness - gap : -INFINITY;
        any |= gap < NARROW * c->thickness;
    }
    if (!any) return RBT_DONE;
    if (!rbt_impulses_widen(s, s->push)) return RBT_DONE;
    rbt_outcome outcome = s->method->apply(s->self, s->push, s->step_move, s->ignored, report);
    if (outcome != RBT_DONE) return outcome;
    for (size_t i = 0; i < values; i++) s->step_move[i] -= s->free[i] - c->x0[i];
    double length = rbt_step_contact_limit(c, s->safe, s->step_move, 1, 0);
    if (c->out_of_memory) return RBT_OUT_OF_MEMORY;
    if (length == 1) rbt_vector_copy(values, s->safe, c->motion);
    for (size_t i = 0; length < 1 && i < values; i++) s->safe[i] += length * s->step_move[i];
    if (length > 0) rbt_step_contact_show(c, s->safe);
    return RBT_DONE;
}

// ---- Energy

// A hard impact is more than one linearisation can tell, and so is a stiff body that is thrown into a spin by one: the
// stiffness of where a body was moves it on straight lines, and what was to turn is stretched. Energy that nothing
// gives shows it: the step is then tried again in halves. Where nodes of bodies have prescribed motions, whose work is
// not known here, the energy watch has to do.
static rbt_outcome check_energy(rbt_impulses *s, const rbt_state *state, rbt_step_report *report) {
    const rbt_step_contact *c = s->contact;
    const rbt_model *m = c->model;
    rbt_state next = *state;
    double work = 0, *force = s->step_move;
    if (m->motions.node_count || s->method->swings) return RBT_DONE;
    next.x = s->safe, next.v = s->velocity, next.t = state->t + c->h;
    rbt_energies before = rbt_model_energies(m, state, s->chunks), after = rbt_model_energies(m, &next, s->chunks);
    double first = before.kinetic + before.elastic, last = after.kinetic + after.elastic;
    rbt_force_external(m, state->t, state->x, state->v, force);
    for (size_t i = 0; i < 3 * m->node_count; i++) work += force[i] * (s->safe[i] - state->x[i]);
    double given = rbt_impulses_work(s, s->safe), scale = first + fabs(work) + fabs(given);
    double gained = last - first - work - given;
    if (gained <= MAX_GAIN * scale + s->rounding) return RBT_DONE;
    if (!isfinite(last) && rbt_report_inverted(report, m, next.x)) return RBT_INVERTED;
    report->body = report->element = -1;
    report->value = gained;
    snprintf(report->hint, sizeof report->hint,
             "the step at %g s would give %.3g J that nothing has: an impact or a turn is too much for one "
             "linearisation; take "
             "a smaller step or backward-euler",
             state->t, gained);
    return RBT_NOT_CONVERGED;
}

rbt_outcome rbt_impulses_step(rbt_impulses *s, const rbt_impulse_response *method, void *self, const rbt_state *state,
                              double h, const unsigned char *constrained, double *x, double *v, rbt_stages *stages,
                              rbt_step_report *report) {
    rbt_step_contact *c = s->contact;
    double length = 0;
    s->method = method;
    s->self = self;
    RBT_STAGE("solve", begin(s, state, h, constrained, report));
    for (int round = 0;; round++) {
        RBT_STAGE("ccd", test(s, state->x, &length));
        size_t known = s->pair_count;
        if (length < 1 && is_hopeless(s, round, length)) return in_the_way(s, report);
        // a motion that is free ends the step, unless it leaves too little of gaps for the next one
        if (length == 1 && round >= STRAIGHT_ROUNDS) break;
        if (!rbt_impulses_collect(s, length < 1)) return RBT_OUT_OF_MEMORY;
        if (length == 1 && s->pair_count == known) break;
        if (round >= STRAIGHT_ROUNDS) move_on(s, length);
        RBT_STAGE("impulses", push(s, report));
        s->rounds++;
    }
    move_on(s, 1);
    RBT_STAGE("ccd", restore(s, report));
    RBT_STAGE("energy", check_energy(s, state, report));
    rbt_vector_copy(3 * c->model->node_count, x, s->safe);
    rbt_vector_copy(3 * c->model->node_count, v, s->velocity);
    return RBT_DONE;
}
