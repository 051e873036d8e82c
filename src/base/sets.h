// Disjoint sets of whole numbers: parent[n] leads to the number that stands for n's set, and each begins as its own.
#ifndef RBT_BASE_SETS_H
#define RBT_BASE_SETS_H

#include <stdint.h>

static inline int32_t rbt_set_of(int32_t *parent, int32_t n) {
    while (parent[n] != n) n = parent[n] = parent[parent[n]];
    return n;
}

// The smaller of both stands for the joined set.
static inline void rbt_sets_join(int32_t *parent, int32_t a, int32_t b) {
    int32_t p = rbt_set_of(parent, a), q = rbt_set_of(parent, b);
    parent[p > q ? p : q] = p > q ? q : p;
}

#endif
