// METIS draws its random numbers from one state in the process, seeded again by every call: two calls at once would
// disturb each other and give other results than one after the other. Everyone who calls it holds this lock.
// It also takes SIGTERM for an error of its own while it works: the thread that holds the lock gets that signal later.
#ifndef RBT_SOLVE_METIS_LOCK_H
#define RBT_SOLVE_METIS_LOCK_H

void rbt_metis_lock(void);
void rbt_metis_unlock(void);

#endif
