// Random numbers (xorshift), the same in every run; tests may set the seed.
#ifndef TEST_SUPPORT_RANDOM_H
#define TEST_SUPPORT_RANDOM_H

#include <stdint.h>

static uint64_t seed = 88172645463325252ull;

static inline uint64_t draw(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static inline double unit(void) { return (double)(draw() >> 11) * 0x1p-53; }  // between 0 and 1
static inline int small(int most) { return (int)(draw() % (uint64_t)(2 * most + 1)) - most; }

#endif
