// Intersections on the way between two states.
//
// The way is cut into 2^k equal spans of time, so many that within one nothing moves much further than an edge is long,
// relative to the mean motion of all; in each, boxes around the moved primitives give pairs, and pairs that are not
// surely apart during the span are collected. In the end each of these is decided once, exactly, for the whole way.
#include "verify/exact/intersect.h"

#include "base/memory.h"
#include "math/exact.h"
#include "math/vec3.h"
#include "verify/exact/intersect_pairs.h"

#include <float.h>
#include <string.h>

enum { MAX_SPANS = 64 };

typedef struct motion {
    const rbt_intersect_mesh *mesh;
    const double *x0, *x1;
    double mean[3];        // displacement
    double margin;         // what rounding can do to a coordinate of y
    unsigned char *moved;  // (node_count)
    double *y[2];          // (node_count x 3) at the span's ends, less the mean motion
    double begin, end;     // of the span
    rbt_box *vertices, *triangles, *edges;
    rbt_box_tree faces, sides;  // over triangles and edges
} motion;

// ---- Setting up

static void motion_free(motion *m) {
    free(m->moved);
    free(m->y[0]);
    free(m->y[1]);
    free(m->vertices);
    free(m->triangles);
    free(m->edges);
    rbt_box_tree_free(&m->faces);
    rbt_box_tree_free(&m->sides);
}

static bool motion_init(motion *m, const rbt_intersect_mesh *mesh, const double *x0, const double *x1,
                        rbt_error *error) {
    *m = (motion){.mesh = mesh, .x0 = x0, .x1 = x1};
    m->moved = rbt_array_new(mesh->node_count, 1, "moved nodes", error);
    for (int i = 0; i < 2; i++) m->y[i] = rbt_array_new(mesh->node_count, 3 * sizeof(double), "positions", error);
    m->vertices = rbt_array_new(mesh->vertex_count, sizeof(rbt_box), "boxes", error);
    m->triangles = rbt_array_new(mesh->triangle_count, sizeof(rbt_box), "boxes", error);
    m->edges = rbt_array_new(mesh->edge_count, sizeof(rbt_box), "boxes", error);
    if (!m->moved || !m->y[0] || !m->y[1] || !m->vertices || !m->triangles || !m->edges) return false;
    double size = 0, count = (double)mesh->vertex_count;
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        size_t v = (size_t)mesh->vertices[i];
        for (int k = 0; k < 3; k++) {
            double from = x0[3 * v + (size_t)k], to = x1[3 * v + (size_t)k];
            if (from != to) m->moved[v] = 1;
            m->mean[k] += (to - from) / count;
            size = fmax(size, fmax(fabs(from), fabs(to)));
        }
    }
    if (!(size < 1e100)) memset(m->mean, 0, sizeof m->mean);  // sums of such numbers may not be finite
    m->margin = 16 * DBL_EPSILON * size + DBL_MIN;            // the mean is at most twice the size
    return true;
}

// So many spans that the farthest-moving node goes at most two mean edges in one.
static int span_count(const motion *m) {
    double farthest = 0, length = 0;
    for (size_t i = 0; i < m->mesh->vertex_count; i++) {
        double d[3];
        size_t v = 3 * (size_t)m->mesh->vertices[i];
        for (size_t k = 0; k < 3; k++) d[k] = m->x1[v + k] - m->x0[v + k] - m->mean[k];
        farthest = fmax(farthest, rbt_length(d));
    }
    for (size_t i = 0; i < m->mesh->edge_count; i++) {
        double d[3];
        rbt_subtract(m->x0 + 3 * (size_t)m->mesh->edges[2 * i], m->x0 + 3 * (size_t)m->mesh->edges[2 * i + 1], d);
        length += rbt_length(d) / (double)m->mesh->edge_count;
    }
    int count = 1;
    while (count < MAX_SPANS && farthest > 2 * length * count) count *= 2;
    return count;
}

static void widen(rbt_box *box, const double x[3], double margin) {
    for (int k = 0; k < 3; k++) {
        if (x[k] - margin < box->min[k]) box->min[k] = x[k] - margin;
        if (x[k] + margin > box->max[k]) box->max[k] = x[k] + margin;
    }
}

static void boxes_of(const motion *m, const int32_t *elements, size_t count, size_t corners, rbt_box *boxes) {
#pragma omp parallel for schedule(static) if (count > 4096)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        boxes[i] = rbt_box_empty();
        for (size_t c = 0; c < corners; c++)
            for (int end = 0; end < 2; end++)
                widen(&boxes[i], m->y[end] + 3 * (size_t)elements[corners * (size_t)i + c], m->margin);
    }
}

