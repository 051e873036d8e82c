// Linear tets that share a material model, in batches of RBT_W:
//   W(x) = sum_e V_e psi(F_e),   F_e = Ds(x) Dm^-1
#ifndef RBT_ENERGY_TET_GROUP_H
#define RBT_ENERGY_TET_GROUP_H

#include "base/memory.h"
#include "energy/group.h"
#include "energy/material.h"

typedef struct rbt_tets {  // the data of a group of tets
    const rbt_material *material;
    rbt_tet_kernels kernels;
    size_t batch_count;
    const rbt_tet_batch *batches;
} rbt_tets;

extern const rbt_group_type RBT_TETS;

// Tets `members` (count) of the model's arrays become one group. X (nodes x 3), tets (x 4); mu, lambda per member.
bool rbt_tet_group_build(rbt_group *group, rbt_arena *arena, const rbt_material *material, const double *X,
                         const int32_t *tets, const int32_t *members, size_t count, const double *mu,
                         const double *lambda, rbt_error *error);

// Gradients of the four shape functions of a tet in rest position [1/m]; returns its volume [m^3].
double rbt_tet_gradients(const double *X, const int32_t *tet, double G[4][3]);

// Global quantities for reports and pictures: result[members[e]].
void rbt_tet_group_jacobian(const rbt_group *group, const double *x, double *J);        // det F
void rbt_tet_group_von_mises(const rbt_group *group, const double *x, double *stress);  // [Pa]

// Whether F of these tets stands for another deformation (linear elasticity), and for `count` of them what the
// warping of that kernel gives, per corner.
bool rbt_tet_group_can_warp(const rbt_group *group);
void rbt_tet_group_warp(const rbt_group *group, size_t first, size_t count, const double *x, double *result);

// Local view of one tet: its energy; force -dW/dx (12) and stiffness (12 x 12, row by row) if wanted.
double rbt_tet_local(const rbt_group *group, size_t element, const double *x, double *force, rbt_stiffness_kind kind,
                     double *stiffness);

#endif
