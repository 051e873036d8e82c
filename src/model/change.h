// What a cut has made of a model: which nodes and tets of the new one come from which of the old one.
#ifndef RBT_MODEL_CHANGE_H
#define RBT_MODEL_CHANGE_H

#include "model/model.h"

typedef struct rbt_change {
    const rbt_model *before;
    rbt_model *after;
    int32_t *parents;  // (after->node_count x 2) nodes a and b of `before`: x = (1 - share) x_a + share x_b
    double *share;     // (after->node_count) 0 for nodes that were there, and for their doubles
    int32_t *origin;   // (after->tet_count) tet of `before` that it is part of
    // (after->node_count) 1: the elements around the node are others than before, or have other nodes
    unsigned char *touched;
} rbt_change;

// A field on nodes (node_count x components) carried from the old nodes to the new ones.
void rbt_change_carry(const rbt_change *change, const double *before, int components, double *after);

void rbt_change_free(rbt_change *change);  // the arrays, not the models

#endif
