// The wide list: a search in a tree of boxes. See candidates.h.
#include "base/threads.h"
#include "contact/broad_phase/candidate_hold.h"
#include "contact/broad_phase/candidate_kernels.h"
#include "math/scalar.h"

#include <string.h>

// A motion is taken as the first of so many like it: the next step's then needs no search. Things that move together
// are no nearer to each other for it.
static const double AHEAD = 3;

// ---- Boxes

static void place_all(rbt_candidates *c) {
    const rbt_contact_surface *s = c->surface;
    size_t nodes = s->def.node_count;
#pragma omp parallel for schedule(static) if (nodes >= RBT_PARALLEL_FROM)
    for (size_t n = 0; n < nodes; n++)
        c->nodes[n] = rbt_moving_box_of(c->wide.from + 3 * n, c->wide.to + 3 * n, c->reach[n], c->wide.slack);
#pragma omp parallel for schedule(static) if (s->edge_count >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < s->edge_count; i++) {
        const int32_t *node = s->edges + 2 * (size_t)c->order.edge[i];
        c->edges[i] = c->nodes[node[0]];
        rbt_moving_box_unite(&c->edges[i], &c->nodes[node[1]]);
    }
#pragma omp parallel for schedule(static) if (s->leaf_count >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < s->leaf_count; i++) {
        c->leaves[i] = c->nodes[s->leaves[i].node[0]];
        for (int k = 1; k < s->leaves[i].corners; k++)
            rbt_moving_box_unite(&c->leaves[i], &c->nodes[s->leaves[i].node[k]]);
    }
}

// ---- The tree
//
// It has the shape that the first search gave it; bounds (one a node) are those of the latest one. Children stand
// behind their parents, so backwards every node finds its children done.

static bool build_tree(rbt_candidates *c) {
    const rbt_contact_surface *s = c->surface;
    if (c->built) return true;
    rbt_box *boxes = rbt_array_new(s->leaf_count, sizeof *boxes, "candidates", NULL);
    for (size_t i = 0; boxes && i < s->leaf_count; i++) {
        boxes[i] = rbt_box_empty();
        for (int k = 0; k < s->leaves[i].corners; k++)
            rbt_box_include(&boxes[i], c->wide.from + 3 * (size_t)s->leaves[i].node[k], 0);
    }
    c->built = boxes && rbt_box_tree_build(&c->tree, boxes, s->leaf_count, NULL);
    free(boxes);
    if (!c->built) return false;
    rbt_tree_order_find(&c->order, s, &c->tree);
    if (rbt_candidates_group(c)) return true;
    rbt_box_tree_free(&c->tree);
    return c->built = false;
}

static bool is_obstacle(const rbt_candidates *c, int32_t leaf) {
    return c->surface->def.body[c->surface->leaves[leaf].node[0]] < 0;
}

static unsigned char kind_of_end(const rbt_candidates *c, const rbt_box_node *node) {
    unsigned kind = RBT_END_TRIANGLES | RBT_END_MOVES | RBT_END_OBSTACLE;
    for (int32_t i = node->first; i < node->first + node->count; i++) {
        const rbt_leaf *leaf = &c->surface->leaves[c->tree.order[i]];
        if (leaf->corners < 3) kind &= ~(unsigned)RBT_END_TRIANGLES;
        if (!is_obstacle(c, c->tree.order[i])) kind &= ~(unsigned)RBT_END_OBSTACLE;
        for (int k = 0; k < leaf->corners; k++)
            if (!(c->surface->def.inverse_mass[leaf->node[k]] > 0)) kind &= ~(unsigned)RBT_END_MOVES;
    }
    return (unsigned char)kind;
}

static void bound_tree(rbt_candidates *c) {
    for (size_t i = 0; i < c->surface->leaf_count; i++) c->ordered[i] = c->leaves[c->tree.order[i]];
    for (size_t i = c->tree.node_count; i-- > 0;) {
        const rbt_box_node *node = &c->tree.nodes[i];
        rbt_moving_box *box = &c->bounds[i];
        c->order.end[i] = node->right ? 0 : kind_of_end(c, node);
        *box = node->right ? c->bounds[i + 1] : c->ordered[node->first];
        if (node->right) rbt_moving_box_unite(box, &c->bounds[node->right]);
        for (int32_t k = 1; !node->right && k < node->count; k++)
            rbt_moving_box_unite(box, &c->ordered[node->first + k]);
    }
}

// ---- Piles

bool rbt_candidate_room(rbt_candidate_pile *pile, size_t more) {
    pile->failed |= !rbt_array_reserve((void **)&pile->keys, &pile->capacity, pile->count + more, sizeof *pile->keys,
                                       "candidates", NULL);
    return !pile->failed;
}

