#include "contact/broad_phase/candidates.h"

#include "base/threads.h"
#include "math/scalar.h"

#include <string.h>

// Leaves are asked in runs of this many, each with a pile of its own, which are put behind each other: the result does
// not depend on the number of threads.
enum { RUN = 256 };

typedef struct rbt_candidate_pile {
    rbt_pair_key *keys;
    size_t count, capacity;
    bool failed;
} rbt_candidate_pile;

typedef struct rbt_candidate_run {
    const rbt_candidates *candidates;
    rbt_candidate_pile *pile;
} rbt_candidate_run;

static size_t run_count(const rbt_candidates *c) { return (c->surface->leaf_count + RUN - 1) / RUN; }

bool rbt_candidates_init(rbt_candidates *c, const rbt_contact_surface *surface, const double *reach,
                         rbt_error *error) {
    *c = (rbt_candidates){.surface = surface, .reach = reach};
    c->leaves = rbt_array_new(surface->leaf_count, sizeof *c->leaves, "candidates of contact", error);
    c->nodes = rbt_array_new(surface->def.node_count, sizeof *c->nodes, "candidates of contact", error);
    c->wide_nodes = rbt_array_new(surface->def.node_count, sizeof *c->nodes, "candidates of contact", error);
    c->piles = rbt_array_new(run_count(c), sizeof *c->piles, "candidates of contact", error);
    if (c->leaves && c->nodes && c->wide_nodes && c->piles) return true;
    rbt_candidates_free(c);
    return false;
}

void rbt_candidates_free(rbt_candidates *c) {
    for (size_t i = 0; c->piles && i < run_count(c); i++) free(c->piles[i].keys);
    rbt_box_tree_free(&c->tree);
    free(c->leaves);
    free(c->nodes);
    free(c->wide_nodes);
    free(c->wide);
    free(c->keys);
    free(c->kept);
    free(c->piles);
    *c = (rbt_candidates){0};
}

// ---- Boxes

static void place_nodes(const rbt_candidates *c, const double *x, const double *y, double slack, rbt_box *nodes) {
    size_t count = c->surface->def.node_count;
#pragma omp parallel for schedule(static) if (count >= RBT_PARALLEL_FROM)
    for (size_t n = 0; n < count; n++)
        for (size_t k = 0; k < 3; k++) {
            double from = x[3 * n + k], to = y[3 * n + k];
            nodes[n].min[k] = fmin(from, to) - slack;
            nodes[n].max[k] = fmax(from, to) + slack;
        }
}

// The box of some nodes with their reach
static rbt_box box_of(const rbt_candidates *c, const rbt_box *nodes, const int32_t *node, int count) {
    rbt_box box = nodes[node[0]];
    double reach = c->reach[node[0]];
    for (int i = 1; i < count; i++) {
        const rbt_box *own = &nodes[node[i]];
        for (int k = 0; k < 3; k++) {
            box.min[k] = rbt_smaller(box.min[k], own->min[k]);
            box.max[k] = rbt_larger(box.max[k], own->max[k]);
        }
        reach = rbt_larger(reach, c->reach[node[i]]);
    }
    for (int k = 0; k < 3; k++) box.min[k] -= reach, box.max[k] += reach;
    return box;
}

static bool overlap(const rbt_box *a, const rbt_box *b) {
    for (int k = 0; k < 3; k++)
        if (a->min[k] > b->max[k] || b->min[k] > a->max[k]) return false;
    return true;
}

// ---- Pairs of leaves

static void add(rbt_candidate_pile *pile, rbt_pair_key key) {
    if (pile->failed ||
        !rbt_array_reserve((void **)&pile->keys, &pile->capacity, pile->count + 1, sizeof key, "candidates", NULL)) {
        pile->failed = true;
        return;
    }
    pile->keys[pile->count++] = key;
}

