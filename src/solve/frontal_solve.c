// L y = b from the leaves to the roots, then L^T x = y back. On the way up each front leaves to its parent, in a vector of
// its own, what it takes from the unknowns below. Each number of L is read once up and once down, for up to four right-hand
// sides at once: that, not arithmetic, is what a solve takes its time for.
#include "base/crew.h"
#include "solve/frontal_parts.h"

#include <stdlib.h>
#include <string.h>

// Numbers of L from which threads share them: of the whole factor, of one front
static const double ENOUGH = 1e5, ENOUGH_FRONT = 4e4;

enum { ITEM_FORWARD = 8 };  // strips

typedef struct solving {
    rbt_frontal *frontal;
    double *x;              // all unknowns, in the order of elimination
    size_t stride;          // from one right-hand side to the next
    size_t count, vectors;  // right-hand sides, and those with the padding: 1 or RBT_COLUMN_GROUP
    size_t threads;
} solving;

// Work space of a thread, or (number `threads`) of all: x of a front, then sums
static size_t slot_bytes(const solving *job) {
    return rbt_padded((job->frontal->widest + job->frontal->sums) * job->vectors * job->frontal->kernels->bytes, 64);
}
static char *slot_at(const solving *job, size_t slot) {
    const rbt_frontal *f = job->frontal;
    size_t below = f->vector_at[f->tree->count] * job->vectors * f->kernels->bytes;
    return f->vectors + rbt_padded(below, 64) + slot * slot_bytes(job);
}

static bool reserve(const solving *job) {
    rbt_frontal *f = job->frontal;
    size_t bytes = (size_t)(slot_at(job, job->threads + 1) - f->vectors);
    if (f->vector_bytes >= bytes) return true;
    free(f->vectors);
    f->vectors = rbt_frontal_allocate(bytes);
    f->vector_bytes = f->vectors ? bytes : 0;
    return f->vectors;
}

static char *below_of(const solving *job, size_t k) {
    const rbt_frontal *f = job->frontal;
    return f->vectors + f->vector_at[k] * job->vectors * f->kernels->bytes;
}

static rbt_front_vectors vectors_of(const solving *job, size_t slot, size_t k) {
    return (rbt_front_vectors){.count = job->vectors, .x = slot_at(job, slot), .y = below_of(job, k)};
}

