// Threads that share the items of one piece of work after another. Whoever is free takes the next item, and all meet
// before the next piece:
//
//   while ((i = rbt_crew_take(crew)) < count) ...;
//   rbt_crew_meet(crew, count);
//
// A crew of one needs no other thread and meets nobody: it can work inside a parallel region.
#ifndef RBT_BASE_CREW_H
#define RBT_BASE_CREW_H

#include <stdatomic.h>
#include <stddef.h>

// What the members share
typedef struct rbt_crew_board {
    _Alignas(64) atomic_size_t ticket;
    _Alignas(64) atomic_size_t arrived;
    _Alignas(64) atomic_size_t meetings;
} rbt_crew_board;

// Each member has one of its own.
typedef struct rbt_crew {
    size_t members, member;  // how many, and the number of this one
    rbt_crew_board *board;
    size_t base, next, meetings;
} rbt_crew;

// As many as there are threads to be had: one inside a parallel region
size_t rbt_crew_size(void);

// Has at most `members` threads do `work`, each with its own crew, and waits for all.
void rbt_crew_work(size_t members, void (*work)(void *job, rbt_crew *crew), void *job);

static inline rbt_crew rbt_crew_alone(void) { return (rbt_crew){.members = 1}; }

// The number of an item that nobody else gets; all are taken when it is not less than their count.
static inline size_t rbt_crew_take(rbt_crew *crew) {
    return crew->members > 1 ? atomic_fetch_add(&crew->board->ticket, 1) - crew->base : crew->next++;
}

// After every member has learnt that all `count` items are taken.
void rbt_crew_meet(rbt_crew *crew, size_t count);
// After work that was divided beforehand: no items were taken.
void rbt_crew_wait(rbt_crew *crew);

#endif
