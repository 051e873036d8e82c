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

// Kinds of keys times the largest first number
static inline size_t rbt_candidate_buckets(const rbt_candidates *c) {
    size_t nodes = c->surface->def.node_count, edges = c->surface->edge_count;
    return (RBT_TOUCH_WALL + 1) * (nodes > edges ? nodes : edges);
}

#endif
