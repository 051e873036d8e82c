// One damped mode over one step, exactly:  y'' + d y' + lambda y = g + r t,  y(0) = 0,  y'(0) = b,  for any sign of
// lambda.
//   y(h)      = b S + g I + r J,            S, I, J: the responses to a unit impulse, step and ramp,
//   y'(h) - b = b (S' - 1) + g S + r I      I = int S,  J = int I,  S' - 1 = -d S - lambda I
// In matrices, with J_l = [[0, 1], [-lambda, -d]]: (y, y' - b)(h) = h phi_1(h J_l) (b, g - d b) + h^2 phi_2(h J_l)
// (0, r).
#ifndef RBT_MATH_OSCILLATOR_H
#define RBT_MATH_OSCILLATOR_H

typedef struct rbt_response {
    double impulse, step, ramp;  // S [s], I [s^2], J [s^3]
    double slope;                // S' - 1
} rbt_response;

// Relative to h, h^2, h^3 and 1 exact to rounding times the phase h sqrt(lambda); nothing cancels for small lambda or
// d.
rbt_response rbt_oscillator_response(double h, double lambda, double d);

#endif
