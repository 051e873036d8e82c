#include "model/warp.h"

#include "base/threads.h"
#include "math/vec3.h"
#include "model/force.h"
#include "solve/cholesky.h"

#include <string.h>

struct rbt_warp {
    const rbt_model *model;
    rbt_arena *arena;
    rbt_scalar_matrix L;
    rbt_cholesky *factor;
    unsigned char *linear;                  // (tet_count) 1: of the linear material
    unsigned char *stays;                   // (node_count) belongs to something else too, or to nothing
    unsigned char *constrained, *factored;  // (node_count) constrained now, and when the factor was made
    unsigned char *keep;                    // (node_count) unknowns
    int32_t *piece;         // (node_count) the least node of what hangs together; -1: none, or some node of it stays
    double *mass;           // (node_count) of the piece that this node is the least of
    double *partial;        // (plan.slot_count x 3) 0 where other groups are
    double *b, *d, *shift;  // (node_count x 3)
};

bool rbt_model_can_warp(const rbt_model *m) {
    for (size_t g = 0; g < m->group_count; g++)
        if (rbt_tet_group_can_warp(&m->groups[g])) return true;
    return false;
}

void rbt_warp_free(rbt_warp *w) {
    if (!w) return;
    rbt_cholesky_free(w->factor);
    rbt_arena_free(w->arena);
    free(w);
}

// ---- The matrix

static int ascending(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// Nodes up to n that share a linear tet with n, itself last; `list` has room for all corners around it.
static size_t neighbours(const rbt_warp *w, size_t n, int32_t *list) {
    const rbt_model *m = w->model;
    size_t count = 0, kept = 0;
    list[count++] = (int32_t)n;
    for (size_t k = m->tet_start[n]; k < m->tet_start[n + 1]; k++)
        for (size_t a = 0; w->linear[m->node_tets[k]] && a < 4; a++) {
            int32_t other = m->tets[4 * (size_t)m->node_tets[k] + a];
            if ((size_t)other < n) list[count++] = other;
        }
    qsort(list, count, sizeof *list, ascending);
    for (size_t i = 0; i < count; i++)
        if (!kept || list[kept - 1] != list[i]) list[kept++] = list[i];
    return kept;
}

static double *entry(const rbt_scalar_matrix *L, int32_t i, int32_t j) {
    if (j > i) return entry(L, j, i);
    const int32_t *row = L->column + L->start[i];
    row = bsearch(&j, row, L->start[i + 1] - L->start[i], sizeof *row, ascending);
    return L->value + (row - L->column);
}

static bool build_matrix(rbt_warp *w) {
    const rbt_model *m = w->model;
    size_t most = 1, total = 0;
    for (size_t n = 0; n < m->node_count; n++)
        most = m->tet_start[n + 1] - m->tet_start[n] > most ? m->tet_start[n + 1] - m->tet_start[n] : most;
    int32_t *list = rbt_arena_take(w->arena, 4 * most + 1, sizeof *list);
    size_t *start = rbt_arena_take(w->arena, m->node_count + 1, sizeof *start);
    if (!list || !start) return false;
    for (size_t n = 0; n < m->node_count; n++) start[n + 1] = total += neighbours(w, n, list);
    int32_t *column = rbt_arena_take(w->arena, total, sizeof *column);
    w->L = (rbt_scalar_matrix){m->node_count, start, column, rbt_arena_take(w->arena, total, sizeof(double))};
    if (!column || !w->L.value) return false;
    for (size_t n = 0; n < m->node_count; n++) {
        size_t count = neighbours(w, n, list);
        memcpy(column + start[n], list, count * sizeof *list);
    }
    for (size_t t = 0; t < m->tet_count; t++) {
        const int32_t *tet = m->tets + 4 * t;
        double G[4][3];
        if (!w->linear[t]) continue;
        double volume = rbt_tet_gradients(m->X, tet, G);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b <= a; b++) *entry(&w->L, tet[a], tet[b]) += volume * rbt_dot(G[a], G[b]);
    }
    return true;
}

// ---- What moves

static void mark_elements(rbt_warp *w) {
    const rbt_model *m = w->model;
    memset(w->stays, 1, m->node_count);
    for (int linear = 1; linear >= 0; linear--)
        for (size_t g = 0; g < m->group_count; g++) {
            const rbt_group *group = &m->groups[g];
            if (rbt_tet_group_can_warp(group) != linear) continue;
            for (size_t k = 0; k < group->count * (size_t)group->type->corners; k++)
                w->stays[group->nodes[k]] = !linear;
            for (size_t e = 0; linear && e < group->count; e++) w->linear[group->members[e]] = 1;
        }
}

static int32_t find(int32_t *piece, int32_t n) {
    while (piece[n] != n) n = piece[n] = piece[piece[n]];
    return n;
}

// Pieces without a node that stays: one of their nodes is no unknown, and they are shifted in the end.
static void find_pieces(rbt_warp *w) {
    const rbt_model *m = w->model;
    for (size_t n = 0; n < m->node_count; n++) w->piece[n] = (int32_t)n;
    for (size_t t = 0; t < m->tet_count; t++)
        for (size_t a = 1; w->linear[t] && a < 4; a++) {
            int32_t p = find(w->piece, m->tets[4 * t]), q = find(w->piece, m->tets[4 * t + a]);
            w->piece[p < q ? q : p] = p < q ? p : q;
        }
    for (size_t n = 0; n < m->node_count; n++) w->piece[n] = find(w->piece, (int32_t)n);
    memset(w->mass, 0, m->node_count * sizeof *w->mass);
    for (size_t n = 0; n < m->node_count; n++) {
        w->keep[n] = !w->constrained[n] && !w->stays[n];
        double *mass = &w->mass[w->piece[n]];
        *mass = w->keep[n] && *mass >= 0 ? *mass + m->mass[n] : -1;  // below 0: something stays
    }
    for (size_t n = 0; n < m->node_count; n++) {
        if (w->mass[w->piece[n]] < 0) w->piece[n] = -1;
        else if (w->piece[n] == (int32_t)n) w->keep[n] = 0;
    }
}

