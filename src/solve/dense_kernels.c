#include "solve/dense_kernels.h"

const rbt_dense_kernels *rbt_dense_kernels_with(rbt_instruction_set set, bool single) {
    if (!rbt_processor_has(set)) return NULL;
    switch (set) {
    case RBT_AVX512: return &RBT_DENSE_KERNELS_AVX512[single];
    case RBT_AVX2: return &RBT_DENSE_KERNELS_AVX2[single];
    default: return &RBT_DENSE_KERNELS_PLAIN[single];
    }
}
