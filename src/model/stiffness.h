// The stiffness K = d^2W/dx^2 of all groups, assembled along the plan of sums: chunks add their elements' 3x3 blocks
// up in places of their own, then every block of K adds its places in the order of the chunks. Any number of threads
// gives the same bits.
#ifndef RBT_MODEL_STIFFNESS_H
#define RBT_MODEL_STIFFNESS_H

#include "math/block_matrix.h"
#include "model/model.h"

typedef struct rbt_stiffness {
    rbt_arena *arena;
    rbt_block_matrix K;
    const size_t *chunk_start;   // (chunks + 1) the places of each chunk
    const size_t *pair_start;    // (chunks + 1) the element pairs of each chunk in `place`
    const uint16_t *place;       // per pair of every element: 2 place + 1 if its block is added transposed
    const size_t *source_start;  // (blocks of K + 1)
    const uint32_t *sources;     // (places) the places of each block, ascending
    double *partial;             // (places x 9) work space
} rbt_stiffness;

bool rbt_stiffness_build(rbt_stiffness *stiffness, const rbt_model *model, rbt_error *error);
void rbt_stiffness_free(rbt_stiffness *stiffness);

void rbt_stiffness_assemble(rbt_stiffness *stiffness, const rbt_model *model, rbt_stiffness_kind kind,
                            const double *x);

#endif
