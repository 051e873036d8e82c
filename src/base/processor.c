#include "base/processor.h"

#include <stdlib.h>
#include <string.h>

static const char *const SETS[RBT_INSTRUCTION_SETS] = {"plain", "avx2", "avx512"};

// In brackets the speed with AVX-512 over that with AVX2, medians of 31 turns side by side in each of three runs of
// bench/bench_sets.c on one core of an AMD EPYC; the range is that of the seven materials.
static const struct {
    const char *name;
    rbt_instruction_set best;
} KERNELS[RBT_KERNEL_KINDS] = {
    [RBT_FORCE_KERNELS] = {"forces",
                           RBT_AVX2},  // sums 0.52 to 0.75, products 0.51 to 0.68, energies without R 0.80 to 0.90
    [RBT_ENERGY_KERNELS] = {"energies", RBT_AVX512},  // 1.13 to 1.28, linear 1.82
    [RBT_TANGENT_KERNELS] = {"stiffness",
                             RBT_AVX512},  // 1.35 to 1.38, as maps 1.57 to 1.63, warped 1.08, linear 1.01
    [RBT_PROXIMAL_KERNELS] = {"local_steps", RBT_AVX512},  // 1.30 to 1.59, linear 0.95
    [RBT_DENSE_KERNELS] = {"factors",
                           RBT_AVX512},  // factors 1.06 and, in single precision, 1.02; solves 0.98 and 0.96
};

const char *rbt_instruction_set_name(rbt_instruction_set set) { return SETS[set]; }
const char *rbt_kernel_kind_name(rbt_kernel_kind kind) { return KERNELS[kind].name; }

bool rbt_processor_has(rbt_instruction_set set) {
#if defined(__x86_64__)
    if (set == RBT_AVX2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (set == RBT_AVX512) return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
#endif
    return set == RBT_PLAIN;
}

// The set that RUBATO_ISA names; NULL: it is not set. RBT_INSTRUCTION_SETS for any other word
static const char *forced_word(int *set) {
    const char *word = getenv("RUBATO_ISA");
    if (!word || !*word) return NULL;
    for (*set = 0; *set < RBT_INSTRUCTION_SETS && strcmp(word, SETS[*set]) != 0;) ++*set;
    return word;
}

rbt_instruction_set rbt_processor_set(rbt_kernel_kind kind) {
    int set;
    if (forced_word(&set) && set < RBT_INSTRUCTION_SETS && rbt_processor_has((rbt_instruction_set)set))
        return (rbt_instruction_set)set;
    for (set = (int)KERNELS[kind].best; !rbt_processor_has((rbt_instruction_set)set);) set--;
    return (rbt_instruction_set)set;
}

bool rbt_processor_check(rbt_error *error) {
    int set, best = RBT_INSTRUCTION_SETS - 1;
    const char *word = forced_word(&set);
    if (!word) return true;
    if (set == RBT_INSTRUCTION_SETS)
        return rbt_fail(error, "RUBATO_ISA must be plain, avx2 or avx512; found \"%.64s\"", word);
    if (rbt_processor_has((rbt_instruction_set)set)) return true;
    while (!rbt_processor_has((rbt_instruction_set)best)) best--;
    return rbt_fail(error, "RUBATO_ISA is \"%s\", which this processor does not have; its best is %s", word,
                    SETS[best]);
}
