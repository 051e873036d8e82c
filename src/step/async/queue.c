#include "step/async/queue.h"

enum { FEW = 32 };  // events that are best kept in a heap alone

static bool before(const rbt_event *a, const rbt_event *b) {
    return a->time < b->time || (a->time == b->time && a->id < b->id);
}

static bool reserve(rbt_event_list *list, rbt_error *error) {
    return list->count < list->capacity || rbt_array_reserve((void **)&list->items, &list->capacity, list->count + 1,
                                                             sizeof *list->items, "a queue of certificates", error);
}

static bool heap_push(rbt_event_list *heap, rbt_event event, rbt_error *error) {
    if (!reserve(heap, error)) return false;
    size_t at = heap->count++;
    for (; at && before(&event, &heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = event;
    return true;
}

void rbt_queue_clear(rbt_queue *q, int64_t begin, int64_t end) {
    q->heap.count = 0;
    for (int w = 0; q->binned && w < RBT_QUEUE_BINS / 64; w++)
        for (; q->used[w]; q->used[w] &= q->used[w] - 1) q->bins[64 * w + __builtin_ctzll(q->used[w])].count = 0;
    q->binned = 0;
    q->begin = q->horizon = begin;
    int bits = 64 - __builtin_clzll((unsigned long long)(end - begin) | 1), most = __builtin_ctz(RBT_QUEUE_BINS);
    q->shift = bits > most ? bits - most : 0;
}

bool rbt_queue_push(rbt_queue *q, rbt_event event, rbt_error *error) {
    int64_t bin = (event.time - q->begin) >> q->shift;
    if (event.time < q->horizon || bin >= RBT_QUEUE_BINS || q->heap.count < FEW)
        return heap_push(&q->heap, event, error);
    rbt_event_list *list = &q->bins[bin];
    if (!reserve(list, error)) return false;
    list->items[list->count++] = event;
    q->used[bin / 64] |= 1ull << bin % 64;
    q->binned++;
    return true;
}

// Adds the first bin that is not empty to the heap: false if all are.
static bool refill(rbt_queue *q, bool *ok) {
    int w = 0;
    while (w < RBT_QUEUE_BINS / 64 && !q->used[w]) w++;
    if (w == RBT_QUEUE_BINS / 64) return false;
    int bin = 64 * w + __builtin_ctzll(q->used[w]);
    rbt_event_list *list = &q->bins[bin];
    for (size_t i = 0; i < list->count; i++) *ok &= heap_push(&q->heap, list->items[i], NULL);
    q->binned -= list->count;
    list->count = 0;
    q->used[w] &= q->used[w] - 1;
    q->horizon = q->begin + ((int64_t)(bin + 1) << q->shift);
    return true;
}

const rbt_event *rbt_queue_first_of_bins(rbt_queue *q, bool *ok) {
    while (!q->heap.count || q->heap.items[0].time >= q->horizon)
        if (!refill(q, ok)) break;
    return q->heap.count ? q->heap.items : NULL;
}

rbt_event rbt_queue_pop(rbt_queue *q) {
    rbt_event_list *heap = &q->heap;
    rbt_event first = heap->items[0], last = heap->items[--heap->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && before(&heap->items[child + 1], &heap->items[child])) child++;
        if (!before(&heap->items[child], &last)) break;
        heap->items[at] = heap->items[child];
    }
    heap->items[at] = last;
    return first;
}

void rbt_queue_free(rbt_queue *q) {
    free(q->heap.items);
    for (int i = 0; i < RBT_QUEUE_BINS; i++) free(q->bins[i].items);
    *q = (rbt_queue){0};
}
