#include "model/stiffness.h"

#include "base/threads.h"

#include <stdlib.h>
#include <string.h>

// A block of a chunk by its row and column (row >= column), packed so that keys sort by row, then column.
static uint64_t block_key(int32_t a, int32_t b) {
    return a >= b ? (uint64_t)(uint32_t)a << 32 | (uint32_t)b : (uint64_t)(uint32_t)b << 32 | (uint32_t)a;
}

typedef struct keyed {
    uint64_t key;
    uint32_t place;
} keyed;

static int compare_keyed(const void *a, const void *b) {
    const keyed *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return (p->place > q->place) - (p->place < q->place);
}

enum { MAX_PAIRS = RBT_MOST_CORNERS * (RBT_MOST_CORNERS + 1) / 2, HASH_BITS = 14 };
_Static_assert(2 * MAX_PAIRS * RBT_CHUNK < 1 << HASH_BITS, "a chunk's keys fill no more than half of the table");

// The different keys of a chunk: numbered as they come, found by hashing with linear probing
typedef struct key_table {
    size_t count;
    keyed keys[MAX_PAIRS * RBT_CHUNK];
    uint16_t rank[MAX_PAIRS * RBT_CHUNK];   // of each in their order
    uint16_t named[MAX_PAIRS * RBT_CHUNK];  // the key of every pair
    uint16_t slots[1 << HASH_BITS];         // number + 1; 0: empty
} key_table;

static uint16_t number_of(key_table *t, uint64_t key) {
    size_t at = (size_t)((key * 0x9e3779b97f4a7c15u) >> (64 - HASH_BITS));
    while (t->slots[at] && t->keys[t->slots[at] - 1].key != key) at = (at + 1) & ((1u << HASH_BITS) - 1);
    if (!t->slots[at]) {
        t->keys[t->count] = (keyed){key, (uint32_t)t->count};
        t->slots[at] = (uint16_t)++t->count;
    }
    return (uint16_t)(t->slots[at] - 1);
}

// The keys of all pairs of a chunk's elements; returns how many pairs there are.
static size_t name_pairs(key_table *t, const rbt_group *group, const rbt_chunk *chunk) {
    size_t n = 0;
    t->count = 0;
    memset(t->slots, 0, sizeof t->slots);
    for (size_t e = chunk->first; e < chunk->first + chunk->count; e++) {
        const int32_t *node = group->nodes + e * (size_t)group->type->corners;
        for (int a = 0; a < group->type->corners; a++)
            for (int b = 0; b <= a; b++) t->named[n++] = number_of(t, block_key(node[a], node[b]));
    }
    qsort(t->keys, t->count, sizeof *t->keys, compare_keyed);
    for (size_t k = 0; k < t->count; k++) t->rank[t->keys[k].place] = (uint16_t)k;
    return n;
}

// Places and pairs of every chunk. `keys` receives the key of every place (room for all pairs); returns false without
// memory.
static bool place_pairs(rbt_stiffness *s, const rbt_model *m, uint64_t *keys, size_t pair_count) {
    const rbt_plan *plan = &m->plan;
    size_t *chunk_start = rbt_arena_take(s->arena, plan->chunk_count + 1, sizeof *chunk_start);
    size_t *pair_start = rbt_arena_take(s->arena, plan->chunk_count + 1, sizeof *pair_start);
    uint16_t *place = rbt_arena_take(s->arena, pair_count, sizeof *place);
    key_table *table = rbt_array_new(1, sizeof *table, "a pattern", NULL);
    bool ok = chunk_start && pair_start && place && table;
    for (size_t c = 0; ok && c < plan->chunk_count; c++) {
        const rbt_chunk *chunk = &plan->chunks[c];
        const rbt_group *group = &m->groups[chunk->group];
        pair_start[c + 1] = pair_start[c] + name_pairs(table, group, chunk);
        chunk_start[c + 1] = chunk_start[c] + table->count;
        for (size_t k = 0; k < table->count; k++) keys[chunk_start[c] + k] = table->keys[k].key;
        for (size_t k = 0, e = chunk->first; e < chunk->first + chunk->count; e++) {
            const int32_t *node = group->nodes + e * (size_t)group->type->corners;
            for (int a = 0; a < group->type->corners; a++)
                for (int b = 0; b <= a; b++, k++)
                    place[pair_start[c] + k] = (uint16_t)(2 * table->rank[table->named[k]] + (node[a] < node[b]));
        }
    }
    s->chunk_start = chunk_start;
    s->pair_start = pair_start;
    s->place = place;
    free(table);
    return ok;
}