static double *unknowns_of(const solving *job, size_t k) {
    return job->x + job->frontal->tree->block * (size_t)job->frontal->tree->first[k];
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static void load(const solving *job, const rbt_front *front, size_t k, const rbt_front_vectors *v) {
    const rbt_dense_kernels *d = job->frontal->kernels;
    size_t each = front->width_padded * d->bytes;
    d->load(unknowns_of(job, k), job->stride, front->width, front->width_padded, job->count, v->x);
    memset((char *)v->x + job->count * each, 0, (v->count - job->count) * each);
}

static void store(const solving *job, const rbt_front *front, size_t k, const rbt_front_vectors *v) {
    job->frontal->kernels->store(v->x, front->width_padded, front->width, job->count, unknowns_of(job, k),
                                 job->stride);
}

// ---- up ----

static void begin_forward(const solving *job, const rbt_front *front, size_t k, const rbt_front_vectors *v) {
    const rbt_frontal *f = job->frontal;
    load(job, front, k, v);
    memset(v->y, 0, front->below_padded * v->count * f->kernels->bytes);
    for (int32_t c = f->child[k]; c >= 0; c = f->sibling[c]) {
        rbt_front child = rbt_frontal_front(f, (size_t)c);
        f->kernels->add_vectors(front, v, &child, below_of(job, (size_t)c), f->tree->relative + f->tree->row_start[c],
                                f->tree->block);
    }
}

static size_t items(size_t count, size_t each) { return (count + each - 1) / each; }

static void forward_items(const solving *job, rbt_crew *crew, const rbt_front *front, const rbt_front_vectors *v,
                          size_t first, size_t last, size_t strip, size_t last_strip) {
    size_t count = items(last_strip - strip, ITEM_FORWARD), i;
    if (!count) return;
    while ((i = rbt_crew_take(crew)) < count)
        job->frontal->kernels->forward_strips(front, v, first, last, strip + i * ITEM_FORWARD,
                                              least(strip + (i + 1) * ITEM_FORWARD, last_strip));
    rbt_crew_meet(crew, count);
}

static void forward(const solving *job, rbt_crew *crew, size_t slot, size_t k) {
    const rbt_dense_kernels *d = job->frontal->kernels;
    rbt_front front = rbt_frontal_front(job->frontal, k);
    rbt_front_vectors v = vectors_of(job, slot, k);
    size_t upper = rbt_strip_count(d, front.width), lower = rbt_strip_count(d, front.below);
    for (size_t first = 0; first < front.width; first += RBT_SOLVE_BLOCK) {
        size_t next = least(first + RBT_SOLVE_BLOCK, front.width);
        while (rbt_crew_take(crew) < 1) {
            if (!first) begin_forward(job, &front, k, &v);
            d->forward(&front, &v, first);
            if (next == front.width) store(job, &front, k, &v);
        }
        rbt_crew_meet(crew, 1);
        forward_items(job, crew, &front, &v, first, next, rbt_strip_count(d, next), upper);
    }
    forward_items(job, crew, &front, &v, 0, front.width, upper, upper + lower);
}

// ---- down ----

static void begin_backward(const solving *job, const rbt_front *front, size_t k, const rbt_front_vectors *v) {
    const rbt_frontal *f = job->frontal;
    const rbt_supernodes *t = f->tree;
    size_t each = front->below_padded * f->kernels->bytes;
    load(job, front, k, v);
    f->kernels->gather(job->x, job->stride, t->row + t->row_start[k], t->row_start[k + 1] - t->row_start[k], t->block,
                       front->below_padded, job->count, v->y);
    memset((char *)v->y + job->count * each, 0, (v->count - job->count) * each);
}

// Sums of the columns from `first` to `last` over strips, so many apart from others: returns how many
static size_t backward_items(const solving *job, rbt_crew *crew, const rbt_front *front, const rbt_front_vectors *v,
                             size_t first, size_t last, size_t strip, size_t last_strip, char *sums) {
    const rbt_dense_kernels *d = job->frontal->kernels;
    size_t parts = items(last_strip - strip, RBT_SOLVE_STRIPS), reaches = items(last - first, RBT_SOLVE_REACH), i;
    size_t each = v->count * d->bytes;
    if (!parts) return 0;
    while ((i = rbt_crew_take(crew)) < parts * reaches) {
        size_t part = i / reaches, column = first + i % reaches * RBT_SOLVE_REACH;
        size_t begin = strip + part * RBT_SOLVE_STRIPS;
        d->backward_strips(front, v, column, least(column + RBT_SOLVE_REACH, last), begin,
                           least(begin + RBT_SOLVE_STRIPS, last_strip),
                           sums + (part * (last - first) + column - first) * each);
    }
    rbt_crew_meet(crew, parts * reaches);
    return parts;
}

static void backward(const solving *job, rbt_crew *crew, size_t slot, size_t k) {
    const rbt_dense_kernels *d = job->frontal->kernels;
    rbt_front front = rbt_frontal_front(job->frontal, k);
    rbt_front_vectors v = vectors_of(job, slot, k);
    char *sums = slot_at(job, slot) + job->frontal->widest * job->vectors * d->bytes;
    size_t upper = rbt_strip_count(d, front.width), lower = rbt_strip_count(d, front.below);
    while (rbt_crew_take(crew) < 1) begin_backward(job, &front, k, &v);
    rbt_crew_meet(crew, 1);
    size_t below = backward_items(job, crew, &front, &v, 0, front.width, upper, upper + lower, sums);
    for (size_t first = (front.width - 1) / RBT_SOLVE_BLOCK * RBT_SOLVE_BLOCK;; first -= RBT_SOLVE_BLOCK) {
        size_t next = least(first + RBT_SOLVE_BLOCK, front.width);
        // What is below all of it is taken before the first block, when its sums are not yet overwritten.
        size_t parts = next == front.width ? 0
                                           : backward_items(job, crew, &front, &v, first, next,
                                                            rbt_strip_count(d, next), upper, sums);
        while (rbt_crew_take(crew) < 1) {
            if (next == front.width) d->take(&front, &v, 0, front.width, below, sums);
            else d->take(&front, &v, first, next, parts, sums);
            d->backward(&front, &v, first);
            if (!first) store(job, &front, k, &v);
        }
        rbt_crew_meet(crew, 1);
        if (!first) return;
    }
}

// ---- all fronts ----

static double numbers(const rbt_frontal *f, size_t k) {
    rbt_front front = rbt_frontal_front(f, k);
    return (double)front.width * ((double)front.width / 2 + (double)front.below);
}

// A front above the tasks: by all, or if it is small by whoever comes first
static void shared(const solving *job, rbt_crew *crew, size_t k,
                   void (*pass)(const solving *, rbt_crew *, size_t, size_t)) {
    rbt_crew alone = rbt_crew_alone();
    if (crew->members == 1 || numbers(job->frontal, k) >= ENOUGH_FRONT) {
        pass(job, crew, job->threads, k);
        return;
    }
    while (rbt_crew_take(crew) < 1) pass(job, &alone, job->threads, k);
    rbt_crew_meet(crew, 1);
}

static void work(void *solving_job, rbt_crew *crew) {
    const solving *job = solving_job;
    const rbt_frontal *f = job->frontal;
    rbt_crew alone = rbt_crew_alone();
    size_t i, member = crew->member;
    while ((i = rbt_crew_take(crew)) < f->task_count)
        for (size_t k = (size_t)f->task_first[i]; k <= (size_t)f->task_root[i]; k++) forward(job, &alone, member, k);
    rbt_crew_meet(crew, f->task_count);
    for (size_t s = 0; s < f->shared_count; s++) shared(job, crew, (size_t)f->shared[s], forward);
    for (size_t s = f->shared_count; s-- > 0;) shared(job, crew, (size_t)f->shared[s], backward);
    while ((i = rbt_crew_take(crew)) < f->task_count)
        for (size_t k = (size_t)f->task_root[i] + 1; k-- > (size_t)f->task_first[i];)
            backward(job, &alone, member, k);
    rbt_crew_meet(crew, f->task_count);
}

bool rbt_frontal_solve(rbt_frontal *f, size_t count, double *x) {
    size_t unknowns = f->tree->block * f->tree->node_count;
    size_t threads = f->tree->fill < ENOUGH ? 1 : rbt_crew_size();
    for (size_t done = 0; done < count;) {
        size_t left = count - done;
        solving job = {.frontal = f,
                       .x = x + done * unknowns,
                       .stride = unknowns,
                       .count = least(left, RBT_COLUMN_GROUP),
                       .vectors = left == 1 ? 1 : RBT_COLUMN_GROUP,
                       .threads = threads};
        if (!reserve(&job)) return false;
        rbt_crew_work(threads, work, &job);
        done += job.count;
    }
    return true;
}
