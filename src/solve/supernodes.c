#include "solve/supernodes.h"

#include "base/memory.h"
#include "solve/elimination.h"

#include <assert.h>
#include <string.h>

// What the search works with. Columns are those of the given order, chains are the supernodes before any are merged.
typedef struct search {
    const rbt_node_graph *graph;
    const int32_t *order;
    size_t n, chain_count;
    rbt_elimination columns;
    int32_t *chain_start;                     // (chain_count + 1) into post
    int32_t *chain_parent, *child, *sibling;  // (chain_count) tree of chains, -1 where there is none
    int32_t *into;                            // (chain_count) what each chain is merged into: itself if it stays
    size_t *width, *below;                    // (chain_count) nodes: columns and rows, after merging
    int32_t *mark;                            // (n)
    int32_t *final;                           // (n) of each vertex in the order found
} search;

void rbt_supernodes_free(rbt_supernodes *t) {
    free(t->order);
    free(t->first);
    free(t->row_start);
    free(t->row);
    free(t->relative);
    free(t->parent);
    free(t->flops);
    *t = (rbt_supernodes){0};
}

static void search_free(search *s) {
    rbt_elimination_free(&s->columns);
    free(s->chain_start);
    free(s->chain_parent), free(s->child), free(s->sibling), free(s->into), free(s->width), free(s->below);
    free(s->mark), free(s->final);
}

static const char WHAT[] = "the supernodes of a matrix";

static bool search_init(search *s, const rbt_node_graph *g, const int32_t *order, rbt_error *error) {
    size_t n = g->count;
    *s = (search){.graph = g, .order = order, .n = n};
    s->chain_start = rbt_array_new(n + 1, sizeof *s->chain_start, WHAT, error);
    s->chain_parent = rbt_array_new(n, sizeof *s->chain_parent, WHAT, error);
    s->child = rbt_array_new(n, sizeof *s->child, WHAT, error);
    s->sibling = rbt_array_new(n, sizeof *s->sibling, WHAT, error);
    s->into = rbt_array_new(n, sizeof *s->into, WHAT, error);
    s->width = rbt_array_new(n, sizeof *s->width, WHAT, error);
    s->below = rbt_array_new(n, sizeof *s->below, WHAT, error);
    s->mark = rbt_array_new(n, sizeof *s->mark, WHAT, error);
    s->final = rbt_array_new(n, sizeof *s->final, WHAT, error);
    return s->chain_start && s->chain_parent && s->child && s->sibling && s->into && s->width && s->below &&
           s->mark && s->final && rbt_elimination_build(&s->columns, g, order, error);
}

// ---- chains ----

// Columns that have the rows of the next one, and it: no zeros come of treating them as one.
static void find_chains(search *s) {
    const rbt_elimination *e = &s->columns;
    int32_t *chain_of = s->mark;
    size_t chains = 0;
    for (size_t i = 0; i < s->n; i++) {
        int32_t j = e->post[i], before = i ? e->post[i - 1] : -1;
        bool same = i && e->parent[before] == j && e->rows[before] == e->rows[j] + 1;
        if (!same) s->chain_start[chains++] = (int32_t)i;
        chain_of[j] = (int32_t)chains - 1;
    }
    s->chain_start[chains] = (int32_t)s->n;
    s->chain_count = chains;
    for (size_t c = 0; c < chains; c++) s->child[c] = -1;
    for (size_t c = chains; c-- > 0;) {  // so that lists of children ascend
        int32_t last = e->post[s->chain_start[c + 1] - 1], up = e->parent[last];
        s->into[c] = (int32_t)c;
        s->width[c] = (size_t)(s->chain_start[c + 1] - s->chain_start[c]);
        s->below[c] = (size_t)e->rows[last] - 1;
        s->chain_parent[c] = up < 0 ? -1 : chain_of[up];
        s->sibling[c] = -1;
        if (up < 0) continue;
        s->sibling[c] = s->child[chain_of[up]];
        s->child[chain_of[up]] = (int32_t)c;
    }
}

// ---- merging ----

static double front_flops(double w, double u) {
    double r = w + u;  // sum of (r - j)^2 for j < w
    return w * r * r - r * w * (w - 1) + (w - 1) * w * (2 * w - 1) / 6;
}

// Processor cycles of a front with w columns and u rows below: eliminating it, adding it to its parent, reading its
// part of L in a solve.
static double front_cost(size_t columns, size_t below, size_t block) {
    double w = (double)(block * columns), u = (double)(block * below);
    return front_flops(w, u) / 12 + 1.2 * u * u + 6 * (w * (w + 1) / 2 + w * u) + 30 * (w + u) + 2000;
}

static void merge_children(search *s, size_t p, size_t block) {
    for (bool merged = true; merged;) {
        merged = false;
        for (int32_t *link = &s->child[p]; *link >= 0;) {
            size_t c = (size_t)*link, width = s->width[c] + s->width[p];
            double apart = front_cost(s->width[c], s->below[c], block) + front_cost(s->width[p], s->below[p], block);
            if (front_cost(width, s->below[p], block) > apart) {
                link = &s->sibling[c];
                continue;
            }
            s->into[c] = (int32_t)p;
            s->width[p] = width;
            // Its children take its place in the list.
            int32_t after = s->sibling[c];
            *link = s->child[c] >= 0 ? s->child[c] : after;
            for (int32_t d = s->child[c]; d >= 0; d = s->sibling[d])
                if (s->sibling[d] < 0) {
                    s->sibling[d] = after;
                    break;
                }
            merged = true;
        }
    }
}

static void merge(search *s, size_t block) {
    for (size_t p = 0; p < s->chain_count; p++) merge_children(s, p, block);
    for (size_t c = s->chain_count; c-- > 0;) s->into[c] = s->into[s->into[c]];
}

