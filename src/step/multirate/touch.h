// Obstacles as a part with short steps meets them: found anew in each of its steps, about where its nodes are heading in that step,
//   y = x + h v + h^2 f_ext / M,   force F(y) + K (y - x+),   K = -dF/dx(y),
// as in a single-rate step of length h. What they are depends on the way that the part takes, which is first gone with the border at its
// old velocity (rbt_march_probe). Then they are kept: the responses to the border's change go through the same steps with the same K.
//
// For parts right below the root that have no parts of their own; the root, and others, meet obstacles once per long step (multirate.c).
#ifndef RBT_STEP_MULTIRATE_TOUCH_H
#define RBT_STEP_MULTIRATE_TOUCH_H

#include "step/multirate/pace.h"

struct rbt_touch {      // one step of the part
    double *stiffness;  // (count x 9) K
    double *push;       // (count x 3) F(y) + K (y - x), x at the start of the long step
    bool any;           // some K is not 0

    double *condensed;     // (count x 9) K that the responses were made with
    double *factored;      // (count x 9) K of `own`
    rbt_cholesky *own;     // NULL: not needed so far
    rbt_cholesky *factor;  // to solve with: the part's, own, or that of a step before
};

bool rbt_touches_build(rbt_paces *parts, rbt_pace *part);
void rbt_touches_free(rbt_pace *part);

// The part's matrix or factor is another one.
void rbt_touches_forget(rbt_pace *part);

// Step `instant` of the part, whose v and w are those at its start: what it touches, and the factor for that.
rbt_outcome rbt_touch_find(const rbt_paces *parts, rbt_pace *part, const rbt_state *state, int64_t instant,
                           const double *f, rbt_step_report *report);

// Whether the responses were made with other obstacles; from now on they count as made with these.
bool rbt_touches_changed(rbt_pace *part);

// rhs += h (push - K w), push only if `driven`; and what the obstacles took of the right-hand side for a velocity v: rhs -= h^2 K v
void rbt_touch_push(const rbt_pace *part, int64_t instant, bool driven, const double *w, double *rhs);
void rbt_touch_take(const rbt_pace *part, int64_t instant, const double *v, double *rhs);

#endif
