// L y = b from the leaves to the roots, then L^T x = y back. On the way up each front leaves to its parent, in a vector of
// its own, what it takes from the unknowns below. Each number of L is read once up and once down, for up to four right-hand
// sides at once: that, not arithmetic, is what a solve takes its time for. More right-hand sides go in groups of four, one
// group after the other in each piece of a front, whose numbers are then still in a cache.
#include "base/crew.h"
#include "solve/frontal_parts.h"

#include <stdlib.h>
#include <string.h>

// Numbers of L from which threads share them: of the whole factor, times the right-hand sides that are used with each; of one front
static const double ENOUGH = 1e5, ENOUGH_FRONT = 4e4;

enum { ITEM_FORWARD = 8, MOST_GROUPS = 16 };  // strips; groups that go through the fronts together

typedef struct solving {
    rbt_frontal *frontal;
    double *x;       // all unknowns, in the order of elimination
    size_t stride;   // from one right-hand side to the next
    size_t count;    // right-hand sides
    size_t vectors;  // of a group, with the padding: 1 or RBT_COLUMN_GROUP
    size_t groups, threads;
} solving;

// Work space: slots of each thread and (number `threads`) of all, with x of a front for each group, then sums; then what fronts
// leave to their parents, for each group.
static size_t numbers_bytes(const solving *job, size_t numbers) {
    return rbt_padded(numbers * job->vectors * job->frontal->kernels->bytes, 64);
}
static size_t slot_bytes(const solving *job) {
    return job->groups * (numbers_bytes(job, job->frontal->widest) + numbers_bytes(job, job->frontal->sums));
}
static char *slot_at(const solving *job, size_t slot) { return job->frontal->vectors + slot * slot_bytes(job); }
static size_t below_bytes(const solving *job) {
    return numbers_bytes(job, job->frontal->vector_at[job->frontal->tree->count]);
}

static bool reserve(const solving *job) {
    rbt_frontal *f = job->frontal;
    size_t bytes = (job->threads + 1) * slot_bytes(job) + job->groups * below_bytes(job);
    if (f->vector_bytes >= bytes) return true;
    free(f->vectors);
    f->vectors = rbt_frontal_allocate(bytes);
    f->vector_bytes = f->vectors ? bytes : 0;
    return f->vectors;
}

static char *below_of(const solving *job, size_t group, size_t k) {
    const rbt_frontal *f = job->frontal;
    return slot_at(job, job->threads + 1) + group * below_bytes(job) +
           f->vector_at[k] * job->vectors * f->kernels->bytes;
}

static rbt_front_vectors vectors_of(const solving *job, size_t group, size_t slot, size_t k) {
    return (rbt_front_vectors){.count = job->vectors,
                               .x = slot_at(job, slot) + group * numbers_bytes(job, job->frontal->widest),
                               .y = below_of(job, group, k)};
}

static char *sums_of(const solving *job, size_t group, size_t slot) {
    return slot_at(job, slot) + job->groups * numbers_bytes(job, job->frontal->widest) +
           group * numbers_bytes(job, job->frontal->sums);
}

