#include "solve/vector_kernels.h"

const rbt_vector_kernels *rbt_vector_kernels_with(rbt_instruction_set set) {
    if (!rbt_processor_has(set)) return NULL;
    switch (set) {
    case RBT_AVX512: return &RBT_VECTOR_KERNELS_AVX512;
    case RBT_AVX2: return &RBT_VECTOR_KERNELS_AVX2;
    default: return &RBT_VECTOR_KERNELS_PLAIN;
    }
}
