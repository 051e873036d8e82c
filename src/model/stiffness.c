#include "model/stiffness.h"

#include <string.h>

enum { MOST_CORNERS = 4 };  // of any element

static int compare_columns(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// The group and element that a corner belongs to; groups are few.
static const rbt_group *group_of_corner(const rbt_model *m, size_t corner, size_t *element, int *a) {
    size_t g = m->group_count - 1;
    while (m->groups[g].first_corner > corner) g--;
    const rbt_group *group = &m->groups[g];
    size_t within = corner - group->first_corner;
    *element = within / (size_t)group->type->corners;
    *a = (int)(within % (size_t)group->type->corners);
    return group;
}

// Columns j <= i of row i: the nodes that share an element with node i; nodes without one still get their diagonal block.
static size_t row_columns(const rbt_model *m, size_t i, int32_t *list) {
    size_t n = 0, unique = 0, e;
    int a;
    list[n++] = (int32_t)i;
    for (size_t k = m->corner_start[i]; k < m->corner_start[i + 1]; k++) {
        const rbt_group *group = group_of_corner(m, (size_t)m->corners[k], &e, &a);
        for (int b = 0; b < group->type->corners; b++) {
            int32_t j = group->nodes[e * (size_t)group->type->corners + (size_t)b];
            if (j < (int32_t)i) list[n++] = j;
        }
    }
    qsort(list, n, sizeof *list, compare_columns);
    for (size_t k = 0; k < n; k++)
        if (!unique || list[unique - 1] != list[k]) list[unique++] = list[k];
    return unique;
}

static size_t longest_row(const rbt_model *m) {
    size_t longest = 1;
    for (size_t i = 0; i < m->node_count; i++) {
        size_t corners = m->corner_start[i + 1] - m->corner_start[i];
        if (MOST_CORNERS * corners + 1 > longest) longest = MOST_CORNERS * corners + 1;
    }
    return longest;
}

static size_t find_block(const rbt_block_matrix *K, size_t i, int32_t j) {
    size_t low = K->start[i], high = K->start[i + 1] - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (K->column[middle] < j) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Visits the sources of row i in ascending order of tets: counts them per block in `fill`, or with `sources` writes each
// to the place that `fill` names and moves on.
static void row_sources(const rbt_model *m, const rbt_block_matrix *K, size_t i, size_t *fill, uint32_t *sources) {
    for (size_t k = m->corner_start[i]; k < m->corner_start[i + 1]; k++) {
        size_t e;
        int a;
        const rbt_group *group = group_of_corner(m, (size_t)m->corners[k], &e, &a);
        for (int b = 0; b < group->type->corners; b++) {
            int32_t j = group->nodes[e * (size_t)group->type->corners + (size_t)b];
            if (j > (int32_t)i) continue;
            int high = a > b ? a : b, low = a > b ? b : a;
            size_t block = find_block(K, i, j), pair = (size_t)(high * (high + 1) / 2 + low);
            if (sources)
                sources[fill[block]] =
                    2 * (uint32_t)(group->first_pair + (size_t)group->type->pairs * e + pair) + (a < b);
            fill[block]++;
        }
    }
}

bool rbt_stiffness_build(rbt_stiffness *s, const rbt_model *m, rbt_error *error) {
    *s = (rbt_stiffness){.arena = rbt_arena_new()};
    size_t rows = m->node_count, blocks = 0;
    if (m->pair_count > UINT32_MAX / 2)
        return rbt_fail(error, "%zu elements: an implicit method takes at most %u tets", m->element_count,
                        UINT32_MAX / 2 / RBT_TET_PAIRS);
    int32_t *list = rbt_array_new(longest_row(m), sizeof *list, "a matrix pattern", error);
    size_t *start = s->arena ? rbt_arena_take(s->arena, rows + 1, sizeof *start) : NULL;
    if (!list || !start) goto no_memory;
    for (size_t i = 0; i < rows; i++) start[i + 1] = start[i] + row_columns(m, i, list);
    blocks = start[rows];
    int32_t *column = rbt_arena_take(s->arena, blocks, sizeof *column);
    s->K.value = rbt_arena_take(s->arena, 9 * blocks, sizeof(double));
    size_t *source_start = rbt_arena_take(s->arena, blocks + 1, sizeof *source_start);
    size_t *fill = rbt_arena_take(s->arena, blocks + 1, sizeof *fill);
    uint32_t *sources = rbt_arena_take(s->arena, m->pair_count, sizeof *sources);
    s->blocks = rbt_arena_take(s->arena, 9 * m->pair_count, sizeof(double));
    if (!column || !s->K.value || !source_start || !fill || !sources || !s->blocks) goto no_memory;
    s->K.row_count = rows;
    s->K.start = start;
    s->K.column = column;
    for (size_t i = 0; i < rows; i++) {
        size_t n = row_columns(m, i, list);
        memcpy(column + start[i], list, n * sizeof *list);
    }
    for (size_t i = 0; i < rows; i++) row_sources(m, &s->K, i, fill, NULL);
    for (size_t k = 0; k < blocks; k++) {
        source_start[k + 1] = source_start[k] + fill[k];
        fill[k] = source_start[k];
    }
    for (size_t i = 0; i < rows; i++) row_sources(m, &s->K, i, fill, sources);
    s->source_start = source_start;
    s->sources = sources;
    free(list);
    return true;
no_memory:
    free(list);
    rbt_stiffness_free(s);
    return rbt_fail_memory(error, (9 * blocks + 9 * m->pair_count) * sizeof(double), "the stiffness matrix");
}

void rbt_stiffness_free(rbt_stiffness *s) {
    rbt_arena_free(s->arena);
    *s = (rbt_stiffness){0};
}

void rbt_stiffness_assemble(rbt_stiffness *s, const rbt_model *m, rbt_stiffness_kind kind, const double *x) {
    for (size_t g = 0; g < m->group_count; g++)
        m->groups[g].type->stiffness(&m->groups[g], kind, x, s->blocks + 9 * m->groups[g].first_pair);
    size_t blocks = s->K.start[s->K.row_count];
#pragma omp parallel for schedule(static)
    for (size_t k = 0; k < blocks; k++) {
        double *B = s->K.value + 9 * k;
        memset(B, 0, 9 * sizeof *B);
        for (size_t i = s->source_start[k]; i < s->source_start[k + 1]; i++) {
            const double *T = s->blocks + 9 * (size_t)(s->sources[i] / 2);
            if (s->sources[i] & 1)
                for (int r = 0; r < 9; r++) B[r] += T[3 * (r % 3) + r / 3];
            else
                for (int r = 0; r < 9; r++) B[r] += T[r];
        }
    }
}
