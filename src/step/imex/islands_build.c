#include "step/imex/islands_build.h"

#include "base/sets.h"
#include "energy/tet_group.h"

#include <stdlib.h>
#include <string.h>

// Work space and what is being built; `corner` (elements x 4) are nodes of the part
typedef struct builder {
    rbt_islands *s;
    rbt_arena *arena, *scratch;
    size_t element_count;
    int32_t *corner;
    int32_t *island_of;  // (count) of the part's implicit nodes
    int32_t *row_of;     // (count)
} builder;

#define TAKE(arena, count, pointer) (*(pointer) = rbt_arena_take(arena, count, sizeof **(pointer)))

// ---- Shapes

static bool copy_elements(builder *b) {
    const rbt_model *m = &b->s->part.model;
    double *shape;
    if (!TAKE(b->scratch, 4 * b->element_count, &b->corner) || !TAKE(b->arena, 14 * b->element_count, &shape))
        return false;
    b->s->shape = shape;
    int32_t *corner = b->corner;
    for (size_t g = 0; g < m->group_count; g++) {
        const rbt_group *group = &m->groups[g];
        const rbt_tet_batch *batches = ((const rbt_tets *)group->data)->batches;
        memcpy(corner, group->nodes, 4 * group->count * sizeof *corner);
        corner += 4 * group->count;
        for (size_t e = 0; e < group->count; e++, shape += 14) {
            const rbt_tet_batch *batch = &batches[e / RBT_W];
            size_t l = e % RBT_W;
            for (size_t i = 0; i < 9; i++) shape[3 + i] = batch->B[i][l];
            for (size_t i = 0; i < 3; i++) shape[i] = -(shape[3 + i] + shape[6 + i] + shape[9 + i]);
            shape[12] = batch->volume[l] * batch->k.mu[l];
            shape[13] = batch->volume[l] * batch->k.lambda[l];
        }
    }
    return true;
}

// ---- Islands

static bool is_implicit(const builder *b, int32_t node) { return (size_t)node < b->s->count; }

// An implicit node of the element: it has at least one, and all of them are of one island.
static int32_t implicit_corner(const builder *b, size_t element) {
    const int32_t *corner = b->corner + 4 * element;
    for (int a = 0; a < 3; a++)
        if (is_implicit(b, corner[a])) return corner[a];
    return corner[3];
}

// Islands are numbered by their first nodes.
static bool find_islands(builder *b) {
    size_t count = b->s->count;
    int32_t *parent;
    if (!TAKE(b->scratch, count, &parent) || !TAKE(b->scratch, count, &b->island_of)) return false;
    for (size_t i = 0; i < count; i++) parent[i] = (int32_t)i;
    for (size_t k = 0; k < 4 * b->element_count; k++) {
        if (!is_implicit(b, b->corner[k])) continue;
        rbt_sets_join(parent, b->corner[k], implicit_corner(b, k / 4));
    }
    for (size_t i = 0; i < count; i++) {
        int32_t root = rbt_set_of(parent, (int32_t)i);
        b->island_of[i] = (size_t)root == i ? (int32_t)b->s->island_count++ : b->island_of[root];
    }
    return true;
}

// Rows and elements, each island's side by side
static bool sort_islands(builder *b) {
    rbt_islands *s = b->s;
    int32_t *node, *elements;
    if (!TAKE(b->arena, s->island_count, &s->islands) || !TAKE(b->arena, s->count, &node) ||
        !TAKE(b->arena, b->element_count, &elements) || !TAKE(b->scratch, s->count, &b->row_of))
        return false;
    for (size_t i = 0; i < s->count; i++) s->islands[b->island_of[i]].end++;
    for (size_t e = 0; e < b->element_count; e++) s->islands[b->island_of[implicit_corner(b, e)]].element_end++;
    size_t rows = 0, some = 0;
    for (size_t k = 0; k < s->island_count; k++) {
        rbt_island *own = &s->islands[k];
        size_t row_count = own->end, element_count = own->element_end;
        own->begin = own->end = rows;
        own->element_begin = own->element_end = some;
        rows += row_count;
        some += element_count;
    }
    for (size_t i = 0; i < s->count; i++) {
        size_t row = s->islands[b->island_of[i]].end++;
        node[row] = (int32_t)i;
        b->row_of[i] = (int32_t)row;
    }
    for (size_t e = 0; e < b->element_count; e++)
        elements[s->islands[b->island_of[implicit_corner(b, e)]].element_end++] = (int32_t)e;
    s->node = node;
    s->elements = elements;
    return true;
}

// ---- Rows of K

