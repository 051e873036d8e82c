// The wide list: a search in a tree of boxes. See candidates.h.
#include "base/threads.h"
#include "contact/broad_phase/candidates.h"
#include "contact/broad_phase/candidate_pile.h"
#include "math/scalar.h"

#include <string.h>

// ---- Boxes

static void place_nodes(const rbt_candidates *c, const double *x, const double *y, double slack) {
    size_t count = c->surface->def.node_count;
#pragma omp parallel for schedule(static) if (count >= RBT_PARALLEL_FROM)
    for (size_t n = 0; n < count; n++)
        for (size_t k = 0; k < 3; k++) {
            double from = x[3 * n + k], to = y[3 * n + k];
            c->wide_nodes[n].min[k] = rbt_smaller(from, to) - slack;
            c->wide_nodes[n].max[k] = rbt_larger(from, to) + slack;
        }
}

// The box of some nodes with their reach
static rbt_box box_of(const rbt_candidates *c, const int32_t *node, int count) {
    rbt_box box = c->wide_nodes[node[0]];
    double reach = c->reach[node[0]];
    for (int i = 1; i < count; i++) {
        const rbt_box *own = &c->wide_nodes[node[i]];
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
    return (a->min[0] <= b->max[0]) & (b->min[0] <= a->max[0]) & (a->min[1] <= b->max[1]) & (b->min[1] <= a->max[1]) &
           (a->min[2] <= b->max[2]) & (b->min[2] <= a->max[2]);
}

static void place_all(rbt_candidates *c, const double *x, const double *y, double slack) {
    const rbt_contact_surface *s = c->surface;
    place_nodes(c, x, y, slack);
#pragma omp parallel for schedule(static) if (s->leaf_count >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < s->leaf_count; i++) c->leaves[i] = box_of(c, s->leaves[i].node, s->leaves[i].corners);
#pragma omp parallel for schedule(static) if (s->edge_count >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < s->edge_count; i++) c->edges[i] = box_of(c, s->edges + 2 * i, 2);
}

// ---- Pairs of leaves

static void add(rbt_candidate_pile *pile, rbt_pair_key key) {
    if (pile->failed || (pile->count == pile->capacity &&
                         !rbt_array_reserve((void **)&pile->keys, &pile->capacity, pile->count + 1, sizeof key,
                                            "candidates", NULL))) {
        pile->failed = true;
        return;
    }
    pile->keys[pile->count++] = key;
}

// Whether a node's box reaches down to a plane. Rounding of the sum: a few units in the last place of its terms.
static bool meets_wall(const rbt_candidates *c, int32_t n, const rbt_wall *wall) {
    double least = -c->reach[n] - c->reach[wall->node], scale = 0;
    const rbt_box *own = &c->wide_nodes[n], *point = &c->wide_nodes[wall->node];
    for (int i = 0; i < 3; i++) {
        double up = wall->normal[i];
        least += up * (up > 0 ? own->min[i] - point->max[i] : own->max[i] - point->min[i]);
        scale += fabs(own->min[i]) + fabs(point->min[i]);
    }
    return least <= 1e-14 * scale;
}

// Whether the two sides of a pair may come within reach of each other while nodes stay in their boxes
static bool may_meet(const rbt_candidates *c, rbt_pair_key key) {
    size_t a = key >> 30 & 0x3fffffff, b = key & 0x3fffffff;
    rbt_touch_kind kind = rbt_pair_key_kind(key);
    int32_t node = (int32_t)a, other = (int32_t)b;
    if (kind == RBT_TOUCH_EDGES) return overlap(&c->edges[a], &c->edges[b]);
    rbt_box A = box_of(c, &node, 1), B;
    if (kind == RBT_TOUCH_FACE) return overlap(&A, &c->leaves[b]);
    if (kind == RBT_TOUCH_EDGE) return overlap(&A, &c->edges[b]);
    B = box_of(c, &other, 1);
    return overlap(&A, &B);
}

typedef struct run {
    const rbt_candidates *candidates;
    rbt_candidate_pile *pile;
} run;

// Those pairs of two leaves' primitives whose own boxes overlap
static void add_pairs(void *context, int32_t a, int32_t b) {
    const run *r = context;
    rbt_pair_key keys[15];
    int count = rbt_leaf_names(r->candidates->surface, a, b, keys);
    for (int i = 0; i < count; i++)
        if (may_meet(r->candidates, keys[i]) && rbt_pair_exists(r->candidates->surface, keys[i]))
            add(r->pile, keys[i]);
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
            if (meets_wall(c, leaf->node[k], &c->surface->def.walls[w]) && rbt_pair_exists(c->surface, key))
                add(pile, key);
        }
}

void rbt_candidates_leaves(const rbt_candidates *c, rbt_leaf_visit visit, void *context) {
    for (size_t a = 0; c->built && a < c->surface->leaf_count; a++) meet(c, (int32_t)a, visit, context);
}

// ---- Sorting

