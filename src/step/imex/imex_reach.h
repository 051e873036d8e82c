// Which nodes may touch obstacles, so that imex need not make a whole surface implicit for what few nodes of it meet.
//
// An explicit node feels an obstacle only where it lies inside one at the start of a step. So before every step those
// outside the reach are looked at; once one is inside or about to be, it and all others close to an obstacle come into
// the reach, and the certificate is asked for again before the step is taken. Close is 1/50 of the body's size, or what
// the node moves in 16 steps: looks that find something are rare. The reach lies in the state's memory and never
// shrinks.
#ifndef RBT_STEP_IMEX_IMEX_REACH_H
#define RBT_STEP_IMEX_IMEX_REACH_H

#include "step/explicit/stability.h"

// Whether obstacles are so stiff that it matters who touches: where h^2 C alone takes a tenth of what is allowed at any
// node.
bool rbt_imex_reach_matters(const rbt_stability *s, double step);

// Puts the nodes close to an obstacle in `reach` (node_count).
void rbt_imex_reach_grow(const rbt_model *model, const double *x, const double *v, double step, unsigned char *reach);

// Whether a node outside s->reach that is not implicit lies inside an obstacle, or could within two steps
bool rbt_imex_reach_missed(const rbt_stability *s, const rbt_state *state, double step,
                           const unsigned char *implicit);

#endif
