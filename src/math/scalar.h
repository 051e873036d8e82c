// The larger and the smaller of two numbers, as one instruction each: fmax and fmin are calls, for the sake of NaN.
#ifndef RBT_MATH_SCALAR_H
#define RBT_MATH_SCALAR_H

static inline double rbt_larger(double a, double b) { return a > b ? a : b; }
static inline double rbt_smaller(double a, double b) { return a < b ? a : b; }

#endif
