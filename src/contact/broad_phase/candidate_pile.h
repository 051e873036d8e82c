// What a search works with: pairs of nodes of the tree, and a pile of pairs of primitives for each, so that the result
// does not depend on the number of threads.
#ifndef RBT_CONTACT_BROAD_PHASE_CANDIDATE_PILE_H
#define RBT_CONTACT_BROAD_PHASE_CANDIDATE_PILE_H

#include "contact/broad_phase/candidates.h"

enum { RBT_CANDIDATE_PILES = 128 };  // with one more for planes

typedef struct rbt_tree_pair {
    int32_t a, b;
} rbt_tree_pair;

typedef struct rbt_candidate_pile {
    rbt_pair_key *keys;
    size_t count, capacity;
    bool failed;
} rbt_candidate_pile;

// The order of the tree: memory, what it is, once there is a tree, and the end of it
bool rbt_tree_order_init(rbt_tree_order *order, const rbt_contact_surface *surface, rbt_error *error);
void rbt_tree_order_find(rbt_tree_order *order, const rbt_contact_surface *surface, const rbt_box_tree *tree);
void rbt_tree_order_free(rbt_tree_order *order);

// Kinds of keys times the largest first number
static inline size_t rbt_candidate_buckets(const rbt_candidates *c) {
    size_t nodes = c->surface->def.node_count, edges = c->surface->edge_count;
    return (RBT_TOUCH_WALL + 1) * (nodes > edges ? nodes : edges);
}

// Room for so many keys more; no memory: the pile has failed.
bool rbt_candidate_room(rbt_candidate_pile *pile, size_t more);

// A key into a pile if there is such a pair; no memory: the pile has failed.
void rbt_candidate_offer(const rbt_candidates *candidates, rbt_pair_key key, rbt_candidate_pile *pile);

// ---- Pairs of nodes of the tree, a = b: everything below that node against itself

// What a pair of nodes is made of: up to three pairs below it; 0 if it is one of two ends.
static inline int rbt_tree_pair_split(const rbt_candidates *c, rbt_tree_pair pair, rbt_tree_pair parts[3]) {
    const rbt_box_node *a = &c->tree.nodes[pair.a], *b = &c->tree.nodes[pair.b];
    if (pair.a == pair.b) {
        if (!a->right) return 0;
        parts[0] = (rbt_tree_pair){pair.a + 1, pair.a + 1};
        parts[1] = (rbt_tree_pair){a->right, a->right};
        parts[2] = (rbt_tree_pair){pair.a + 1, a->right};
        return 3;
    }
    if (!a->right && !b->right) return 0;
    bool first = a->right && (!b->right || a->count >= b->count);  // the larger one is opened
    parts[0] = first ? (rbt_tree_pair){pair.a + 1, pair.b} : (rbt_tree_pair){pair.a, pair.b + 1};
    parts[1] = first ? (rbt_tree_pair){a->right, pair.b} : (rbt_tree_pair){pair.a, b->right};
    return 2;
}

static inline bool rbt_tree_pair_meets(const rbt_candidates *c, rbt_tree_pair pair) {
    return pair.a == pair.b || rbt_moving_boxes_meet(&c->bounds[pair.a], &c->bounds[pair.b]);
}

#endif
