// The matrix is kept as a list of its blocks by columns in the order of elimination, found on the graph of nodes
// (solve/ordering.h, solve/supernodes.h). L L^T and L D L^T take them from there to their fronts.
#include "solve/cholesky.h"

#include "base/memory.h"
#include "solve/frontal.h"
#include "solve/ldl.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { REFINEMENTS = 5 };
static const double UNSTABLE = 1e-10, EXACT = 1e-15;

struct rbt_cholesky {
    rbt_supernodes tree;
    rbt_frontal *frontal;  // L L^T
    size_t block;          // unknowns per row: 3, or 1 with three right-hand sides for each vector
    size_t row_count, kept_count;
    int32_t *rows;        // (kept_count) ascending; vertices are numbers into it
    int32_t *row_at;      // (kept_count) the row that is eliminated at a place
    int32_t *place;       // (kept_count) where each of `rows` is eliminated
    size_t *entry_start;  // (kept_count + 1) blocks of each column in the order of elimination, the diagonal first
    int32_t *entry_row;   // (entry_start[kept_count]) rows in that order, ascending in each column
    size_t *source;       // (entry_start[kept_count]) 2 block + 1 if it is used transposed
    size_t *offset;       // of right-hand sides, work space
    size_t offset_capacity;
    enum { NOTHING, DEFINITE, INDEFINITE } current;  // what there is to solve with

    rbt_ldl *ldl;   // L D L^T, made when first asked for
    double *b, *r;  // right-hand sides and residuals in the order of elimination, work space
    size_t b_capacity, r_capacity;
};

void rbt_cholesky_free(rbt_cholesky *c) {
    if (!c) return;
    rbt_frontal_free(c->frontal);
    rbt_supernodes_free(&c->tree);
    rbt_ldl_free(c->ldl);
    free(c->rows);
    free(c->row_at);
    free(c->place);
    free(c->offset);
    free(c->entry_start);
    free(c->entry_row);
    free(c->source);
    free(c->b);
    free(c->r);
    free(c);
}

// ---- analysis ----

// The blocks of the lower triangle by columns. Rows are visited in the order of elimination, so each column's ascend.
static void fill_entries(rbt_cholesky *c, const size_t *row_start, const rbt_node_graph *g, size_t *fill) {
    const int32_t *order = c->tree.order, *place = c->place;
    size_t n = c->kept_count;
    for (size_t p = 0; p < n; p++) {
        size_t v = (size_t)order[p], count = 1;
        for (size_t k = g->start[v]; k < g->start[v + 1]; k++) count += (size_t)place[g->neighbour[k]] > p;
        fill[p] = c->entry_start[p];
        c->entry_start[p + 1] = c->entry_start[p] + count;
    }
    for (size_t q = 0; q < n; q++) {
        size_t v = (size_t)order[q], at = fill[q]++;
        c->source[at] = 2 * (row_start[g->row[v] + 1] - 1);
        c->entry_row[at] = (int32_t)q;
        for (size_t k = g->start[v]; k < g->start[v + 1]; k++) {
            size_t other = (size_t)g->neighbour[k], p = (size_t)place[other];
            if (p > q) continue;
            at = fill[p]++;
            c->source[at] = 2 * g->block[k] + (v < other);
            c->entry_row[at] = (int32_t)q;
        }
    }
}

static bool find_order(const rbt_core_order *core, const rbt_node_graph *g, int32_t *order, rbt_error *error) {
    return core ? rbt_order_more(core, g, order, error) : rbt_order_nodes(g, order, error);
}