static void set_span(motion *m, double begin, double end) {
    const double times[2] = {begin, end};
    m->begin = begin;
    m->end = end;
    for (int e = 0; e < 2; e++)
        for (size_t i = 0; i < m->mesh->vertex_count; i++) {
            size_t v = 3 * (size_t)m->mesh->vertices[i];
            for (size_t k = 0; k < 3; k++)
                m->y[e][v + k] = (1 - times[e]) * m->x0[v + k] + times[e] * m->x1[v + k] - times[e] * m->mean[k];
        }
    boxes_of(m, m->mesh->vertices, m->mesh->vertex_count, 1, m->vertices);
    boxes_of(m, m->mesh->triangles, m->mesh->triangle_count, 3, m->triangles);
    boxes_of(m, m->mesh->edges, m->mesh->edge_count, 2, m->edges);
}

// ---- Pairs

// The pair's four nodes; false if it is none to look at: a node is shared, both are springs or obstacles, or nothing
// moves.
static bool pair_nodes(const motion *m, int32_t kind, int32_t first, int32_t second, int32_t nodes[4]) {
    const rbt_intersect_mesh *mesh = m->mesh;
    if (kind == RBT_VERTEX_HIT_TRIANGLE) {
        nodes[0] = mesh->vertices[first];
        memcpy(nodes + 1, mesh->triangles + 3 * (size_t)second, 3 * sizeof *nodes);
        if (nodes[0] == nodes[1] || nodes[0] == nodes[2] || nodes[0] == nodes[3]) return false;
    } else {
        if (!mesh->free_edges_meet && (size_t)first >= mesh->side_count && (size_t)second >= mesh->side_count)
            return false;
        memcpy(nodes, mesh->edges + 2 * (size_t)first, 2 * sizeof *nodes);
        memcpy(nodes + 2, mesh->edges + 2 * (size_t)second, 2 * sizeof *nodes);
        if (nodes[0] == nodes[2] || nodes[0] == nodes[3] || nodes[1] == nodes[2] || nodes[1] == nodes[3])
            return false;
    }
    return (m->moved[nodes[0]] || m->moved[nodes[1]] || m->moved[nodes[2]] || m->moved[nodes[3]]) &&
           rbt_intersect_counts(mesh, nodes, 4);
}

static rbt_paths paths_of(const motion *m, const int32_t nodes[4]) {
    rbt_paths p;
    for (int i = 0; i < 4; i++) {
        memcpy(p.from[i], m->x0 + 3 * (size_t)nodes[i], sizeof p.from[i]);
        memcpy(p.to[i], m->x1 + 3 * (size_t)nodes[i], sizeof p.to[i]);
    }
    return p;
}

static rbt_pair_kind pair_kind(int32_t kind) {
    return kind == RBT_VERTEX_HIT_TRIANGLE ? RBT_VERTEX_TRIANGLE : RBT_EDGE_EDGE;
}

static void look_at(const motion *m, int32_t kind, int32_t first, int32_t second, rbt_intersect_pile *pile) {
    int32_t nodes[4];
    if (!pair_nodes(m, kind, first, second, nodes)) return;
    pile->tested++;
    rbt_paths paths = paths_of(m, nodes);
    if (rbt_paths_apart(&paths, pair_kind(kind), m->begin, m->end)) return;
    rbt_intersect_pile_add(pile, (rbt_intersect_pair){.kind = kind, .first = first, .second = second});
}

static void visit_triangle(const void *context, int32_t vertex, int32_t triangle, rbt_intersect_pile *pile) {
    look_at(context, RBT_VERTEX_HIT_TRIANGLE, vertex, triangle, pile);
}

static void visit_edge(const void *context, int32_t edge, int32_t other, rbt_intersect_pile *pile) {
    if (other > edge) look_at(context, RBT_EDGE_HIT_EDGE, edge, other, pile);
}

// The trees are made once: in later spans things are not far from where they were, relative to the mean.
static bool fit_trees(motion *m, bool first, rbt_error *error) {
    if (first)
        return rbt_box_tree_build(&m->faces, m->triangles, m->mesh->triangle_count, error) &&
               rbt_box_tree_build(&m->sides, m->edges, m->mesh->edge_count, error);
    rbt_box_tree_refit(&m->faces, m->triangles);
    rbt_box_tree_refit(&m->sides, m->edges);
    return true;
}

