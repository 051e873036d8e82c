// What a factorisation can end with, the same for every solver of this room.
#ifndef RBT_SOLVE_RESULT_H
#define RBT_SOLVE_RESULT_H

typedef enum rbt_factor_result {
    RBT_FACTORED,
    RBT_FACTOR_INDEFINITE,  // a pivot is not positive where all must be
    RBT_FACTOR_SINGULAR,    // a pivot is zero (to rounding) where any other value would do
    RBT_FACTOR_NOT_FINITE,  // the matrix holds a NaN or an infinity
    RBT_FACTOR_NO_MEMORY,
} rbt_factor_result;

typedef enum rbt_solve_result {
    RBT_SOLVED,
    RBT_SOLVE_UNSTABLE,  // the residual stayed too large: small pivots were used and cost the digits
    RBT_SOLVE_NO_MEMORY,
} rbt_solve_result;

#endif
