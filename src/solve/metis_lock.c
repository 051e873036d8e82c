#include "solve/metis_lock.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void rbt_metis_lock(void) { pthread_mutex_lock(&lock); }
void rbt_metis_unlock(void) { pthread_mutex_unlock(&lock); }
