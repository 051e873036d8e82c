// What a verification found, in words and as JSON.
#include "verify/verify.h"

#include <stdio.h>

enum { BAD_STATES = 10 };  // that a short report names

// ---- One intersection

static const struct {
    const char *name, *verb, *way_verb;
} KINDS[] = {
    [RBT_EDGE_IN_TRIANGLE] = {"edge-triangle", "crosses", NULL},
    [RBT_VERTEX_HIT_TRIANGLE] = {"node-triangle", NULL, "hits"},
    [RBT_EDGE_HIT_EDGE] = {"edge-edge", NULL, "hits"},
    [RBT_ROUND_AT_TRIANGLE] = {"round-triangle", "overlaps", "hits"},
    [RBT_ROUND_AT_EDGE] = {"round-edge", "overlaps", "hits"},
    [RBT_ROUND_AT_ROUND] = {"round-round", "overlaps", "hits"},
    [RBT_NODE_BEHIND_PLANE] = {"node-plane", "is behind", NULL},
};

// What the nodes of one side are
static const char *word_of(const rbt_intersection *i, int side) {
    bool round = i->kind == RBT_ROUND_AT_ROUND || (!side && i->kind >= RBT_ROUND_AT_TRIANGLE);
    if (i->kind == RBT_NODE_BEHIND_PLANE) {
        if (side) return "plane";
        round = false;
    }
    if (round && i->counts[side] == 2) return "rod";
    if (round) return i->owner[side] >= 0 ? "particle" : "sphere";
    return i->counts[side] == 1 ? "node" : i->counts[side] == 2 ? "edge" : "triangle";
}

// A body, or an obstacle: -1 less its number
static void add_body(const rbt_verification *v, int32_t body, rbt_text *text) {
    if (body < 0) rbt_text_add(text, "\"obstacles[%d]\"", -1 - body);
    else if ((size_t)body < v->body_count) rbt_text_add_json(text, v->body_names[body]);
    else rbt_text_add(text, "\"body %d\"", body);
}

static void add_nodes(const int32_t *nodes, int count, const char *between, rbt_text *text) {
    for (int i = 0; i < count; i++) rbt_text_add(text, "%s%d", i ? between : "", nodes[i]);
}

// When the state was reached from the one before, `when` of the way.
static double time_of(const rbt_verified *s, const rbt_intersection *i) {
    return i->on_way ? s->before + i->when * (s->t - s->before) : s->t;
}

void rbt_intersection_text(const rbt_verification *v, const rbt_verified *state, const rbt_intersection *i,
                           rbt_text *text) {
    for (int side = 0; side < 2; side++) {
        const int32_t *nodes = i->nodes + (side ? i->counts[0] : 0);
        if (side)
            rbt_text_add(text, " %s ",
                         i->touching ? "touches"
                         : i->on_way ? KINDS[i->kind].way_verb
                                     : KINDS[i->kind].verb);
        rbt_text_add(text, "%s ", word_of(i, side));
        if (i->owner[side] >= 0) {  // nodes of obstacles are in no file
            add_nodes(nodes, i->counts[side], "-", text);
            rbt_text_add(text, " ");
        }
        rbt_text_add(text, "of ");
        add_body(v, i->owner[side], text);
    }
    rbt_text_add(text, " at (%.6g, %.6g, %.6g)", i->place[0], i->place[1], i->place[2]);
    if (i->on_way) rbt_text_add(text, ", %.6g s", time_of(state, i));
}

// ---- All

static const char *plural(size_t count) { return count == 1 ? "" : "s"; }

void rbt_verification_summary(const rbt_verification *v, char *text, size_t size) {
    char ways[64] = "", touching[64] = "";
    if (v->way_count)
        snprintf(ways, sizeof ways, " and on %zu way%s between them", v->way_count, plural(v->way_count));
    if (!v->bad_count) {
        snprintf(text, size, "no intersections in %zu state%s%s", v->judged, plural(v->judged), ways);
        return;
    }
    size_t first = 0;
    while (!v->states[first].in.count && !v->states[first].way.count) first++;
    if (v->touching) snprintf(touching, sizeof touching, " (%zu only touching)", v->touching);
    if (v->way_count) snprintf(ways, sizeof ways, " and %zu on the ways between them", v->on_ways);
    snprintf(text, size, "%zu intersection%s%s in %zu state%s%s, the first %s frame %lld", v->in_states,
             plural(v->in_states), touching, v->judged, plural(v->judged), ways,
             v->states[first].in.count ? "in" : "on the way to", (long long)v->states[first].frame);
}

