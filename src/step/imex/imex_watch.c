#include "step/imex/imex_watch.h"

#include "step/imex/imex_envelope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LEVEL = 0.1;
enum { EVERY = 64 };  // steps

static double square_distance(const double *x, int32_t a, int32_t b) {
    const double *p = x + 3 * (size_t)a, *q = x + 3 * (size_t)b;
    double u = q[0] - p[0], v = q[1] - p[1], w = q[2] - p[2];
    return u * u + v * v + w * w;
}

static bool has_explicit(const rbt_stability *s, const unsigned char *implicit, const int32_t *node, size_t corners) {
    for (size_t a = 0; a < corners; a++)
        if (!implicit[node[a]] && s->root[node[a]] > 0) return true;
    return false;
}

// Elements with explicit nodes, at each of their nodes: start (nodes + 1), where their corners begin and how many
// these are. With NULL they are only counted.
static void list_elements(const rbt_stability *s, const unsigned char *implicit, size_t *start, const int32_t **list,
                          unsigned char *corners_of) {
    const rbt_model *m = s->model;
    for (size_t g = 0; g < m->group_count; g++) {
        size_t corners = (size_t)m->groups[g].type->corners;
        if (rbt_imex_stiffens(&m->groups[g])) continue;
        for (size_t e = 0; e < m->groups[g].count; e++) {
            const int32_t *node = m->groups[g].nodes + corners * e;
            if (!has_explicit(s, implicit, node, corners)) continue;
            for (size_t a = 0; a < corners; a++) {
                size_t place = start[node[a] + 1]++;
                if (!list) continue;
                list[place] = node;
                corners_of[place] = (unsigned char)corners;
            }
        }
    }
}

// Each once, from its smaller node; `seen` (nodes) is that node + 1. With NULL they are only counted.
static size_t list_edges(const rbt_model *m, const size_t *start, const int32_t *const *list,
                         const unsigned char *corners_of, int32_t *seen, rbt_imex_edges *edges) {
    size_t count = 0;
    memset(seen, 0, m->node_count * sizeof *seen);
    for (int32_t n = 0; (size_t)n < m->node_count; n++)
        for (size_t k = start[n]; k < start[n + 1]; k++)
            for (size_t a = 0; a < corners_of[k]; a++) {
                int32_t other = list[k][a];
                if (other <= n || seen[other] == n + 1) continue;
                seen[other] = n + 1;
                if (edges) {
                    edges->node[2 * count] = n;
                    edges->node[2 * count + 1] = other;
                    edges->rest[count] = square_distance(m->X, n, other);
                }
                count++;
            }
    return count;
}

bool rbt_imex_edges_build(rbt_imex_edges *edges, const rbt_stability *s, const unsigned char *implicit,
                          rbt_error *error) {
    const rbt_model *m = s->model;
    *edges = (rbt_imex_edges){0};
    size_t *start = rbt_array_new(m->node_count + 2, sizeof *start, "the edges of a body", error);
    int32_t *seen = rbt_array_new(m->node_count, sizeof *seen, "the edges of a body", error);
    const int32_t **list = NULL;
    unsigned char *corners_of = NULL;
    bool ok = start && seen;
    if (ok) {
        list_elements(s, implicit, start, NULL, NULL);
        for (size_t n = 0; n < m->node_count; n++) start[n + 1] += start[n];
        size_t uses = start[m->node_count];
        memmove(start + 1, start, (m->node_count + 1) * sizeof *start);  // to be counted up again
        list = rbt_array_new(uses, sizeof *list, "the edges of a body", error);
        corners_of = rbt_array_new(uses, 1, "the edges of a body", error);
        ok = list && corners_of;
    }
    if (ok) {
        list_elements(s, implicit, start, list, corners_of);
        edges->count = list_edges(m, start, list, corners_of, seen, NULL);
        edges->node = rbt_array_new(2 * edges->count, sizeof *edges->node, "the edges of a body", error);
        edges->rest = rbt_array_new(edges->count, sizeof *edges->rest, "the edges of a body", error);
        ok = edges->node && edges->rest;
    }
    if (ok) list_edges(m, start, list, corners_of, seen, edges);
    else rbt_imex_edges_free(edges);
    free(start);
    free(seen);
    free(list);
    free(corners_of);
    return ok;
}

void rbt_imex_edges_free(rbt_imex_edges *edges) {
    free(edges->node);
    free(edges->rest);
    *edges = (rbt_imex_edges){0};
}

static double largest_strain(const rbt_imex_edges *edges, const double *x) {
    double most = 0;
    for (size_t k = 0; k < edges->count; k++) {
        double rest = edges->rest[k], now = square_distance(x, edges->node[2 * k], edges->node[2 * k + 1]);
        double strain = fabs(now - rest);
        if (strain > most * rest) most = strain / rest;
    }
    return most;
}

void rbt_imex_watch_look(rbt_imex_watch *w, const rbt_imex_edges *edges, rbt_stability *s, rbt_imex_watched *memory,
                         const double *x, unsigned char *implicit, rbt_split *split) {
    if (memory->steps++ % EVERY) return;
    double strain = largest_strain(edges, x);
    w->strain = fmax(w->strain, strain);
    if (!(strain > memory->level + LEVEL)) return;
    memory->level = LEVEL * floor(strain / LEVEL);
    size_t before = split->moved_count;
    rbt_stability_certify(s, s->model->step, x, implicit, split);
    w->certificates++;
    w->moved += (int64_t)(split->moved_count - before);
}
