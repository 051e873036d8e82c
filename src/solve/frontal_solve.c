// L y = b from the leaves to the roots, then L^T x = y back. On the way up each front leaves to its parent, in a
// vector of its own, what it takes from the unknowns below. With one right-hand side the time goes into reading L,
// once up and once down; more of them go in groups whose numbers lie side by side, one group after the other in each
// piece of a front, which is then still in a cache.
#include "base/team.h"
#include "solve/frontal_parts.h"

#include <stdlib.h>
#include <string.h>

// Numbers of L from which threads share them: of the whole factor, times the right-hand sides that are used with
// each; of one front
static const double ENOUGH = 1e5, ENOUGH_FRONT = 4e4;
// Numbers of all shared fronts up to which each thread reads all of them, for right-hand sides of its own. (52 of
// these, two threads: a moebius strip of 5,832 nodes took 0.9 of the time, a bridge of 29,862, with more numbers,
// 1.03.)
static const double MAX_FOR_EACH = 1e6;

// strips; nodes; groups that go through the fronts together
enum { ITEM_FORWARD = 8, ITEM_NODES = 256, MAX_GROUPS = 8 };

typedef struct solving {
    rbt_frontal *frontal;
    const rbt_front_sides *from, *to;
    const double *b;
    double *x;
    size_t first, count;  // right-hand sides
    size_t width;         // of a group, 1 if there is one right-hand side; the last group may be narrower
    size_t groups, threads;
    size_t group, last_group;  // those that a team works on
} solving;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t items(size_t count, size_t each) { return (count + each - 1) / each; }

// Work space, for each group: all unknowns; what fronts leave to their parents; sums of the front that threads share.
// Then, with one right-hand side, x of a front for each thread and (number `threads`) for all.
static size_t numbers_bytes(const solving *job, size_t numbers) {
    return rbt_padded(numbers * job->width * job->frontal->kernels->bytes, 64);
}
static size_t unknown_count(const rbt_frontal *f) { return f->tree->block * f->tree->node_count; }
static size_t below_count(const rbt_frontal *f) { return f->vector_at[f->tree->count]; }
static size_t group_bytes(const solving *job) {
    const rbt_frontal *f = job->frontal;
    return numbers_bytes(job, unknown_count(f)) + numbers_bytes(job, below_count(f)) + numbers_bytes(job, f->sums);
}
static size_t slot_bytes(const solving *job) {
    return job->width == 1 ? numbers_bytes(job, job->frontal->widest) : 0;
}

static bool reserve(const solving *job) {
    rbt_frontal *f = job->frontal;
    size_t bytes = job->groups * group_bytes(job) + (job->threads + 1) * slot_bytes(job);
    if (f->vector_bytes >= bytes) return true;
    free(f->vectors);
    f->vectors = rbt_frontal_allocate(bytes);
    f->vector_bytes = f->vectors ? bytes : 0;
    return f->vectors;
}

// Right-hand sides of a group, without the padding to whole vectors, and with it
static size_t count_of(const solving *job, size_t group) {
    return least(job->count - group * job->width, job->width);
}
static size_t width_of(const solving *job, size_t group) {
    return job->width == 1 ? 1 : rbt_padded(count_of(job, group), job->frontal->kernels->lanes);
}

static char *group_at(const solving *job, size_t group) { return job->frontal->vectors + group * group_bytes(job); }
static char *unknowns_of(const solving *job, size_t group, size_t k) {
    const rbt_frontal *f = job->frontal;
    size_t unknown = f->tree->block * (size_t)f->tree->first[k];
    return group_at(job, group) + unknown * width_of(job, group) * f->kernels->bytes;
}
static char *below_of(const solving *job, size_t group, size_t k) {
    const rbt_frontal *f = job->frontal;
    return group_at(job, group) + numbers_bytes(job, unknown_count(f)) +
           f->vector_at[k] * width_of(job, group) * f->kernels->bytes;
}
static char *sums_of(const solving *job, size_t group) {
    const rbt_frontal *f = job->frontal;
    return group_at(job, group) + numbers_bytes(job, unknown_count(f)) + numbers_bytes(job, below_count(f));
}

