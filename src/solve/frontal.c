#include "base/memory.h"
#include "base/team.h"
#include "solve/frontal_parts.h"

#include <string.h>

// Work [flops and the like] from which threads share it: a factorisation, one front
static const double ENOUGH = 2e6, ENOUGH_FRONT = 4e5;

enum { ITEM_STRIPS = 4 };  // that are eliminated

typedef struct factoring {
    rbt_frontal *frontal;
    const double *value;
    size_t bad[2];   // unknown with a bad pivot in a shared front, of even and of odd number; SIZE_MAX: none
    size_t *failed;  // (task_count) the same for each task
} factoring;

static bool space_reserve(rbt_frontal_space *s, size_t panel, const size_t stack[2]) {
    size_t bytes = 0, parts[4] = {panel, panel, stack[0], stack[1]};
    for (int i = 0; i < 4; i++)
        if (parts[i] > SIZE_MAX - 64 || __builtin_add_overflow(bytes, rbt_padded(parts[i], 64), &bytes)) return false;
    if (!rbt_frontal_make_room(&s->memory, &s->bytes, bytes)) return false;
    s->panel[0] = s->memory;
    s->panel[1] = s->panel[0] + rbt_padded(panel, 64);
    s->stack[0] = s->panel[1] + rbt_padded(panel, 64);
    s->stack[1] = s->stack[0] + rbt_padded(stack[0], 64);
    return true;
}

static bool reserve(rbt_frontal *f, size_t threads) {
    if (!rbt_frontal_make_room(&f->factor, &f->factor_room, f->factor_start[f->tree->count]) ||
        !rbt_frontal_make_room(&f->constrained, &f->constrained_room, f->constrained_bytes))
        return false;
    if (f->shared_count && !space_reserve(&f->shared_space, f->shared_panel, f->shared_stack)) return false;
    if (f->space_count < threads) {
        rbt_frontal_space *more = realloc(f->space, threads * sizeof *more);
        if (!more) return false;
        f->space = more;
        for (; f->space_count < threads; f->space_count++) f->space[f->space_count] = (rbt_frontal_space){0};
    }
    for (size_t i = 0; i < threads; i++)
        if (!space_reserve(&f->space[i], f->task_panel, f->task_stack)) return false;
    return true;
}

static char *update_of(const rbt_frontal *f, const rbt_frontal_space *s, size_t k) {
    return (f->is_root[k] ? f->constrained : s->stack[f->parity[k]]) + f->update_at[k];
}

static size_t items(size_t count, size_t each) { return (count + each - 1) / each; }
static size_t least(size_t a, size_t b) { return a < b ? a : b; }

// Columns from `first` on of a front, one block of the panel or of the update: entries of the matrix, then what the
// children leave, in their order
static void assemble(const factoring *job, const rbt_frontal_space *s, size_t k, const rbt_front *front,
                     size_t first) {
    const rbt_frontal *f = job->frontal;
    const rbt_supernodes *t = f->tree;
    size_t end = first < front->width ? front->width : front->width + front->below;
    size_t last = least(first + RBT_PANEL_BLOCK, end);
    f->kernels->clear(front, first, last);
    if (first < front->width) {
        rbt_front_entries entries = {.value = job->value,
                                     .start = f->entries.start + t->first[k],
                                     .source = f->entries.source,
                                     .row = f->entry_row,
                                     .block = t->block};
        f->kernels->enter(front, &entries, first, last);
    }
    for (int32_t c = f->child[k]; c >= 0; c = f->sibling[c]) {
        rbt_front child = rbt_frontal_front(f, (size_t)c);
        child.update = update_of(f, s, (size_t)c);
        f->kernels->add(front, &child, t->relative + t->row_start[c], t->block, first, last);
    }
}

// The front with another block in the panel: one is assembled while the one before it is eliminated.
static rbt_front with_block(const rbt_front *front, const rbt_frontal_space *s, size_t first) {
    rbt_front other = *front;
    other.panel_first = first;
    other.panel = s->panel[first / RBT_PANEL_BLOCK % 2];
    return other;
}

