// The instruction sets that kernels are compiled for, which of them this processor has, and which one each kind of
// kernel uses: the best that the processor has up to the one that serves the kind best (wider is not always faster:
// see the table), or, where RUBATO_ISA in the environment names a set (plain, avx2, avx512), that one for all of
// them. Results differ in their last bits from set to set.
#ifndef RBT_BASE_PROCESSOR_H
#define RBT_BASE_PROCESSOR_H

#include "base/error.h"

typedef enum rbt_instruction_set { RBT_PLAIN, RBT_AVX2, RBT_AVX512, RBT_INSTRUCTION_SETS } rbt_instruction_set;

typedef enum rbt_kernel_kind {
    // Of tets: sums of forces, products with a tangent, all that gathers and scatters more than it computes
    RBT_FORCE_KERNELS,
    RBT_ENERGY_KERNELS,    // of tets: energies that need the rotation, or nothing of F but its sum
    RBT_TANGENT_KERNELS,   // of tets: Hessians and tangents, projected or not
    RBT_PROXIMAL_KERNELS,  // of tets: local steps of ADMM
    RBT_DENSE_KERNELS,     // fronts of a sparse factorisation, and solving with them
    RBT_KERNEL_KINDS
} rbt_kernel_kind;

const char *rbt_instruction_set_name(rbt_instruction_set set);
const char *rbt_kernel_kind_name(rbt_kernel_kind kind);

bool rbt_processor_has(rbt_instruction_set set);

// What kernels of a kind are to use.
rbt_instruction_set rbt_processor_set(rbt_kernel_kind kind);

// False if RUBATO_ISA names no set, or one that this processor does not have: rbt_processor_set takes no notice of it
// then.
bool rbt_processor_check(rbt_error *error);

#endif
