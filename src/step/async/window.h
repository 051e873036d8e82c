// What the modules of contact share about the pairs of a window. See contact.h.
#ifndef RBT_STEP_ASYNC_WINDOW_H
#define RBT_STEP_ASYNC_WINDOW_H

#include "step/async/contact.h"

// Whether pair a comes before pair b in the order of names, which is that of kicks.
static inline bool rbt_pair_before(const rbt_contact *c, int32_t a, int32_t b) {
    if ((size_t)a < c->pairs.first_count && (size_t)b < c->pairs.first_count) return a < b;
    return c->pairs.items[a].key < c->pairs.items[b].key;
}

// How long until nodes are looked at again: at the next step or the end of the window [s]
static inline double rbt_contact_left(const rbt_contact *c, int64_t t) {
    int64_t next = ((t >> RBT_TICK_BITS) + 1) << RBT_TICK_BITS;
    return (double)((next < c->window.end ? next : c->window.end) - t) * c->tracks->tick;
}

struct rbt_pair_walk {
    size_t first, later;
};

// All pairs in the order of their names, one after the other. NULL: there are no more.
rbt_pair_walk rbt_pair_walk_all(rbt_contact *contact);
const rbt_pair *rbt_pair_next(const rbt_contact *contact, rbt_pair_walk *walk);

// The pair of repairs that a node has beside `pair`, -1: there are no more.
static inline int32_t rbt_later_next(const rbt_contact *c, int32_t pair, size_t node) {
    int k = 0;
    while ((size_t)c->pairs.items[pair].node[k] != node) k++;
    return c->pairs.later_next[4 * ((size_t)pair - c->pairs.first_count) + (size_t)k];
}

// The span of a node from its line, and of edges and leaves from those of their nodes.
void rbt_span_of_node(const rbt_contact *contact, size_t node);
void rbt_span_of_edge(const rbt_contact *contact, size_t edge);
void rbt_span_of_leaf(const rbt_contact *contact, size_t leaf);

// The thickness of a pair: that of the law, of pairs of one body at most half their distance at rest, so that nothing
// pushes there.
double rbt_pair_thickness(const rbt_contact *contact, rbt_pair_key key, const int32_t node[4]);

// The thickness of a pair that may come closer than that while its nodes keep to their lines; 0: it cannot, or there
// is no such pair. *gap becomes at most how much further apart it is at the start of the window.
double rbt_pair_may_touch(const rbt_contact *contact, rbt_pair_key key, double *gap);

void rbt_pair_make(const rbt_contact *contact, rbt_pair *pair, rbt_pair_key key, double eta);

// Nodes that left their trajectory bounds at time t get new lines, and the pairs that these may bring together. Once
// that has cost as much as a search the window is cut.
void rbt_contact_repair(rbt_contact *contact, int64_t t);

#endif
