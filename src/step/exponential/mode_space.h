// Modes of a step whose matrix is not factored as a whole: by conjugate gradients around subdomains, by PETSc, and on
// ranks. Sums over nodes are exact (math/sum.h) and solves those of the step, so that with schwarz modes have the same
// bits for any number of ranks. One for each model; without ranks it is the same code.
#ifndef RBT_STEP_EXPONENTIAL_MODE_SPACE_H
#define RBT_STEP_EXPONENTIAL_MODE_SPACE_H

#include "solve/modes.h"
#include "step/subdomain/linear_kind.h"

typedef struct rbt_mode_space {
    rbt_modes_space functions;  // its `self` is this: it must stay where it is
    const rbt_model *model;
    const rbt_block_matrix *K;
    const unsigned char *constrained;  // (node_count) the caller's
    const double *x;                   // (node_count x 3) of this step
    rbt_linear *linear;                // of A
    int kind, subdomains;              // as rbt_linear_init_kind has them
    rbt_linear shifted;                // of K + shift M while there is a shift
    rbt_block_matrix shifted_matrix;   // pattern of K
    bool is_shifted;
    rbt_sum *sums;            // work
    rbt_step_report *report;  // of this step
} rbt_mode_space;

// For modes of this capacity, with the arena's memory
bool rbt_mode_space_init(rbt_mode_space *space, rbt_arena *arena, const rbt_model *model, const rbt_block_matrix *K,
                         rbt_linear *linear, int kind, int subdomains, size_t capacity);
void rbt_mode_space_free(rbt_mode_space *space);

// A hash of the constrained nodes of the whole, the same on all ranks; `work` ((nodes of the whole + 63) / 64)
uint64_t rbt_mode_space_hash(const rbt_model *model, const unsigned char *constrained, double *work);

#endif
