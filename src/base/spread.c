#include "base/spread.h"

#include <math.h>
#include <stdlib.h>

static int by_size(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

rbt_spread rbt_spread_of(double *values, size_t count) {
    if (!count) return (rbt_spread){NAN, NAN, NAN};
    qsort(values, count, sizeof *values, by_size);
    double low = values[(count - 1) / 2], high = values[count / 2];
    return (rbt_spread){low == high ? low : low + 0.5 * (high - low), values[0], values[count - 1]};
}
