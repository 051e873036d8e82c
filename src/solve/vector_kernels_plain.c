// The kernels of vector_kernel.h for one instruction set; the build gives this file the flags for it.
#include "solve/vector_kernel.h"

const rbt_vector_kernels RBT_VECTOR_KERNELS_PLAIN = VECTOR_KERNELS;