static bool analyse_graph(rbt_cholesky *c, const size_t *row_start, const rbt_node_graph *g,
                          const rbt_core_order *core, rbt_precision precision, rbt_error *error) {
    const char *what = "the pattern of a matrix";
    c->kept_count = g->count;
    if (!g->count) return true;
    size_t entries = g->start[g->count] / 2 + g->count;
    c->rows = rbt_array_new(g->count, sizeof *c->rows, what, error);
    c->row_at = rbt_array_new(g->count, sizeof *c->row_at, what, error);
    c->entry_start = rbt_array_new(g->count + 1, sizeof *c->entry_start, what, error);
    c->entry_row = rbt_array_new(entries, sizeof *c->entry_row, what, error);
    c->source = rbt_array_new(entries, sizeof *c->source, what, error);
    c->place = rbt_array_new(g->count, sizeof *c->place, what, error);
    size_t *fill = rbt_array_new(g->count, sizeof *fill, what, error);
    bool good = c->rows && c->row_at && c->entry_start && c->entry_row && c->source && c->place && fill &&
                find_order(core, g, c->place, error) && rbt_supernodes_build(&c->tree, g, c->place, c->block, error);
    if (good) {
        memcpy(c->rows, g->row, g->count * sizeof *c->rows);
        for (size_t p = 0; p < g->count; p++) c->row_at[p] = c->rows[c->tree.order[p]];
        for (size_t p = 0; p < g->count; p++) c->place[c->tree.order[p]] = (int32_t)p;
        fill_entries(c, row_start, g, fill);
        rbt_frontal_entries kept = {c->entry_start, c->entry_row, c->source};
        c->frontal = rbt_frontal_new(
            &c->tree, &kept, rbt_dense_kernels_with(rbt_processor_set(RBT_DENSE_KERNELS), precision == RBT_SINGLE),
            error);
        good = c->frontal;
    }
    free(fill);
    return good;
}

// Takes over the graph.
static rbt_cholesky *analyse(size_t block, size_t row_count, const size_t *start, rbt_node_graph *graph,
                             const rbt_core_order *core, rbt_precision precision, rbt_error *error) {
    rbt_cholesky *c = rbt_array_new(1, sizeof *c, "a factorisation", error);
    bool good = c != NULL;
    if (good) {
        c->block = block;
        c->row_count = row_count;
        good = analyse_graph(c, start, graph, core, precision, error);
    }
    rbt_node_graph_free(graph);
    if (good) return c;
    rbt_cholesky_free(c);
    return NULL;
}

rbt_cholesky *rbt_cholesky_analyse(const rbt_block_matrix *A, const unsigned char *keep, rbt_error *error) {
    rbt_node_graph graph;
    if (!rbt_node_graph_build(&graph, A->row_count, A->start, A->column, keep, error)) return NULL;
    return analyse(3, A->row_count, A->start, &graph, NULL, RBT_DOUBLE, error);
}

rbt_cholesky *rbt_cholesky_analyse_more(rbt_cholesky *former, const rbt_core_order *core, const rbt_block_matrix *A,
                                        const unsigned char *keep, rbt_error *error) {
    rbt_node_graph graph;
    rbt_cholesky *c = NULL;
    if (rbt_node_graph_build(&graph, A->row_count, A->start, A->column, keep, error))
        c = analyse(3, A->row_count, A->start, &graph, core, RBT_DOUBLE, error);
    if (c && c->frontal && former && former->frontal) rbt_frontal_inherit(c->frontal, former->frontal);
    rbt_cholesky_free(former);
    return c;
}

rbt_cholesky *rbt_cholesky_analyse_scalar(const rbt_scalar_matrix *A, const unsigned char *keep, rbt_error *error) {
    rbt_node_graph graph;
    if (!rbt_node_graph_build(&graph, A->row_count, A->start, A->column, keep, error)) return NULL;
    return analyse(1, A->row_count, A->start, &graph, NULL, RBT_DOUBLE, error);
}

rbt_cholesky *rbt_cholesky_analyse_rows(const rbt_block_matrix *A, const int32_t *rows, size_t count,
                                        rbt_precision precision, rbt_error *error) {
    rbt_node_graph graph;
    if (!rbt_node_graph_build_rows(&graph, rows, count, A->start, A->column, error)) return NULL;
    return analyse(3, A->row_count, A->start, &graph, NULL, precision, error);
}

// ---- L L^T ----

// The first row, in the order of elimination, with a value that is not finite; false if there is none. Of blocks on the
// diagonal only the lower triangle counts.
static bool find_not_finite(const rbt_cholesky *c, const double *value, size_t *row) {
    size_t block = c->block;
    for (size_t p = 0; p < c->kept_count; p++)
        for (size_t e = c->entry_start[p]; e < c->entry_start[p + 1]; e++) {
            const double *B = value + block * block * (c->source[e] / 2);
            for (size_t i = 0; i < block * block; i++)
                if (!isfinite(B[i]) && (e > c->entry_start[p] || i % block <= i / block)) {
                    *row = (size_t)c->row_at[p];
                    return true;
                }
        }
    return false;
}

