// Triangles of constant strain that resist stretching and shearing in their plane, in plane stress:
//   W = t A psi,   psi = mu |E|^2 + lambda/2 tr(E)^2,   E = (F^T F - I)/2,   lambda = young poisson / (1 - poisson^2)
// F (3 x 2) maps the plane of the triangle at rest to space, t: thickness. St. Venant and Kirchhoff's law: finite for
// every F, weak under strong compression. The projection is closed-form; the tangent is the projected Hessian, as for
// springs (spring.h).
#ifndef RBT_ENERGY_MEMBRANE_H
#define RBT_ENERGY_MEMBRANE_H

#include "base/memory.h"
#include "energy/group.h"

typedef struct rbt_membrane {
    double B[4];        // inverse of the edges (X_1 - X_0, X_2 - X_0) in an orthonormal frame of their plane [1/m]
    double volume;      // t A [m^3]
    double mu, lambda;  // [Pa]
} rbt_membrane;

typedef struct rbt_sheet {  // what a triangle is made of
    double young;           // [Pa]
    double poisson;
    double thickness;  // [m]
} rbt_sheet;

extern const rbt_group_type RBT_MEMBRANES;  // data: rbt_membrane (count)

// Triangles `members` (count) of the model become one group; sheets (count).
bool rbt_membrane_group_build(rbt_group *group, rbt_arena *arena, const double *X, const int32_t *triangles,
                              const int32_t *members, const rbt_sheet *sheets, size_t count, rbt_error *error);

// von Mises norm of the Cauchy stress, the thickness taken as constant: stress[members[e]] [Pa]
void rbt_membrane_group_von_mises(const rbt_group *group, const double *x, double *stress);

#endif
