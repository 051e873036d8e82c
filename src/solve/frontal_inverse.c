// Entries of A^-1 between a few nodes. A unit vector at a node meets, on the way up, the fronts between its own and the
// root only; on the way back only the fronts above the nodes that are asked for matter. Where these lie together, as
// nodes in contact do, that is a small part of the tree. Columns go in groups of full vectors, each by one thread: the
// bits do not depend on how many there are.
#include "base/team.h"
#include "solve/frontal_parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct inverting {
    const rbt_frontal *frontal;
    size_t column_count, row_count;
    const int32_t *column, *row;
    double *S;
    size_t width;       // unknowns of a group
    size_t list_count;  // fronts above any column or row, ascending
    const int32_t *list;
    char *work;  // of each member: unknowns, what fronts leave to their parents, marks
    size_t each;
} inverting;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

// The supernode that eliminates a node
static size_t owner_of(const rbt_supernodes *t, int32_t node) {
    size_t low = 0, high = t->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (t->first[middle] <= node) low = middle;
        else high = middle;
    }
    return low;
}

static void climb(const rbt_supernodes *t, int32_t node, unsigned char *mark) {
    for (int32_t k = (int32_t)owner_of(t, node); k >= 0 && !mark[k]; k = t->parent[k]) mark[k] = 1;
}

static size_t unknown_count(const rbt_frontal *f) { return f->tree->block * f->tree->node_count; }

static double *unknowns_of(const inverting *job, char *work, size_t k) {
    const rbt_supernodes *t = job->frontal->tree;
    return (double *)work + t->block * (size_t)t->first[k] * job->width;
}
static double *below_of(const inverting *job, char *work, size_t k) {
    return (double *)work + (unknown_count(job->frontal) + job->frontal->vector_at[k]) * job->width;
}
static unsigned char *marks_of(const inverting *job, char *work) {
    const rbt_frontal *f = job->frontal;
    return (unsigned char *)work + (unknown_count(f) + f->vector_at[f->tree->count]) * job->width * sizeof(double);
}

static void forward(const inverting *job, char *work, const unsigned char *path, size_t k) {
    const rbt_frontal *f = job->frontal;
    const rbt_dense_kernels *d = f->kernels;
    rbt_front front = rbt_frontal_front(f, k);
    rbt_front_vectors v = {.width = job->width, .x = unknowns_of(job, work, k), .y = below_of(job, work, k)};
    size_t upper = rbt_strip_count(d, front.width), lower = rbt_strip_count(d, front.below);
    memset(v.y, 0, front.below_padded * v.width * sizeof(double));
    for (int32_t c = f->child[k]; c >= 0; c = f->sibling[c]) {
        if (!path[c]) continue;
        rbt_front child = rbt_frontal_front(f, (size_t)c);
        d->add_vectors(&front, &v, &child, below_of(job, work, (size_t)c), f->tree->relative + f->tree->row_start[c],
                       f->tree->block);
    }
    for (size_t first = 0; first < front.width; first += RBT_SOLVE_BLOCK) {
        size_t next = least(first + RBT_SOLVE_BLOCK, front.width);
        d->forward(&front, &v, first);
        if (rbt_strip_count(d, next) < upper)
            d->forward_strips(&front, &v, first, next, rbt_strip_count(d, next), upper);
    }
    if (lower) d->forward_strips(&front, &v, 0, front.width, upper, upper + lower);
}

static void backward_strips(const rbt_dense_kernels *d, const rbt_front *front, const rbt_front_vectors *v,
                            size_t first, size_t last, size_t strip, size_t last_strip) {
    for (size_t begin = strip; begin < last_strip; begin += RBT_SOLVE_STRIPS)
        for (size_t column = first; column < last; column += RBT_SOLVE_REACH)
            d->backward_strips(front, v, column, least(column + RBT_SOLVE_REACH, last), begin,
                               least(begin + RBT_SOLVE_STRIPS, last_strip), NULL);
}

