// Life of the lists, and where they hold.
#include "contact/broad_phase/candidates.h"

#include "contact/broad_phase/candidate_pile.h"

#include <math.h>
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

// Which s brings the motion nearest to x
static double share_of_motion(const rbt_tube *t, const double *x) {
    double along = 0, square = 0;
    for (size_t i = 0; i < t->values; i++) {
        double by = t->to[i] - t->from[i];
        along += by * (x[i] - t->from[i]);
        square += by * by;
    }
    double s = square > 0 ? along / square : 0;
    return s > 0 ? (s < 1 ? s : 1) : 0;
}

// With `room` [m] to spare
static bool tube_holds(const rbt_tube *t, const double *x, double room) {
    if (!t->holds) return false;
    double s = share_of_motion(t, x);
    for (size_t i = 0; i < t->values; i++)
        if (!(fabs(x[i] - (t->from[i] + s * (t->to[i] - t->from[i]))) <= t->slack - room)) return false;
    return true;
}

static bool motion_holds(const rbt_tube *t, const double *x, const double *y, double room) {
    return tube_holds(t, x, room) && (x == y || tube_holds(t, y, room));
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
    c->piles = rbt_array_new(RBT_CANDIDATE_PILES + 1, sizeof *c->piles, WHAT, error);
    c->bucket = rbt_array_new(rbt_candidate_buckets(c) + 1, sizeof *c->bucket, WHAT, error);
    bool tubes = tube_init(&c->wide, nodes, error) && tube_init(&c->narrow, nodes, error);
    if (tubes && c->leaves && c->edges && c->nodes && c->bounds && c->ordered && c->places && c->piles && c->bucket)
        return true;
    rbt_candidates_free(c);
    return false;
}

void rbt_candidates_free(rbt_candidates *c) {
    for (size_t i = 0; c->piles && i <= RBT_CANDIDATE_PILES; i++) free(c->piles[i].keys);
    rbt_box_tree_free(&c->tree);
    free(c->leaves), free(c->edges), free(c->nodes), free(c->bounds), free(c->ordered);
    tube_free(&c->wide), tube_free(&c->narrow);
    free(c->found), free(c->listed), free(c->keys);
    free(c->kept), free(c->sorted), free(c->relisted), free(c->places), free(c->bucket), free(c->piles);
    *c = (rbt_candidates){0};
}

void rbt_candidates_forget(rbt_candidates *c) {
    c->count = c->found_count = 0;
    c->wide.holds = c->narrow.holds = false;
    c->lists++;
}

bool rbt_candidates_prepare(rbt_candidates *c, const double *x, const double *y, double slack, double wide_slack) {
    if (motion_holds(&c->narrow, x, y, 0) && (c->nested || motion_holds(&c->wide, x, y, 0))) return true;
    // Both ends of the new narrow tube are off the wide one's motion by no more than its slack less their own, and so is
    // everything between them: the narrow one is part of it.
    c->nested = motion_holds(&c->wide, x, y, slack);
    if (!c->nested && !motion_holds(&c->wide, x, y, 0)) {
        if (!rbt_candidates_search(c, x, y, slack > wide_slack ? slack : wide_slack)) {
            rbt_candidates_forget(c);
            return false;
        }
        c->nested = motion_holds(&c->wide, x, y, slack);
    }
    rbt_candidates_narrow(c, x, y, slack);
    return true;
}
