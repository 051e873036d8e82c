#include "solve/fused_solve.h"

#include "base/memory.h"
#include "solve/frontal_parts.h"

#include <assert.h>
#include <string.h>

// Fronts in the order of a walk around a subtree: on the way back, and up again. Read from its end, it is one the
// other way around.
typedef struct visit {
    int32_t front;
    bool up;
} visit;

typedef struct rbt_fused_solve_parts {
    rbt_arena *arena;
    const rbt_dense_kernels *kernels;
    size_t count;
    rbt_front *front;          // (count) without anything in memory
    size_t *x_at;              // (count) where its unknowns are in a vector
    double **P, **t;           // (count)
    double *memory;            // of P
    size_t *row_start;         // (count + 1)
    int32_t *row_at;           // (rows) where the nodes below are in a vector
    int32_t *parent_at;        // (rows) and in t of the parent
    int32_t *child, *sibling;  // (count) -1: none
    size_t task_count, top_count;
    int32_t *task, *top;  // roots of subtrees; fronts above them, ascending
    size_t *owner;        // (task_count) member
    visit *visits;        // (2 count) of all tasks
    size_t *visit_start;  // (task_count + 1)
} fused_parts;

// ---- Who works on what

typedef struct division {
    const fused_parts *s;
    const double *own, *subtree;  // (count) numbers
    size_t members;
    int32_t *task, *top;
    size_t task_count, top_count;
    double top_numbers;
    double *load;  // (members)
    size_t *owner;
} division;

// Subtrees, the largest first, each to the member who has least so far. The numbers that are read one after the other
static double divide(const division *d) {
    double most = 0;
    memset(d->load, 0, d->members * sizeof *d->load);
    for (size_t i = 0; i < d->task_count; i++) {
        size_t best = 0;
        for (size_t m = 1; m < d->members; m++)
            if (d->load[m] < d->load[best]) best = m;
        d->owner[i] = best;
        d->load[best] += d->subtree[d->task[i]];
        most = d->load[best] > most ? d->load[best] : most;
    }
    return most + d->top_numbers;
}

static void insert_task(division *d, int32_t k) {
    size_t at = d->task_count++;
    for (; at > 0 && d->subtree[d->task[at - 1]] < d->subtree[k]; at--) d->task[at] = d->task[at - 1];
    d->task[at] = k;
}

// The largest subtree is taken apart, its root going to the top
static void open_largest(division *d) {
    int32_t k = d->task[0];
    memmove(d->task, d->task + 1, --d->task_count * sizeof *d->task);
    size_t at = d->top_count++;
    for (; at > 0 && d->top[at - 1] > k; at--) d->top[at] = d->top[at - 1];
    d->top[at] = k;
    d->top_numbers += d->own[k];
    for (int32_t c = d->s->child[k]; c >= 0; c = d->s->sibling[c]) insert_task(d, c);
}

static void begin_division(division *d) {
    d->task_count = d->top_count = 0;
    d->top_numbers = 0;
    for (size_t k = 0; k < d->s->count; k++) d->owner[k] = 0;
}

static void find_roots(division *d, const int32_t *parent) {
    begin_division(d);
    for (size_t k = 0; k < d->s->count; k++)
        if (parent[k] < 0) insert_task(d, (int32_t)k);
}

// As many subtrees are taken apart as makes the longest way shortest.
static double find_tasks(division *d, const int32_t *parent) {
    find_roots(d, parent);
    double best = divide(d);
    size_t opened = 0;
    for (size_t i = 1; d->members > 1 && d->task_count && d->top_numbers < best; i++) {
        open_largest(d);
        double length = divide(d);
        if (length >= best) continue;
        best = length;
        opened = i;
    }
    find_roots(d, parent);
    for (size_t i = 0; i < opened; i++) open_largest(d);
    divide(d);
    return best;
}

// Fronts descend on the way back; one is met again when the first of its subtree has been.
static void walk(fused_parts *s, const int32_t *parent, const int32_t *first, int32_t root, size_t *at) {
    for (int32_t k = root; k >= first[root]; k--) {
        s->visits[(*at)++] = (visit){k, false};
        for (int32_t a = k; a >= 0 && a <= root && first[a] == k; a = parent[a])
            s->visits[(*at)++] = (visit){a, true};
    }
}

