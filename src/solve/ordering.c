#include "solve/ordering.h"

#include "base/memory.h"
#include "solve/elimination.h"
#include "solve/metis_lock.h"

#include <amd.h>
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
    rbt_metis_lock(true);
    int status = METIS_NodeND(&count, start, neighbour, NULL, options, order, inverse);
    rbt_metis_unlock();
    return status;
}

static bool nested_dissection(const rbt_node_graph *g, int32_t *order, rbt_error *error) {
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
    for (size_t v = 0; good && v < n; v++) order[v] = (int32_t)found[v];
    free(start);
    free(neighbour);
    free(found);
    free(inverse);
    return good;
}

// AMD reads columns of the upper triangle.
bool rbt_order_by_degree(const rbt_node_graph *g, int32_t *order, rbt_error *error) {
    size_t n = g->count;
    const char *what = "ordering a matrix";
    SuiteSparse_long *start = rbt_array_new(n + 1, sizeof *start, what, error), at = 0;
    SuiteSparse_long *row = rbt_array_new(g->start[n] / 2, sizeof *row, what, error);
    SuiteSparse_long *found = rbt_array_new(n, sizeof *found, what, error);
    bool good = start && row && found;
    if (good) {
        for (size_t v = 0; v < n; v++) {
            for (size_t k = g->start[v]; k < g->start[v + 1]; k++)
                if ((size_t)g->neighbour[k] < v) row[at++] = g->neighbour[k];
            start[v + 1] = at;
        }
        double control[AMD_CONTROL];
        amd_l_defaults(control);
        good = amd_l_order((SuiteSparse_long)n, start, row, found, control, NULL) == AMD_OK;
        if (!good) rbt_fail(error, "not enough memory to order a matrix of %zu nodes", n);
    }
    for (size_t v = 0; good && v < n; v++) order[v] = (int32_t)found[v];
    free(start);
    free(row);
    free(found);
    return good;
}

// Into `order` the one of both that has less fill, children with fewer rows first.
static bool choose_order(const rbt_node_graph *g, const int32_t *dissected, const int32_t *least, int32_t *order,
                         rbt_error *error) {
    rbt_elimination by_dissection, by_degree;
    if (!rbt_elimination_build(&by_dissection, g, dissected, error)) return false;
    if (!rbt_elimination_build(&by_degree, g, least, error)) {
        rbt_elimination_free(&by_dissection);
        return false;
    }
    bool degree_is_better = rbt_elimination_fill(&by_degree) < rbt_elimination_fill(&by_dissection);
    rbt_elimination *better = degree_is_better ? &by_degree : &by_dissection;
    const int32_t *from = degree_is_better ? least : dissected;
    bool good = rbt_elimination_sort(better, error);
    for (size_t k = 0; good && k < g->count; k++) order[k] = from[better->post[k]];
    rbt_elimination_free(&by_dissection);
    rbt_elimination_free(&by_degree);
    return good;
}

bool rbt_order_nodes(const rbt_node_graph *g, int32_t *order, rbt_error *error) {
    for (size_t v = 0; v < g->count; v++) order[v] = (int32_t)v;
    if (g->count < 2 || g->start[g->count] == 0) return true;  // METIS asks for an edge
    int32_t *dissected = rbt_array_new(g->count, sizeof *dissected, "ordering a matrix", error);
    int32_t *least = rbt_array_new(g->count, sizeof *least, "ordering a matrix", error);
    bool good = dissected && least && nested_dissection(g, dissected, error) &&
                rbt_order_by_degree(g, least, error) && choose_order(g, dissected, least, order, error);
    free(dissected);
    free(least);
    return good;
}
