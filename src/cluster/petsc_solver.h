// Linear systems of a step by PETSc, on all ranks together: "petsc-gamg" (conjugate gradients with smoothed
// aggregation, which is told the rigid motions) and "petsc-mumps" (a sparse factor). Reproducible for one number of
// ranks; another one, or another division, gives other bits.
#ifndef RBT_CLUSTER_PETSC_SOLVER_H
#define RBT_CLUSTER_PETSC_SOLVER_H

#include "model/model.h"
#include "step/core/linear.h"

// As rbt_ranks.solver; `self` is the communicator.
bool rbt_petsc_solver(void *self, const char *name, const rbt_model *model, const rbt_block_matrix *A,
                      rbt_linear_solver *solver, rbt_error *error);

// The number of each node (node_count) among the rows of PETSc: each rank's own, one after the other.
bool rbt_petsc_numbers(const rbt_model *model, int32_t *number, rbt_error *error);

#endif
