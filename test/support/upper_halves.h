// Whether the upper halves of the wide registers (AVX) are clear, as they must be where a wide function ends: as long
// as they are in use, processors take several times as long for everything that is not wide.
#ifndef TEST_SUPPORT_UPPER_HALVES_H
#define TEST_SUPPORT_UPPER_HALVES_H

#include "sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define UPPER_HALF(number, to) "vextractf128 $1, %%ymm" #number ", " to "*16(%0)\n\t"

// What is asked about leaves numbers other than 0 there if it leaves anything. Called right behind it, for libraries
// may clear them as well. The sanitizers are compiled with -O1, where GCC leaves all of them in use.
static inline void assert_upper_halves_clear(const char *what) {
#if defined(__x86_64__)
    static const double NOTHING[32];
    double half[32] = {0};
    if (!__builtin_cpu_supports("avx") || SAMPLED(false, true)) return;
    __asm__ volatile(UPPER_HALF(0, "0") UPPER_HALF(1, "1") UPPER_HALF(2, "2") UPPER_HALF(3, "3") UPPER_HALF(4, "4")
                         UPPER_HALF(5, "5") UPPER_HALF(6, "6") UPPER_HALF(7, "7") UPPER_HALF(8, "8")
                             UPPER_HALF(9, "9") UPPER_HALF(10, "10") UPPER_HALF(11, "11") UPPER_HALF(12, "12")
                                 UPPER_HALF(13, "13") UPPER_HALF(14, "14") UPPER_HALF(15, "15")
                     :
                     : "r"(half)
                     : "memory");
    __asm__ volatile("vzeroupper");
    if (memcmp(half, NOTHING, sizeof half) != 0) fail_msg("%s leaves upper halves of registers in use", what);
#else
    (void)what;
#endif
}

#endif
