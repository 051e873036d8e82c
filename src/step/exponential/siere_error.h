// The error of a step of siere. All but the modes U are semi-implicit Euler's, with its error e of second order in h:
// (I - P) e, P = U Q^T, is left of that estimate, what the linearisation missed (linearised.h) included. In the modes
// the linearised motion is exact, and what is missed are forces that it does not know of. At the end of the step they
// are, per mode,
//   r = u^T (f(x+) - D v+) - (what the linearised motion has there: g + h g' - lambda da - d db)
// They begin with 0 and a slope of 0 and grow with the square of the time. So they would have changed the velocity by
// int r (s/h)^2 ds = h r/3, and the position by h^2 r/12: an error of third order.
#ifndef RBT_STEP_EXPONENTIAL_SIERE_ERROR_H
#define RBT_STEP_EXPONENTIAL_SIERE_ERROR_H

#include "model/model.h"

// As rbt_method has it: ex and ev are those of semi-implicit Euler; returns the order of the larger part of the result.
int rbt_siere_refine_error(void *self, const rbt_state *state, double h, int order, double *ex, double *ev);

#endif
