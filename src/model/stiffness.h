// The stiffness K = d^2W/dx^2 of all groups, assembled by gather: every 3x3 block sums its contributions in a
// fixed order, so any number of threads gives the same bits.
#ifndef RBT_MODEL_STIFFNESS_H
#define RBT_MODEL_STIFFNESS_H

#include "math/block_matrix.h"
#include "model/model.h"

typedef struct rbt_stiffness {
    rbt_arena *arena;
    rbt_block_matrix K;
    const size_t *source_start;  // (blocks + 1)
    const uint32_t *sources;     // 2 pair + 1 if the element's block is used transposed
    double *blocks;              // (pair_count x 9) of the elements, work space
} rbt_stiffness;

bool rbt_stiffness_build(rbt_stiffness *stiffness, const rbt_model *model, rbt_error *error);
void rbt_stiffness_free(rbt_stiffness *stiffness);

void rbt_stiffness_assemble(rbt_stiffness *stiffness, const rbt_model *model, rbt_stiffness_kind kind,
                            const double *x);

#endif
