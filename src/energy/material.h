// The table of hyperelastic materials on tets. A material is written once, as functions over RBT_W deformation
// gradients at a time; every method, the scene format, the documentation and the tests iterate over this table.
#ifndef RBT_ENERGY_MATERIAL_H
#define RBT_ENERGY_MATERIAL_H

#include "math/lanes.h"

// The parameters of psi per lane [Pa]
typedef struct rbt_lame {
    double mu[RBT_W], lambda[RBT_W];
} rbt_lame;

// Entries of a 3x3 matrix are numbered 3 row + column; F maps rest to deformed vectors.
typedef struct rbt_material {
    const char *name;
    const char *doc;
    bool survives_inversion;  // the energy is finite for det F <= 0

    // Turns the Lamé parameters of linear elasticity into those of psi, such that small strains see the former.
    void (*parameters)(double *mu, double *lambda);
    void (*energy)(const rbt_lame *k, const rbt_mat3_lanes *F, double psi[RBT_W]);        // density [J/m^3]
    void (*stress)(const rbt_lame *k, const rbt_mat3_lanes *F, rbt_mat3_lanes *P);        // P = d psi / d F [Pa]
    void (*stiffness)(const rbt_lame *k, const rbt_mat3_lanes *F, rbt_mat9_lanes *dPdF);  // symmetric 9x9 [Pa]
} rbt_material;

const rbt_material *rbt_material_at(int i);  // NULL past the end
const char *rbt_material_name(int i);        // NULL past the end

#endif
