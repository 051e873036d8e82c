#include "base/team.h"

#include <omp.h>
#include <sched.h>

size_t rbt_team_size(void) { return omp_in_parallel() ? 1 : (size_t)omp_get_max_threads(); }

void rbt_team_work(size_t members, void (*work)(void *job, rbt_team *team), void *job) {
    if (members <= 1) {
        rbt_team alone = rbt_team_alone();
        work(job, &alone);
        return;
    }
    rbt_team_board board = {.door = PTHREAD_MUTEX_INITIALIZER, .bell = PTHREAD_COND_INITIALIZER};
#pragma omp parallel num_threads((int)members)
    {
        rbt_team team = {
            .members = (size_t)omp_get_num_threads(), .member = (size_t)omp_get_thread_num(), .board = &board};
        work(job, &team);
    }
}

// Until this meeting is over. Who sleeps is counted before it looks again, and the last to arrive ends the meeting
// before it looks whether anybody sleeps: one of the two sees the other.
static void sleep_until(rbt_team_board *board, size_t meeting) {
    atomic_fetch_add(&board->asleep, 1);
    pthread_mutex_lock(&board->door);
    while (atomic_load(&board->meetings) != meeting) pthread_cond_wait(&board->bell, &board->door);
    pthread_mutex_unlock(&board->door);
    atomic_fetch_sub(&board->asleep, 1);
}

static void wake_all(rbt_team_board *board) {
    if (atomic_load(&board->asleep) == 0) return;
    pthread_mutex_lock(&board->door);
    pthread_cond_broadcast(&board->bell);
    pthread_mutex_unlock(&board->door);
}

// Not OpenMP's barrier, which keeps the processor for a millisecond: on a busy machine, with two members on one
// processor, everyone then waits for the time slice of somebody who waits (measured: 450 ms instead of 13 for 80
// meetings). Members who have waited for some tens of microseconds sleep: to yield again and again gains nothing where
// others want the processor, too.
void rbt_team_wait(rbt_team *c) {
    enum { PATIENCE = 200, YIELDS = 50 };
    if (c->members == 1) return;
    rbt_team_board *board = c->board;
    c->meetings++;
    if (atomic_fetch_add(&board->arrived, 1) + 1 == c->members) {
        atomic_store(&board->arrived, 0);
        atomic_store(&board->meetings, c->meetings);
        wake_all(board);
        return;
    }
    for (int tries = 0; atomic_load_explicit(&board->meetings, memory_order_acquire) != c->meetings; tries++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        if (tries > PATIENCE + YIELDS) {
            sleep_until(board, c->meetings);
            return;
        }
        if (tries > PATIENCE) sched_yield();
    }
}

void rbt_team_meet(rbt_team *c, size_t count) {
    c->next = 0;
    c->base += count + c->members;  // learning it cost each one ticket
    rbt_team_wait(c);
}
