// Rotations as unit quaternions (w, x, y, z): four numbers instead of nine.
#ifndef RBT_MATH_QUATERNION_H
#define RBT_MATH_QUATERNION_H

#include <math.h>

// R (row by row) may be off by rounding. The largest of the four is found without cancellation (Shepperd 1978).
static inline void rbt_quaternion_of(const double R[9], double q[4]) {
    double trace = R[0] + R[4] + R[8];
    int most = 0;
    for (int i = 1; i < 4; i++)
        if (R[4 * (i - 1)] > (most ? R[4 * (most - 1)] : trace)) most = i;
    if (most == 0) {
        q[0] = 1 + trace;
        q[1] = R[7] - R[5];
        q[2] = R[2] - R[6];
        q[3] = R[3] - R[1];
    } else {
        int i = most - 1, j = (i + 1) % 3, k = (i + 2) % 3;
        q[0] = R[3 * k + j] - R[3 * j + k];
        q[1 + i] = 1 + R[4 * i] - R[4 * j] - R[4 * k];
        q[1 + j] = R[3 * j + i] + R[3 * i + j];
        q[1 + k] = R[3 * k + i] + R[3 * i + k];
    }
    double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) q[i] /= size;
}

// q need not be of length 1.
static inline void rbt_quaternion_rotation(const double q[4], double R[9]) {
    double w = q[0], x = q[1], y = q[2], z = q[3], s = 2 / (w * w + x * x + y * y + z * z);
    R[0] = 1 - s * (y * y + z * z);
    R[1] = s * (x * y - w * z);
    R[2] = s * (x * z + w * y);
    R[3] = s * (x * y + w * z);
    R[4] = 1 - s * (x * x + z * z);
    R[5] = s * (y * z - w * x);
    R[6] = s * (x * z - w * y);
    R[7] = s * (y * z + w * x);
    R[8] = 1 - s * (x * x + y * y);
}

#endif
