// Life of the lists, and where they hold.
#include "contact/broad_phase/candidates.h"

#include "contact/broad_phase/candidate_pile.h"

#include <math.h>
#include <string.h>

static const char WHAT[] = "candidates of contact";

bool rbt_candidates_init(rbt_candidates *c, const rbt_contact_surface *surface, const double *reach,
                         rbt_error *error) {
    size_t nodes = surface->def.node_count;
    *c = (rbt_candidates){.surface = surface, .reach = reach};
    c->leaves = rbt_array_new(surface->leaf_count, sizeof *c->leaves, WHAT, error);
    c->edges = rbt_array_new(surface->edge_count, sizeof *c->edges, WHAT, error);
    c->wide_nodes = rbt_array_new(nodes, sizeof *c->wide_nodes, WHAT, error);
    c->from = rbt_array_new(nodes, 3 * sizeof *c->from, WHAT, error);
    c->to = rbt_array_new(nodes, 3 * sizeof *c->to, WHAT, error);
    c->piles = rbt_array_new(rbt_candidate_runs(c), sizeof *c->piles, WHAT, error);
    c->bucket = rbt_array_new(rbt_candidate_buckets(c) + 1, sizeof *c->bucket, WHAT, error);
    if (c->leaves && c->edges && c->wide_nodes && c->from && c->to && c->piles && c->bucket) return true;
    rbt_candidates_free(c);
    return false;
}

void rbt_candidates_free(rbt_candidates *c) {
    for (size_t i = 0; c->piles && i < rbt_candidate_runs(c); i++) free(c->piles[i].keys);
    rbt_box_tree_free(&c->tree);
    free(c->leaves), free(c->edges), free(c->wide_nodes);
    free(c->wide), free(c->axes), free(c->from), free(c->to), free(c->keys);
    free(c->kept), free(c->sorted), free(c->moved_axes), free(c->bucket), free(c->piles);
    *c = (rbt_candidates){0};
}

void rbt_candidates_forget(rbt_candidates *c) {
    c->count = c->wide_count = 0;
    c->narrowed = false;
    c->lists++;
    for (size_t n = 0; n < c->surface->def.node_count; n++) c->wide_nodes[n] = rbt_box_empty();
}

static bool wide_holds(const rbt_candidates *c, const double *x) {
    for (size_t n = 0; n < c->surface->def.node_count; n++)
        for (size_t k = 0; k < 3; k++)
            if (!(x[3 * n + k] >= c->wide_nodes[n].min[k] && x[3 * n + k] <= c->wide_nodes[n].max[k])) return false;
    return true;
}

// Which s brings the motion of the narrow list nearest to x
static double share_of_motion(const rbt_candidates *c, const double *x) {
    double along = 0, square = 0;
    for (size_t i = 0; i < 3 * c->surface->def.node_count; i++) {
        double by = c->to[i] - c->from[i];
        along += by * (x[i] - c->from[i]);
        square += by * by;
    }
    double s = square > 0 ? along / square : 0;
    return s > 0 ? (s < 1 ? s : 1) : 0;
}

static bool narrow_holds(const rbt_candidates *c, const double *x) {
    if (!c->narrowed) return false;
    double s = share_of_motion(c, x);
    for (size_t i = 0; i < 3 * c->surface->def.node_count; i++)
        if (!(fabs(x[i] - (c->from[i] + s * (c->to[i] - c->from[i]))) <= c->slack)) return false;
    return true;
}

bool rbt_candidates_prepare(rbt_candidates *c, const double *x, const double *y, double slack, double wide_slack) {
    bool wide = c->built && wide_holds(c, x) && (x == y || wide_holds(c, y));
    if (wide && narrow_holds(c, x) && (x == y || narrow_holds(c, y))) return true;
    if (!wide && !rbt_candidates_search(c, x, y, slack > wide_slack ? slack : wide_slack)) {
        rbt_candidates_forget(c);
        return false;
    }
    rbt_candidates_narrow(c, x, y, slack);
    return true;
}
