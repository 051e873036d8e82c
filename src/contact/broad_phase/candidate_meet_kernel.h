// Pairs of primitives whose boxes overlap, below two nodes of the tree: the kernel `meet` of candidate_kernels.h.
#ifndef RBT_CONTACT_BROAD_PHASE_CANDIDATE_MEET_KERNEL_H
#define RBT_CONTACT_BROAD_PHASE_CANDIDATE_MEET_KERNEL_H

#include "contact/broad_phase/candidate_kernels.h"

// ---- Two ends of the tree whose leaves are triangles

typedef struct end_of_tree {
    size_t leaf, leaves;  // places in the order of the tree: begin, end
    size_t edge, edges, node, nodes;
} end_of_tree;

static inline end_of_tree end_at(const rbt_candidates *c, int32_t at) {
    const rbt_box_node *node = &c->tree.nodes[at];
    size_t begin = (size_t)node->first, end = begin + (size_t)node->count;
    const rbt_tree_order *o = &c->order;
    return (end_of_tree){
        begin, end, o->edge_begin[begin], o->edge_begin[end], o->node_begin[begin], o->node_begin[end]};
}

// Of an end's leaves each owns three nodes and edges at most.
enum { MOST = RBT_BOX_TREE_LEAF, MOST_PAIRS = (3 * MOST) * (3 * MOST) + 2 * (3 * MOST) * MOST };

// Which boxes overlap no branch foretells: a key is always written behind the others, and counts or not.
static inline size_t note(rbt_pair_key *keys, size_t count, rbt_pair_key key, bool counts) {
    keys[count] = key;
    return count + counts;
}

// The nodes of a against the triangles of b. Most that overlap are neighbours: a triangle's own corners do not count.
static inline size_t meet_nodes(const rbt_candidates *c, const end_of_tree *a, const end_of_tree *b,
                                rbt_pair_key *keys, size_t count) {
    for (size_t i = a->node; i < a->nodes; i++) {
        int32_t node = c->order.node[i];
        const rbt_moving_box *box = &c->nodes[node];
        for (size_t j = b->leaf; j < b->leaves; j++) {
            int32_t leaf = c->tree.order[j];
            const int32_t *own = c->surface->leaves[leaf].node;
            bool other = (node != own[0]) & (node != own[1]) & (node != own[2]);
            count = note(keys, count, rbt_pair_key_of(RBT_TOUCH_FACE, node, leaf),
                         other & rbt_moving_boxes_meet(box, &c->ordered[j]));
        }
    }
    return count;
}

// Edges that meet in a node do not count.
static inline size_t meet_edges(const rbt_candidates *c, const end_of_tree *a, const end_of_tree *b, bool same,
                                rbt_pair_key *keys, size_t count) {
    for (size_t i = a->edge; i < a->edges; i++) {
        int32_t e = c->order.edge[i];
        const int32_t *p = c->surface->edges + 2 * (size_t)e;
        for (size_t j = same ? i + 1 : b->edge; j < b->edges; j++) {
            int32_t f = c->order.edge[j];
            const int32_t *q = c->surface->edges + 2 * (size_t)f;
            bool other = (p[0] != q[0]) & (p[0] != q[1]) & (p[1] != q[0]) & (p[1] != q[1]);
            count = note(keys, count, rbt_pair_key_of(RBT_TOUCH_EDGES, e < f ? e : f, e < f ? f : e),
                         other & rbt_moving_boxes_meet(&c->edges[i], &c->edges[j]));
        }
    }
    return count;
}

static inline void meet_triangles(const rbt_candidates *c, rbt_tree_pair pair, bool exist, rbt_candidate_pile *pile) {
    end_of_tree a = end_at(c, pair.a), b = end_at(c, pair.b);
    bool same = pair.a == pair.b;
    if (pile->count + MOST_PAIRS + 1 > pile->capacity && !rbt_candidate_room(pile, MOST_PAIRS + 1)) return;
    rbt_pair_key *keys = pile->keys + pile->count;
    size_t count = meet_nodes(c, &a, &b, keys, 0);
    if (!same) count = meet_nodes(c, &b, &a, keys, count);
    count = meet_edges(c, &a, &b, same, keys, count);
    for (size_t i = 0, all = count; !exist && i < all; i++) {
        if (i == 0) count = 0;
        count = note(keys, count, keys[i], rbt_pair_exists(c->surface, keys[i]));
    }
    pile->count += count;
}

// ---- Ends with other leaves

// Whether the two sides of a pair may come within reach of each other while nodes stay in their boxes
static bool sides_meet(const rbt_candidates *c, rbt_pair_key key) {
    size_t a = key >> 30 & 0x3fffffff, b = key & 0x3fffffff;
    const int32_t *place = c->order.place;
    switch (rbt_pair_key_kind(key)) {
    case RBT_TOUCH_FACE: return rbt_moving_boxes_meet(&c->nodes[a], &c->leaves[b]);
    case RBT_TOUCH_EDGES: return rbt_moving_boxes_meet(&c->edges[place[a]], &c->edges[place[b]]);
    case RBT_TOUCH_EDGE: return rbt_moving_boxes_meet(&c->nodes[a], &c->edges[place[b]]);
    default: return rbt_moving_boxes_meet(&c->nodes[a], &c->nodes[b]);
    }
}

// Those pairs of two leaves' primitives whose own boxes overlap
static void add_pairs(const rbt_candidates *c, int32_t a, int32_t b, rbt_candidate_pile *pile) {
    rbt_pair_key keys[15];
    int count = rbt_leaf_names(c->surface, a, b, keys);
    for (int i = 0; i < count; i++)
        if (sides_meet(c, keys[i])) rbt_candidate_offer(c, keys[i], pile);
}

static void meet_leaves(const rbt_candidates *c, rbt_tree_pair pair, rbt_candidate_pile *pile) {
    const rbt_box_node *a = &c->tree.nodes[pair.a], *b = &c->tree.nodes[pair.b];
    const int32_t *order = c->tree.order;
    for (int32_t i = a->first; i < a->first + a->count; i++)
        for (int32_t j = pair.a == pair.b ? i + 1 : b->first; j < b->first + b->count; j++) {
            if (!rbt_moving_boxes_meet(&c->ordered[i], &c->ordered[j])) continue;
            bool up = order[i] < order[j];
            add_pairs(c, up ? order[i] : order[j], up ? order[j] : order[i], pile);
        }
}

// ---- Pairs of nodes of the tree

static void meet_ends(const rbt_candidates *c, rbt_tree_pair pair, rbt_candidate_pile *pile) {
    unsigned a = c->order.end[pair.a], b = c->order.end[pair.b];
    if (a & b & RBT_END_OBSTACLE) return;
    if (a & b & RBT_END_TRIANGLES) meet_triangles(c, pair, (a | b) & RBT_END_MOVES, pile);
    else meet_leaves(c, pair, pile);
}

// A pair is opened at most twice the tree's depth often, and leaves two more pairs behind each time.
static void meet_below(const rbt_candidates *c, rbt_tree_pair pair, rbt_candidate_pile *pile) {
    rbt_tree_pair stack[4 * RBT_BOX_TREE_DEPTH], parts[3];
    int depth = 0;
    if (rbt_tree_pair_meets(c, pair)) stack[depth++] = pair;
    while (depth) {
        rbt_tree_pair top = stack[--depth];
        int count = rbt_tree_pair_split(c, top, parts);
        if (!count) meet_ends(c, top, pile);
        for (int i = 0; i < count; i++)
            if (rbt_tree_pair_meets(c, parts[i])) stack[depth++] = parts[i];
    }
}

#endif
