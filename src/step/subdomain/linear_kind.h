// The linear solvers of a step by their names: those of one program, and those that many ranks can take together.
#ifndef RBT_STEP_SUBDOMAIN_LINEAR_KIND_H
#define RBT_STEP_SUBDOMAIN_LINEAR_KIND_H

#include "step/core/linear.h"

typedef enum rbt_linear_kind {
    RBT_LINEAR_CHOLESKY,
    RBT_LINEAR_CG,       // with incomplete Cholesky
    RBT_LINEAR_SCHWARZ,  // conjugate gradients around the factors of subdomains
    RBT_LINEAR_GAMG,     // conjugate gradients with PETSc's algebraic multigrid, of rubato-mpi
    RBT_LINEAR_MUMPS,    // a factor by MUMPS, of rubato-mpi
    RBT_LINEAR_KINDS
} rbt_linear_kind;

const char *rbt_linear_name(int kind);  // NULL past the end

bool rbt_linear_on_ranks(int kind);

// How many subdomains it divides a model into, of which `asked` are wanted (-1: chosen); 0: it does not
size_t rbt_linear_subdomains(const rbt_model *model, int kind, int asked);

bool rbt_linear_init_kind(rbt_linear *linear, const rbt_model *model, const rbt_block_matrix *A, int kind,
                          int subdomains, rbt_error *error);

#endif