// ---- the result ----

static int compare_nodes(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// Chains that stay are the supernodes; a chain merged into one is eliminated just before it. Chains are in postorder,
// and so are those that stay.
static void number_supernodes(rbt_supernodes *t, search *s) {
    int32_t *number = s->mark;  // of the chains that stay
    size_t count = 0, at = 0;
    for (size_t c = 0; c < s->chain_count; c++)
        if (s->into[c] == (int32_t)c) {
            t->first[count] = (int32_t)at;
            t->row_start[count + 1] = t->row_start[count] + s->below[c];
            t->flops[count] = front_flops((double)(t->block * s->width[c]), (double)(t->block * s->below[c]));
            at += s->width[c];
            number[c] = (int32_t)count++;
        }
    t->count = count;
    t->first[count] = (int32_t)at;
    int32_t *fill = s->child;  // no longer needed as lists
    for (size_t k = 0; k < count; k++) fill[k] = t->first[k];
    for (size_t c = 0; c < s->chain_count; c++) {
        int32_t k = number[s->into[c]];
        for (int32_t i = s->chain_start[c]; i < s->chain_start[c + 1]; i++) {
            t->order[fill[k]] = s->order[s->columns.post[i]];
            s->final[t->order[fill[k]]] = fill[k];
            fill[k]++;
        }
        int32_t up = s->chain_parent[c];
        if (s->into[c] == (int32_t)c) t->parent[k] = up < 0 ? -1 : number[s->into[up]];
    }
}

static void add_row(rbt_supernodes *t, search *s, size_t k, int32_t node, size_t *at) {
    if (node < t->first[k + 1] || s->mark[node] == (int32_t)k) return;
    s->mark[node] = (int32_t)k;
    t->row[(*at)++] = node;
}

// The rows of a supernode are those of the matrix and of its children.
static void find_rows(rbt_supernodes *t, search *s) {
    const rbt_node_graph *g = s->graph;
    int32_t *child = s->child, *sibling = s->sibling;
    for (size_t i = 0; i < s->n; i++) s->mark[i] = -1;
    for (size_t k = 0; k < t->count; k++) child[k] = sibling[k] = -1;
    for (size_t k = 0; k < t->count; k++) {
        size_t at = t->row_start[k];
        for (int32_t p = t->first[k]; p < t->first[k + 1]; p++) {
            size_t v = (size_t)t->order[p];
            for (size_t e = g->start[v]; e < g->start[v + 1]; e++) add_row(t, s, k, s->final[g->neighbour[e]], &at);
        }
        for (int32_t c = child[k]; c >= 0; c = sibling[c])
            for (size_t e = t->row_start[c]; e < t->row_start[c + 1]; e++) add_row(t, s, k, t->row[e], &at);
        assert(at == t->row_start[k + 1]);
        qsort(t->row + t->row_start[k], at - t->row_start[k], sizeof *t->row, compare_nodes);
        if (t->parent[k] < 0) continue;
        sibling[k] = child[t->parent[k]];
        child[t->parent[k]] = (int32_t)k;
    }
}

static void find_relative(rbt_supernodes *t) {
    for (size_t k = 0; k < t->count; k++) {
        if (t->parent[k] < 0) continue;
        size_t p = (size_t)t->parent[k], at = t->row_start[p];
        int32_t width = t->first[p + 1] - t->first[p];
        for (size_t e = t->row_start[k]; e < t->row_start[k + 1]; e++) {
            int32_t node = t->row[e];
            if (node < t->first[p + 1]) {
                t->relative[e] = node - t->first[p];
                continue;
            }
            while (t->row[at] < node) at++;
            assert(at < t->row_start[p + 1] && t->row[at] == node);
            t->relative[e] = width + (int32_t)(at - t->row_start[p]);
        }
    }
}

static void measure(rbt_supernodes *t, const search *s) {
    for (size_t j = 0; j < s->n; j++)
        for (size_t r = 0; r < t->block; r++) {
            double rows = (double)(t->block * (size_t)s->columns.rows[j] - r);
            t->fill += rows;
            t->total_flops += rows * rows;
        }
}

static bool supernodes_build(rbt_supernodes *t, search *s, rbt_error *error) {
    measure(t, s);
    find_chains(s);
    merge(s, t->block);
    size_t rows = 0, kept = 0;
    for (size_t c = 0; c < s->chain_count; c++)
        if (s->into[c] == (int32_t)c) rows += s->below[c], kept++;
    t->order = rbt_array_new(s->n, sizeof *t->order, WHAT, error);
    t->first = rbt_array_new(kept + 1, sizeof *t->first, WHAT, error);
    t->row_start = rbt_array_new(kept + 1, sizeof *t->row_start, WHAT, error);
    t->row = rbt_array_new(rows, sizeof *t->row, WHAT, error);
    t->relative = rbt_array_new(rows, sizeof *t->relative, WHAT, error);
    t->parent = rbt_array_new(kept, sizeof *t->parent, WHAT, error);
    t->flops = rbt_array_new(kept, sizeof *t->flops, WHAT, error);
    if (!t->order || !t->first || !t->row_start || !t->row || !t->relative || !t->parent || !t->flops) return false;
    number_supernodes(t, s);
    find_rows(t, s);
    find_relative(t);
    return true;
}

bool rbt_supernodes_build(rbt_supernodes *t, const rbt_node_graph *graph, const int32_t *order, size_t block,
                          rbt_error *error) {
    *t = (rbt_supernodes){.node_count = graph->count, .block = block};
    search s;
    bool good = search_init(&s, graph, order, error) && supernodes_build(t, &s, error);
    search_free(&s);
    if (!good) rbt_supernodes_free(t);
    return good;
}