// Whether a node's box reaches down to a plane. Rounding of the sum: a few units in the last place of its terms.
static bool meets_wall(const rbt_candidates *c, const rbt_box *nodes, int32_t n, const rbt_wall *wall) {
    double least = -c->reach[n] - c->reach[wall->node], scale = 0;
    const rbt_box *own = &nodes[n], *point = &nodes[wall->node];
    for (int i = 0; i < 3; i++) {
        double up = wall->normal[i];
        least += up * (up > 0 ? own->min[i] - point->max[i] : own->max[i] - point->min[i]);
        scale += fabs(own->min[i]) + fabs(point->min[i]);
    }
    return least <= 1e-14 * scale;
}

// Whether the two sides of a pair may come within reach of each other while nodes stay in these boxes
static bool may_meet(const rbt_candidates *c, const rbt_box *nodes, rbt_pair_key key) {
    int32_t node[4];
    rbt_touch_kind kind = rbt_pair_key_kind(key);
    int first = rbt_pair_first(kind);
    rbt_pair_nodes(c->surface, key, node);
    if (kind == RBT_TOUCH_WALL) return meets_wall(c, nodes, node[0], &c->surface->def.walls[key & 0x3fffffff]);
    rbt_box A = box_of(c, nodes, node, first), B = box_of(c, nodes, node + first, rbt_pair_corners(kind) - first);
    return overlap(&A, &B);
}

// Those pairs of two leaves' primitives whose own boxes overlap
static void add_pairs(void *context, int32_t a, int32_t b) {
    const rbt_candidate_run *run = context;
    const rbt_candidates *c = run->candidates;
    rbt_candidate_pile *pile = run->pile;
    rbt_pair_key keys[15];
    int count = rbt_leaf_pairs(c->surface, a, b, keys);
    for (int i = 0; i < count; i++)
        if (may_meet(c, c->wide_nodes, keys[i])) add(pile, keys[i]);
}

// All leaves of a higher number whose boxes overlap that of leaf a
static void meet(const rbt_candidates *c, int32_t a, rbt_leaf_visit visit, void *context) {
    const rbt_box *box = &c->leaves[a];
    int32_t stack[RBT_BOX_TREE_DEPTH], depth = 0, at = 0;
    for (;;) {
        const rbt_box_node *node = &c->tree.nodes[at];
        if (overlap(box, &node->box)) {
            if (node->right) {
                stack[depth++] = node->right;
                at++;
                continue;
            }
            for (int32_t i = node->first; i < node->first + node->count; i++) {
                int32_t b = c->tree.order[i];
                if (b > a && overlap(box, &c->leaves[b])) visit(context, a, b);
            }
        }
        if (!depth) return;
        at = stack[--depth];
    }
}

// The nodes that a leaf owns against planes
static void meet_walls(const rbt_candidates *c, int32_t a, rbt_candidate_pile *pile) {
    const rbt_leaf *leaf = &c->surface->leaves[a];
    for (size_t w = 0; w < c->surface->def.wall_count; w++)
        for (int k = 0; k < leaf->corners; k++) {
            if (!(leaf->owned_nodes >> k & 1)) continue;
            rbt_pair_key key = rbt_pair_key_of(RBT_TOUCH_WALL, leaf->node[k], (int32_t)w);
            if (may_meet(c, c->wide_nodes, key) && rbt_pair_exists(c->surface, key)) add(pile, key);
        }
}

static int ascending(const void *a, const void *b) {
    rbt_pair_key x = *(const rbt_pair_key *)a, y = *(const rbt_pair_key *)b;
    return x < y ? -1 : x > y;
}

static bool gather(rbt_candidates *c) {
    size_t count = 0;
    for (size_t i = 0; i < run_count(c); i++) {
        if (c->piles[i].failed) return false;
        count += c->piles[i].count;
    }
    if (!rbt_array_reserve((void **)&c->wide, &c->wide_capacity, count, sizeof *c->wide, "candidates", NULL) ||
        !rbt_array_reserve((void **)&c->keys, &c->capacity, count, sizeof *c->keys, "candidates", NULL) ||
        !rbt_array_reserve((void **)&c->kept, &c->kept_capacity, count, 1, "candidates", NULL))
        return false;
    for (size_t i = 0; i < run_count(c); i++) {
        if (c->piles[i].count) memcpy(c->wide + c->wide_count, c->piles[i].keys, c->piles[i].count * sizeof *c->wide);
        c->wide_count += c->piles[i].count;
    }
    if (c->wide_count) qsort(c->wide, c->wide_count, sizeof *c->wide, ascending);
    return true;
}