// A single right-hand side is taken out of the unknowns, since its kernels need the padding; groups are worked on in
// place.
static rbt_front_vectors vectors_of(const solving *job, size_t group, size_t slot, size_t k) {
    char *x = job->width == 1 ? group_at(job, job->groups) + slot * slot_bytes(job) : unknowns_of(job, group, k);
    return (rbt_front_vectors){.width = width_of(job, group), .x = x, .y = below_of(job, group, k)};
}

static void load(const solving *job, const rbt_front *front, size_t k, const rbt_front_vectors *v) {
    size_t each = job->frontal->kernels->bytes;
    if (job->width > 1) return;
    memcpy(v->x, unknowns_of(job, 0, k), front->width * each);
    memset((char *)v->x + front->width * each, 0, (front->width_padded - front->width) * each);
}
static void store(const solving *job, const rbt_front *front, size_t k, const rbt_front_vectors *v) {
    if (job->width == 1) memcpy(unknowns_of(job, 0, k), v->x, front->width * job->frontal->kernels->bytes);
}

// ---- up ----

static void begin_forward(const solving *job, size_t group, const rbt_front *front, size_t k,
                          const rbt_front_vectors *v) {
    const rbt_frontal *f = job->frontal;
    load(job, front, k, v);
    memset(v->y, 0, front->below_padded * v->width * f->kernels->bytes);
    for (int32_t c = f->child[k]; c >= 0; c = f->sibling[c]) {
        rbt_front child = rbt_frontal_front(f, (size_t)c);
        f->kernels->add_vectors(front, v, &child, below_of(job, group, (size_t)c),
                                f->tree->relative + f->tree->row_start[c], f->tree->block);
    }
}

static void forward_items(const solving *job, rbt_team *team, size_t slot, const rbt_front *front, size_t k,
                          size_t first, size_t last, size_t strip, size_t last_strip) {
    size_t count = items(last_strip - strip, ITEM_FORWARD), i;
    if (!count) return;
    while ((i = rbt_team_take(team)) < count)
        for (size_t g = job->group; g < job->last_group; g++) {
            rbt_front_vectors v = vectors_of(job, g, slot, k);
            job->frontal->kernels->forward_strips(front, &v, first, last, strip + i * ITEM_FORWARD,
                                                  least(strip + (i + 1) * ITEM_FORWARD, last_strip));
        }
    rbt_team_meet(team, count);
}

static void forward(const solving *job, rbt_team *team, size_t slot, size_t k) {
    const rbt_dense_kernels *d = job->frontal->kernels;
    rbt_front front = rbt_frontal_front(job->frontal, k);
    size_t upper = rbt_strip_count(d, front.width), lower = rbt_strip_count(d, front.below), g;
    for (size_t first = 0; first < front.width; first += RBT_SOLVE_BLOCK) {
        size_t next = least(first + RBT_SOLVE_BLOCK, front.width);
        while ((g = job->group + rbt_team_take(team)) < job->last_group) {
            rbt_front_vectors v = vectors_of(job, g, slot, k);
            if (!first) begin_forward(job, g, &front, k, &v);
            d->forward(&front, &v, first);
            if (next == front.width) store(job, &front, k, &v);
        }
        rbt_team_meet(team, job->last_group - job->group);
        forward_items(job, team, slot, &front, k, first, next, rbt_strip_count(d, next), upper);
    }
    forward_items(job, team, slot, &front, k, 0, front.width, upper, upper + lower);
}

// ---- down ----

static void begin_backward(const solving *job, size_t group, const rbt_front *front, size_t k,
                           const rbt_front_vectors *v) {
    const rbt_frontal *f = job->frontal;
    const rbt_supernodes *t = f->tree;
    size_t each = v->width * f->kernels->bytes, padding = front->below_padded - front->below;
    load(job, front, k, v);
    f->kernels->gather(group_at(job, group), t->row + t->row_start[k], t->row_start[k + 1] - t->row_start[k],
                       t->block, v->width, v->y);
    memset((char *)v->y + front->below * each, 0, padding * each);
}

