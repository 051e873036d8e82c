// Parts with steps of their own, chosen where a body is stiff or light. A node's own frequency, sqrt(trace K_nn / (3
// m_n)) at rest, times the size of what belongs to it is the local speed of sound, whatever the size of the elements;
// where it is well above the middle one of the body, waves run and the part swings faster than the rest.
#ifndef RBT_STEP_MULTIRATE_RATE_CHOICE_H
#define RBT_STEP_MULTIRATE_RATE_CHOICE_H

#include "base/memory.h"
#include "model/stiffness.h"

typedef struct rbt_tempo_choice {
    rbt_tempos tempos;
    const char *reason;  // one sentence about what was chosen and why
} rbt_tempo_choice;

// K at rest. What the choice points to lives in the arena.
bool rbt_tempo_choose(rbt_tempo_choice *choice, rbt_arena *arena, const rbt_model *model, const rbt_block_matrix *K,
                      rbt_error *error);

#endif