static void add_real(rbt_text *t, const char *name, double value) {
    rbt_text_add(t, "\"%s\": ", name);
    rbt_text_add_json_number(t, value);
}

static void add_intersection(const rbt_verification *v, const rbt_verified *s, const rbt_intersection *i,
                             rbt_text *t) {
    int first = i->counts[0], second = i->counts[1];
    rbt_text_add(t, "{\"kind\": \"%s\", \"touching\": %s, \"bodies\": [", KINDS[i->kind].name,
                 i->touching ? "true" : "false");
    add_body(v, i->owner[0], t);
    rbt_text_add(t, ", ");
    add_body(v, i->owner[1], t);
    rbt_text_add(t, "], \"nodes\": [[");
    add_nodes(i->nodes, first, ", ", t);
    rbt_text_add(t, "], [");
    add_nodes(i->nodes + first, second, ", ", t);
    rbt_text_add(t, "]], ");
    add_real(t, "time", time_of(s, i));
    rbt_text_add(t, ", \"place\": [");
    for (int k = 0; k < 3; k++) {
        if (k) rbt_text_add(t, ", ");
        rbt_text_add_json_number(t, i->place[k]);
    }
    rbt_text_add(t, "]}");
}

static void add_state(const rbt_verification *v, const rbt_verified *s, rbt_text *t) {
    rbt_text_add(t, "{\"frame\": %lld, ", (long long)s->frame);
    if (s->step) rbt_text_add(t, "\"step\": %lld, ", (long long)s->step);
    if (s->failed) rbt_text_add(t, "\"before_failure\": true, ");
    if (s->event) rbt_text_add(t, "\"event\": true, ");
    add_real(t, "time", s->t);
    rbt_text_add(t, ", \"intersections\": %zu, \"touching\": %zu, \"on_way\": ", s->in.count, s->in.touching);
    if (s->has_way) rbt_text_add(t, "%zu", s->way.count);
    else rbt_text_add(t, "null");
    rbt_text_add(t, ", \"first\": [");
    for (size_t i = 0; i < s->in.kept + s->way.kept; i++) {
        rbt_text_add(t, "%s\n      ", i ? "," : "");
        add_intersection(v, s, i < s->in.kept ? &s->in.kept_items[i] : &s->way.kept_items[i - s->in.kept], t);
    }
    rbt_text_add(t, "]}");
}

void rbt_verification_json(const rbt_verification *v, bool all, rbt_text *t) {
    char summary[256];
    rbt_verification_summary(v, summary, sizeof summary);
    rbt_text_add(t, "{\n  \"summary\": ");
    rbt_text_add_json(t, summary);
    rbt_text_add(t, ",\n  \"clean\": %s, \"intersections\": %zu, \"touching\": %zu, \"on_ways\": %zu,\n",
                 v->bad_count ? "false" : "true", v->in_states, v->touching, v->on_ways);
    rbt_text_add(t, "  \"states\": %zu, \"events\": %zu, \"bad_states\": %zu, \"ways\": %zu,\n", v->judged,
                 v->event_count, v->bad_count, v->way_count);
    rbt_text_add(t,
                 "  \"nodes\": %zu, \"triangles\": %zu, \"edges\": %zu, \"pairs\": %zu, \"pairs_exact\": %zu, "
                 "\"particles\": %zu, \"particles_not_judged\": %zu, \"obstacles\": %zu, \"obstacles_not_judged\": "
                 "%zu, \"scene_known\": %s, ",
                 v->mesh.vertex_count, v->mesh.triangle_count, v->mesh.edge_count, v->tested, v->exact, v->particles,
                 v->particles_unknown, v->obstacle_count, v->unjudged, v->scene_unknown ? "false" : "true");
    add_real(t, "seconds", v->seconds);
    rbt_text_add(t, ",\n  \"frames\": [");
    size_t told = 0;
    for (size_t i = 0; i < v->count && (all || told < BAD_STATES); i++) {
        if (!all && v->states[i].in.count + v->states[i].way.count == 0) continue;
        rbt_text_add(t, "%s\n    ", told++ ? "," : "");
        add_state(v, &v->states[i], t);
    }
    rbt_text_add(t, "]\n}");
}
