// How much stiffer than at rest a deformed tet is.
//
// H = dP/dF of an isotropic material falls apart in the frames of F = U diag(sigma) V^T into a block A on the
// stretches, and flips and twists (tet_kernel.h). At rest it does so in every frame, so turned along with the tet, by R
// = U V^T, it does in this one:
//   H(F) <= R H(I) R^T + d I,    d = max(lambda_max(A(sigma) - A(1)), flip_k(sigma) - flip(1), twist_k(sigma) -
//                                twist(1))
// and the tet's stiffness is not above its turned rest stiffness plus d G, G_ab = V (g_a . g_b) I. Triangles have the
// like in two dimensions (membrane.c). A spring turns without its neighbours: what it is compared with is its rest
// stiffness as it lay (spring.c).
#ifndef RBT_ENERGY_STIFFENING_H
#define RBT_ENERGY_STIFFENING_H

#include "energy/material.h"

typedef struct rbt_stiffening {
    const rbt_material *material;
    double mu, lambda;         // of psi [Pa]
    double A[9], flip, twist;  // at rest; A_11 is the modulus lambda + 2 mu of linear elasticity
} rbt_stiffening;

rbt_stiffening rbt_stiffening_law(const rbt_material *material, double mu, double lambda);

// d over A_11, for signed singular values, the last the least; infinite for states that the material forbids
double rbt_stiffening_at(const rbt_stiffening *s, const double sigma[3]);

// The same for F (row by row)
double rbt_stiffening_of(const rbt_stiffening *s, const double F[9]);

// The largest of it over all F with |F^T F - I| up to a radius and det F > 0, sampled: level k has radius 0.01 2^(k/4).
enum { RBT_STIFFENING_LEVELS = 48 };
typedef struct rbt_stiffening_table {
    double most[RBT_STIFFENING_LEVELS];
} rbt_stiffening_table;

void rbt_stiffening_tabulate(const rbt_stiffening *s, rbt_stiffening_table *table);

// The largest radius of a level whose entry is not above `allowed`; 0 if there is none.
double rbt_stiffening_radius(const rbt_stiffening_table *table, double allowed);

#endif
