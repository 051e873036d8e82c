#include "contact/broad_phase/candidate_kernels.h"

const rbt_candidate_kernels *rbt_candidate_kernels_with(rbt_instruction_set set) {
    if (!rbt_processor_has(set)) return NULL;
    return set == RBT_PLAIN ? &RBT_CANDIDATE_KERNELS_PLAIN : &RBT_CANDIDATE_KERNELS_AVX2;
}

// Much is gathered and little computed, as for forces.
const rbt_candidate_kernels *rbt_candidate_kernels_best(void) {
    return rbt_candidate_kernels_with(rbt_processor_set(RBT_FORCE_KERNELS));
}
