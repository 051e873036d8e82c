// Repeated measurements in three numbers: the median, which one disturbed run does not move, and how far they lie
// apart.
#ifndef RBT_BASE_SPREAD_H
#define RBT_BASE_SPREAD_H

#include <stddef.h>

typedef struct rbt_spread {
    double median, min, max;  // NaN if there are no values
} rbt_spread;

// Sorts the values, which must all be numbers. The median of an even count is the mean of the middle two.
rbt_spread rbt_spread_of(double *values, size_t count);

#endif