// The buckets of keys: one a kind and first number
static size_t bucket_of(const rbt_candidates *c, rbt_pair_key key) {
    return (size_t)rbt_pair_key_kind(key) * (rbt_candidate_buckets(c) / (RBT_TOUCH_WALL + 1)) + (key >> 30 & 0x3fffffff);
}

static void insert_all(rbt_pair_key *keys, size_t count) {
    for (size_t i = 1; i < count; i++) {
        rbt_pair_key key = keys[i];
        size_t at = i;
        for (; at && keys[at - 1] > key; at--) keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

static int ascending(const void *a, const void *b) {
    rbt_pair_key x = *(const rbt_pair_key *)a, y = *(const rbt_pair_key *)b;
    return x < y ? -1 : x > y;
}

// From the piles into c->sorted: by kind and first number, then within these
static void sort_keys(rbt_candidates *c) {
    enum { FEW = 64 };
    size_t buckets = rbt_candidate_buckets(c), runs = rbt_candidate_runs(c), *end = c->bucket;
    memset(end, 0, (buckets + 1) * sizeof *end);
    for (size_t r = 0; r < runs; r++)
        for (size_t i = 0; i < c->piles[r].count; i++) end[bucket_of(c, c->piles[r].keys[i]) + 1]++;
    for (size_t k = 0; k < buckets; k++) end[k + 1] += end[k];
    for (size_t r = 0; r < runs; r++)
        for (size_t i = 0; i < c->piles[r].count; i++) {
            rbt_pair_key key = c->piles[r].keys[i];
            c->sorted[end[bucket_of(c, key)]++] = key;
        }
    // end[k] is now where bucket k ends
#pragma omp parallel for schedule(static) if (buckets >= RBT_PARALLEL_FROM)
    for (size_t k = 0; k < buckets; k++) {
        size_t begin = k ? end[k - 1] : 0, count = end[k] - begin;
        if (count <= FEW) insert_all(c->sorted + begin, count);
        else qsort(c->sorted + begin, count, sizeof *c->sorted, ascending);
    }
}

// Directions of pairs that were in the list before
static void move_axes(rbt_candidates *c, size_t count) {
    size_t old = 0;
    for (size_t i = 0; i < count; i++) {
        while (old < c->wide_count && c->wide[old] < c->sorted[i]) old++;
        bool known = old < c->wide_count && c->wide[old] == c->sorted[i];
        c->moved_axes[i] = known ? c->axes[old] : (rbt_axis){{0, 0, 0}};
    }
}

#define SWAP(type, a, b)                                                                                             \
    do {                                                                                                             \
        type swap_ = (a);                                                                                            \
        (a) = (b);                                                                                                   \
        (b) = swap_;                                                                                                 \
    } while (0)

static bool gather(rbt_candidates *c) {
    size_t count = 0;
    for (size_t r = 0; r < rbt_candidate_runs(c); r++) {
        if (c->piles[r].failed) return false;
        count += c->piles[r].count;
    }
    if (!rbt_array_reserve((void **)&c->sorted, &c->sorted_capacity, count, sizeof *c->sorted, "candidates", NULL) ||
        !rbt_array_reserve((void **)&c->moved_axes, &c->moved_capacity, count, sizeof *c->axes, "candidates", NULL) ||
        !rbt_array_reserve((void **)&c->keys, &c->capacity, count, sizeof *c->keys, "candidates", NULL) ||
        !rbt_array_reserve((void **)&c->kept, &c->kept_capacity, count, 1, "candidates", NULL))
        return false;
    sort_keys(c);
    move_axes(c, count);
    SWAP(rbt_pair_key *, c->wide, c->sorted);
    SWAP(size_t, c->wide_capacity, c->sorted_capacity);
    SWAP(rbt_axis *, c->axes, c->moved_axes);
    SWAP(size_t, c->axis_capacity, c->moved_capacity);
    c->wide_count = count;
    return true;
}

bool rbt_candidates_search(rbt_candidates *c, const double *x, const double *y, double slack) {
    const rbt_contact_surface *s = c->surface;
    c->searches++;
    place_all(c, x, y, slack);
    if (c->built) rbt_box_tree_refit(&c->tree, c->leaves);
    else if (!rbt_box_tree_build(&c->tree, c->leaves, s->leaf_count, NULL)) return false;
    c->built = true;
#pragma omp parallel for schedule(dynamic, 1) if (s->leaf_count >= RBT_PARALLEL_FROM)
    for (size_t r = 0; r < rbt_candidate_runs(c); r++) {
        size_t end = (r + 1) * RBT_CANDIDATE_RUN < s->leaf_count ? (r + 1) * RBT_CANDIDATE_RUN : s->leaf_count;
        run own = {c, &c->piles[r]};
        c->piles[r].count = 0;
        c->piles[r].failed = false;
        for (size_t i = r * RBT_CANDIDATE_RUN; i < end; i++) {
            meet(c, (int32_t)i, add_pairs, &own);
            meet_walls(c, (int32_t)i, &c->piles[r]);
        }
    }
    return gather(c);
}