// Eliminates the front of k. False if a pivot is bad: *bad is its unknown then.
static bool eliminate(const factoring *job, rbt_team *team, const rbt_frontal_space *s, size_t k, size_t *bad) {
    const rbt_frontal *f = job->frontal;
    const rbt_dense_kernels *d = f->kernels;
    rbt_front front = rbt_frontal_front(f, k);
    front.update = update_of(f, s, k);
    size_t strips = rbt_strip_count(d, front.width) + rbt_strip_count(d, front.below), count, i;
    for (size_t first = 0; first < front.width; first += RBT_PANEL_BLOCK) {
        front = with_block(&front, s, first);
        while (rbt_team_take(team) < 1) {
            if (!first) assemble(job, s, k, &front, 0);
            size_t column = d->eliminate(&front);
            if (column < front.width) *bad = f->tree->block * (size_t)f->tree->first[k] + column;
        }
        rbt_team_meet(team, 1);
        if (*bad != SIZE_MAX) return false;
        size_t next = first + RBT_PANEL_BLOCK, from = rbt_strip_count(d, least(next, front.width));
        size_t more = next < front.width;
        count = more + items(strips - from, ITEM_STRIPS);
        while ((i = rbt_team_take(team)) < count) {
            if (more && i == 0) {
                rbt_front following = with_block(&front, s, next);
                assemble(job, s, k, &following, next);
            } else {
                size_t begin = from + (i - more) * ITEM_STRIPS;
                d->eliminate_strips(&front, begin, least(begin + ITEM_STRIPS, strips));
            }
        }
        rbt_team_meet(team, count);
    }
    count = 1 + items(front.below, RBT_PANEL_BLOCK);
    while ((i = rbt_team_take(team)) < count) {
        if (i + 1 == count) {
            d->invert(&front);
            continue;
        }
        size_t first = i * RBT_PANEL_BLOCK;
        assemble(job, s, k, &front, front.width + first);
        d->subtract(&front, first, least(first + RBT_PANEL_BLOCK, front.below));
    }
    rbt_team_meet(team, count);
    return true;
}

static void factor_tasks(factoring *job, rbt_team *team, const rbt_frontal_space *s) {
    const rbt_frontal *f = job->frontal;
    rbt_team alone = rbt_team_alone();
    size_t i;
    while ((i = rbt_team_take(team)) < f->task_count) {
        job->failed[i] = SIZE_MAX;
        for (size_t k = (size_t)f->task_first[i]; k <= (size_t)f->task_root[i]; k++)
            if (!eliminate(job, &alone, s, k, &job->failed[i])) break;
    }
    rbt_team_meet(team, f->task_count);
}

// Fronts above the tasks, one after the other; small ones by whoever comes first. That member may be at work on the
// next front before another has looked how this one ended: so two neighbours do not share the place where a bad pivot
// is noted.
static void factor_shared(factoring *job, rbt_team *team) {
    const rbt_frontal *f = job->frontal;
    rbt_team alone = rbt_team_alone();
    for (size_t i = 0; i < f->shared_count; i++) {
        size_t k = (size_t)f->shared[i], *bad = &job->bad[i % 2];
        if (team->members > 1 && f->tree->flops[k] < ENOUGH_FRONT) {
            while (rbt_team_take(team) < 1) eliminate(job, &alone, &f->shared_space, k, bad);
            rbt_team_meet(team, 1);
            if (*bad != SIZE_MAX) return;
        } else if (!eliminate(job, team, &f->shared_space, k, bad)) return;
    }
}

static void work(void *factoring_job, rbt_team *team) {
    factoring *job = factoring_job;
    const rbt_frontal *f = job->frontal;
    factor_tasks(job, team, &f->space[team->member]);
    for (size_t i = 0; i < f->task_count; i++)
        if (job->failed[i] != SIZE_MAX) return;
    factor_shared(job, team);
}

rbt_frontal_result rbt_frontal_factor(rbt_frontal *f, const double *value, size_t *node) {
    size_t threads = f->work < ENOUGH ? 1 : rbt_team_size();
    if (!reserve(f, threads)) return RBT_FRONTAL_NO_MEMORY;
    factoring job = {.frontal = f, .value = value, .bad = {SIZE_MAX, SIZE_MAX}, .failed = f->failed};
    rbt_team_work(threads, work, &job);
    size_t bad = least(job.bad[0], job.bad[1]);
    for (size_t i = 0; i < f->task_count; i++) bad = least(bad, job.failed[i]);
    if (bad == SIZE_MAX) return RBT_FRONTAL_DONE;
    *node = bad / f->tree->block;
    return RBT_FRONTAL_BAD_PIVOT;
}
