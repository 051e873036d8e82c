#include "base/crew.h"

#include <omp.h>

size_t rbt_crew_size(void) { return omp_in_parallel() ? 1 : (size_t)omp_get_max_threads(); }

void rbt_crew_work(size_t members, void (*work)(void *job, rbt_crew *crew), void *job) {
    if (members <= 1) {
        rbt_crew alone = rbt_crew_alone();
        work(job, &alone);
        return;
    }
    atomic_size_t ticket = 0;
#pragma omp parallel num_threads((int)members)
    {
        rbt_crew crew = {
            .members = (size_t)omp_get_num_threads(), .member = (size_t)omp_get_thread_num(), .ticket = &ticket};
        work(job, &crew);
    }
}

void rbt_crew_meet(rbt_crew *c, size_t count) {
    c->next = 0;
    if (c->members == 1) return;
    c->base += count + c->members;  // learning it cost each one ticket
#pragma omp barrier
}
