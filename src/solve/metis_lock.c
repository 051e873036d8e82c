#include "solve/metis_lock.h"

#include <pthread.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sigset_t before;  // what the thread that holds the lock had blocked

void rbt_metis_lock(bool defer) {
    sigset_t end, present;
    sigemptyset(&end);
    if (defer) sigaddset(&end, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &end, &present);
    pthread_mutex_lock(&lock);
    before = present;
}

void rbt_metis_unlock(void) {
    sigset_t present = before;
    pthread_mutex_unlock(&lock);
    pthread_sigmask(SIG_SETMASK, &present, NULL);
}
