// What the benchmarks measure with.
#ifndef RUBATO_BENCH_TIMING_H
#define RUBATO_BENCH_TIMING_H

#include <time.h>

// Processor time of this thread: everything runs on one core, and what else the machine does should not count.
static inline double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Of doubles, for qsort
static inline int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#endif