void rbt_candidate_offer(const rbt_candidates *c, rbt_pair_key key, rbt_candidate_pile *pile) {
    if (!rbt_pair_exists(c->surface, key)) return;
    if (pile->count == pile->capacity && !rbt_candidate_room(pile, 1)) return;
    pile->keys[pile->count++] = key;
}

// ---- All pairs of leaves

static bool leaves_overlap(const rbt_candidates *c, int32_t a, int32_t b) {
    return rbt_moving_boxes_meet(&c->leaves[a], &c->leaves[b]);
}

// All leaves of a higher number whose boxes overlap that of leaf a
static void meet(const rbt_candidates *c, int32_t a, rbt_leaf_visit visit, void *context) {
    int32_t stack[RBT_BOX_TREE_DEPTH], depth = 0, at = 0;
    for (;;) {
        const rbt_box_node *node = &c->tree.nodes[at];
        if (rbt_moving_boxes_meet(&c->leaves[a], &c->bounds[at])) {
            if (node->right) {
                stack[depth++] = node->right;
                at++;
                continue;
            }
            for (int32_t i = node->first; i < node->first + node->count; i++) {
                int32_t b = c->tree.order[i];
                if (b > a && leaves_overlap(c, a, b)) visit(context, a, b);
            }
        }
        if (!depth) return;
        at = stack[--depth];
    }
}

void rbt_candidates_leaves(const rbt_candidates *c, rbt_leaf_visit visit, void *context) {
    for (size_t a = 0; c->built && a < c->surface->leaf_count; a++) meet(c, (int32_t)a, visit, context);
}

// ---- Dividing the search

// Pairs that together are all of them, one pile each; returns how many. They depend on the tree and the boxes alone.
static size_t divide(const rbt_candidates *c, rbt_tree_pair pairs[RBT_CANDIDATE_PILES]) {
    size_t count = 0;
    if (!c->tree.node_count) return 0;
    pairs[count++] = (rbt_tree_pair){0, 0};
    for (size_t i = 0; i < count && count + 3 <= RBT_CANDIDATE_PILES;) {
        rbt_tree_pair parts[3];
        int more = rbt_tree_pair_meets(c, pairs[i]) ? rbt_tree_pair_split(c, pairs[i], parts) : 0;
        if (!more) {
            i++;
            continue;
        }
        memmove(pairs + i, pairs + i + 1, (--count - i) * sizeof *pairs);
        for (int k = 0; k < more; k++) pairs[count++] = parts[k];
    }
    return count;
}

// ---- Planes

// Whether a node may come down to a plane. Rounding of the sum: a few units in the last place of its terms.
static bool meets_wall(const rbt_candidates *c, int32_t n, const rbt_wall *wall) {
    double around = c->reach[n] + c->reach[wall->node], size = 0, least = INFINITY;
    for (int i = 0; i < 3; i++) around += 2 * c->wide.slack * fabs(wall->normal[i]);
    for (int end = 0; end < 2; end++) {
        const double *all = end ? c->wide.to : c->wide.from;
        const double *x = all + 3 * (size_t)n, *point = all + 3 * (size_t)wall->node;
        double up = 0;
        for (int i = 0; i < 3; i++) {
            up += wall->normal[i] * (x[i] - point[i]);
            size = rbt_larger(size, fabs(x[i]) + fabs(point[i]));
        }
        least = rbt_smaller(least, up);
    }
    return least <= around + 1e-14 * size;
}

// The nodes that leaves own against planes
static void meet_walls(const rbt_candidates *c, rbt_candidate_pile *pile) {
    for (size_t a = 0; a < c->surface->leaf_count; a++)
        for (size_t w = 0; w < c->surface->def.wall_count; w++)
            for (int k = 0; k < c->surface->leaves[a].corners; k++) {
                int32_t node = c->surface->leaves[a].node[k];
                if ((c->surface->leaves[a].owned_nodes >> k & 1) && meets_wall(c, node, &c->surface->def.walls[w]))
                    rbt_candidate_offer(c, rbt_pair_key_of(RBT_TOUCH_WALL, node, (int32_t)w), pile);
            }
}

// ---- Sorting

