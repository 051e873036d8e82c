// Sums whose bits do not depend on the order of what is added, nor on how it is divided among threads and machines.
//
// A number is written in digits of base 2^30, each the nearest one and so between -2^29 and 2^29: which digits these
// are follows from the number alone. Digits of one place are added as integers, which is exact. Kept are the three
// places from that of the largest number on: what is below is less than 2^-59 of it for each number that was added.
#ifndef RBT_MATH_SUM_H
#define RBT_MATH_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RBT_SUM_PLACES = 3 };

typedef struct rbt_sum {
    int64_t digit[RBT_SUM_PLACES];  // of places top, top - 1, top - 2: units of 2^(30 place)
    int32_t top;                    // meaningless while all digits are 0
    int32_t used;                   // 0: nothing but zeros was added; 1: digits; 2: something that is not finite
} rbt_sum;

// Adds the numbers of an array, and products of two arrays: at most 2^33 in all.
void rbt_sum_add(rbt_sum *sum, const double *values, size_t count);
void rbt_sum_add_products(rbt_sum *sum, const double *a, const double *b, size_t count);

static inline void rbt_sum_add_one(rbt_sum *sum, double value) { rbt_sum_add(sum, &value, 1); }

void rbt_sum_join(rbt_sum *sum, const rbt_sum *other);

double rbt_sum_value(const rbt_sum *sum);  // NaN where something was not finite

// Of whole arrays, on several threads
double rbt_sum_of(const double *values, size_t count);
double rbt_sum_dot(const double *a, const double *b, size_t count);

#endif
