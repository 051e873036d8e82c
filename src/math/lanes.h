// How many elements lie side by side in a batch. A kernel works on as many of them at once as its registers hold
// (RBT_LANES in math/lane.h, a divisor of this).
#ifndef RBT_MATH_LANES_H
#define RBT_MATH_LANES_H

enum { RBT_W = 8 };

#endif
