#include "base/threads.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>

static atomic_bool given;  // by rbt_threads_set

void rbt_threads_set(int count) {
    given = count > 0;
    if (count > 0) omp_set_num_threads(count);
    else if (omp_get_max_threads() > RBT_MAX_THREADS) omp_set_num_threads(omp_get_num_procs());
}

bool rbt_threads_are_given(void) {
    const char *text = getenv("OMP_NUM_THREADS");
    return given || (text && *text);
}

int rbt_threads_enter(int count) {
    int before = omp_get_max_threads();
    if (count > 0 && count != before) omp_set_num_threads(count);
    return before;
}

void rbt_threads_leave(int before) {
    if (omp_get_max_threads() != before) omp_set_num_threads(before);
}

int rbt_threads_count(void) { return omp_get_max_threads(); }

// The first thread of runs of all methods, of render, verify, info and mesh grows its stack to at most 164 KB (VmStk
// of Linux).
enum { ENOUGH_KB = 1024, PLENTY_KB = 8192 };

// OMP_STACKSIZE in KB, as OpenMP reads it; 0: not set or not a size
static double openmp_stack(void) {
    const char *text = getenv("OMP_STACKSIZE");
    char *end;
    double size = text ? strtod(text, &end) : 0;
    if (!text || end == text) return 0;
    while (*end == ' ') end++;
    switch (*end) {
    case 'b':
    case 'B': return size / 1024;
    case 'm':
    case 'M': return size * 1024;
    case 'g':
    case 'G': return size * 1024 * 1024;
    default: return size;
    }
}

bool rbt_threads_make_room(rbt_error *error) {
    const rlim_t enough = (rlim_t)ENOUGH_KB * 1024, plenty = (rlim_t)PLENTY_KB * 1024;
    struct rlimit limit;
    // The stack of the first thread grows up to what the limit is at that moment.
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < enough) {
        limit.rlim_cur = limit.rlim_max < plenty ? limit.rlim_max : plenty;
        if (limit.rlim_cur < enough || setrlimit(RLIMIT_STACK, &limit) != 0)
            return rbt_fail(error,
                            "the stack is limited to %llu KB, but %d KB are needed: raise the limit (ulimit -s)",
                            (unsigned long long)limit.rlim_cur / 1024, ENOUGH_KB);
    }
    double openmp = openmp_stack();
    if (openmp > 0 && openmp < ENOUGH_KB)
        return rbt_fail(
            error,
            "OMP_STACKSIZE gives threads a stack of %g KB, but %d KB are needed; set OMP_STACKSIZE=%dK or "
            "leave it out",
            openmp, ENOUGH_KB, PLENTY_KB);
    pthread_attr_t attributes;  // for threads: those of the limit at the program's start
    size_t size;
    if (pthread_getattr_default_np(&attributes) != 0) return true;
    if (pthread_attr_getstacksize(&attributes, &size) == 0 && size < enough &&
        pthread_attr_setstacksize(&attributes, (size_t)plenty) == 0)
        pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
    return true;
}
