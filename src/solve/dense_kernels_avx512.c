// The kernels of dense_kernel.h for one instruction set; the build gives this file the flags for it.
#define REAL       double
#define NAME(name) name##_double
#include "solve/dense_kernel.h"
#undef REAL
#undef NAME
#define REAL       float
#define NAME(name) name##_single
#include "solve/dense_kernel.h"

const rbt_dense_kernels RBT_DENSE_KERNELS_AVX512[2] = {DENSE_KERNELS(double), DENSE_KERNELS(single)};
