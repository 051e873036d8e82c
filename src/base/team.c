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
    rbt_team_board board = {0};
#pragma omp parallel num_threads((int)members)
    {
        rbt_team team = {
            .members = (size_t)omp_get_num_threads(), .member = (size_t)omp_get_thread_num(), .board = &board};
        work(job, &team);
    }
}

// Not OpenMP's barrier, which keeps the processor for a millisecond: on a busy machine, with two members on one
// processor, everyone then waits for the time slice of somebody who waits (measured: 450 ms instead of 13 for 80
// meetings).
void rbt_team_wait(rbt_team *c) {
    enum { PATIENCE = 200 };
    if (c->members == 1) return;
    c->meetings++;
    if (atomic_fetch_add(&c->board->arrived, 1) + 1 == c->members) {
        atomic_store(&c->board->arrived, 0);
        atomic_store(&c->board->meetings, c->meetings);
        return;
    }
    for (int tries = 0; atomic_load_explicit(&c->board->meetings, memory_order_acquire) != c->meetings; tries++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        if (tries > PATIENCE) sched_yield();
    }
}

void rbt_team_meet(rbt_team *c, size_t count) {
    c->next = 0;
    c->base += count + c->members;  // learning it cost each one ticket
    rbt_team_wait(c);
}