static rbt_factor_result factor(rbt_cholesky *c, const double *value, size_t *row) {
    size_t place = 0;
    c->current = NOTHING;
    if (!c->kept_count) return RBT_FACTORED;
    switch (rbt_frontal_factor(c->frontal, value, &place)) {
    case RBT_FRONTAL_NO_MEMORY: return RBT_FACTOR_NO_MEMORY;
    case RBT_FRONTAL_BAD_PIVOT:
        if (find_not_finite(c, value, row)) return RBT_FACTOR_NOT_FINITE;
        *row = (size_t)c->row_at[place];
        return RBT_FACTOR_INDEFINITE;
    case RBT_FRONTAL_DONE: break;
    }
    c->current = DEFINITE;
    return RBT_FACTORED;
}

rbt_factor_result rbt_cholesky_factor(rbt_cholesky *c, const rbt_block_matrix *A, size_t *row) {
    assert(c->block == 3 && A->row_count == c->row_count);
    return factor(c, A->value, row);
}

rbt_factor_result rbt_cholesky_factor_scalar(rbt_cholesky *c, const rbt_scalar_matrix *A, size_t *row) {
    assert(c->block == 1 && A->row_count == c->row_count);
    return factor(c, A->value, row);
}

// ---- L D L^T ----

rbt_factor_result rbt_cholesky_factor_indefinite(rbt_cholesky *c, const rbt_block_matrix *A, size_t *row) {
    assert(c->block == 3 && A->row_count == c->row_count);
    size_t place = 0;
    c->current = NOTHING;
    if (!c->kept_count) return RBT_FACTORED;
    rbt_frontal_entries kept = {c->entry_start, c->entry_row, c->source};
    if (!c->ldl) c->ldl = rbt_ldl_new(&c->tree, &kept, NULL);
    if (!c->ldl) return RBT_FACTOR_NO_MEMORY;
    if (!rbt_ldl_factor(c->ldl, A->value, &place)) {
        if (find_not_finite(c, A->value, row)) return RBT_FACTOR_NOT_FINITE;
        *row = (size_t)c->row_at[place];
        return RBT_FACTOR_SINGULAR;
    }
    c->current = INDEFINITE;
    return RBT_FACTORED;
}

size_t rbt_cholesky_negative_count(const rbt_cholesky *c) {
    return c->current == INDEFINITE ? rbt_ldl_negative_count(c->ldl) : 0;
}

// ---- solving ----

// Vectors of three numbers for each of `rows` (NULL: one after the other), `apart` from each other. If a row has one
// unknown, its three numbers are of three right-hand sides.
static bool place_sides(rbt_cholesky *c, size_t count, size_t apart, const int32_t *rows, rbt_front_sides *sides) {
    size_t each = 3 / c->block;
    if (!rbt_array_reserve((void **)&c->offset, &c->offset_capacity, each * count, sizeof *c->offset,
                           "right-hand sides", NULL))
        return false;
    for (size_t j = 0; j < each * count; j++) c->offset[j] = j / each * apart + j % each;
    *sides = (rbt_front_sides){
        .count = each * count, .block = c->block, .offset = c->offset, .row = rows, .place = c->place, .spread = 3};
    return true;
}

// Rows that are not kept, in vectors one behind the other
static void clear_others(const rbt_cholesky *c, size_t count, double *x) {
    size_t row = 0;
    for (size_t k = 0; k <= c->kept_count; k++) {
        size_t next = k < c->kept_count ? (size_t)c->rows[k] : c->row_count;
        for (size_t v = 0; next > row && v < count; v++)
            memset(x + 3 * (v * c->row_count + row), 0, 3 * (next - row) * sizeof *x);
        row = next + 1;
    }
}

// ---- with L D L^T ----

static bool gather(rbt_cholesky *c, const double *b) {
    if (!rbt_array_reserve((void **)&c->b, &c->b_capacity, 3 * c->kept_count, sizeof *c->b, "right-hand sides", NULL))
        return false;
    for (size_t p = 0; p < c->kept_count; p++) memcpy(c->b + 3 * p, b + 3 * c->row_at[p], 3 * sizeof *b);
    return true;
}

static void scatter(const rbt_cholesky *c, const double *from, double *x) {
    for (size_t p = 0; p < c->kept_count; p++) memcpy(x + 3 * c->row_at[p], from + 3 * p, 3 * sizeof *x);
    clear_others(c, 1, x);
}

// ---- with either ----