// The pattern of K and the places that each of its blocks sums up, from the keys of all places. Rows are gathered by
// counting, then each row's entries are sorted by column and place.
static bool build_pattern(rbt_stiffness *s, size_t rows, const uint64_t *keys, size_t places) {
    size_t *row = rbt_array_new(rows + 2, sizeof *row, "a pattern", NULL), blocks = 0;
    keyed *entries = rbt_array_new(places + rows, sizeof *entries, "a pattern", NULL);
    size_t *start = rbt_arena_take(s->arena, rows + 1, sizeof *start);
    uint32_t *sources = rbt_arena_take(s->arena, places, sizeof *sources);
    bool ok = row && entries && start && sources;
    for (size_t p = 0; ok && p < places; p++) row[(keys[p] >> 32) + 2]++;
    for (size_t i = 0; ok && i < rows; i++) row[i + 2] += row[i + 1];
    for (size_t p = 0; ok && p < places; p++) entries[row[(keys[p] >> 32) + 1]++] = (keyed){keys[p], (uint32_t)p};
    for (size_t i = 0; ok && i < rows; i++) {
        qsort(entries + row[i], row[i + 1] - row[i], sizeof *entries, compare_keyed);
        start[i] = blocks;
        for (size_t k = row[i]; k < row[i + 1]; k++) blocks += k == row[i] || entries[k].key != entries[k - 1].key;
        blocks += row[i] == row[i + 1];  // nodes without an element still get their diagonal block
        start[i + 1] = blocks;
    }
    int32_t *column = ok ? rbt_arena_take(s->arena, blocks, sizeof *column) : NULL;
    size_t *source_start = ok ? rbt_arena_take(s->arena, blocks + 1, sizeof *source_start) : NULL;
    s->K = (rbt_block_matrix){rows, start, column, ok ? rbt_arena_take(s->arena, 9 * blocks, sizeof(double)) : NULL};
    ok = column && source_start && s->K.value;
    for (size_t i = 0, b = 0, n = 0; ok && i < rows; i++) {
        if (row[i] == row[i + 1]) {
            column[b] = (int32_t)i;
            source_start[++b] = n;
        }
        for (size_t k = row[i]; k < row[i + 1]; k++) {
            if (k == row[i] || entries[k].key != entries[k - 1].key)
                column[b++] = (int32_t)(entries[k].key & UINT32_MAX);
            sources[n++] = entries[k].place;
            source_start[b] = n;
        }
    }
    s->source_start = source_start;
    s->sources = sources;
    free(row);
    free(entries);
    return ok;
}

bool rbt_stiffness_build(rbt_stiffness *s, const rbt_model *m, rbt_error *error) {
    *s = (rbt_stiffness){.arena = rbt_arena_new()};
    size_t pair_count = 0;
    for (size_t g = 0; g < m->group_count; g++) pair_count += m->groups[g].count * (size_t)m->groups[g].type->pairs;
    uint64_t *keys = rbt_array_new(pair_count, sizeof *keys, "the pattern of a matrix", error);
    bool ok = s->arena && keys && place_pairs(s, m, keys, pair_count);
    size_t places = ok ? s->chunk_start[m->plan.chunk_count] : 0;
    ok = ok && places < UINT32_MAX && build_pattern(s, m->node_count, keys, places) &&
         (s->partial = rbt_arena_take(s->arena, 9 * places, sizeof(double)));
    free(keys);
    if (ok) return true;
    rbt_stiffness_free(s);
    return rbt_fail_memory(error, pair_count * 9 * sizeof(double), "the stiffness matrix");
}

void rbt_stiffness_free(rbt_stiffness *s) {
    rbt_arena_free(s->arena);
    *s = (rbt_stiffness){0};
}

static void add_block(double *to, const double *block, bool transposed) {
    if (transposed)
        for (int r = 0; r < 9; r++) to[r] += block[3 * (r % 3) + r / 3];
    else
        for (int r = 0; r < 9; r++) to[r] += block[r];
}

enum { PIECE = 64 };  // elements whose blocks are made at once: they stay in the fastest cache

void rbt_stiffness_assemble(rbt_stiffness *s, const rbt_model *m, rbt_stiffness_kind kind, const double *x) {
    const rbt_plan *plan = &m->plan;
#pragma omp parallel for schedule(static) if (m->node_count >= RBT_PARALLEL_FROM)
    for (size_t c = 0; c < plan->chunk_count; c++) {
        const rbt_chunk *chunk = &plan->chunks[c];
        const rbt_group *group = &m->groups[chunk->group];
        size_t pairs = (size_t)group->type->pairs;
        double blocks[9 * MAX_PAIRS * PIECE], *own = s->partial + 9 * s->chunk_start[c];
        const uint16_t *place = s->place + s->pair_start[c];
        memset(own, 0, 9 * (s->chunk_start[c + 1] - s->chunk_start[c]) * sizeof *own);
        for (size_t first = 0; first < chunk->count; first += PIECE) {
            size_t left = chunk->count - first, count = left < PIECE ? left : PIECE;
            group->type->stiffness(group, kind, chunk->first + first, count, x, blocks);
            for (size_t k = 0; k < count * pairs; k++, place++)
                add_block(own + 9 * (size_t)(*place / 2), blocks + 9 * k, *place & 1);
        }
    }
    size_t blocks = s->K.start[s->K.row_count];
#pragma omp parallel for schedule(static) if (m->node_count >= RBT_PARALLEL_FROM)
    for (size_t k = 0; k < blocks; k++) {
        double *B = s->K.value + 9 * k;
        memset(B, 0, 9 * sizeof *B);
        for (size_t i = s->source_start[k]; i < s->source_start[k + 1]; i++)
            add_block(B, s->partial + 9 * (size_t)s->sources[i], false);
    }
}