// What strips take from the columns from `first` to `last`, so many strips at a time. Who is alone takes it at once;
// with others it is left in sums, of which the number is returned.
static size_t backward_items(const solving *job, rbt_team *team, size_t slot, const rbt_front *front, size_t k,
                             size_t first, size_t last, size_t strip, size_t last_strip) {
    const rbt_dense_kernels *d = job->frontal->kernels;
    size_t parts = items(last_strip - strip, RBT_SOLVE_STRIPS), reaches = items(last - first, RBT_SOLVE_REACH), i;
    if (!parts) return 0;
    while ((i = rbt_team_take(team)) < parts * reaches) {
        size_t part = i / reaches, column = first + i % reaches * RBT_SOLVE_REACH;
        size_t begin = strip + part * RBT_SOLVE_STRIPS;
        size_t at = (part * (last - first) + column - first) * d->bytes;
        for (size_t g = job->group; g < job->last_group; g++) {
            rbt_front_vectors v = vectors_of(job, g, slot, k);
            d->backward_strips(front, &v, column, least(column + RBT_SOLVE_REACH, last), begin,
                               least(begin + RBT_SOLVE_STRIPS, last_strip),
                               team->members > 1 ? sums_of(job, g) + at * v.width : NULL);
        }
    }
    rbt_team_meet(team, parts * reaches);
    return team->members > 1 ? parts : 0;
}

static void backward(const solving *job, rbt_team *team, size_t slot, size_t k) {
    const rbt_dense_kernels *d = job->frontal->kernels;
    rbt_front front = rbt_frontal_front(job->frontal, k);
    size_t upper = rbt_strip_count(d, front.width), lower = rbt_strip_count(d, front.below), g;
    while ((g = job->group + rbt_team_take(team)) < job->last_group) {
        rbt_front_vectors v = vectors_of(job, g, slot, k);
        begin_backward(job, g, &front, k, &v);
    }
    rbt_team_meet(team, job->last_group - job->group);
    size_t below = backward_items(job, team, slot, &front, k, 0, front.width, upper, upper + lower);
    for (size_t first = (front.width - 1) / RBT_SOLVE_BLOCK * RBT_SOLVE_BLOCK;; first -= RBT_SOLVE_BLOCK) {
        size_t next = least(first + RBT_SOLVE_BLOCK, front.width);
        // What is below all of it is taken before the first block, when its sums are not yet overwritten.
        bool is_first = next == front.width;
        size_t parts = is_first
                           ? below
                           : backward_items(job, team, slot, &front, k, first, next, rbt_strip_count(d, next), upper);
        while ((g = job->group + rbt_team_take(team)) < job->last_group) {
            rbt_front_vectors v = vectors_of(job, g, slot, k);
            d->take(&v, is_first ? 0 : first, next, parts, sums_of(job, g));
            d->backward(&front, &v, first);
            if (!first) store(job, &front, k, &v);
        }
        rbt_team_meet(team, job->last_group - job->group);
        if (!first) return;
    }
}

// ---- all fronts ----

static double numbers(const rbt_frontal *f, size_t k) {
    rbt_front front = rbt_frontal_front(f, k);
    return (double)front.width * ((double)front.width / 2 + (double)front.below);
}

// A front above the tasks: by all, or if it is small by whoever comes first
static void shared(const solving *job, rbt_team *team, size_t k,
                   void (*pass)(const solving *, rbt_team *, size_t, size_t)) {
    rbt_team alone = rbt_team_alone();
    if (team->members == 1 || numbers(job->frontal, k) >= ENOUGH_FRONT) {
        pass(job, team, job->threads, k);
        return;
    }
    while (rbt_team_take(team) < 1) pass(job, &alone, job->threads, k);
    rbt_team_meet(team, 1);
}

