#include "base/processor.h"

bool rbt_processor_has(rbt_instruction_set set) {
#if defined(__x86_64__)
    if (set == RBT_AVX2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (set == RBT_AVX512) return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
#endif
    return set == RBT_PLAIN;
}

rbt_instruction_set rbt_processor_best(void) {
    int set = RBT_INSTRUCTION_SETS - 1;
    while (!rbt_processor_has((rbt_instruction_set)set)) set--;
    return (rbt_instruction_set)set;
}
