#include "base/threads.h"

#include <omp.h>

void rbt_threads_set(int count) { omp_set_num_threads(count > 0 ? count : omp_get_num_procs()); }
int rbt_threads_count(void) { return omp_get_max_threads(); }
