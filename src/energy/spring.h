// Springs between two nodes:
//   W = k/2 (l - L)^2,   l = |x_1 - x_0|, L its length at rest [m], k [N/m]
// Its Hessian has the eigenvalues k along the spring and, twice, k (1 - L/l) across it, negative while it is
// compressed: the projection is closed-form. The tangent for linearly implicit methods is the projected one, for all
// of springs, membranes and hinges: a sheet that buckles is so often compressed that steps with its exact Hessian
// have to be cut or blow up (measured on scenes/cloth-drape.json; compare Choi and Ko 2002, "Stable but responsive
// cloth").
#ifndef RBT_ENERGY_SPRING_H
#define RBT_ENERGY_SPRING_H

#include "base/memory.h"
#include "energy/group.h"

typedef struct rbt_spring {
    double stiffness;     // [N/m]
    double length;        // at rest [m], above 0
    double direction[3];  // at rest
} rbt_spring;

extern const rbt_group_type RBT_SPRINGS;  // data: rbt_spring (count)

// nodes (count x 2), members and stiffness (count); lengths are those of X.
bool rbt_spring_group_build(rbt_group *group, rbt_arena *arena, const double *X, const int32_t *nodes,
                            const int32_t *members, const double *stiffness, size_t count, rbt_error *error);

#endif
