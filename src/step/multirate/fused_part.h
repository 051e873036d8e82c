// Fused parts: those right below the root that nothing but their interface and known forces act on, taking all of
// their steps in one fused sequence of solves (solve/fused_solve.h) while the interface continues at its old velocity.
// In numbers z = h (g - f) + h (h + beta) K_interface V:
//   A x_i = r_i,   r_{i+1} = M x_i - z_i,
//   z_i = z_{i-1} + h/(h + beta) (r_i - (1 + h alpha) M x_i) + h^2 K_interface V - h (f_{i+1} - f_i)
// which is step/multirate/subcycling.h with everything that does not change from step to step put together; M must be
// lumped.
//
// Parts that would keep all threads waiting are shared by them, the others are done by one each.
#ifndef RBT_STEP_MULTIRATE_FUSED_PART_H
#define RBT_STEP_MULTIRATE_FUSED_PART_H

#include "step/multirate/subcycling.h"

// After parts were factored, of a linear model. False: no memory.
bool rbt_fused_parts_make(rbt_rate_parts *parts);
void rbt_fused_part_free(rbt_rate_part *part);

// Whether the part takes its steps that way; its cycling has begun.
bool rbt_fused_part_is_open(const rbt_rate_part *part);

// All parts that do. As in rbt_subcycling_root, v, g and f hold the start; v and w are the end.
void rbt_fused_parts_advance(const rbt_subcycling *cycling);

#endif