static bool search_span(const motion *m, rbt_intersect_pile *pile, rbt_error *error) {
    const rbt_intersect_mesh *mesh = m->mesh;
    return rbt_intersect_search(m->vertices, mesh->vertex_count, &m->faces, m->triangles, visit_triangle, m, pile,
                                error) &&
           rbt_intersect_search(m->edges, mesh->edge_count, &m->sides, m->edges, visit_edge, m, pile, error);
}

// ---- Decisions

// Keeps the pairs that do meet.
static void decide(const motion *m, rbt_intersect_pile *pile) {
#pragma omp parallel for schedule(dynamic, 8) if (pile->count > 64)
    for (int64_t i = 0; i < (int64_t)pile->count; i++) {
        rbt_intersect_pair *pair = &pile->items[i];
        int32_t nodes[4];
        pair_nodes(m, pair->kind, pair->first, pair->second, nodes);
        rbt_paths paths = paths_of(m, nodes);
        if (!rbt_paths_meet(&paths, pair_kind(pair->kind), &pair->when)) pair->when = -1;
    }
    size_t kept = 0;
    for (size_t i = 0; i < pile->count; i++)
        if (pile->items[i].when >= 0) pile->items[kept++] = pile->items[i];
    pile->count = kept;
}

// The place: the vertex, or the first edge's point where the second one's line passes nearest.
static void describe(const motion *m, const rbt_intersect_pair *pair, rbt_intersection *i) {
    if (pair->kind > RBT_EDGE_HIT_EDGE) {
        rbt_intersect_describe_round(m->mesh, pair, m->x0, m->x1, i);
        return;
    }
    *i = (rbt_intersection){
        .kind = (rbt_intersection_kind)pair->kind,
        .on_way = true,
        .when = pair->when,
        .nodes = {0, 0, 0, 0, -1},
        .counts = {pair->kind == RBT_EDGE_HIT_EDGE ? 2 : 1, pair->kind == RBT_EDGE_HIT_EDGE ? 2 : 3}};
    pair_nodes(m, pair->kind, pair->first, pair->second, i->nodes);
    rbt_paths paths = paths_of(m, i->nodes);
    double x[4][3], u[3], v[3], r[3], n[3], side[3], share = 0;
    for (int p = 0; p < 4; p++)
        for (int k = 0; k < 3; k++) x[p][k] = (1 - i->when) * paths.from[p][k] + i->when * paths.to[p][k];
    if (pair->kind == RBT_EDGE_HIT_EDGE) {
        rbt_subtract(x[1], x[0], u);
        rbt_subtract(x[3], x[2], v);
        rbt_subtract(x[2], x[0], r);
        rbt_cross(u, v, n);
        rbt_cross(r, v, side);
        share = rbt_dot(side, n) / rbt_dot(n, n);
        share = share >= 0 && share <= 1 ? share : 0.5;
        rbt_add_scaled(x[0], share, u);
    }
    memcpy(i->place, x[0], sizeof i->place);
}

static bool keep_first(const motion *m, const rbt_intersect_pile *pile, size_t keep, rbt_intersections *found,
                       rbt_error *error) {
    found->count = pile->count;
    found->kept = pile->count < keep ? pile->count : keep;
    found->kept_items = rbt_array_new(found->kept, sizeof *found->kept_items, "intersections", error);
    if (!found->kept_items) return false;
    for (size_t i = 0; i < found->kept; i++) describe(m, &pile->items[i], &found->kept_items[i]);
    return true;
}

bool rbt_intersect_motion(const rbt_intersect_mesh *mesh, const double *x0, const double *x1, size_t keep,
                          rbt_intersections *found, rbt_error *error) {
    *found = (rbt_intersections){0};
    if (!rbt_intersect_check_finite(mesh, x0, error) || !rbt_intersect_check_finite(mesh, x1, error)) return false;
    motion m;
    rbt_intersect_pile pile = {0};
    bool good = motion_init(&m, mesh, x0, x1, error);
    int spans = good ? span_count(&m) : 0;
    for (int s = 0; good && s < spans; s++) {
        set_span(&m, (double)s / spans, (double)(s + 1) / spans);
        good = fit_trees(&m, s == 0, error) && search_span(&m, &pile, error);
    }
    if (good) {
        rbt_intersect_pile_sort(&pile);
        found->exact = pile.count;
        decide(&m, &pile);
        good = rbt_intersect_add_rounds(mesh, x0, x1, &pile, error);
        rbt_intersect_pile_sort(&pile);
        found->tested = pile.tested;
        good = good && keep_first(&m, &pile, keep, found, error);
    }
    if (!good) rbt_intersections_free(found);
    free(pile.items);
    motion_free(&m);
    return good;
}
