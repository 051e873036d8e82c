// The instruction sets that kernels are compiled for, and which of them this processor has.
#ifndef RBT_BASE_PROCESSOR_H
#define RBT_BASE_PROCESSOR_H

#include <stdbool.h>

typedef enum rbt_instruction_set { RBT_PLAIN, RBT_AVX2, RBT_AVX512, RBT_INSTRUCTION_SETS } rbt_instruction_set;

bool rbt_processor_has(rbt_instruction_set set);
rbt_instruction_set rbt_processor_best(void);

#endif
