#include "solve/ordering.h"

#include "base/memory.h"
#include "solve/metis_lock.h"

#include <cholmod.h>
#include <metis.h>
#include <string.h>

void rbt_node_graph_free(rbt_node_graph *g) {
    free(g->row);
    free(g->start);
    free(g->neighbour);
    free(g->block);
    *g = (rbt_node_graph){0};
}

// The vertex of a row at most that of vertex `last`, -1 if the row is not kept.
static int32_t vertex_of(const rbt_node_graph *g, size_t last, int32_t row) {
    size_t low = 0, high = last;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (g->row[middle] < row) low = middle + 1;
        else high = middle;
    }
    return g->row[low] == row ? (int32_t)low : -1;
}

// Counts the edges at each vertex into fill, or with g->neighbour writes each edge where fill says and moves on. Rows
// ascend, so each vertex's list does.
static void visit_edges(rbt_node_graph *g, const size_t *start, const int32_t *column, size_t *fill) {
    for (size_t v = 0; v < g->count; v++) {
        size_t i = (size_t)g->row[v];
        for (size_t k = start[i]; k < start[i + 1]; k++) {
            int32_t ends[2] = {(int32_t)v, vertex_of(g, v, column[k])};
            for (int e = 0; ends[1] >= 0 && ends[1] != ends[0] && e < 2; e++) {
                size_t at = fill[ends[e]]++;
                if (!g->neighbour) continue;
                g->neighbour[at] = ends[1 - e];
                g->block[at] = k;
            }
        }
    }
}

static const char WHAT[] = "the graph of a matrix";

// Edges between the vertices, whose rows are known
static bool join_vertices(rbt_node_graph *g, const size_t *start, const int32_t *column, rbt_error *error) {
    g->start = rbt_array_new(g->count + 1, sizeof *g->start, WHAT, error);
    size_t *fill = rbt_array_new(g->count, sizeof *fill, WHAT, error);
    bool good = g->start && fill;
    if (good) {
        visit_edges(g, start, column, fill);
        for (size_t v = 0; v < g->count; v++) {
            g->start[v + 1] = g->start[v] + fill[v];
            fill[v] = g->start[v];
        }
        int32_t *neighbour = rbt_array_new(g->start[g->count], sizeof *neighbour, WHAT, error);
        g->neighbour = neighbour;
        g->block = rbt_array_new(g->start[g->count], sizeof *g->block, WHAT, error);
        good = g->neighbour && g->block;
    }
    if (good) visit_edges(g, start, column, fill);
    free(fill);
    if (!good) rbt_node_graph_free(g);
    return good;
}

bool rbt_node_graph_build(rbt_node_graph *g, size_t row_count, const size_t *start, const int32_t *column,
                          const unsigned char *keep, rbt_error *error) {
    *g = (rbt_node_graph){.row = rbt_array_new(row_count, sizeof *g->row, WHAT, error)};
    if (!g->row) return false;
    for (size_t i = 0; i < row_count; i++)
        if (keep[i]) g->row[g->count++] = (int32_t)i;
    return join_vertices(g, start, column, error);
}

bool rbt_node_graph_build_rows(rbt_node_graph *g, const int32_t *rows, size_t count, const size_t *start,
                               const int32_t *column, rbt_error *error) {
    *g = (rbt_node_graph){.count = count, .row = rbt_array_new(count, sizeof *g->row, WHAT, error)};
    if (!g->row) return false;
    if (count) memcpy(g->row, rows, count * sizeof *rows);
    return join_vertices(g, start, column, error);
}

static int call_metis(idx_t count, idx_t *start, idx_t *neighbour, idx_t *order, idx_t *inverse) {
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_COMPRESS] =
        0;  // nodes with the same neighbours are rare: the scalars are already one vertex
    rbt_metis_lock();
    int status = METIS_NodeND(&count, start, neighbour, NULL, options, order, inverse);
    rbt_metis_unlock();
    return status;
}

