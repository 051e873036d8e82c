// Elastic energy of linear tets that share a material model, in both views:
//   W(x) = sum_e V_e psi(F_e),   F_e = Ds(x) Dm^-1,   f = dW/dx,   K = d^2W/dx^2
#ifndef RBT_ENERGY_TET_GROUP_H
#define RBT_ENERGY_TET_GROUP_H

#include "base/memory.h"
#include "energy/material.h"

#include <stddef.h>
#include <stdint.h>

typedef struct rbt_tet_batch {
    double B[9][RBT_W];      // Dm^-1 [1/m]
    double volume[RBT_W];    // [m^3]; 0 in padding lanes
    rbt_lame k;              // [Pa]
    int32_t node[4][RBT_W];  // padding lanes repeat a real tet
    int32_t tet[RBT_W];      // number in the model, -1 in padding lanes
} rbt_tet_batch;

typedef struct rbt_tet_group {
    const rbt_material *material;
    size_t tet_count, batch_count;
    const rbt_tet_batch *batches;
} rbt_tet_group;

// Tets `members` (count) of the model's arrays become one group. X (nodes x 3), tets (x 4); mu, lambda per member.
bool rbt_tet_group_build(rbt_tet_group *group, rbt_arena *arena, const rbt_material *material, const double *X,
                         const int32_t *tets, const int32_t *members, size_t count, const double *mu,
                         const double *lambda, rbt_error *error);

// Global view. Per-tet results go to disjoint places, so any number of threads gives the same bits; `t` is the tet's
// number in the model.
void rbt_tet_group_energy(const rbt_tet_group *group, const double *x, double *energy);   // energy[t] [J]
void rbt_tet_group_force(const rbt_tet_group *group, const double *x, double *gradient);  // gradient[12 t + 3 a + i]
void rbt_tet_group_stiffness(const rbt_tet_group *group, const double *x, double *blocks);  // blocks[90 t + ...]
void rbt_tet_group_jacobian(const rbt_tet_group *group, const double *x, double *J);        // det F, J[t]
void rbt_tet_group_von_mises(const rbt_tet_group *group, const double *x, double *stress);  // [Pa], stress[t]

// `blocks` of one tet: the 10 node pairs (a, b), a >= b, in the order 00 10 11 20 21 22 30 31 32 33, each 3x3 row by row.
enum { RBT_TET_PAIRS = 10, RBT_TET_BLOCK_DOUBLES = 90 };

#endif