static bool list_uses(builder *b) {
    rbt_islands *s = b->s;
    size_t *start, *next;
    uint32_t *use;
    if (!TAKE(b->arena, s->count + 1, &start) || !TAKE(b->scratch, s->count + 1, &next)) return false;
    for (size_t k = 0; k < 4 * b->element_count; k++)
        if (is_implicit(b, b->corner[k])) start[b->row_of[b->corner[k]] + 1]++;
    for (size_t r = 0; r < s->count; r++) start[r + 1] += start[r];
    memcpy(next, start, s->count * sizeof *next);
    if (!TAKE(b->arena, start[s->count], &use)) return false;
    for (size_t k = 0; k < 4 * b->element_count; k++)
        if (is_implicit(b, b->corner[k])) use[next[b->row_of[b->corner[k]]]++] = (uint32_t)k;
    s->use_start = start;
    s->use = use;
    return true;
}

static int ascending(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// The rows that a row shares elements with, ascending, in `list`, counted from its island's first; seen (count) is
// row + 1 for these.
static size_t list_columns(const builder *b, size_t row, size_t *seen, int32_t *list) {
    size_t count = 0;
    for (size_t u = b->s->use_start[row]; u < b->s->use_start[row + 1]; u++)
        for (size_t a = 0; a < 4; a++) {
            int32_t node = b->corner[b->s->use[u] / 4 * 4 + a];
            if (!is_implicit(b, node) || seen[node] == row + 1) continue;
            seen[node] = row + 1;
            list[count++] = b->row_of[node] - (int32_t)b->s->islands[b->island_of[node]].begin;
        }
    qsort(list, count, sizeof *list, ascending);
    return count;
}

// Where the part of an element's corner in a row goes
static void find_targets(const builder *b, size_t row, const int32_t *column, size_t count, uint32_t *target) {
    const int32_t begin = (int32_t)b->s->islands[b->island_of[b->s->node[row]]].begin;
    for (size_t u = b->s->use_start[row]; u < b->s->use_start[row + 1]; u++)
        for (size_t a = 0; a < 4; a++) {
            int32_t node = b->corner[b->s->use[u] / 4 * 4 + a];
            if (is_implicit(b, node)) {
                int32_t own = b->row_of[node] - begin;
                const int32_t *at = bsearch(&own, column, count, sizeof *column, ascending);
                target[4 * u + a] = (uint32_t)(at - column);
            } else target[4 * u + a] = RBT_ISLAND_OUTSIDE;
        }
}

static bool lay_out_rows(builder *b) {
    rbt_islands *s = b->s;
    size_t uses = s->use_start[s->count], *start, *seen;
    int32_t *list, *column;
    uint32_t *target;
    if (!TAKE(b->arena, s->count + 1, &start) || !TAKE(b->scratch, s->count, &seen) ||
        !TAKE(b->scratch, 4 * uses, &list) || !TAKE(b->arena, 4 * uses, &target))
        return false;
    for (size_t r = 0; r < s->count; r++) start[r + 1] = start[r] + list_columns(b, r, seen, list);
    if (!TAKE(b->arena, start[s->count], &column) || !TAKE(b->arena, 9 * start[s->count], &s->K)) return false;
    memset(seen, 0, s->count * sizeof *seen);
    for (size_t r = 0; r < s->count; r++) {
        size_t count = list_columns(b, r, seen, column + start[r]);
        find_targets(b, r, column + start[r], count, target);
    }
    s->start = start;
    s->column = column;
    s->target = target;
    return true;
}

// ---- Where inverses go

static bool lay_out_matrix(const builder *b, rbt_island *island) {
    rbt_islands *s = b->s;
    size_t rows = island->end - island->begin, blocks = 0, *start;
    int32_t *column;
    if (!TAKE(b->arena, rows + 1, &start) ||
        !TAKE(b->arena, s->start[island->end] - s->start[island->begin], &column))
        return false;
    for (size_t r = 0; r < rows; r++) {
        for (size_t k = s->start[island->begin + r]; k < s->start[island->begin + r + 1]; k++)
            if ((size_t)s->column[k] <= r) column[blocks++] = s->column[k];
        start[r + 1] = blocks;
    }
    island->A = (rbt_block_matrix){.row_count = rows, .start = start, .column = column};
    return TAKE(b->arena, 9 * blocks, &island->A.value);
}

static bool lay_out_inverses(const builder *b) {
    for (size_t k = 0; k < b->s->island_count; k++) {
        rbt_island *own = &b->s->islands[k];
        size_t rows = own->end - own->begin;
        if (!(rows <= RBT_ISLAND_FEW ? TAKE(b->arena, 9 * rows * rows, &own->inverse) != NULL
                                     : lay_out_matrix(b, own)))
            return false;
    }
    return true;
}

bool rbt_islands_build(rbt_islands *s, rbt_error *error) {
    builder b = {.s = s, .arena = s->part.arena, .scratch = rbt_arena_new(), .element_count = s->part.element_count};
    bool ok = b.scratch && copy_elements(&b) && find_islands(&b) && sort_islands(&b) && list_uses(&b) &&
              lay_out_rows(&b) && lay_out_inverses(&b);
    rbt_arena_free(b.scratch);
    return ok || rbt_fail_memory(error, 14 * s->part.element_count * sizeof(double), "the implicit nodes");
}