static bool share(rbt_fused_solve *fused, const rbt_frontal *f, size_t members, rbt_error *error) {
    fused_parts *s = fused->parts;
    const char *what = "the parts of a fused sequence of solves";
    double *own = rbt_array_new(s->count, sizeof *own, what, error);
    double *subtree = rbt_array_new(s->count, sizeof *subtree, what, error);
    double *load = rbt_array_new(members, sizeof *load, what, error);
    int32_t *first = rbt_array_new(s->count, sizeof *first, what, error);
    const int32_t *parent = f->tree->parent;
    bool good = own && subtree && load && first;
    for (size_t k = 0; good && k < s->count; k++) first[k] = (int32_t)k;
    for (size_t k = 0; good && k < s->count; k++) {
        own[k] = (double)s->kernels->fused_count(&s->front[k]);
        subtree[k] += own[k];
        fused->numbers += own[k];
        if (parent[k] < 0) continue;
        subtree[parent[k]] += subtree[k];
        if (first[k] < first[parent[k]]) first[parent[k]] = first[k];
    }
    if (good) {
        division d = {s, own, subtree, members, s->task, s->top, .load = load, .owner = s->owner};
        fused->shared = find_tasks(&d, parent);
        s->task_count = d.task_count;
        s->top_count = d.top_count;
        size_t at = 0;
        for (size_t i = 0; i < s->task_count; i++) {
            walk(s, parent, first, s->task[i], &at);
            s->visit_start[i + 1] = at;
        }
    }
    free(own), free(subtree), free(load), free(first);
    return good;
}

// ---- Making it

static void *take(fused_parts *s, size_t count, size_t size, bool *good) {
    void *memory = *good ? rbt_arena_take(s->arena, count ? count : 1, size) : NULL;
    *good = memory;
    return memory;
}

static bool allocate(rbt_fused_solve *fused, const rbt_supernodes *tree) {
    fused_parts *s = fused->parts;
    size_t rows = tree->row_start[tree->count], n = s->count;
    bool good = true;
    fused->place = take(s, fused->node_count, sizeof *fused->place, &good);
    s->front = take(s, n, sizeof *s->front, &good);
    s->x_at = take(s, n, sizeof *s->x_at, &good);
    s->P = take(s, n, sizeof *s->P, &good);
    s->t = take(s, n, sizeof *s->t, &good);
    s->row_start = take(s, n + 1, sizeof *s->row_start, &good);
    s->row_at = take(s, rows, sizeof *s->row_at, &good);
    s->parent_at = take(s, rows, sizeof *s->parent_at, &good);
    s->child = take(s, n, sizeof *s->child, &good);
    s->sibling = take(s, n, sizeof *s->sibling, &good);
    s->task = take(s, n, sizeof *s->task, &good);
    s->top = take(s, n, sizeof *s->top, &good);
    s->owner = take(s, n, sizeof *s->owner, &good);
    s->visits = take(s, 2 * n, sizeof *s->visits, &good);
    s->visit_start = take(s, n + 1, sizeof *s->visit_start, &good);
    return good;
}

// Where everything is
static bool place(rbt_fused_solve *fused, const rbt_frontal *f, const int32_t *order) {
    fused_parts *s = fused->parts;
    const rbt_supernodes *tree = f->tree;
    bool good = true;
    memcpy(s->row_start, tree->row_start, (s->count + 1) * sizeof *s->row_start);
    for (size_t k = 0; k < s->count; k++) {
        s->front[k] = rbt_frontal_front(f, k);
        s->child[k] = f->child[k];
        s->sibling[k] = f->sibling[k];
        s->x_at[k] = fused->length;
        fused->length += s->front[k].width_padded;
    }
    if (fused->length > INT32_MAX) return false;
    int32_t *position = take(s, tree->node_count, sizeof *position, &good);
    for (size_t k = 0; good && k < s->count; k++)
        for (int32_t p = tree->first[k]; p < tree->first[k + 1]; p++) {
            position[p] = (int32_t)(s->x_at[k] + tree->block * (size_t)(p - tree->first[k]));
            fused->place[order[p]] = position[p];
        }
    for (size_t k = 0; good && k < s->count; k++) {
        int32_t p = tree->parent[k], split = p < 0 ? 0 : tree->first[p + 1] - tree->first[p];
        for (size_t e = s->row_start[k]; e < s->row_start[k + 1]; e++) {
            int32_t relative = tree->relative[e];
            size_t below = relative < split ? 0 : s->front[p].width_padded - tree->block * (size_t)split;
            s->row_at[e] = position[tree->row[e]];
            s->parent_at[e] = (int32_t)(tree->block * (size_t)relative + below);
        }
    }
    fused->x = take(s, fused->length, sizeof *fused->x, &good);
    return good;
}

// P of the fronts in the order in which they are first met, in one piece that is read from its begin to its end
static bool fill(fused_parts *s) {
    bool good = true;
    size_t most = 0, numbers = 0;
    for (size_t k = 0; k < s->count; k++) {
        size_t rows = s->front[k].width_padded + s->front[k].below_padded;
        most = rows > most ? rows : most;
        s->t[k] = take(s, rows, sizeof(double), &good);
        numbers += s->kernels->fused_count(&s->front[k]);
    }
    double *work = take(s, most, sizeof *work, &good);
    double *P = s->memory = good ? rbt_frontal_allocate(numbers * sizeof *P) : NULL;
    for (size_t k = s->count; P && k-- > 0; P += s->kernels->fused_count(&s->front[k])) {
        s->P[k] = P;
        s->kernels->fused_fill(&s->front[k], work, P);
        s->front[k].factor = NULL;
    }
    return P;
}

