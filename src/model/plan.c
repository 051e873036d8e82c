#include "model/plan.h"

#include <stdlib.h>
#include <string.h>

static int compare_nodes(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// The nodes of a chunk, ascending and each once, into `nodes` (room for all its corners); returns how many.
static size_t chunk_nodes(const rbt_group *group, const rbt_chunk *chunk, int32_t *nodes) {
    size_t corners = (size_t)group->type->corners, n = chunk->count * corners, unique = 0;
    memcpy(nodes, group->nodes + chunk->first * corners, n * sizeof *nodes);
    qsort(nodes, n, sizeof *nodes, compare_nodes);
    for (size_t k = 0; k < n; k++)
        if (!unique || nodes[unique - 1] != nodes[k]) nodes[unique++] = nodes[k];
    return unique;
}

static rbt_chunk *cut_groups(rbt_arena *arena, const rbt_group *groups, size_t group_count, size_t *chunk_count) {
    *chunk_count = 0;
    for (size_t g = 0; g < group_count; g++) *chunk_count += (groups[g].count + RBT_CHUNK - 1) / RBT_CHUNK;
    rbt_chunk *chunks = rbt_arena_take(arena, *chunk_count, sizeof *chunks);
    size_t c = 0;
    for (size_t g = 0; chunks && g < group_count; g++)
        for (size_t first = 0; first < groups[g].count; first += RBT_CHUNK, c++) {
            size_t left = groups[g].count - first, count = left < RBT_CHUNK ? left : RBT_CHUNK;
            chunks[c] = (rbt_chunk){.group = g, .first = first, .count = count};
        }
    return chunks;
}

static bool list_node_slots(rbt_plan *plan, rbt_arena *arena, size_t node_count) {
    size_t *start = rbt_arena_take(arena, node_count + 2, sizeof *start);
    int32_t *slots = rbt_arena_take(arena, plan->slot_count, sizeof *slots);
    if (!start || !slots) return false;
    // Counting one place further on leaves start[n + 1] as the place to fill, and afterwards as the end of node n.
    for (size_t s = 0; s < plan->slot_count; s++) start[plan->slot_node[s] + 2]++;
    for (size_t n = 0; n < node_count; n++) start[n + 2] += start[n + 1];
    for (size_t s = 0; s < plan->slot_count; s++) slots[start[plan->slot_node[s] + 1]++] = (int32_t)s;
    plan->node_start = start;
    plan->node_slots = slots;
    return true;
}

bool rbt_plan_build(rbt_plan *plan, rbt_arena *arena, const rbt_group *groups, size_t group_count, size_t node_count,
                    rbt_error *error) {
    size_t chunk_count;
    rbt_chunk *chunks = cut_groups(arena, groups, group_count, &chunk_count);
    if (!chunks) return rbt_fail_memory(error, chunk_count * sizeof *chunks, "the plan of sums");
    return rbt_plan_fill(plan, arena, groups, chunks, chunk_count, node_count, error);
}

bool rbt_plan_fill(rbt_plan *plan, rbt_arena *arena, const rbt_group *groups, rbt_chunk *chunks, size_t chunk_count,
                   size_t node_count, rbt_error *error) {
    *plan = (rbt_plan){.chunk_count = chunk_count};
    size_t corner_count = 0;
    for (size_t c = 0; c < chunk_count; c++) {
        chunks[c].corner_begin = corner_count;
        corner_count += chunks[c].count * (size_t)groups[chunks[c].group].type->corners;
    }
    if (corner_count > INT32_MAX)
        return rbt_fail(error, "%zu element corners: the limit is %d", corner_count, INT32_MAX);
    uint16_t *local = rbt_arena_take(arena, corner_count, sizeof *local);
    int32_t *nodes = rbt_array_new(corner_count, sizeof *nodes, "the plan of sums", error), *slot_node = NULL;
    bool ok = local && nodes;
    for (size_t c = 0; ok && c < plan->chunk_count; c++) {
        rbt_chunk *chunk = &chunks[c];
        const rbt_group *group = &groups[chunk->group];
        size_t corners = (size_t)group->type->corners;
        int32_t *own = nodes + plan->slot_count;
        int32_t list[RBT_MOST_CORNERS * RBT_CHUNK];
        chunk->slot_begin = plan->slot_count;
        chunk->slot_count = chunk_nodes(group, chunk, list);
        memcpy(own, list, chunk->slot_count * sizeof *own);
        plan->slot_count += chunk->slot_count;
        for (size_t k = 0; k < chunk->count * corners; k++) {
            const int32_t *found = bsearch(&group->nodes[chunk->first * corners + k], own, chunk->slot_count,
                                           sizeof *own, compare_nodes);
            local[chunk->corner_begin + k] = (uint16_t)(found - own);
        }
    }
    ok = ok && (slot_node = rbt_arena_take(arena, plan->slot_count, sizeof *slot_node));
    if (ok) memcpy(slot_node, nodes, plan->slot_count * sizeof *slot_node);
    plan->chunks = chunks;
    plan->local = local;
    plan->slot_node = slot_node;
    ok = ok && list_node_slots(plan, arena, node_count);
    free(nodes);
    return ok || rbt_fail_memory(error, corner_count * sizeof *nodes, "the plan of sums");
}

void rbt_chunk_gather(const rbt_plan *plan, const rbt_chunk *chunk, const double *of_nodes, double *places) {
    enum { AHEAD = 24 };  // nodes of a chunk lie together in space, but not in memory
    const int32_t *node = plan->slot_node + chunk->slot_begin;
    for (size_t k = 0; k < chunk->slot_count; k++) {
        const double *from = of_nodes + 3 * (size_t)node[k];
        double *to = places + 4 * k;
        __builtin_prefetch(of_nodes + 3 * (size_t)node[k + AHEAD < chunk->slot_count ? k + AHEAD : k]);
        to[0] = from[0];
        to[1] = from[1];
        to[2] = from[2];
        to[3] = 0;
    }
}

void rbt_chunk_put(const rbt_chunk *chunk, const double *places, double *slots) {
    for (size_t k = 0; k < chunk->slot_count; k++)
        for (size_t i = 0; i < 3; i++) slots[3 * k + i] = places[4 * k + i];
}
