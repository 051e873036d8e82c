// Parts of a model that take steps of their own. They form a tree: the root, which has no entry here, takes the
// scene's step; every part takes a whole number of steps in each step of its parent. Elements join nodes of one part,
// or of a part and its parent; nothing else touches.
#ifndef RBT_MODEL_TEMPO_H
#define RBT_MODEL_TEMPO_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct rbt_tempo {
    const char *name;
    int body;
    int parent;    // -1: the root
    int substeps;  // in each step of the parent
} rbt_tempo;

typedef struct rbt_tempos {
    size_t count;
    const rbt_tempo *items;  // parents before their children
    const int32_t *node;     // (node_count) the part of each node, -1: the root; NULL if count is 0
} rbt_tempos;

struct rbt_model;

// Whether elements join only what may be joined; otherwise the error says which nodes touch.
bool rbt_tempos_check(const struct rbt_model *model, const rbt_tempos *tempos, rbt_error *error);

#endif
