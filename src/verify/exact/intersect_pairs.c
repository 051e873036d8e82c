#include "verify/exact/intersect_pairs.h"

#include "base/memory.h"

#include <string.h>

enum { RUN = 256 };  // queries that one thread takes at a time

void rbt_intersect_pile_add(rbt_intersect_pile *pile, rbt_intersect_pair pair) {
    void *items = pile->items;
    if (pile->failed || !rbt_array_reserve(&items, &pile->capacity, pile->count + 1, sizeof pair, "pairs", NULL)) {
        pile->failed = true;
        return;
    }
    pile->items = items;
    pile->items[pile->count++] = pair;
}

static bool overlap(const rbt_box *a, const rbt_box *b) {
    for (int k = 0; k < 3; k++)
        if (a->min[k] > b->max[k] || b->min[k] > a->max[k]) return false;
    return true;
}

static void walk(const rbt_box *query, int32_t number, const rbt_box_tree *tree, const rbt_box *boxes,
                 rbt_intersect_visit visit, const void *context, rbt_intersect_pile *pile) {
    int32_t stack[RBT_BOX_TREE_DEPTH];
    int top = 0;
    for (int32_t at = 0;;) {
        const rbt_box_node *node = &tree->nodes[at];
        bool inside = overlap(query, &node->box);
        if (inside && node->right) {
            stack[top++] = node->right;
            at++;
            continue;
        }
        for (int32_t i = node->first; inside && i < node->first + node->count; i++)
            if (overlap(query, &boxes[tree->order[i]])) visit(context, number, tree->order[i], pile);
        if (top == 0) return;
        at = stack[--top];
    }
}

static bool put_behind(rbt_intersect_pile *all, const rbt_intersect_pile *more) {
    void *items = all->items;
    if (more->failed ||
        !rbt_array_reserve(&items, &all->capacity, all->count + more->count, sizeof *all->items, "pairs", NULL))
        return false;
    all->items = items;
    if (more->count) memcpy(all->items + all->count, more->items, more->count * sizeof *all->items);
    all->count += more->count;
    all->tested += more->tested;
    return true;
}

bool rbt_intersect_search(const rbt_box *queries, size_t query_count, const rbt_box_tree *tree, const rbt_box *boxes,
                          rbt_intersect_visit visit, const void *context, rbt_intersect_pile *all, rbt_error *error) {
    if (!tree->node_count || !query_count) return true;
    size_t runs = (query_count + RUN - 1) / RUN;
    rbt_intersect_pile *piles = rbt_array_new(runs, sizeof *piles, "pairs", error);
    if (!piles) return false;
#pragma omp parallel for schedule(dynamic) if (runs > 8)
    for (int64_t r = 0; r < (int64_t)runs; r++) {
        size_t begin = (size_t)r * RUN, end = begin + RUN < query_count ? begin + RUN : query_count;
        for (size_t q = begin; q < end; q++) walk(&queries[q], (int32_t)q, tree, boxes, visit, context, &piles[r]);
    }
    bool good = true;
    for (size_t r = 0; r < runs; r++) {
        good = good && put_behind(all, &piles[r]);
        free(piles[r].items);
    }
    free(piles);
    return good || rbt_fail_memory(error, all->count * sizeof *all->items, "pairs of primitives that may intersect");
}

static int compare(const void *a, const void *b) {
    const rbt_intersect_pair *p = a, *q = b;
    if (p->kind != q->kind) return p->kind < q->kind ? -1 : 1;
    if (p->first != q->first) return p->first < q->first ? -1 : 1;
    return p->second < q->second ? -1 : p->second > q->second;
}

void rbt_intersect_pile_sort(rbt_intersect_pile *pile) {
    if (!pile->count) return;
    qsort(pile->items, pile->count, sizeof *pile->items, compare);
    size_t kept = 1;
    for (size_t i = 1; i < pile->count; i++)
        if (compare(&pile->items[kept - 1], &pile->items[i]) != 0) pile->items[kept++] = pile->items[i];
    pile->count = kept;
}

bool rbt_intersect_counts(const rbt_intersect_mesh *mesh, const int32_t *nodes, int count) {
    if (mesh->obstacle_begin == mesh->node_count) return true;
    int obstacles = 0, moved = 0;
    for (int i = 0; i < count; i++) {
        obstacles += (size_t)nodes[i] >= mesh->obstacle_begin;
        moved += !mesh->still[nodes[i]];
    }
    return obstacles == 0 || (obstacles < count && moved > 0);
}

static bool is_finite(int32_t node, const double *x, rbt_error *error) {
    const double *at = x + 3 * (size_t)node;
    if (isfinite(at[0]) && isfinite(at[1]) && isfinite(at[2])) return true;
    return rbt_fail(error, "node %d is at (%g, %g, %g), which is no place, so intersections cannot be judged", node,
                    at[0], at[1], at[2]);
}

bool rbt_intersect_check_finite(const rbt_intersect_mesh *mesh, const double *x, rbt_error *error) {
    for (size_t i = 0; i < mesh->vertex_count; i++)
        if (!is_finite(mesh->vertices[i], x, error)) return false;
    for (size_t i = 0; i < mesh->plane_count; i++)
        if (!is_finite(mesh->planes[i].node, x, error)) return false;
    for (size_t i = 0; i < mesh->round_count; i++)
        for (int end = 0; end < 2; end++)
            if (mesh->rounds[i].node[end] >= 0 && !is_finite(mesh->rounds[i].node[end], x, error)) return false;
    return true;
}