void rbt_candidates_forget(rbt_candidates *c) {
    c->count = c->wide_count = 0;
    c->lists++;
    for (size_t n = 0; n < c->surface->def.node_count; n++) c->nodes[n] = c->wide_nodes[n] = rbt_box_empty();
}

static bool search(rbt_candidates *c, const double *x, const double *y, double slack) {
    const rbt_contact_surface *s = c->surface;
    c->wide_count = 0;
    c->searches++;
    place_nodes(c, x, y, slack, c->wide_nodes);
#pragma omp parallel for schedule(static) if (s->leaf_count >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < s->leaf_count; i++)
        c->leaves[i] = box_of(c, c->wide_nodes, s->leaves[i].node, s->leaves[i].corners);
    if (c->built) rbt_box_tree_refit(&c->tree, c->leaves);
    else if (!rbt_box_tree_build(&c->tree, c->leaves, s->leaf_count, NULL)) return false;
    c->built = true;
#pragma omp parallel for schedule(dynamic, 1) if (s->leaf_count >= RBT_PARALLEL_FROM)
    for (size_t r = 0; r < run_count(c); r++) {
        size_t end = (r + 1) * RUN < s->leaf_count ? (r + 1) * RUN : s->leaf_count;
        c->piles[r].count = 0;
        c->piles[r].failed = false;
        for (size_t i = r * RUN; i < end; i++) {
            rbt_candidate_run run = {c, &c->piles[r]};
            meet(c, (int32_t)i, add_pairs, &run);
            meet_walls(c, (int32_t)i, &c->piles[r]);
        }
    }
    return gather(c);
}

// The pairs of the wide list that may meet in smaller boxes; boxes stay within the wide ones.
static void narrow(rbt_candidates *c, const double *x, const double *y, double slack) {
    size_t nodes = c->surface->def.node_count, count = c->wide_count;
    place_nodes(c, x, y, slack, c->nodes);
    for (size_t n = 0; n < nodes; n++)
        for (int k = 0; k < 3; k++) {
            c->nodes[n].min[k] = rbt_larger(c->nodes[n].min[k], c->wide_nodes[n].min[k]);
            c->nodes[n].max[k] = rbt_smaller(c->nodes[n].max[k], c->wide_nodes[n].max[k]);
        }
#pragma omp parallel for schedule(static) if (count >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < count; i++) c->kept[i] = may_meet(c, c->nodes, c->wide[i]);
    c->count = 0;
    c->lists++;
    for (size_t i = 0; i < count; i++)
        if (c->kept[i]) c->keys[c->count++] = c->wide[i];
}

static bool cover(const rbt_box *nodes, size_t count, const double *x) {
    for (size_t n = 0; n < count; n++)
        for (size_t k = 0; k < 3; k++)
            if (!(x[3 * n + k] >= nodes[n].min[k] && x[3 * n + k] <= nodes[n].max[k])) return false;
    return true;
}

bool rbt_candidates_prepare(rbt_candidates *c, const double *x, const double *y, double slack, double wide_slack) {
    size_t nodes = c->surface->def.node_count;
    bool built = c->built;
    if (built && cover(c->nodes, nodes, x) && cover(c->nodes, nodes, y)) return true;
    if (!built || !cover(c->wide_nodes, nodes, x) || !cover(c->wide_nodes, nodes, y)) {
        if (!search(c, x, y, rbt_larger(slack, wide_slack))) {
            rbt_candidates_forget(c);
            return false;
        }
    }
    narrow(c, x, y, slack);
    return true;
}

void rbt_candidates_leaves(const rbt_candidates *c, rbt_leaf_visit visit, void *context) {
    for (size_t a = 0; c->built && a < c->surface->leaf_count; a++) meet(c, (int32_t)a, visit, context);
}