// The buckets of keys: one a kind and first number
static size_t bucket_of(const rbt_candidates *c, rbt_pair_key key) {
    return (size_t)rbt_pair_key_kind(key) * (rbt_candidate_buckets(c) / (RBT_TOUCH_WALL + 1)) +
           (key >> 30 & 0x3fffffff);
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
    size_t buckets = rbt_candidate_buckets(c), *end = c->bucket;
    memset(end, 0, (buckets + 1) * sizeof *end);
    for (size_t r = 0; r < c->pile_count; r++)
        for (size_t i = 0; i < c->piles[r].count; i++) end[bucket_of(c, c->piles[r].keys[i]) + 1]++;
    for (size_t k = 0; k < buckets; k++) end[k + 1] += end[k];
    for (size_t r = 0; r < c->pile_count; r++)
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

// The larger one of the nodes of a side
static double reach_of(const rbt_candidates *c, const int32_t *node, int count) {
    double most = 0;
    for (int i = 0; i < count; i++) most = rbt_larger(most, c->reach[node[i]]);
    return most;
}

static rbt_listed list_pair(const rbt_candidates *c, rbt_pair_key key) {
    rbt_touch_kind kind = rbt_pair_key_kind(key);
    int first = rbt_pair_first(kind), corners = rbt_pair_corners(kind);
    rbt_listed l = {{0}, {0}, 0};
    rbt_pair_nodes(c->surface, key, l.node);
    l.reach = -rbt_float_below(-reach_of(c, l.node, first) - reach_of(c, l.node + first, corners - first));
    for (int i = corners; i < 4; i++) l.node[i] = l.node[corners - 1];
    const double *up = kind == RBT_TOUCH_WALL ? c->surface->def.walls[key & 0x3fffffff].normal : NULL;
    for (int k = 0; up && k < 3; k++) l.axis[k] = (float)-up[k];
    return l;
}

// Directions of pairs that were in the list before stay.
static void list_some(rbt_candidates *c, size_t begin, size_t end) {
    size_t old = 0, high = c->found_count;
    while (old < high) {  // the first of them that is not below
        size_t middle = old + (high - old) / 2;
        if (c->found[middle] < c->sorted[begin]) old = middle + 1;
        else high = middle;
    }
    for (size_t i = begin; i < end; i++) {
        while (old < c->found_count && c->found[old] < c->sorted[i]) old++;
        bool known = old < c->found_count && c->found[old] == c->sorted[i];
        c->relisted[i] = known ? c->listed[old] : list_pair(c, c->sorted[i]);
    }
}

static void list_again(rbt_candidates *c, size_t count) {
    enum { RUN = 4096 };
#pragma omp parallel for schedule(static) if (count > RUN)
    for (size_t begin = 0; begin < count; begin += RUN)
        list_some(c, begin, begin + RUN < count ? begin + RUN : count);
}

#define SWAP(type, a, b)                                                                                             \
    do {                                                                                                             \
        type swap_ = (a);                                                                                            \
        (a) = (b);                                                                                                   \
        (b) = swap_;                                                                                                 \
    } while (0)

static bool gather(rbt_candidates *c) {
    size_t count = 0;
    for (size_t r = 0; r < c->pile_count; r++) {
        if (c->piles[r].failed) return false;
        count += c->piles[r].count;
    }
    if (!rbt_array_reserve((void **)&c->sorted, &c->sorted_capacity, count, sizeof *c->sorted, "candidates", NULL) ||
        !rbt_array_reserve((void **)&c->relisted, &c->relisted_capacity, count, sizeof *c->relisted, "candidates",
                           NULL) ||
        !rbt_array_reserve((void **)&c->keys, &c->capacity, count, sizeof *c->keys, "candidates", NULL) ||
        !rbt_array_reserve((void **)&c->kept, &c->kept_capacity, count, 1, "candidates", NULL))
        return false;
    sort_keys(c);
    list_again(c, count);
    SWAP(rbt_pair_key *, c->found, c->sorted);
    SWAP(size_t, c->found_capacity, c->sorted_capacity);
    SWAP(rbt_listed *, c->listed, c->relisted);
    SWAP(size_t, c->listed_capacity, c->relisted_capacity);
    c->found_count = count;
    return true;
}

bool rbt_candidates_search(rbt_candidates *c, const double *x, const double *y, double slack) {
    const rbt_candidate_kernels *kernels = rbt_candidate_kernels_best();
    rbt_tree_pair pairs[RBT_CANDIDATE_PILES];
    c->searches++;
    rbt_tube_lay(&c->wide, x, y, AHEAD, slack);
    if (!build_tree(c)) return false;
    place_all(c);
    bound_tree(c);
    c->pile_count = divide(c, pairs) + 1;
    for (size_t i = 0; i < c->pile_count; i++) c->piles[i].count = 0, c->piles[i].failed = false;
#pragma omp parallel for schedule(dynamic, 1) if (c->surface->leaf_count >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < c->pile_count; i++) {
        if (i) kernels->meet(c, pairs[i - 1], &c->piles[i]);
        else meet_walls(c, &c->piles[i]);
    }
    return gather(c);
}
