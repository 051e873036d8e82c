// Life of the lists. See candidates.h.
#include "contact/broad_phase/candidates.h"

#include "contact/broad_phase/candidate_hold.h"
#include "contact/broad_phase/candidate_pile.h"

#include <string.h>

static const char WHAT[] = "candidates of contact";

// ---- Tubes

static bool tube_init(rbt_tube *t, size_t nodes, rbt_error *error) {
    *t = (rbt_tube){.values = 3 * nodes,
                    .from = rbt_array_new(nodes, 3 * sizeof *t->from, WHAT, error),
                    .to = rbt_array_new(nodes, 3 * sizeof *t->to, WHAT, error)};
    return t->from && t->to;
}

static void tube_free(rbt_tube *t) { free(t->from), free(t->to); }

void rbt_tube_lay(rbt_tube *t, const double *x, const double *y, double times, double slack) {
    for (size_t i = 0; i < t->values; i++) {
        t->from[i] = x[i];
        t->to[i] = times == 1 ? y[i] : x[i] + times * (y[i] - x[i]);
    }
    t->slack = slack;
    t->holds = true;
}

// ---- The order of the tree

bool rbt_tree_order_init(rbt_tree_order *o, const rbt_contact_surface *s, rbt_error *error) {
    *o = (rbt_tree_order){.edge_begin = rbt_array_new(s->leaf_count + 1, sizeof *o->edge_begin, WHAT, error),
                          .node_begin = rbt_array_new(s->leaf_count + 1, sizeof *o->node_begin, WHAT, error),
                          .edge = rbt_array_new(s->edge_count, sizeof *o->edge, WHAT, error),
                          .node = rbt_array_new(s->def.node_count, sizeof *o->node, WHAT, error),
                          .place = rbt_array_new(s->edge_count, sizeof *o->place, WHAT, error),
                          .end = rbt_array_new(s->leaf_count, 1, WHAT, error)};
    return o->edge_begin && o->node_begin && o->edge && o->node && o->place && o->end;
}

void rbt_tree_order_free(rbt_tree_order *o) {
    free(o->edge_begin), free(o->node_begin), free(o->edge), free(o->node), free(o->place), free(o->end);
    *o = (rbt_tree_order){0};
}

void rbt_tree_order_find(rbt_tree_order *o, const rbt_contact_surface *s, const rbt_box_tree *tree) {
    size_t edges = 0, nodes = 0;
    for (size_t i = 0; i < s->leaf_count; i++) {
        const rbt_leaf *leaf = &s->leaves[tree->order[i]];
        o->edge_begin[i] = edges, o->node_begin[i] = nodes;
        for (int k = 0; k < 3; k++) {
            if (leaf->owned_nodes >> k & 1) o->node[nodes++] = leaf->node[k];
            if (!(leaf->owned_edges >> k & 1)) continue;
            o->place[leaf->edge[k]] = (int32_t)edges;
            o->edge[edges++] = leaf->edge[k];
        }
    }
    o->edge_begin[s->leaf_count] = edges, o->node_begin[s->leaf_count] = nodes;
}

// ---- Life

bool rbt_candidates_init(rbt_candidates *c, const rbt_contact_surface *surface, const double *reach,
                         rbt_error *error) {
    size_t nodes = surface->def.node_count;
    *c = (rbt_candidates){.surface = surface, .reach = reach};
    c->leaves = rbt_array_new(surface->leaf_count, sizeof *c->leaves, WHAT, error);
    c->edges = rbt_array_new(surface->edge_count, sizeof *c->edges, WHAT, error);
    c->nodes = rbt_array_new(nodes, sizeof *c->nodes, WHAT, error);
    c->ordered = rbt_array_new(surface->leaf_count, sizeof *c->ordered, WHAT, error);
    c->places = rbt_array_new(nodes, sizeof *c->places, WHAT, error);
    c->bounds = rbt_array_new(surface->leaf_count, sizeof *c->bounds, WHAT, error);
    c->known = rbt_array_new(nodes, 3 * sizeof *c->known, WHAT, error);
    c->piles = rbt_array_new(RBT_CANDIDATE_PILES + 1, sizeof *c->piles, WHAT, error);
    c->bucket = rbt_array_new(rbt_candidate_buckets(c) + 1, sizeof *c->bucket, WHAT, error);
    bool tubes = tube_init(&c->wide, nodes, error) && tube_init(&c->narrow, nodes, error);
    if (tubes && rbt_tree_order_init(&c->order, surface, error) && c->leaves && c->edges && c->nodes && c->bounds &&
        c->ordered && c->places && c->known && c->piles && c->bucket)
        return true;
    rbt_candidates_free(c);
    return false;
}