static bool nested_dissection(const rbt_node_graph *g, SuiteSparse_long *order, rbt_error *error) {
    size_t n = g->count, edges = g->start[n];
    if (edges > INT32_MAX)
        return rbt_fail(error, "a matrix with %zu blocks: at most %d can be ordered", edges / 2, INT32_MAX / 2);
    const char *what = "ordering a matrix";
    idx_t *start = rbt_array_new(n + 1, sizeof *start, what, error);
    idx_t *neighbour = rbt_array_new(edges, sizeof *neighbour, what, error);
    idx_t *found = rbt_array_new(n, sizeof *found, what, error);
    idx_t *inverse = rbt_array_new(n, sizeof *inverse, what, error);
    bool good = start && neighbour && found && inverse;
    if (good) {
        for (size_t v = 0; v <= n; v++) start[v] = (idx_t)g->start[v];
        for (size_t k = 0; k < edges; k++) neighbour[k] = (idx_t)g->neighbour[k];
        good = call_metis((idx_t)n, start, neighbour, found, inverse) == METIS_OK;
        if (!good) rbt_fail(error, "not enough memory to order a matrix of %zu nodes", n);
    }
    for (size_t v = 0; good && v < n; v++) order[v] = (SuiteSparse_long)found[v];
    free(start);
    free(neighbour);
    free(found);
    free(inverse);
    return good;
}

// The upper triangle of the graph as a matrix without values.
static cholmod_sparse *graph_matrix(const rbt_node_graph *g, cholmod_common *common) {
    size_t n = g->count;
    cholmod_sparse *A = cholmod_l_allocate_sparse(n, n, n + g->start[n] / 2, 1, 1, 1, CHOLMOD_PATTERN, common);
    if (!A) return NULL;
    SuiteSparse_long *start = A->p, *row = A->i, at = 0;
    for (size_t v = 0; v < n; v++) {
        start[v] = at;
        for (size_t k = g->start[v]; k < g->start[v + 1]; k++)
            if ((size_t)g->neighbour[k] < v) row[at++] = g->neighbour[k];
        row[at++] = (SuiteSparse_long)v;
    }
    start[n] = at;
    return A;
}

// CHOLMOD compares the given order with minimum degree and keeps the one with less fill.
static bool choose_order(const rbt_node_graph *g, SuiteSparse_long *given, int32_t *order) {
    cholmod_common common;
    cholmod_l_start(&common);
    common.print = 0;
    common.supernodal = CHOLMOD_SIMPLICIAL;
    common.nmethods = 2;
    common.method[0].ordering = CHOLMOD_GIVEN;
    common.method[1].ordering = CHOLMOD_AMD;
    cholmod_sparse *A = graph_matrix(g, &common);
    cholmod_factor *L = A ? cholmod_l_analyze_p(A, given, NULL, 0, &common) : NULL;
    // Out of memory for one of them CHOLMOD takes the other, silently: other bits.
    bool found = L && common.method[0].lnz >= 0 && common.method[1].lnz >= 0;
    for (size_t v = 0; found && v < g->count; v++) order[v] = (int32_t)((SuiteSparse_long *)L->Perm)[v];
    cholmod_l_free_factor(&L, &common);
    cholmod_l_free_sparse(&A, &common);
    cholmod_l_finish(&common);
    return found;
}

bool rbt_order_nodes(const rbt_node_graph *g, int32_t *order, rbt_error *error) {
    for (size_t v = 0; v < g->count; v++) order[v] = (int32_t)v;
    if (g->count < 2 || g->start[g->count] == 0) return true;  // METIS asks for an edge
    SuiteSparse_long *given = rbt_array_new(g->count, sizeof *given, "ordering a matrix", error);
    bool good = given && nested_dissection(g, given, error);
    if (good && !choose_order(g, given, order))
        good = rbt_fail(error, "not enough memory to order a matrix of %zu nodes", g->count);
    free(given);
    return good;
}