bool rbt_cholesky_solve_many(rbt_cholesky *c, size_t count, const double *b, double *x) {
    size_t apart = 3 * c->row_count;
    rbt_front_sides sides;
    if (!c->kept_count || !count) {
        memset(x, 0, apart * count * sizeof *x);
        return true;
    }
    assert(c->current != NOTHING);
    if (c->current == DEFINITE) {
        if (!place_sides(c, count, apart, c->rows, &sides) || !rbt_frontal_solve(c->frontal, &sides, b, &sides, x))
            return false;
        clear_others(c, count, x);
        return true;
    }
    for (size_t v = 0; v < count; v++) {
        if (!gather(c, b + v * apart)) return false;
        rbt_ldl_solve(c->ldl, c->b);
        scatter(c, c->b, x + v * apart);
    }
    return true;
}

bool rbt_cholesky_solve_rows(rbt_cholesky *c, const double *b, double *x) {
    rbt_front_sides from, to;
    if (!c->kept_count) return true;
    assert(c->current == DEFINITE);
    return place_sides(c, 1, 3 * c->row_count, c->rows, &from) && place_sides(c, 1, 3 * c->row_count, NULL, &to) &&
           rbt_frontal_solve(c->frontal, &from, b, &to, x);
}

bool rbt_cholesky_solve(rbt_cholesky *c, const double *b, double *x) { return rbt_cholesky_solve_many(c, 1, b, x); }

// Where each of `rows` is eliminated; false: one of them is not kept.
static bool find_places(const rbt_cholesky *c, size_t count, const int32_t *rows, int32_t *places) {
    for (size_t i = 0; i < count; i++) {
        size_t low = 0, high = c->kept_count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (c->rows[middle] < rows[i]) low = middle + 1;
            else high = middle;
        }
        if (low == c->kept_count || c->rows[low] != rows[i]) return false;
        places[i] = c->place[low];
    }
    return true;
}

bool rbt_cholesky_inverse(const rbt_cholesky *c, size_t column_count, const int32_t *column, size_t row_count,
                          const int32_t *row, double *S) {
    assert(c->current == DEFINITE && c->block == 3);
    int32_t *places = malloc((column_count + row_count + 1) * sizeof *places);
    bool good = places && find_places(c, column_count, column, places) &&
                find_places(c, row_count, row, places + column_count) &&
                rbt_frontal_inverse(c->frontal, column_count, places, row_count, places + column_count, S);
    free(places);
    return good;
}

rbt_fused_solve *rbt_cholesky_fused(const rbt_cholesky *c, size_t members, rbt_error *error) {
    assert(c->current == DEFINITE && c->kept_count == c->row_count);
    return rbt_fused_solve_new(c->frontal, c->row_at, members, error);
}

rbt_solve_result rbt_cholesky_solve_indefinite(rbt_cholesky *c, const double *b, double *x, double *residual) {
    size_t n = 3 * c->kept_count;
    *residual = 0;
    if (!n) {
        memset(x, 0, 3 * c->row_count * sizeof *x);
        return RBT_SOLVED;
    }
    assert(c->block == 3);
    if (c->current == DEFINITE) return rbt_cholesky_solve(c, b, x) ? RBT_SOLVED : RBT_SOLVE_NO_MEMORY;
    // r holds the residual and, behind it, the solution so far.
    if (!rbt_array_reserve((void **)&c->r, &c->r_capacity, 2 * n, sizeof *c->r, "residuals", NULL) || !gather(c, b))
        return RBT_SOLVE_NO_MEMORY;
    double *solution = c->r + n, last = INFINITY;
    memcpy(solution, c->b, n * sizeof *solution);
    rbt_ldl_solve(c->ldl, solution);
    *residual = rbt_ldl_residual(c->ldl, c->b, solution, c->r);
    for (int i = 0; i<REFINEMENTS && * residual> EXACT && *residual < 0.5 * last; i++) {
        last = *residual;
        rbt_ldl_solve(c->ldl, c->r);
        for (size_t u = 0; u < n; u++) solution[u] += c->r[u];
        *residual = rbt_ldl_residual(c->ldl, c->b, solution, c->r);
    }
    scatter(c, solution, x);
    return *residual <= UNSTABLE ? RBT_SOLVED : RBT_SOLVE_UNSTABLE;
}

double rbt_cholesky_fill(const rbt_cholesky *c) { return c->tree.fill; }
double rbt_cholesky_flops(const rbt_cholesky *c) { return c->tree.total_flops; }
