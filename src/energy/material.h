// The table of materials on tets: what the scene format, the documentation and the tests iterate over. It is made from
// material_list.h. The physics of a material is in invariant_material.h (or, for linear elasticity, in tet_kernel.h),
// its kernels in tet_kernels.h.
#ifndef RBT_ENERGY_MATERIAL_H
#define RBT_ENERGY_MATERIAL_H

#include "base/processor.h"
#include "energy/tet_kernels.h"
#include "rubato/methods.h"

#include <stdbool.h>

typedef struct rbt_material {
    const char *name;
    const char *doc;
    rbt_tet_material id;
    bool survives_inversion;  // the energy is finite for det F <= 0
    bool rotation_invariant;  // turning the body costs nothing
    bool constant_stiffness;
    bool turning_stiffness;  // RBT_TANGENT depends on the rotation alone
    bool ignores_poisson;    // lambda has no part in it
    bool wide_energy;        // its energy is one of RBT_ENERGY_KERNELS, not of RBT_FORCE_KERNELS (base/processor.h)

    // Turns the Lamé parameters of linear elasticity into those of psi, such that small strains see the former; NULL:
    // they are the same.
    void (*parameters)(double *mu, double *lambda);
    // Turns those of psi into those that small strains see; NULL: they are the same.
    void (*small_strain)(double *mu, double *lambda);
} rbt_material;

const rbt_material *rbt_material_at(int i);  // NULL past the end

// Lamé parameters [Pa] of psi from Young's modulus and Poisson's ratio
void rbt_material_lame(const rbt_material *material, double young, double poisson, double *mu, double *lambda);

// Kernels of the instruction sets that serve them best on this processor (base/processor.h), or of a given set (NULL
// if the processor does not have it).
rbt_tet_kernels rbt_tet_kernels_of(const rbt_material *material);
const rbt_tet_kernels *rbt_tet_kernels_with(const rbt_material *material, rbt_instruction_set set);

#endif
