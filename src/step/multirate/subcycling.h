// Parts sub-cycling through a step of their parent (Zhao, Li and Barbic 2016; docs/architecture.md). Part p takes m
// backward Euler steps while the velocity of its interface goes from V to V + Delta, linearly. Of one step of its
// own, in terms of the new velocity v:
//   [(1 + h alpha) M + (h^2 + h beta) K] v = M v_0 + h (f - g) - interface,     g += h K v + h K_interface V_i
// The internal force g is carried along without another product: K v is the right-hand side less (1 + h alpha) M v,
// divided by h^2 + h beta. A step is then one solve, and little else.
//
// A part that has children first lets them sub-cycle with the interface at its old velocity, and adds what they do to
// it to its right-hand side. Their answer to the change that follows is linear, and known: the responses Y
// (velocity), W (place) and G (internal force), and B = [(1 + h alpha) M_PS + h beta K_PS] Y + h K_PS W, which is
// part of the matrix:
//   (A + B) v = right-hand side + B v_0,   then   v_S += Y (v - v_0),   u_S += W (v - v_0)
#ifndef RBT_STEP_MULTIRATE_SUBCYCLING_H
#define RBT_STEP_MULTIRATE_SUBCYCLING_H

#include "step/multirate/rate_part.h"

// What the sub-cycling is driven by: nothing but the interface (for responses), or forces, constrained nodes and
// obstacles too.
typedef struct rbt_subcycling {
    rbt_rate_parts *parts;
    const rbt_state *state;  // NULL: driven by the interface only
    bool varies;             // the external forces differ from one instant to the next
    bool pushed;             // the impulses of the parts act as well
} rbt_subcycling;

// The root's step; the parts' v, g, f, push, constrained nodes hold the start. False: no memory.
bool rbt_subcycling_root(const rbt_subcycling *cycling);

// The sub-cycling of a part with touches (step/multirate/substep_obstacle.h) and its interface at the old velocity,
// which finds them. Its v, g, f and constrained nodes, and v of its parent, hold the start.
rbt_outcome rbt_subcycling_probe(const rbt_subcycling *cycling, rbt_rate_part *part, rbt_step_report *report);

// The sub-cycling of a part right below the root, and of those below it, by nothing but their impulses (rate_part.h),
// of so many columns; everything was at rest, and the interface stays so.
bool rbt_subcycling_push(rbt_rate_parts *parts, rbt_rate_part *part, size_t columns);

// What one column of it pulls at the root: impulses (nodes of the root x 3) added to `to`.
void rbt_subcycling_reaction(const rbt_rate_parts *parts, const rbt_rate_part *part, size_t column, double *to);

// Y, W, G and B of a part whose matrix is factored; adds B to the parent's matrix.
bool rbt_subcycling_condense(rbt_rate_parts *parts, rbt_rate_part *part);

#endif
