// METIS draws its random numbers from one state in the process, seeded again by every call: two calls at once would
// disturb each other and give other results than one after the other. Everyone who calls it holds this lock.
//
// While it works it also takes SIGTERM for an error of its own. With `defer` the thread that holds the lock gets that
// signal later. Functions of METIS that call others send it to themselves when those have no memory, and must get it.
#ifndef RBT_SOLVE_METIS_LOCK_H
#define RBT_SOLVE_METIS_LOCK_H

#include <stdbool.h>

void rbt_metis_lock(bool defer);
void rbt_metis_unlock(void);

#endif
