// Obstacles as a part with short steps meets them: found again in each of its steps, about where its nodes are heading
// in that step,
//   y = x + h v + h^2 f_ext / M,   force F(y) + K (y - x+),   K = -dF/dx(y),
// as in a single-rate step of length h. What they are depends on the way that the part takes, which is first gone
// with the interface at its old velocity (rbt_subcycling_probe). Then they are kept: the responses to the interface's
// change go through the same steps with the same K.
//
// For parts right below the root that have no parts of their own; the root, and others, meet obstacles once per long
// step (multirate.c).
#ifndef RBT_STEP_MULTIRATE_SUBSTEP_OBSTACLE_H
#define RBT_STEP_MULTIRATE_SUBSTEP_OBSTACLE_H

#include "step/multirate/rate_part.h"

struct rbt_substep_obstacle {  // one step of the part
    double *stiffness;         // (count x 9) K
    double *push;              // (count x 3) F(y) + K (y - x), x at the start of the long step
    bool any;                  // some K is not 0

    double *condensed;     // (count x 9) K that the responses were made with
    double *factored;      // (count x 9) K of `own`
    rbt_cholesky *own;     // NULL: not needed so far
    rbt_cholesky *factor;  // to solve with: the part's, own, or that of a step before
};

bool rbt_substep_obstacles_build(rbt_rate_parts *parts, rbt_rate_part *part);
void rbt_substep_obstacles_free(rbt_rate_part *part);

// The part's matrix or factor is another one.
void rbt_substep_obstacles_forget(rbt_rate_part *part);

// Step `instant` of the part, whose v and w are those at its start: what it touches, and the factor for that.
rbt_outcome rbt_substep_obstacle_find(const rbt_rate_parts *parts, rbt_rate_part *part, const rbt_state *state,
                                      int64_t instant, const double *f, rbt_step_report *report);

// Whether the responses were made with other obstacles; from now on they count as made with these.
bool rbt_substep_obstacles_changed(rbt_rate_part *part);

// rhs += h (push - K w), push only if `driven`; and what the obstacles took of the right-hand side for a velocity v:
// rhs -= h^2 K v
void rbt_substep_obstacle_push(const rbt_rate_part *part, int64_t instant, bool driven, const double *w, double *rhs);
void rbt_substep_obstacle_take(const rbt_rate_part *part, int64_t instant, const double *v, double *rhs);

#endif
