// Small matrices for RBT_W elements at once, structure of arrays: entry by entry, lanes innermost.
#ifndef RBT_MATH_LANES_H
#define RBT_MATH_LANES_H

#include <stdbool.h>

enum { RBT_W = 8 };

typedef struct rbt_mat3_lanes {
    _Alignas(64) double at[9][RBT_W];
} rbt_mat3_lanes;

typedef struct rbt_mat9_lanes {
    _Alignas(64) double at[81][RBT_W];
} rbt_mat9_lanes;

#endif
