// Arithmetic on 3x3 matrices in one lane of an rbt_mat3_lanes; entries are numbered 3 row + column.
#ifndef RBT_MATH_MAT3_LANES_H
#define RBT_MATH_MAT3_LANES_H

#include "math/lanes.h"

// cof F = d(det F)/dF into C; returns det F.
static inline double rbt_cofactor_lane(const rbt_mat3_lanes *F, int l, double C[9]) {
#define AT(i) F->at[i][l]
    C[0] = AT(4) * AT(8) - AT(5) * AT(7);
    C[1] = AT(5) * AT(6) - AT(3) * AT(8);
    C[2] = AT(3) * AT(7) - AT(4) * AT(6);
    C[3] = AT(2) * AT(7) - AT(1) * AT(8);
    C[4] = AT(0) * AT(8) - AT(2) * AT(6);
    C[5] = AT(1) * AT(6) - AT(0) * AT(7);
    C[6] = AT(1) * AT(5) - AT(2) * AT(4);
    C[7] = AT(2) * AT(3) - AT(0) * AT(5);
    C[8] = AT(0) * AT(4) - AT(1) * AT(3);
    return AT(0) * C[0] + AT(1) * C[1] + AT(2) * C[2];
#undef AT
}

#endif
