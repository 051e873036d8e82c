#include "solve/more_blocks.h"

#include "base/memory.h"
#include "solve/elimination.h"

#include <string.h>

static const char WHAT[] = "ordering a matrix";

void rbt_core_order_free(rbt_core_order *core) {
    rbt_node_graph_free(&core->graph);
    free(core->order);
    *core = (rbt_core_order){0};
}

bool rbt_core_order_find(rbt_core_order *core, const rbt_block_matrix *pattern, const unsigned char *keep,
                         rbt_error *error) {
    *core = (rbt_core_order){0};
    if (!rbt_node_graph_build(&core->graph, pattern->row_count, pattern->start, pattern->column, keep, error))
        return false;
    core->order = rbt_array_new(core->graph.count, sizeof *core->order, WHAT, error);
    if (core->order && rbt_order_nodes(&core->graph, core->order, error)) return true;
    rbt_core_order_free(core);
    return false;
}

// ---- Vertices that touch all edges more

// Calls for each neighbour of v that the core does not have. Lists of both graphs ascend.
#define FOR_EDGES_MORE(core, graph, v, other)                                                                        \
    for (size_t k_ = (graph)->start[v], c_ = (core)->start[v]; k_ < (graph)->start[(v) + 1]; k_++)                   \
        if (c_ < (core)->start[(v) + 1] && (core)->neighbour[c_] == (graph)->neighbour[k_]) c_++;                    \
        else                                                                                                         \
            for (int32_t other = (graph)->neighbour[k_], once_ = 1; once_; once_ = 0)

// Greedy: the vertices with most of the edges that no taken one touches, first. degree (count) is work space; returns
// how many are taken.
static size_t cover(const rbt_node_graph *core, const rbt_node_graph *g, int32_t *degree, unsigned char *taken) {
    int32_t most = 0;
    size_t count = 0;
    for (size_t v = 0; v < g->count; v++) {
        taken[v] = 0;
        degree[v] = (int32_t)(g->start[v + 1] - g->start[v]) - (int32_t)(core->start[v + 1] - core->start[v]);
        most = degree[v] > most ? degree[v] : most;
    }
    for (int32_t least = most; least > 0; least--)
        for (size_t v = 0; v < g->count; v++) {
            if (degree[v] < least) continue;
            taken[v] = 1;
            degree[v] = 0;
            count++;
            FOR_EDGES_MORE(core, g, v, other) if (!taken[other]) degree[other]--;
        }
    return count;
}

static void put_last(size_t count, const int32_t *from, const unsigned char *taken, int32_t *to) {
    size_t at = 0;
    for (int last = 0; last < 2; last++)
        for (size_t i = 0; i < count; i++)
            if (taken[from[i]] == last) to[at++] = from[i];
}

// ---- Choosing

typedef struct candidate {
    int32_t *order;
    rbt_elimination columns;
    bool good;
} candidate;

static double flops(const candidate *c) {
    double sum = 0;
    for (size_t j = 0; j < c->columns.count; j++) sum += (double)c->columns.rows[j] * (double)c->columns.rows[j];
    return sum;
}

static bool take_best(candidate *candidates, int count, int32_t *order, rbt_error *error) {
    candidate *best = candidates;
    for (int i = 1; i < count; i++)
        if (flops(&candidates[i]) < flops(best)) best = &candidates[i];
    if (!rbt_elimination_sort(&best->columns, error)) return false;
    for (size_t k = 0; k < best->columns.count; k++) order[k] = best->order[best->columns.post[k]];
    return true;
}

enum { COVERED, DEGREE, CANDIDATES };

static bool make_candidate(const rbt_core_order *core, const rbt_node_graph *g, int which, int32_t *work,
                           unsigned char *taken, candidate *c) {
    if (which == COVERED) {
        cover(&core->graph, g, work, taken);
        put_last(g->count, core->order, taken, c->order);
    } else if (!rbt_order_by_degree(g, c->order, NULL)) return false;
    return c->good = rbt_elimination_build(&c->columns, g, c->order, NULL);
}

bool rbt_order_more(const rbt_core_order *core, const rbt_node_graph *g, int32_t *order, rbt_error *error) {
    size_t n = g->count;
    if (g->start[n] == core->graph.start[n]) {
        if (n) memcpy(order, core->order, n * sizeof *order);
        return true;
    }
    int32_t *orders = rbt_array_new(n, (CANDIDATES + 1) * sizeof *orders, WHAT, error);
    unsigned char *taken = rbt_array_new(n, 1, WHAT, error);
    bool good = orders && taken;
    candidate candidates[CANDIDATES] = {{0}};
    for (int i = 0; good && i < CANDIDATES; i++) candidates[i].order = orders + (size_t)i * n;
#pragma omp parallel for schedule(dynamic, 1) if (good && n >= 256)
    for (int i = 0; i < CANDIDATES; i++)
        if (good)
            make_candidate(core, g, CANDIDATES - 1 - i, orders + CANDIDATES * n, taken,
                           &candidates[CANDIDATES - 1 - i]);
    for (int i = 0; good && i < CANDIDATES; i++)
        if (!candidates[i].good) good = rbt_fail_memory(error, n * sizeof *orders, WHAT);
    good = good && take_best(candidates, CANDIDATES, order, error);
    for (int i = 0; i < CANDIDATES; i++)
        if (candidates[i].good) rbt_elimination_free(&candidates[i].columns);
    free(orders);
    free(taken);
    return good;
}
