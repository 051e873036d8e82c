// The one thread pool (OpenMP's) and its size. Results never depend on it: loops write disjoint ranges and sums are
// taken in a fixed order.
#ifndef RBT_BASE_THREADS_H
#define RBT_BASE_THREADS_H

void rbt_threads_set(int count);  // 0: as many as there are processors
int rbt_threads_count(void);

#endif
