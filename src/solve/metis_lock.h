// METIS draws its random numbers from one state in the process, seeded again by every call: two calls at once would
// disturb each other and give other results than one after the other. Everyone who calls it holds this lock.
#ifndef RBT_SOLVE_METIS_LOCK_H
#define RBT_SOLVE_METIS_LOCK_H

void rbt_metis_lock(void);
void rbt_metis_unlock(void);

#endif
