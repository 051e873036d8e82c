// The one thread pool (OpenMP's) and its size. Results never depend on it: loops write disjoint ranges and sums are
// taken in a fixed order.
#ifndef RBT_BASE_THREADS_H
#define RBT_BASE_THREADS_H

#include "base/error.h"

// Loops over fewer nodes, blocks or the like than this run on one thread: waking the others costs more than it saves.
enum { RBT_PARALLEL_FROM = 1024 };

void rbt_threads_set(int count);   // 0: as many as OMP_NUM_THREADS says, or as there are processors
bool rbt_threads_are_given(void);  // by rbt_threads_set or OMP_NUM_THREADS
int rbt_threads_count(void);

// The same for the time between the two calls, and for this thread alone; 0: leave it as it is.
int rbt_threads_enter(int count);  // returns what rbt_threads_leave wants
void rbt_threads_leave(int before);

enum { RBT_MAX_THREADS = 1024 };

// Makes sure that the stacks of this thread and of later threads are large enough, or says what limits them. A
// program calls it first: a stack overflow ends it without a message.
bool rbt_threads_make_room(rbt_error *error);

#endif
