// The local step of ADMM on tets (Overby et al. 2017): with the deformation gradient F(x), the scaled dual u (9
// numbers a tet) and a weight k [Pa], G = F(x) + u is replaced by the deformation that is best for material and
// distance together,
//
//   Z = argmin psi(Z) + k/2 |Z - G|^2,        u <- G - Z.
//
// By the first-order condition k u is the stress P(Z). What the global step needs is the force of springs that pull
// F(x) to Z - u: V k (F - Z + u) g_a at corner a.
#ifndef RBT_ENERGY_PROXIMAL_H
#define RBT_ENERGY_PROXIMAL_H

#include "energy/material.h"

typedef struct rbt_duals {   // beside one rbt_tet_batch
    double u[9][RBT_W];      // row by row
    double shift[3][RBT_W];  // singular values of Z minus those of G, descending: where the next search starts
    double weight[RBT_W];    // k [Pa], above 0
} rbt_duals;

// `count` tets of the batches, which are full but for the last. gradient[12 e + 3 a + i] [N]
typedef void (*rbt_proximal)(const rbt_tet_batch *batches, rbt_duals *duals, size_t count, const double *x,
                             double *gradient);

extern const rbt_proximal RBT_PROXIMALS_PLAIN[RBT_TET_MATERIALS];
extern const rbt_proximal RBT_PROXIMALS_AVX2[RBT_TET_MATERIALS];
extern const rbt_proximal RBT_PROXIMALS_AVX512[RBT_TET_MATERIALS];

// The kernel of a material for the instruction set that serves it best on this processor, or for a given one (NULL if
// it does not have it).
rbt_proximal rbt_proximal_of(const rbt_material *material);
rbt_proximal rbt_proximal_with(const rbt_material *material, rbt_instruction_set set);

#endif