void rbt_candidates_free(rbt_candidates *c) {
    for (size_t i = 0; c->piles && i <= RBT_CANDIDATE_PILES; i++) free(c->piles[i].keys);
    rbt_box_tree_free(&c->tree);
    rbt_tree_order_free(&c->order);
    free(c->leaves), free(c->edges), free(c->nodes), free(c->bounds), free(c->ordered);
    tube_free(&c->wide), tube_free(&c->narrow);
    free(c->known), free(c->groups), free(c->offsets), free(c->group_nodes);
    free(c->found), free(c->listed), free(c->keys);
    free(c->kept), free(c->sorted), free(c->relisted), free(c->places), free(c->bucket), free(c->piles);
    *c = (rbt_candidates){0};
}

void rbt_candidates_forget(rbt_candidates *c) {
    c->count = c->found_count = 0;
    c->wide.holds = c->narrow.holds = c->is_known = false;
    c->lists++;
}

static void know(rbt_candidates *c, const double *x, double room) {
    memcpy(c->known, x, c->wide.values * sizeof *x);
    c->is_known = true;
    c->known_room = room;
}

static bool is_known(const rbt_candidates *c, const double *x) {
    return c->is_known && !memcmp(c->known, x, c->wide.values * sizeof *x);
}

// Whether both lists hold at x. Iterations ask again for the place that they have come to.
static bool both_hold(rbt_candidates *c, const double *x) {
    if (is_known(c, x)) return true;
    rbt_holding narrow = rbt_narrow_holds(c, x);
    if (!(narrow == RBT_HOLDS_ALL && c->nested) && !(narrow && rbt_wide_holds(c, x, 0) != RBT_NO_ROOM)) return false;
    know(c, x, 0);
    return true;
}

static rbt_room wide_holds(rbt_candidates *c, const double *x, const double *y, double room) {
    bool known = c->known_room >= room && is_known(c, x);
    rbt_room begin = known ? RBT_ENOUGH_ROOM : rbt_wide_holds(c, x, room);
    if (begin == RBT_NO_ROOM || x == y) return begin;
    rbt_room end = rbt_wide_holds(c, y, room);
    return begin < end ? begin : end;
}

// Both ends of a motion that was searched for, and where it began, are off its way by rounding only, which is less than
// half of the slack.
static rbt_room room_on_way(const rbt_candidates *c, double room) {
    return c->wide.slack >= 2 * room ? RBT_ENOUGH_ROOM : RBT_LITTLE_ROOM;
}

// A wide list for motions from x to y, and the room that it has. Where they are small corrections of a motion from the
// start on, the next ones will be like that one. false: no memory.
static bool widen(rbt_candidates *c, const double *start, const double *x, const double *y, double slack, double wide,
                  rbt_room *room) {
    if (start != x && x != y) {
        if (!rbt_candidates_search(c, start, y, wide)) return false;
        *room = rbt_wide_holds(c, x, slack);
        rbt_room end = room_on_way(c, slack);
        if (end < *room) *room = end;
        if (*room != RBT_NO_ROOM) return true;
    }
    *room = rbt_candidates_search(c, x, y, wide) ? room_on_way(c, slack) : RBT_NO_ROOM;
    return *room != RBT_NO_ROOM;
}

bool rbt_candidates_prepare(rbt_candidates *c, const double *start, const double *x, const double *y, double slack,
                            double wide_slack) {
    if (both_hold(c, x) && (x == y || both_hold(c, y))) return true;
    rbt_room room = wide_holds(c, x, y, slack);
    if (room == RBT_NO_ROOM && !widen(c, start, x, y, slack, slack > wide_slack ? slack : wide_slack, &room)) {
        rbt_candidates_forget(c);
        return false;
    }
    // What keeps to the new narrow tube in every coordinate is off both ends by no more than its slack, and the wide
    // list holds for whatever lies between two positions that it holds for.
    c->nested = room == RBT_ENOUGH_ROOM;
    rbt_candidates_narrow(c, x, y, slack);
    know(c, y, c->nested ? slack : 0);
    return true;
}