// All fronts above the tasks, up and down. Threads share the groups if there are enough of them, otherwise the work
// of each front.
static void shared_fronts(const solving *job, rbt_team *team) {
    const rbt_frontal *f = job->frontal;
    rbt_team alone = rbt_team_alone();
    double all = 0;
    for (size_t s = 0; s < f->shared_count; s++) all += numbers(f, (size_t)f->shared[s]);
    if (job->groups < team->members || team->members == 1 || all > MAX_FOR_EACH) {
        for (size_t s = 0; s < f->shared_count; s++) shared(job, team, (size_t)f->shared[s], forward);
        for (size_t s = f->shared_count; s-- > 0;) shared(job, team, (size_t)f->shared[s], backward);
        return;
    }
    solving part = *job;
    while ((part.group = rbt_team_take(team)) < job->groups) {
        part.last_group = part.group + 1;
        for (size_t s = 0; s < f->shared_count; s++) forward(&part, &alone, job->threads, (size_t)f->shared[s]);
        for (size_t s = f->shared_count; s-- > 0;) backward(&part, &alone, job->threads, (size_t)f->shared[s]);
    }
    rbt_team_meet(team, job->groups);
}

// Between the caller's vectors and the groups, a run of nodes of one group at a time
static void exchange(const solving *job, rbt_team *team, bool enter) {
    const rbt_dense_kernels *d = job->frontal->kernels;
    size_t nodes = job->frontal->tree->node_count, runs = items(nodes, ITEM_NODES), i;
    while ((i = rbt_team_take(team)) < runs * job->groups) {
        size_t group = i / runs, first = i % runs * ITEM_NODES, last = least(first + ITEM_NODES, nodes);
        size_t side = job->first + group * job->width, count = count_of(job, group), width = width_of(job, group);
        if (enter) d->read_sides(job->b, job->from, first, last, side, count, width, group_at(job, group));
        else d->write_sides(group_at(job, group), job->to, first, last, side, count, width, job->x);
    }
    rbt_team_meet(team, runs * job->groups);
}

// Who works on which subtree, the same in every solve, so that L is found in the cache where the last solve left it:
// each goes to the member that has the fewest numbers of L so far.
static void divide_tasks(rbt_frontal *f, size_t members) {
    if (members > f->task_count) members = f->task_count;
    memset(f->load, 0, members * sizeof *f->load);
    for (size_t i = 0; i < f->task_count; i++) {
        size_t best = 0;
        for (size_t m = 1; m < members; m++)
            if (f->load[m] < f->load[best]) best = m;
        f->load[best] += f->factor_start[f->task_root[i] + 1] - f->factor_start[f->task_first[i]];
        f->owner[i] = best;
    }
}

// The way back begins where the way up ended, for the sake of the cache.
static void work(void *solving_job, rbt_team *team) {
    const solving *job = solving_job;
    rbt_frontal *f = job->frontal;
    rbt_team alone = rbt_team_alone();
    size_t member = team->member;
    if (!member) divide_tasks(f, team->members);
    exchange(job, team, true);
    for (size_t i = 0; i < f->task_count; i++)
        for (size_t k = (size_t)f->task_first[i]; f->owner[i] == member && k <= (size_t)f->task_root[i]; k++)
            forward(job, &alone, member, k);
    rbt_team_wait(team);
    shared_fronts(job, team);
    for (size_t i = f->task_count; i-- > 0;)
        for (size_t k = (size_t)f->task_root[i] + 1; f->owner[i] == member && k-- > (size_t)f->task_first[i];)
            backward(job, &alone, member, k);
    rbt_team_wait(team);
    exchange(job, team, false);
}

bool rbt_frontal_solve(rbt_frontal *f, const rbt_front_sides *from, const double *b, const rbt_front_sides *to,
                       double *x) {
    size_t lanes = f->kernels->lanes, most = MAX_GROUPS * RBT_SIDES_VECTORS * lanes;
    for (size_t done = 0; done < from->count; done += most) {
        size_t here = least(from->count - done, most);
        solving job = {.frontal = f, .from = from, .to = to, .b = b, .x = x, .first = done, .count = here};
        // As few groups as can be, of about the same width
        size_t vectors = items(here, lanes);
        job.width = here == 1 ? 1 : items(vectors, items(vectors, RBT_SIDES_VECTORS)) * lanes;
        job.groups = job.last_group = items(here, job.width);
        job.threads = f->tree->fill * (double)least(here, lanes) < ENOUGH ? 1 : rbt_team_size();
        if (!reserve(&job)) return false;
        rbt_team_work(job.threads, work, &job);
    }
    return true;
}
