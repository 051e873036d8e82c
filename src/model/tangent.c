#include "model/tangent.h"

#include "base/threads.h"
#include "math/vec3.h"

#include <string.h>

bool rbt_tangent_build(rbt_tangent *t, rbt_arena *arena, const rbt_model *m, rbt_error *error) {
    const rbt_plan *plan = &m->plan;
    size_t *start = rbt_arena_take(arena, plan->chunk_count + 1, sizeof *start);
    for (size_t c = 0; start && c < plan->chunk_count; c++) {
        const rbt_group *group = &m->groups[plan->chunks[c].group];
        // The last chunk of a group has room for a whole batch, which some kernels write.
        size_t count = (plan->chunks[c].count + RBT_W - 1) / RBT_W * RBT_W;
        start[c + 1] = start[c] + count * group->type->tangent_size(group);
    }
    *t = (rbt_tangent){.model = m, .chunk_start = start};
    return (start && (t->store = rbt_arena_take(arena, start[plan->chunk_count], sizeof(double))) &&
            (t->partial = rbt_arena_take(arena, 9 * plan->slot_count, sizeof(double)))) ||
           rbt_fail_memory(error, start ? start[plan->chunk_count] * sizeof(double) : 0, "a tangent");
}

void rbt_tangent_prepare(rbt_tangent *t, const double *x) {
    const rbt_plan *plan = &t->model->plan;
#pragma omp parallel for schedule(static) if (t->model->node_count >= RBT_PARALLEL_FROM)
    for (size_t c = 0; c < plan->chunk_count; c++) {
        const rbt_chunk *chunk = &plan->chunks[c];
        const rbt_group *group = &t->model->groups[chunk->group];
        group->type->tangent(group, chunk->first, chunk->count, x, t->store + t->chunk_start[c]);
    }
}

void rbt_tangent_product(rbt_tangent *t, const double *p, double *y) {
    const rbt_plan *plan = &t->model->plan;
#pragma omp parallel for schedule(static) if (t->model->node_count >= RBT_PARALLEL_FROM)
    for (size_t c = 0; c < plan->chunk_count; c++) {
        const rbt_chunk *chunk = &plan->chunks[c];
        const rbt_group *group = &t->model->groups[chunk->group];
        double q[4 * RBT_MOST_CORNERS * RBT_CHUNK] __attribute__((aligned(32)));
        double sum[4 * RBT_MOST_CORNERS * RBT_CHUNK] __attribute__((aligned(32)));
        rbt_chunk_gather(plan, chunk, p, q);
        memset(sum, 0, 4 * chunk->slot_count * sizeof *sum);
        group->type->apply(group, chunk->first, chunk->count, t->store + t->chunk_start[c],
                           plan->local + chunk->corner_begin, q, sum);
        rbt_chunk_put(chunk, sum, t->partial + 3 * chunk->slot_begin);
    }
#pragma omp parallel for schedule(static) if (t->model->node_count >= RBT_PARALLEL_FROM)
    for (size_t n = 0; n < t->model->node_count; n++) {
        memset(y + 3 * n, 0, 3 * sizeof *y);
        for (size_t k = plan->node_start[n]; k < plan->node_start[n + 1]; k++)
            rbt_add_scaled(y + 3 * n, 1, t->partial + 3 * (size_t)plan->node_slots[k]);
    }
}

enum { MAX_PAIRS = RBT_MOST_CORNERS * (RBT_MOST_CORNERS + 1) / 2, PIECE = 64 };

// The diagonal blocks of a chunk's elements, summed up in its slots
static void chunk_diagonal(const rbt_tangent *t, const rbt_chunk *chunk, const double *x, double *sum) {
    const rbt_group *group = &t->model->groups[chunk->group];
    size_t corners = (size_t)group->type->corners, pairs = (size_t)group->type->pairs;
    const uint16_t *local = t->model->plan.local + chunk->corner_begin;
    double blocks[9 * MAX_PAIRS * PIECE];
    memset(sum, 0, 9 * chunk->slot_count * sizeof *sum);
    for (size_t first = 0; first < chunk->count; first += PIECE) {
        size_t left = chunk->count - first, count = left < PIECE ? left : PIECE;
        group->type->stiffness(group, RBT_TANGENT, chunk->first + first, count, x, blocks);
        for (size_t e = 0; e < count; e++)
            for (size_t a = 0; a < corners; a++, local++) {
                const double *from = blocks + 9 * (pairs * e + a * (a + 1) / 2 + a);
                for (size_t i = 0; i < 9; i++) sum[9 * (size_t)*local + i] += from[i];
            }
    }
}

void rbt_tangent_diagonal(rbt_tangent *t, const double *x, double *D) {
    const rbt_plan *plan = &t->model->plan;
#pragma omp parallel for schedule(static) if (t->model->node_count >= RBT_PARALLEL_FROM)
    for (size_t c = 0; c < plan->chunk_count; c++)
        chunk_diagonal(t, &plan->chunks[c], x, t->partial + 9 * plan->chunks[c].slot_begin);
#pragma omp parallel for schedule(static) if (t->model->node_count >= RBT_PARALLEL_FROM)
    for (size_t n = 0; n < t->model->node_count; n++) {
        memset(D + 9 * n, 0, 9 * sizeof *D);
        for (size_t k = plan->node_start[n]; k < plan->node_start[n + 1]; k++)
            for (size_t i = 0; i < 9; i++) D[9 * n + i] += t->partial[9 * (size_t)plan->node_slots[k] + i];
    }
}
