// What async-contact tells: why it stopped, what it did, what pushes what.
#include "math/vec3.h"
#include "step/async/async_stepper.h"
#include "step/async/window.h"

#include <stdio.h>
#include <string.h>

rbt_outcome rbt_async_explain(rbt_async_stepper *s, const rbt_state *state, rbt_step_report *report) {
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

// ---- About a run

static void refine(const rbt_async_stepper *s, const int32_t *nodes, size_t count, int level) {
    for (size_t i = 0; i < count; i++) {
        size_t n = nodes ? (size_t)nodes[i] : i;
        if (s->finest[n] < level) s->finest[n] = (signed char)level;
    }
}

// How many nodes that nothing holds have their fastest clock, of elements or of layers that are awake, at each level
static void add_clocks_of_nodes(const rbt_async_stepper *s, rbt_text *json) {
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
void rbt_async_describe(const void *self, rbt_text *json) {
    const rbt_async_stepper *s = self;
    const rbt_contact_counts *c = &s->contact.counts;
    double all = 0, rescheduling = s->all_seconds[RBT_ASYNC_STAGE_CERTIFY] + s->all_seconds[RBT_ASYNC_STAGE_SEARCH];
    for (int i = 0; i < RBT_ASYNC_STAGES; i++) all += s->all_seconds[i];
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
static void place_of(const rbt_async_stepper *s, const rbt_pair *pair, const rbt_gap *gap, rbt_contact_point *to) {
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

size_t rbt_async_contacts(void *self, const rbt_state *state, rbt_contact_point *items, size_t capacity) {
    rbt_async_stepper *s = self;
    size_t count = 0;
    rbt_gap gap;
    double force;
    if (!s->touching || !rbt_async_load(s, state)) return 0;
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

void rbt_async_contact_forces(void *self, const rbt_state *state, double *f) {
    rbt_async_stepper *s = self;
    rbt_gap gap;
    double force;
    if (!s->touching || !rbt_async_load(s, state)) return;
    rbt_pair_walk walk = rbt_pair_walk_all(&s->contact);
    for (const rbt_pair *pair; (pair = rbt_contact_next_push(&s->contact, &walk, s->end, &gap, &force));)
        for (int k = 0; k < rbt_pair_corners(rbt_pair_key_kind(pair->key)); k++)
            if ((size_t)pair->node[k] < s->model->node_count)
                rbt_add_scaled(f + 3 * (size_t)pair->node[k], force * gap.weight[k], gap.normal);
}

// Obstacles are layers here, not the penalty of other methods.
void rbt_async_energies(void *self, const rbt_state *state, rbt_energies *e) {
    rbt_async_stepper *s = self;
    bool known = rbt_async_load(s, state) ||
                 !s->contact.out_of_memory;  // a state that no step can continue from has energies too
    e->elastic = known ? rbt_clocks_energy(&s->clocks, state->x) : NAN;
    e->work = s->head.work;
    if (s->options.contact) e->contact = known ? rbt_contact_energy(&s->contact, s->end) : NAN;
    e->total = e->kinetic + e->elastic + e->gravity + e->contact;
}
