// The kernels of candidates for one instruction set; the build gives this file the flags for it.
#include "contact/broad_phase/candidate_axes_kernel.h"
#include "contact/broad_phase/candidate_meet_kernel.h"

const rbt_candidate_kernels RBT_CANDIDATE_KERNELS_AVX2 = {.meet = meet_below, .narrow = narrow};
