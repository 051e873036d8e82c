// Leaves are asked in runs of this many, each with a pile of pairs of its own: the result does not depend on the number
// of threads.
#ifndef RBT_CONTACT_BROAD_PHASE_CANDIDATE_PILE_H
#define RBT_CONTACT_BROAD_PHASE_CANDIDATE_PILE_H

#include "contact/broad_phase/candidates.h"

enum { RBT_CANDIDATE_RUN = 256 };

typedef struct rbt_candidate_pile {
    rbt_pair_key *keys;
    size_t count, capacity;
    bool failed;
} rbt_candidate_pile;

static inline size_t rbt_candidate_runs(const rbt_candidates *c) {
    return (c->surface->leaf_count + RBT_CANDIDATE_RUN - 1) / RBT_CANDIDATE_RUN;
}

// Kinds of keys times the largest first number
static inline size_t rbt_candidate_buckets(const rbt_candidates *c) {
    size_t nodes = c->surface->def.node_count, edges = c->surface->edge_count;
    return (RBT_TOUCH_WALL + 1) * (nodes > edges ? nodes : edges);
}

#endif
