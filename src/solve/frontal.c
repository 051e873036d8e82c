#include "base/crew.h"
#include "base/memory.h"
#include "solve/frontal_parts.h"

#include <string.h>

// Work [flops and the like] from which threads share it: a factorisation, one front
static const double ENOUGH = 2e6, ENOUGH_FRONT = 4e5;

// Items of the work on one front: nodes whose columns are assembled, strips that are eliminated, that are subtracted
enum { ITEM_NODES = 16, ITEM_ELIMINATE = 4, ITEM_SUBTRACT = 8 };

typedef struct factoring {
    rbt_frontal *frontal;
    const double *value;
    size_t bad;      // first unknown with a bad pivot in a shared front, SIZE_MAX: none
    size_t *failed;  // (task_count) the same for each task
} factoring;

static bool space_reserve(rbt_frontal_space *s, size_t panel, const size_t stack[2]) {
    size_t bytes = 0, parts[3] = {panel, stack[0], stack[1]};
    for (int i = 0; i < 3; i++)
        if (parts[i] > SIZE_MAX - 64 || __builtin_add_overflow(bytes, rbt_padded(parts[i], 64), &bytes)) return false;
    if (!s->memory) s->memory = rbt_frontal_allocate(bytes);
    if (!s->memory) return false;
    s->panel = s->memory;
    s->stack[0] = s->panel + rbt_padded(panel, 64);
    s->stack[1] = s->stack[0] + rbt_padded(stack[0], 64);
    return true;
}

static bool reserve(rbt_frontal *f, size_t threads) {
    if (!f->factor) f->factor = rbt_frontal_allocate(f->factor_start[f->tree->count]);
    if (!f->held) f->held = rbt_frontal_allocate(f->held_bytes);
    if (!f->factor || !f->held) return false;
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
    return (f->is_root[k] ? f->held : s->stack[f->parity[k]]) + f->update_at[k];
}

// Columns of nodes from `first` to `last` of a front: entries of the matrix, then what the children leave, in their order
static void assemble(const factoring *job, const rbt_frontal_space *s, size_t k, const rbt_front *front, size_t first,
                     size_t last) {
    const rbt_frontal *f = job->frontal;
    const rbt_supernodes *t = f->tree;
    size_t block = t->block, width = front->width / block, begin = (size_t)t->first[k];
    f->kernels->clear(front, block * first, block * last);
    for (size_t c = first; c < last && c < width; c++) {
        size_t at = f->entries.start[begin + c];
        rbt_front_entries entries = {.value = job->value,
                                     .source = f->entries.source + at,
                                     .row = f->entry_row + at,
                                     .count = f->entries.start[begin + c + 1] - at,
                                     .block = block};
        f->kernels->enter(front, block * c, &entries);
    }
    for (int32_t c = f->child[k]; c >= 0; c = f->sibling[c]) {
        rbt_front child = rbt_frontal_front(f, (size_t)c);
        child.update = update_of(f, s, (size_t)c);
        f->kernels->add(front, &child, t->relative + t->row_start[c], block, first, last);
    }
}

static size_t items(size_t count, size_t each) { return (count + each - 1) / each; }
static size_t least(size_t a, size_t b) { return a < b ? a : b; }

