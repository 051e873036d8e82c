// Threads that share the items of one piece of work after another. Whoever is free takes the next item, and all meet
// before the next piece:
//
//   while ((i = rbt_team_take(team)) < count) ...;
//   rbt_team_meet(team, count);
//
// A team of one needs no other thread and meets nobody: it can work inside a parallel region.
#ifndef RBT_BASE_TEAM_H
#define RBT_BASE_TEAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

// What the members share
typedef struct rbt_team_board {
    _Alignas(64) atomic_size_t ticket;
    _Alignas(64) atomic_size_t arrived;
    _Alignas(64) atomic_size_t meetings;
    _Alignas(64) atomic_size_t asleep;  // how many wait for the bell
    pthread_mutex_t door;
    pthread_cond_t bell;
} rbt_team_board;

// Each member has one of its own.
typedef struct rbt_team {
    size_t members, member;  // how many, and the number of this one
    rbt_team_board *board;
    size_t base, next, meetings;
} rbt_team;

// As many as there are threads to be had: one inside a parallel region
size_t rbt_team_size(void);

// Has at most `members` threads do `work`, each with its own team, and waits for all.
void rbt_team_work(size_t members, void (*work)(void *job, rbt_team *team), void *job);

static inline rbt_team rbt_team_alone(void) { return (rbt_team){.members = 1}; }

// The number of an item that nobody else gets; all are taken when it is not less than their count.
static inline size_t rbt_team_take(rbt_team *team) {
    return team->members > 1 ? atomic_fetch_add(&team->board->ticket, 1) - team->base : team->next++;
}

// After every member has learnt that all `count` items are taken.
void rbt_team_meet(rbt_team *team, size_t count);
// After work that was divided beforehand: no items were taken.
void rbt_team_wait(rbt_team *team);

#endif
