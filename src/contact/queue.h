// A queue of certificates by the time when they expire; those of one time in the order of their numbers.
#ifndef RBT_CONTACT_QUEUE_H
#define RBT_CONTACT_QUEUE_H

#include "base/memory.h"

typedef struct rbt_event {
    int64_t time;  // [ticks]
    int32_t id;
    uint32_t stamp;  // an event whose stamp is not its owner's any more is void
} rbt_event;

typedef struct rbt_queue {
    rbt_event *items;  // a heap
    size_t count, capacity;
} rbt_queue;

bool rbt_queue_push(rbt_queue *queue, rbt_event event, rbt_error *error);
rbt_event rbt_queue_pop(rbt_queue *queue);  // the first one; there must be one
void rbt_queue_free(rbt_queue *queue);

#endif
