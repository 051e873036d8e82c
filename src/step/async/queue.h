// A queue of certificates by the time when they expire; those of one time in the order of their numbers.
//
// The next ones are in a heap, the others in bins of equal times, which are added to the heap when their time has
// come: of many certificates most expire late, and a heap of all of them would not fit into the caches.
#ifndef RBT_STEP_ASYNC_QUEUE_H
#define RBT_STEP_ASYNC_QUEUE_H

#include "base/memory.h"

enum { RBT_QUEUE_BINS = 256 };

typedef struct rbt_event {
    int64_t time;  // [ticks]
    int32_t id;
    uint32_t stamp;  // an event whose stamp is not its owner's any more is void
} rbt_event;

typedef struct rbt_event_list {
    rbt_event *items;
    size_t count, capacity;
} rbt_event_list;

typedef struct rbt_queue {
    rbt_event_list heap;
    rbt_event_list bins[RBT_QUEUE_BINS];  // bin i: from begin + i 2^shift on
    uint64_t used[RBT_QUEUE_BINS / 64];   // bits of bins that are not empty
    size_t binned;                        // events in bins
    int64_t begin, horizon;               // bins before the horizon are empty
    int shift;
} rbt_queue;

// Empties the queue; from now on most events are between begin and end. None may be earlier. A queue of zeros is one
// heap.
void rbt_queue_clear(rbt_queue *queue, int64_t begin, int64_t end);

bool rbt_queue_push(rbt_queue *queue, rbt_event event, rbt_error *error);

// The first event, NULL: there is none. False in *ok if there is no memory.
const rbt_event *rbt_queue_first_of_bins(rbt_queue *queue, bool *ok);
static inline const rbt_event *rbt_queue_first(rbt_queue *queue, bool *ok) {
    if (queue->binned) return rbt_queue_first_of_bins(queue, ok);
    return queue->heap.count ? queue->heap.items : NULL;
}
rbt_event rbt_queue_pop(rbt_queue *queue);  // takes the first one away; rbt_queue_first must have found it

void rbt_queue_free(rbt_queue *queue);

#endif
