// Strides: parts right below the root that nothing but their border and known forces act on, taking all of their steps in one series
// of solves (solve/series.h) while the border goes on at its old velocity. In numbers z = h (g - f) + h (h + beta) K_border V:
//   A x_i = r_i,   r_{i+1} = M x_i - z_i,   z_i = z_{i-1} + h/(h + beta) (r_i - (1 + h alpha) M x_i) + h^2 K_border V - h (f_{i+1} - f_i)
// which is step/multirate/march.h with everything that does not change from step to step put together; M must be lumped.
//
// Parts that would keep all threads waiting are shared by them, the others are done by one each.
#ifndef RBT_STEP_MULTIRATE_STRIDE_H
#define RBT_STEP_MULTIRATE_STRIDE_H

#include "step/multirate/march.h"

// After parts were factored, of a linear model. False: no memory.
bool rbt_strides_make(rbt_paces *parts);
void rbt_stride_free(rbt_pace *part);

// Whether the part takes its steps that way; its march has begun.
bool rbt_stride_is_open(const rbt_pace *part);

// All parts that do. As in rbt_march_root, v, g and f hold the start; v and w are the end.
void rbt_strides_march(const rbt_march *march);

#endif
