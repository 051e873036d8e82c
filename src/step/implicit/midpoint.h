// What the midpoint rule adds to a step: the energy that it may gain, and its error.
//
// The midpoint rule takes the elastic force in the middle, z, for the whole way from x to y: with v' + v = 2 (y - x)/h
// the kinetic energy rises by f(z).(y - x) to the last bit, and the energy of the body by
//   G = W(y) - W(x) - dW/dx(z).(y - x)
// beyond what outside forces, prescribed nodes and contact give; of third order in the move, and 0 where W is
// quadratic. Too long a step shows as a gain, and is taken in halves.
//
// The error of a step, y(t + h) less what the rule gives, by Taylor's formula:
// y_n + h f((y_n + y_{n+1})/2) is off by h^3/24 y''' - h^3/8 f_y y''. For x, f_y y'' is x''', which leaves
// -h^3/12 x'''. For v it is v''' but for the curvature of the forces along the motion, which is large where stiff
// elements turn: a chord is shorter than its arc. So forces are asked, where the rule took them and where the motion
// was: z = x(t + h/2) + h^2/8 x'', and v is off by h^3/24 v''' - h M^-1 (f(z) - f(z - h^2/8 x'')).
#ifndef RBT_STEP_IMPLICIT_MIDPOINT_H
#define RBT_STEP_IMPLICIT_MIDPOINT_H

#include "step/implicit/implicit.h"

// RBT_UNSTABLE if a step to `state` gains too much. What contact itself gives too much (implicit_contact.h) is taken
// from the velocities, as far as it can be.
rbt_outcome rbt_midpoint_check_gain(rbt_implicit *s, rbt_state *state, rbt_step_report *report);

// As rbt_method has it
int rbt_midpoint_refine_error(void *self, const rbt_state *state, double h, int order, double *ex, double *ev);

#endif
