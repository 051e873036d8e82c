#include "contact/queue.h"

static bool before(const rbt_event *a, const rbt_event *b) {
    return a->time < b->time || (a->time == b->time && a->id < b->id);
}

bool rbt_queue_push(rbt_queue *q, rbt_event event, rbt_error *error) {
    if (q->count == q->capacity && !rbt_array_reserve((void **)&q->items, &q->capacity, q->count + 1,
                                                      sizeof *q->items, "a queue of certificates", error))
        return false;
    size_t at = q->count++;
    for (; at && before(&event, &q->items[(at - 1) / 2]); at = (at - 1) / 2) q->items[at] = q->items[(at - 1) / 2];
    q->items[at] = event;
    return true;
}

rbt_event rbt_queue_pop(rbt_queue *q) {
    rbt_event first = q->items[0], last = q->items[--q->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < q->count; at = child) {
        if (child + 1 < q->count && before(&q->items[child + 1], &q->items[child])) child++;
        if (!before(&q->items[child], &last)) break;
        q->items[at] = q->items[child];
    }
    q->items[at] = last;
    return first;
}

void rbt_queue_free(rbt_queue *q) {
    free(q->items);
    *q = (rbt_queue){0};
}