// Eliminates the front of k. False if a pivot is bad: *bad is its unknown then.
static bool eliminate(const factoring *job, rbt_crew *crew, const rbt_frontal_space *s, size_t k, size_t *bad) {
    const rbt_frontal *f = job->frontal;
    const rbt_dense_kernels *d = f->kernels;
    rbt_front front = rbt_frontal_front(f, k);
    front.panel = s->panel;
    front.update = update_of(f, s, k);
    size_t nodes = (front.width + front.below) / f->tree->block, count = items(nodes, ITEM_NODES), i;
    size_t upper = rbt_strip_count(d, front.width), lower = rbt_strip_count(d, front.below);
    while ((i = rbt_crew_take(crew)) < count)
        assemble(job, s, k, &front, i * ITEM_NODES, least((i + 1) * ITEM_NODES, nodes));
    rbt_crew_meet(crew, count);
    for (size_t first = 0; first < front.width; first += RBT_PANEL_BLOCK) {
        while ((i = rbt_crew_take(crew)) < 1) {
            size_t column = d->eliminate(&front, first);
            if (column < front.width) *bad = f->tree->block * (size_t)f->tree->first[k] + column;
        }
        rbt_crew_meet(crew, 1);
        if (*bad != SIZE_MAX) return false;
        size_t from = rbt_strip_count(d, least(first + RBT_PANEL_BLOCK, front.width)), to = upper + lower;
        count = items(to - from, ITEM_ELIMINATE);
        while ((i = rbt_crew_take(crew)) < count)
            d->eliminate_strips(&front, first, from + i * ITEM_ELIMINATE, least(from + (i + 1) * ITEM_ELIMINATE, to));
        rbt_crew_meet(crew, count);
    }
    count = items(lower, ITEM_SUBTRACT);
    while ((i = rbt_crew_take(crew)) < count) {  // the longest strips first
        size_t item = count - 1 - i;
        d->subtract(&front, item * ITEM_SUBTRACT, least((item + 1) * ITEM_SUBTRACT, lower));
    }
    rbt_crew_meet(crew, count);
    return true;
}

static void factor_tasks(factoring *job, rbt_crew *crew, const rbt_frontal_space *s) {
    const rbt_frontal *f = job->frontal;
    rbt_crew alone = rbt_crew_alone();
    size_t i;
    while ((i = rbt_crew_take(crew)) < f->task_count) {
        job->failed[i] = SIZE_MAX;
        for (size_t k = (size_t)f->task_first[i]; k <= (size_t)f->task_root[i]; k++)
            if (!eliminate(job, &alone, s, k, &job->failed[i])) break;
    }
    rbt_crew_meet(crew, f->task_count);
}

// Fronts above the tasks, one after the other; small ones by whoever comes first
static void factor_shared(factoring *job, rbt_crew *crew) {
    const rbt_frontal *f = job->frontal;
    rbt_crew alone = rbt_crew_alone();
    for (size_t i = 0; i < f->shared_count; i++) {
        size_t k = (size_t)f->shared[i];
        if (crew->members > 1 && f->tree->flops[k] < ENOUGH_FRONT) {
            while (rbt_crew_take(crew) < 1) eliminate(job, &alone, &f->shared_space, k, &job->bad);
            rbt_crew_meet(crew, 1);
            if (job->bad != SIZE_MAX) return;
        } else if (!eliminate(job, crew, &f->shared_space, k, &job->bad)) return;
    }
}

static void work(void *factoring_job, rbt_crew *crew) {
    factoring *job = factoring_job;
    const rbt_frontal *f = job->frontal;
    factor_tasks(job, crew, &f->space[crew->member]);
    for (size_t i = 0; i < f->task_count; i++)
        if (job->failed[i] != SIZE_MAX) return;
    factor_shared(job, crew);
}

rbt_frontal_result rbt_frontal_factor(rbt_frontal *f, const double *value, size_t *node) {
    size_t threads = f->work < ENOUGH ? 1 : rbt_crew_size();
    if (!reserve(f, threads)) return RBT_FRONTAL_NO_MEMORY;
    factoring job = {.frontal = f, .value = value, .bad = SIZE_MAX, .failed = f->failed};
    rbt_crew_work(threads, work, &job);
    size_t bad = job.bad;
    for (size_t i = 0; i < f->task_count; i++) bad = least(bad, job.failed[i]);
    if (bad == SIZE_MAX) return RBT_FRONTAL_DONE;
    *node = bad / f->tree->block;
    return RBT_FRONTAL_BAD_PIVOT;
}