static double *unknowns_of(const solving *job, size_t group, size_t k) {
    return job->x + group * RBT_COLUMN_GROUP * job->stride +
           job->frontal->tree->block * (size_t)job->frontal->tree->first[k];
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

// Right-hand sides of a group, without the padding
static size_t count_of(const solving *job, size_t group) {
    return least(job->count - group * RBT_COLUMN_GROUP, RBT_COLUMN_GROUP);
}

static void load(const solving *job, size_t group, const rbt_front *front, size_t k, const rbt_front_vectors *v) {
    const rbt_dense_kernels *d = job->frontal->kernels;
    size_t each = front->width_padded * d->bytes, count = count_of(job, group);
    d->load(unknowns_of(job, group, k), job->stride, front->width, front->width_padded, count, v->x);
    memset((char *)v->x + count * each, 0, (v->count - count) * each);
}

static void store(const solving *job, size_t group, const rbt_front *front, size_t k, const rbt_front_vectors *v) {
    job->frontal->kernels->store(v->x, front->width_padded, front->width, count_of(job, group),
                                 unknowns_of(job, group, k), job->stride);
}

// ---- up ----

static void begin_forward(const solving *job, size_t group, const rbt_front *front, size_t k,
                          const rbt_front_vectors *v) {
    const rbt_frontal *f = job->frontal;
    load(job, group, front, k, v);
    memset(v->y, 0, front->below_padded * v->count * f->kernels->bytes);
    for (int32_t c = f->child[k]; c >= 0; c = f->sibling[c]) {
        rbt_front child = rbt_frontal_front(f, (size_t)c);
        f->kernels->add_vectors(front, v, &child, below_of(job, group, (size_t)c),
                                f->tree->relative + f->tree->row_start[c], f->tree->block);
    }
}

static size_t items(size_t count, size_t each) { return (count + each - 1) / each; }

static void forward_items(const solving *job, rbt_crew *crew, size_t slot, const rbt_front *front, size_t k,
                          size_t first, size_t last, size_t strip, size_t last_strip) {
    size_t count = items(last_strip - strip, ITEM_FORWARD), i;
    if (!count) return;
    while ((i = rbt_crew_take(crew)) < count)
        for (size_t g = 0; g < job->groups; g++) {
            rbt_front_vectors v = vectors_of(job, g, slot, k);
            job->frontal->kernels->forward_strips(front, &v, first, last, strip + i * ITEM_FORWARD,
                                                  least(strip + (i + 1) * ITEM_FORWARD, last_strip));
        }
    rbt_crew_meet(crew, count);
}

static void forward(const solving *job, rbt_crew *crew, size_t slot, size_t k) {
    const rbt_dense_kernels *d = job->frontal->kernels;
    rbt_front front = rbt_frontal_front(job->frontal, k);
    size_t upper = rbt_strip_count(d, front.width), lower = rbt_strip_count(d, front.below), g;
    for (size_t first = 0; first < front.width; first += RBT_SOLVE_BLOCK) {
        size_t next = least(first + RBT_SOLVE_BLOCK, front.width);
        while ((g = rbt_crew_take(crew)) < job->groups) {
            rbt_front_vectors v = vectors_of(job, g, slot, k);
            if (!first) begin_forward(job, g, &front, k, &v);
            d->forward(&front, &v, first);
            if (next == front.width) store(job, g, &front, k, &v);
        }
        rbt_crew_meet(crew, job->groups);
        forward_items(job, crew, slot, &front, k, first, next, rbt_strip_count(d, next), upper);
    }
    forward_items(job, crew, slot, &front, k, 0, front.width, upper, upper + lower);
}

// ---- down ----

static void begin_backward(const solving *job, size_t group, const rbt_front *front, size_t k,
                           const rbt_front_vectors *v) {
    const rbt_frontal *f = job->frontal;
    const rbt_supernodes *t = f->tree;
    size_t each = front->below_padded * f->kernels->bytes, count = count_of(job, group);
    load(job, group, front, k, v);
    f->kernels->gather(job->x + group * RBT_COLUMN_GROUP * job->stride, job->stride, t->row + t->row_start[k],
                       t->row_start[k + 1] - t->row_start[k], t->block, front->below_padded, count, v->y);
    memset((char *)v->y + count * each, 0, (v->count - count) * each);
}

// Sums of the columns from `first` to `last` over strips, so many apart from others: returns how many
static size_t backward_items(const solving *job, rbt_crew *crew, size_t slot, const rbt_front *front, size_t k,
                             size_t first, size_t last, size_t strip, size_t last_strip) {
    const rbt_dense_kernels *d = job->frontal->kernels;
    size_t parts = items(last_strip - strip, RBT_SOLVE_STRIPS), reaches = items(last - first, RBT_SOLVE_REACH), i;
    if (!parts) return 0;
    while ((i = rbt_crew_take(crew)) < parts * reaches) {
        size_t part = i / reaches, column = first + i % reaches * RBT_SOLVE_REACH;
        size_t begin = strip + part * RBT_SOLVE_STRIPS;
        size_t at = (part * (last - first) + column - first) * job->vectors * d->bytes;
        for (size_t g = 0; g < job->groups; g++) {
            rbt_front_vectors v = vectors_of(job, g, slot, k);
            d->backward_strips(front, &v, column, least(column + RBT_SOLVE_REACH, last), begin,
                               least(begin + RBT_SOLVE_STRIPS, last_strip), sums_of(job, g, slot) + at);
        }
    }
    rbt_crew_meet(crew, parts * reaches);
    return parts;
}

static void backward(const solving *job, rbt_crew *crew, size_t slot, size_t k) {
    const rbt_dense_kernels *d = job->frontal->kernels;
    rbt_front front = rbt_frontal_front(job->frontal, k);
    size_t upper = rbt_strip_count(d, front.width), lower = rbt_strip_count(d, front.below), g;
    while ((g = rbt_crew_take(crew)) < job->groups) {
        rbt_front_vectors v = vectors_of(job, g, slot, k);
        begin_backward(job, g, &front, k, &v);
    }
    rbt_crew_meet(crew, job->groups);
    size_t below = backward_items(job, crew, slot, &front, k, 0, front.width, upper, upper + lower);
    for (size_t first = (front.width - 1) / RBT_SOLVE_BLOCK * RBT_SOLVE_BLOCK;; first -= RBT_SOLVE_BLOCK) {
        size_t next = least(first + RBT_SOLVE_BLOCK, front.width);
        // What is below all of it is taken before the first block, when its sums are not yet overwritten.
        bool is_first = next == front.width;
        size_t parts = is_first
                           ? below
                           : backward_items(job, crew, slot, &front, k, first, next, rbt_strip_count(d, next), upper);
        while ((g = rbt_crew_take(crew)) < job->groups) {
            rbt_front_vectors v = vectors_of(job, g, slot, k);
            d->take(&front, &v, is_first ? 0 : first, next, parts, sums_of(job, g, slot));
            d->backward(&front, &v, first);
            if (!first) store(job, g, &front, k, &v);
        }
        rbt_crew_meet(crew, job->groups);
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
    size_t unknowns = f->tree->block * f->tree->node_count, most = MOST_GROUPS * RBT_COLUMN_GROUP;
    for (size_t done = 0; done < count; done += most) {
        size_t here = least(count - done, most);
        solving job = {.frontal = f,
                       .x = x + done * unknowns,
                       .stride = unknowns,
                       .count = here,
                       .vectors = here == 1 ? 1 : RBT_COLUMN_GROUP,
                       .groups = items(here, RBT_COLUMN_GROUP),
                       .threads =
                           f->tree->fill * (double)least(here, RBT_COLUMN_GROUP) < ENOUGH ? 1 : rbt_crew_size()};
        if (!reserve(&job)) return false;
        rbt_crew_work(job.threads, work, &job);
    }
    return true;
}