static void backward(const inverting *job, char *work, size_t k) {
    const rbt_frontal *f = job->frontal;
    const rbt_supernodes *t = f->tree;
    const rbt_dense_kernels *d = f->kernels;
    rbt_front front = rbt_frontal_front(f, k);
    rbt_front_vectors v = {.width = job->width, .x = unknowns_of(job, work, k), .y = below_of(job, work, k)};
    size_t upper = rbt_strip_count(d, front.width), lower = rbt_strip_count(d, front.below);
    size_t padding = front.below_padded - front.below;
    d->gather(work, t->row + t->row_start[k], t->row_start[k + 1] - t->row_start[k], t->block, v.width, v.y);
    memset((double *)v.y + front.below * v.width, 0, padding * v.width * sizeof(double));
    backward_strips(d, &front, &v, 0, front.width, upper, upper + lower);
    for (size_t first = (front.width - 1) / RBT_SOLVE_BLOCK * RBT_SOLVE_BLOCK;; first -= RBT_SOLVE_BLOCK) {
        size_t next = least(first + RBT_SOLVE_BLOCK, front.width);
        if (next < front.width) backward_strips(d, &front, &v, first, next, rbt_strip_count(d, next), upper);
        d->backward(&front, &v, first);
        if (!first) return;
    }
}

// The columns of S from unknown `first` on
static void invert_group(const inverting *job, char *work, size_t first, size_t count) {
    const rbt_frontal *f = job->frontal;
    const rbt_supernodes *t = f->tree;
    size_t block = t->block, height = block * job->row_count;
    unsigned char *path = marks_of(job, work);
    for (size_t i = 0; i < job->list_count; i++) {
        size_t k = (size_t)job->list[i];
        path[k] = 0;
        memset(unknowns_of(job, work, k), 0,
               block * (size_t)(t->first[k + 1] - t->first[k]) * job->width * sizeof(double));
    }
    double *x = (double *)work;
    for (size_t j = 0; j < count; j++) {
        int32_t node = job->column[(first + j) / block];
        climb(t, node, path);
        x[(block * (size_t)node + (first + j) % block) * job->width + j] = 1;
    }
    for (size_t i = 0; i < job->list_count; i++)
        if (path[job->list[i]]) forward(job, work, path, (size_t)job->list[i]);
    for (size_t i = job->list_count; i-- > 0;) backward(job, work, (size_t)job->list[i]);
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; i < height; i++)
            job->S[(first + j) * height + i] = x[(block * (size_t)job->row[i / block] + i % block) * job->width + j];
}

static void work_on(void *self, rbt_team *team) {
    const inverting *job = self;
    size_t columns = job->frontal->tree->block * job->column_count, i;
    size_t groups = (columns + job->width - 1) / job->width;
    char *work = job->work + team->member * job->each;
    memset(marks_of(job, work), 0, job->frontal->tree->count);
    while ((i = rbt_team_take(team)) < groups)
        invert_group(job, work, i * job->width, least(job->width, columns - i * job->width));
    rbt_team_meet(team, groups);
}

bool rbt_frontal_inverse(const rbt_frontal *f, size_t column_count, const int32_t *column, size_t row_count,
                         const int32_t *row, double *S) {
    const rbt_supernodes *t = f->tree;
    size_t members = rbt_team_size(), numbers = unknown_count(f) + f->vector_at[t->count];
    inverting job = {.frontal = f,
                     .column_count = column_count,
                     .row_count = row_count,
                     .column = column,
                     .row = row,
                     .S = S,
                     .width = RBT_SIDES_VECTORS * f->kernels->lanes};
    assert(f->kernels->bytes == sizeof(double));
    if (!column_count || !row_count) return true;
    size_t groups = (t->block * column_count + job.width - 1) / job.width;
    if (members > groups) members = groups;
    unsigned char *mark = calloc(t->count, 1);
    int32_t *list = malloc(t->count * sizeof *list);
    job.each = rbt_padded(numbers * job.width * sizeof(double) + t->count, 64);
    job.work = mark && list ? rbt_frontal_allocate(members * job.each) : NULL;
    bool good = job.work != NULL;
    if (good) {
        for (size_t i = 0; i < column_count; i++) climb(t, column[i], mark);
        for (size_t i = 0; i < row_count; i++) climb(t, row[i], mark);
        for (size_t k = 0; k < t->count; k++)
            if (mark[k]) list[job.list_count++] = (int32_t)k;
        job.list = list;
        rbt_team_work(members, work_on, &job);
    }
    free(job.work);
    free(list);
    free(mark);
    return good;
}
