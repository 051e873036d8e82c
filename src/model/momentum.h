// Momentum that a change of the mesh must not change.
#ifndef RBT_MODEL_MOMENTUM_H
#define RBT_MODEL_MOMENTUM_H

#include "model/change.h"

// Corrects the carried velocities v (at positions x) of the free nodes around the change so that every body with
// masses on its nodes has the linear and angular momentum that it had in `before`, by the least velocity field that
// moves and turns these nodes as one. chosen (after->node_count) is work space. Consistent masses need no correction:
// theirs is the momentum of the elements.
void rbt_momentum_keep(const rbt_change *change, const rbt_state *before, const double *x, double *v,
                       unsigned char *chosen);

#endif
