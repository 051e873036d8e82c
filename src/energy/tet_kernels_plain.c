// The kernels of tet_kernel.h and proximal_kernel.h for one instruction set; the build gives this file the flags for
// it.
#include "energy/proximal_kernel.h"

const rbt_tet_kernels RBT_TET_KERNELS_PLAIN[RBT_TET_MATERIALS] = RBT_TET_KERNEL_TABLE;
const rbt_proximal RBT_PROXIMALS_PLAIN[RBT_TET_MATERIALS] = RBT_PROXIMAL_TABLE;
