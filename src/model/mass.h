// The mass matrix M, one number per pair of nodes: lumped (a diagonal), or for bodies that ask for it consistent with
// the linear elements, M_e = rho V / 20 (1 + delta_ab) for the corners a, b of a tet. Stored in the pattern of the
// stiffness.
#ifndef RBT_MODEL_MASS_H
#define RBT_MODEL_MASS_H

#include "math/block_matrix.h"
#include "math/scalar_matrix.h"
#include "model/model.h"

typedef struct rbt_mass {
    const rbt_model *model;
    rbt_scalar_matrix matrix;  // value NULL: every body is lumped, and model->mass says it all
} rbt_mass;

// `pattern` must outlive the mass.
bool rbt_mass_build(rbt_mass *mass, rbt_arena *arena, const rbt_model *model, const rbt_block_matrix *pattern,
                    rbt_error *error);

// y = M x, both (node_count x 3)
void rbt_mass_product(const rbt_mass *mass, const double *x, double *y);

// Adds scale M_nj to the blocks of row n of a matrix with the same pattern.
void rbt_mass_add_row(const rbt_mass *mass, size_t n, double scale, const rbt_block_matrix *A);

// (M v) of one node (3)
void rbt_mass_momentum(const rbt_model *model, const double *v, size_t node, double momentum[3]);

// 1/2 v^T M v of the bodies with consistent mass, and their angular momentum sum M_ij x_i x v_j: goes into the terms of
// these numbers, the latter three
void rbt_mass_consistent_kinetic(const rbt_model *model, const double *x, const double *v, rbt_terms *terms,
                                 size_t kinetic, size_t angular);

#endif
