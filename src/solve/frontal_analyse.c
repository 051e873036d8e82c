// Who works on which fronts, and where everything is in memory: found once, before there are any numbers.
#include "base/memory.h"
#include "solve/frontal_parts.h"

#include <string.h>
#include <sys/mman.h>

// Subtrees with at most this part of the work, or this much of it, are tasks.
static const double TASK_PART = 1.0 / 24, TASK_LEAST = 1e6;

void *rbt_frontal_allocate(size_t bytes) {
    enum { LINE = 64, HUGE_PAGE = 2 << 20 };
    size_t alignment = bytes < 2 * HUGE_PAGE ? LINE : HUGE_PAGE;
    if (bytes > SIZE_MAX - HUGE_PAGE) return NULL;
    bytes = rbt_padded(bytes ? bytes : 1, alignment);
    void *memory = aligned_alloc(alignment, bytes);
    if (memory && alignment == HUGE_PAGE) madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

bool rbt_frontal_make_room(void *pointer, size_t *room, size_t bytes) {
    void **memory = pointer;
    if (*memory && *room >= bytes) return true;
    free(*memory);
    *memory = rbt_frontal_allocate(bytes);
    *room = *memory ? bytes : 0;
    return *memory != NULL;
}

void rbt_frontal_inherit(rbt_frontal *f, rbt_frontal *former) {
    if (f->factor || f->space || f->vectors) return;
    f->factor = former->factor, f->factor_room = former->factor_room;
    f->constrained = former->constrained, f->constrained_room = former->constrained_room;
    f->shared_space = former->shared_space;
    f->space = former->space, f->space_count = former->space_count;
    f->vectors = former->vectors, f->vector_bytes = former->vector_bytes;
    former->factor = former->constrained = former->vectors = NULL;
    former->shared_space = (rbt_frontal_space){0};
    former->space = NULL;
    former->space_count = former->vector_bytes = 0;
}

static void space_free(rbt_frontal_space *s) { free(s->memory); }

void rbt_frontal_free(rbt_frontal *f) {
    if (!f) return;
    for (size_t i = 0; i < f->space_count; i++) space_free(&f->space[i]);
    space_free(&f->shared_space);
    free(f->space), free(f->entry_row), free(f->child), free(f->sibling), free(f->parity);
    free(f->factor_start), free(f->update_at), free(f->vector_at);
    free(f->task_first), free(f->task_root), free(f->shared), free(f->is_root), free(f->failed);
    free(f->owner), free(f->load);
    free(f->factor), free(f->constrained), free(f->vectors);
    free(f);
}

rbt_front rbt_frontal_front(const rbt_frontal *f, size_t k) {
    const rbt_supernodes *t = f->tree;
    rbt_front front = {.width = t->block * (size_t)(t->first[k + 1] - t->first[k]),
                       .below = t->block * (t->row_start[k + 1] - t->row_start[k])};
    front.width_padded = rbt_padded(front.width, f->kernels->quantum);
    front.below_padded = rbt_padded(front.below, f->kernels->quantum);
    if (f->factor) front.factor = f->factor + f->factor_start[k];
    return front;
}

static void find_children(rbt_frontal *f) {
    const rbt_supernodes *t = f->tree;
    for (size_t k = 0; k < t->count; k++) f->child[k] = -1;
    for (size_t k = t->count; k-- > 0;) {  // lists ascend
        int32_t p = t->parent[k];
        f->parity[k] = p < 0 ? 0 : !f->parity[p];
        f->sibling[k] = p < 0 ? -1 : f->child[p];
        if (p >= 0) f->child[p] = (int32_t)k;
    }
}

// Entries know their node; find it in the front.
static void find_entry_rows(rbt_frontal *f, int32_t *position) {
    const rbt_supernodes *t = f->tree;
    for (size_t k = 0; k < t->count; k++) {
        int32_t width = t->first[k + 1] - t->first[k];
        for (size_t e = t->row_start[k]; e < t->row_start[k + 1]; e++)
            position[t->row[e]] = width + (int32_t)(e - t->row_start[k]);
        for (size_t e = f->entries.start[t->first[k]]; e < f->entries.start[t->first[k + 1]]; e++) {
            int32_t row = f->entries.row[e];
            f->entry_row[e] = row < t->first[k + 1] ? row - t->first[k] : position[row];
        }
    }
}

// ---- tasks ----

typedef struct task {
    double work;
    int32_t first, root;
} task;

static int compare_tasks(const void *a, const void *b) {
    const task *s = a, *t = b;
    if (s->work != t->work) return s->work > t->work ? -1 : 1;
    return (s->root > t->root) - (s->root < t->root);
}

static bool find_tasks(rbt_frontal *f, rbt_error *error) {
    const rbt_supernodes *t = f->tree;
    const char *what = "the tasks of a factorisation";
    double *work = rbt_array_new(t->count, sizeof *work, what, error);
    int32_t *first = rbt_array_new(t->count, sizeof *first, what, error);
    task *tasks = rbt_array_new(t->count, sizeof *tasks, what, error);
    bool good = work && first && tasks;
    for (size_t k = 0; good && k < t->count; k++) first[k] = (int32_t)k;
    for (size_t k = 0; good && k < t->count; k++) {
        double below = (double)(t->block * (t->row_start[k + 1] - t->row_start[k]));
        work[k] += t->flops[k] + 10 * below * below + 1e4;
        int32_t p = t->parent[k];
        if (p < 0) f->work += work[k];
        else {
            work[p] += work[k];
            if (first[k] < first[p]) first[p] = first[k];
        }
    }
    double most = TASK_PART * f->work > TASK_LEAST ? TASK_PART * f->work : TASK_LEAST;
    for (size_t k = 0; good && k < t->count; k++) {
        int32_t p = t->parent[k];
        if (work[k] > most) f->shared[f->shared_count++] = (int32_t)k;
        else if (p < 0 || work[p] > most) {
            tasks[f->task_count++] = (task){work[k], first[k], (int32_t)k};
            f->is_root[k] = 1;
        }
    }
    if (good) qsort(tasks, f->task_count, sizeof *tasks, compare_tasks);
    for (size_t i = 0; i < f->task_count; i++) {
        f->task_first[i] = tasks[i].first;
        f->task_root[i] = tasks[i].root;
    }
    free(work);
    free(first);
    free(tasks);
    return good;
}

// ---- memory ----

// *sum += `count` numbers, which are not more than rows x columns
static bool add_bytes(const rbt_frontal *f, size_t *sum, size_t rows, size_t columns, size_t count) {
    size_t most;
    if (__builtin_mul_overflow(rows, columns, &most) || __builtin_mul_overflow(most, f->kernels->bytes, &most))
        return false;
    if (*sum > SIZE_MAX - 64 || most > SIZE_MAX - 64 - *sum) return false;
    *sum += rbt_padded(count * f->kernels->bytes, 64);
    return true;
}

// The update of k goes onto the stack of its depth, or is constrained if it is the last of a task; those of its
// children leave theirs.
static bool place_update(rbt_frontal *f, size_t k, size_t top[2], size_t most[2]) {
    rbt_front front = rbt_frontal_front(f, k);
    size_t *stack = f->is_root[k] ? &f->constrained_bytes : &top[f->parity[k]];
    f->update_at[k] = *stack;
    if (!add_bytes(f, stack, front.below_padded, front.below_padded, rbt_update_count(f->kernels, &front)))
        return false;
    for (int i = 0; i < 2; i++) most[i] = most[i] > top[i] ? most[i] : top[i];
    for (int32_t c = f->child[k]; c >= 0; c = f->sibling[c])
        if (!f->is_root[c] && f->update_at[c] < top[f->parity[c]]) top[f->parity[c]] = f->update_at[c];
    return true;
}

static bool place_panel(const rbt_frontal *f, size_t k, size_t *most) {
    rbt_front front = rbt_frontal_front(f, k);
    size_t bytes = 0;
    if (!add_bytes(f, &bytes, front.width_padded + front.below_padded, RBT_PANEL_BLOCK, rbt_panel_count(&front)))
        return false;
    *most = *most > bytes ? *most : bytes;
    return true;
}

static bool place_all(rbt_frontal *f) {
    for (size_t i = 0; i < f->task_count; i++) {
        size_t top[2] = {0, 0};
        for (size_t k = (size_t)f->task_first[i]; k <= (size_t)f->task_root[i]; k++)
            if (!place_update(f, k, top, f->task_stack) || !place_panel(f, k, &f->task_panel)) return false;
    }
    size_t top[2] = {0, 0};
    for (size_t i = 0; i < f->shared_count; i++)
        if (!place_update(f, (size_t)f->shared[i], top, f->shared_stack) ||
            !place_panel(f, (size_t)f->shared[i], &f->shared_panel))
            return false;
    for (size_t k = 0; k < f->tree->count; k++) {
        rbt_front front = rbt_frontal_front(f, k);
        f->factor_start[k + 1] = f->factor_start[k];
        if (!add_bytes(f, &f->factor_start[k + 1], front.width_padded + front.below_padded, front.width_padded,
                       rbt_factor_count(f->kernels, &front)))
            return false;
        f->vector_at[k + 1] = f->vector_at[k] + front.below_padded;
        if (front.width_padded > f->widest) f->widest = front.width_padded;
        size_t inside = rbt_strip_count(f->kernels, front.width) / RBT_SOLVE_STRIPS + 1;
        size_t below = rbt_strip_count(f->kernels, front.below) / RBT_SOLVE_STRIPS + 1;
        size_t sums = front.width_padded * below + RBT_SOLVE_BLOCK * inside;
        if (sums > f->sums) f->sums = sums;
    }
    return true;
}

static bool frontal_build(rbt_frontal *f, rbt_error *error) {
    const rbt_supernodes *t = f->tree;
    const char *what = "the fronts of a matrix";
    f->entry_row = rbt_array_new(f->entries.start[t->node_count], sizeof *f->entry_row, what, error);
    f->child = rbt_array_new(t->count, sizeof *f->child, what, error);
    f->sibling = rbt_array_new(t->count, sizeof *f->sibling, what, error);
    f->parity = rbt_array_new(t->count, sizeof *f->parity, what, error);
    f->factor_start = rbt_array_new(t->count + 1, sizeof *f->factor_start, what, error);
    f->update_at = rbt_array_new(t->count, sizeof *f->update_at, what, error);
    f->vector_at = rbt_array_new(t->count + 1, sizeof *f->vector_at, what, error);
    f->task_first = rbt_array_new(t->count, sizeof *f->task_first, what, error);
    f->task_root = rbt_array_new(t->count, sizeof *f->task_root, what, error);
    f->shared = rbt_array_new(t->count, sizeof *f->shared, what, error);
    f->failed = rbt_array_new(t->count, sizeof *f->failed, what, error);
    f->is_root = rbt_array_new(t->count, sizeof *f->is_root, what, error);
    f->owner = rbt_array_new(t->count, sizeof *f->owner, what, error);
    f->load = rbt_array_new(t->count, sizeof *f->load, what, error);
    int32_t *position = rbt_array_new(t->node_count, sizeof *position, what, error);
    bool good = f->entry_row && f->child && f->sibling && f->parity && f->factor_start && f->update_at &&
                f->vector_at && f->task_first && f->task_root && f->shared && f->is_root && f->failed && f->owner &&
                f->load && position;
    if (good) {
        find_children(f);
        find_entry_rows(f, position);
        good = find_tasks(f, error);
        if (good && !place_all(f))
            good = rbt_fail(error, "the factor of a matrix of %zu unknowns is too large", t->block * t->node_count);
    }
    free(position);
    return good;
}

rbt_frontal *rbt_frontal_new(const rbt_supernodes *tree, const rbt_frontal_entries *entries,
                             const rbt_dense_kernels *kernels, rbt_error *error) {
    rbt_frontal *f = rbt_array_new(1, sizeof *f, "the fronts of a matrix", error);
    if (!f) return NULL;
    f->tree = tree;
    f->entries = *entries;
    f->kernels = kernels;
    if (frontal_build(f, error)) return f;
    rbt_frontal_free(f);
    return NULL;
}
