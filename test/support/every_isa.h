// RUBATO_ISA in tests that set it: with_every_set() calls something with each set that this processor has, put_back()
// is the teardown, and keep_set() is called first of all.
#ifndef TEST_SUPPORT_EVERY_ISA_H
#define TEST_SUPPORT_EVERY_ISA_H

#include "base/processor.h"

#include <stdlib.h>
#include <string.h>

static char *started_with;  // what the program was started with; NULL: nothing

static inline void keep_set(void) { started_with = getenv("RUBATO_ISA") ? strdup(getenv("RUBATO_ISA")) : NULL; }

static inline int put_back(void **state) {
    (void)state;
    return started_with ? setenv("RUBATO_ISA", started_with, 1) : unsetenv("RUBATO_ISA");
}

static inline void with_every_set(void (*check)(rbt_instruction_set set)) {
    for (int set = 0; set < RBT_INSTRUCTION_SETS; set++) {
        if (!rbt_processor_has((rbt_instruction_set)set)) continue;
        setenv("RUBATO_ISA", rbt_instruction_set_name((rbt_instruction_set)set), 1);
        check((rbt_instruction_set)set);
    }
}

#endif
