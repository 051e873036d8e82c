// Parts marching through a step of their parent (Zhao, Li and Barbic 2016; docs/architecture.md). Part p takes m backward Euler steps
// while the velocity of its border goes from V to V + Delta, linearly. Of one step of its own, in terms of the new velocity v:
//   [(1 + h alpha) M + (h^2 + h beta) K] v = M v_0 + h (f - g) - border,     g += h K v + h K_border V_i
// The internal force g is carried along without another product: K v is the right-hand side less (1 + h alpha) M v, divided by
// h^2 + h beta. A step is then one solve, and little else.
//
// A part that has children first lets them march with the border at its old velocity, and adds what they do to it to its
// right-hand side. Their answer to the change that follows is linear, and known: the responses Y (velocity), W (place)
// and G (internal force), and B = [(1 + h alpha) M_PS + h beta K_PS] Y + h K_PS W, which is part of the matrix:
//   (A + B) v = right-hand side + B v_0,   then   v_S += Y (v - v_0),   u_S += W (v - v_0)
#ifndef RBT_STEP_MULTIRATE_MARCH_H
#define RBT_STEP_MULTIRATE_MARCH_H

#include "step/multirate/pace.h"

// What the march is driven by: nothing but the border (for responses), or forces, held nodes and obstacles too.
typedef struct rbt_march {
    rbt_paces *parts;
    const rbt_state *state;  // NULL: driven by the border only
    bool varies;             // the external forces differ from one instant to the next
} rbt_march;

// The root's step; the parts' v, g, f, push, held nodes hold the start. False: no memory.
bool rbt_march_root(const rbt_march *march);

// The march of a part with touches (step/multirate/touch.h) and its border at the old velocity, which finds them. Its v, g, f and held nodes, and v
// of its parent, hold the start.
rbt_outcome rbt_march_probe(const rbt_march *march, rbt_pace *part, rbt_step_report *report);

// Y, W, G and B of a part whose matrix is factored; adds B to the parent's matrix.
bool rbt_march_condense(rbt_paces *parts, rbt_pace *part);

#endif