static bool factor(rbt_warp *w, rbt_error *error) {
    size_t row = 0, nodes = w->model->node_count;
    rbt_cholesky_free(w->factor);
    memcpy(w->factored, w->constrained, nodes);
    find_pieces(w);
    if (!(w->factor = rbt_cholesky_analyse_scalar(&w->L, w->keep, error))) return false;
    rbt_factor_result result = rbt_cholesky_factor_scalar(w->factor, &w->L, &row);
    if (result == RBT_FACTORED) return true;
    rbt_cholesky_free(w->factor);
    w->factor = NULL;
    if (result == RBT_FACTOR_NO_MEMORY) return rbt_fail_memory(error, nodes, "warping");
    return rbt_fail(
        error, "the frames cannot be warped: node %zu lies in elements that are too flat; switch output.warp off",
        row);
}

rbt_warp *rbt_warp_new(const rbt_model *m, rbt_error *error) {
    rbt_warp *w = rbt_array_new(1, sizeof *w, "warping", error);
    size_t n = m->node_count;
    if (!w) return NULL;
    w->model = m;
    if ((w->arena = rbt_arena_new()) && (w->linear = rbt_arena_take(w->arena, m->tet_count, 1)) &&
        (w->stays = rbt_arena_take(w->arena, n, 1)) && (w->constrained = rbt_arena_take(w->arena, n, 1)) &&
        (w->factored = rbt_arena_take(w->arena, n, 1)) && (w->keep = rbt_arena_take(w->arena, n, 1)) &&
        (w->piece = rbt_arena_take(w->arena, n, sizeof *w->piece)) &&
        (w->mass = rbt_arena_take(w->arena, n, sizeof *w->mass)) &&
        (w->partial = rbt_arena_take(w->arena, 3 * m->plan.slot_count, sizeof(double))) &&
        (w->b = rbt_arena_take(w->arena, 3 * n, sizeof(double))) &&
        (w->d = rbt_arena_take(w->arena, 3 * n, sizeof(double))) &&
        (w->shift = rbt_arena_take(w->arena, 3 * n, sizeof(double)))) {
        mark_elements(w);
        if (build_matrix(w)) return w;
    }
    rbt_warp_free(w);
    rbt_fail_memory(error, 100 * n, "warping");
    return NULL;
}

// ---- A frame

static void warp_chunk(const rbt_warp *w, const double *x, const rbt_chunk *chunk) {
    const rbt_group *group = &w->model->groups[chunk->group];
    const uint16_t *local = w->model->plan.local + chunk->corner_begin;
    double corner[12 * RBT_CHUNK], *sum = w->partial + 3 * chunk->slot_begin;
    if (!rbt_tet_group_can_warp(group)) return;
    rbt_tet_group_warp(group, chunk->first, chunk->count, x, corner);
    memset(sum, 0, 3 * chunk->slot_count * sizeof *sum);
    for (size_t k = 0; k < 4 * chunk->count; k++) rbt_add_scaled(sum + 3 * (size_t)local[k], 1, corner + 3 * k);
}

static void right_side(rbt_warp *w, const double *x) {
    const rbt_plan *plan = &w->model->plan;
    size_t nodes = w->model->node_count;
#pragma omp parallel if (nodes >= RBT_PARALLEL_FROM)
    {
#pragma omp for schedule(static)
        for (size_t c = 0; c < plan->chunk_count; c++) warp_chunk(w, x, &plan->chunks[c]);
#pragma omp for schedule(static)
        for (size_t n = 0; n < nodes; n++) {
            memset(w->b + 3 * n, 0, 3 * sizeof(double));
            for (size_t k = plan->node_start[n]; k < plan->node_start[n + 1]; k++)
                rbt_add_scaled(w->b + 3 * n, 1, w->partial + 3 * (size_t)plan->node_slots[k]);
        }
    }
}

static void keep_centres(rbt_warp *w) {
    const rbt_model *m = w->model;
    memset(w->shift, 0, 3 * m->node_count * sizeof(double));
    for (size_t n = 0; n < m->node_count; n++)
        if (w->piece[n] >= 0) {
            size_t piece = (size_t)w->piece[n];
            rbt_add_scaled(w->shift + 3 * piece, m->mass[n] / w->mass[piece], w->d + 3 * n);
        }
    for (size_t n = 0; n < m->node_count; n++)
        if (w->piece[n] >= 0) rbt_add_scaled(w->d + 3 * n, -1, w->shift + 3 * (size_t)w->piece[n]);
}

bool rbt_warp_apply(rbt_warp *w, double t, const double *x, double *y, rbt_error *error) {
    size_t nodes = w->model->node_count;
    rbt_constrained_nodes(w->model, t, w->constrained);
    if ((!w->factor || memcmp(w->constrained, w->factored, nodes) != 0) && !factor(w, error)) return false;
    right_side(w, x);
    if (!rbt_cholesky_solve(w->factor, w->b, w->d)) return rbt_fail_memory(error, nodes, "warping");
    keep_centres(w);
    for (size_t i = 0; i < 3 * nodes; i++) y[i] = x[i] + w->d[i];
    return true;
}