rbt_fused_solve *rbt_fused_solve_new(const rbt_frontal *f, const int32_t *order, size_t members, rbt_error *error) {
    assert(f->kernels->bytes == sizeof(double) && f->tree->block == 3);
    rbt_fused_solve *fused = rbt_array_new(1, sizeof *fused, "a fused sequence of solves", error);
    if (!fused) return NULL;
    fused->node_count = f->tree->node_count;
    fused_parts *s = fused->parts = rbt_array_new(1, sizeof *s, "a fused sequence of solves", error);
    if (s) {
        s->kernels = f->kernels;
        s->count = f->tree->count;
        if (!(s->arena = rbt_arena_new()) || !allocate(fused, f->tree) || !place(fused, f, order) || !fill(s))
            rbt_fail_memory(error, s->arena ? rbt_arena_bytes(s->arena) : 0, "a fused sequence of solves");
        else if (share(fused, f, members, error)) return fused;
    }
    rbt_fused_solve_free(fused);
    return NULL;
}

void rbt_fused_solve_free(rbt_fused_solve *fused) {
    if (!fused) return;
    if (fused->parts) {
        rbt_arena_free(fused->parts->arena);
        free(fused->parts->memory);
    }
    free(fused->parts);
    free(fused);
}

// ---- The solves

typedef struct run {
    rbt_fused_solve *fused;
    size_t count;
    rbt_fused_solve_turn *turn;
    void *self;
} run;

static void turn_front(const run *r, size_t step, size_t k) {
    const fused_parts *s = r->fused->parts;
    size_t at = s->x_at[k];
    r->turn(r->self, step, at, s->front[k].width_padded, r->fused->x + at, s->t[k]);
}

// Children are added in their order, whoever worked on them.
static void forward(const fused_parts *s, size_t k) {
    const rbt_front *front = &s->front[k];
    double *t = s->t[k];
    memset(t + front->width_padded, 0, front->below_padded * sizeof *t);
    for (int32_t c = s->child[k]; c >= 0; c = s->sibling[c]) {
        const double *from = s->t[c] + s->front[c].width_padded;
        for (size_t e = s->row_start[c]; e < s->row_start[c + 1]; e++, from += 3) {
            double *to = t + s->parent_at[e];
            to[0] += from[0], to[1] += from[1], to[2] += from[2];
        }
    }
    s->kernels->fused_forward(front, s->P[k], t);
}

static void backward(const rbt_fused_solve *fused, size_t k) {
    const fused_parts *s = fused->parts;
    const rbt_front *front = &s->front[k];
    double *to = s->t[k] + front->width_padded;
    for (size_t e = s->row_start[k]; e < s->row_start[k + 1]; e++, to += 3)
        memcpy(to, fused->x + s->row_at[e], 3 * sizeof *to);
    s->kernels->fused_backward(front, s->P[k], s->t[k], fused->x + s->x_at[k]);
}

// Every other time the other way around: what was met last is met first, and the cache still has it.
static void go_around(const run *r, size_t step, size_t task) {
    const fused_parts *s = r->fused->parts;
    size_t begin = s->visit_start[task], end = s->visit_start[task + 1];
    bool reversed = step % 2;
    for (size_t i = begin; i < end; i++) {
        const visit *v = &s->visits[reversed ? end - 1 - (i - begin) : i];
        size_t k = (size_t)v->front;
        if (v->up != reversed) {
            if (step < r->count) forward(s, k);
            continue;
        }
        if (step) backward(r->fused, k);
        turn_front(r, step, k);
    }
}

static void pass_top(const run *r, size_t step) {
    const fused_parts *s = r->fused->parts;
    for (size_t i = 0; !step && i < s->top_count; i++) turn_front(r, 0, (size_t)s->top[i]);
    for (size_t i = 0; i < s->top_count; i++) forward(s, (size_t)s->top[i]);
    for (size_t i = s->top_count; i-- > 0;) {
        backward(r->fused, (size_t)s->top[i]);
        turn_front(r, step + 1, (size_t)s->top[i]);
    }
}

void rbt_fused_solve_run(rbt_fused_solve *fused, rbt_team *team, size_t count, rbt_fused_solve_turn *turn,
                         void *self) {
    const fused_parts *s = fused->parts;
    run r = {fused, count, turn, self};
    for (size_t step = 0;; step++) {
        for (size_t i = 0; i < s->task_count; i++) {
            size_t task = step % 2 ? s->task_count - 1 - i : i;
            if (s->owner[task] % team->members == team->member) go_around(&r, step, task);
        }
        if (step == count) return;
        rbt_team_wait(team);
        if (team->member == 0) pass_top(&r, step);
        rbt_team_wait(team);
    }
}
