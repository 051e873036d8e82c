// The mesh of what must not intersect, and states.
#include "verify/exact/intersect.h"

#include "base/memory.h"
#include "math/exact.h"
#include "math/vec3.h"
#include "mesh/core/topology.h"
#include "verify/exact/intersect_pairs.h"

#include <string.h>

// ---- The mesh

static bool check_nodes(const int32_t *nodes, size_t count, size_t node_count, const char *what, rbt_error *error) {
    for (size_t i = 0; i < count; i++)
        if (nodes[i] < 0 || (size_t)nodes[i] >= node_count)
            return rbt_fail(error, "%s name node %d, but there are %zu nodes", what, nodes[i], node_count);
    return true;
}

static bool list_edges(rbt_intersect_mesh *m, const int32_t *edges, size_t edge_count, rbt_error *error) {
    size_t sides = 3 * m->triangle_count;
    uint32_t *first = rbt_array_new(sides, sizeof *first, "sides of triangles", error);
    m->edges = rbt_array_new(sides + edge_count, 2 * sizeof *m->edges, "sides of triangles", error);
    bool good =
        first && m->edges &&
        rbt_match_sides(m->triangles, m->triangle_count, &RBT_EDGES_OF_TRIANGLES, m->node_count, first, error);
    for (size_t i = 0; good && i < sides; i++) {
        if (first[i] != i) continue;  // seen before, or from a node to itself
        const int *corner = RBT_EDGES_OF_TRIANGLES.corner[i % 3];
        for (int c = 0; c < 2; c++)
            m->edges[2 * m->side_count + (size_t)c] = m->triangles[3 * (i / 3) + (size_t)corner[c]];
        m->side_count++;
    }
    free(first);
    if (!good) return false;
    m->edge_count = m->side_count + edge_count;
    if (edge_count) memcpy(m->edges + 2 * m->side_count, edges, 2 * edge_count * sizeof *edges);
    return true;
}

static bool list_vertices(rbt_intersect_mesh *m, rbt_error *error) {
    unsigned char *used = rbt_array_new(m->node_count, 1, "nodes of surfaces", error);
    m->vertices = rbt_array_new(m->node_count, sizeof *m->vertices, "nodes of surfaces", error);
    if (used && m->vertices) {
        for (size_t i = 0; i < 3 * m->triangle_count; i++) used[m->triangles[i]] = 1;
        for (size_t i = 0; i < 2 * m->edge_count; i++) used[m->edges[i]] = 1;
        for (size_t i = 0; i < m->node_count; i++)
            if (used[i]) m->vertices[m->vertex_count++] = (int32_t)i;
    }
    bool good = used && m->vertices;
    free(used);
    return good;
}

static int compare_triangles(const void *a, const void *b) {
    const int32_t *p = a, *q = b;
    int c = 0;
    while (c < 2 && p[c] == q[c]) c++;
    return p[c] < q[c] ? -1 : p[c] > q[c];
}

bool rbt_intersect_mesh_build(rbt_intersect_mesh *mesh, const int32_t *triangles, size_t triangle_count,
                              const int32_t *edges, size_t edge_count, size_t node_count, rbt_error *error) {
    *mesh = (rbt_intersect_mesh){
        .node_count = node_count, .triangle_count = triangle_count, .obstacle_begin = node_count};
    bool good = check_nodes(triangles, 3 * triangle_count, node_count, "triangles", error) &&
                check_nodes(edges, 2 * edge_count, node_count, "edges", error);
    if (good) good = (mesh->triangles = rbt_array_new(triangle_count, 3 * sizeof *triangles, "triangles", error));
    if (good && triangle_count) {
        memcpy(mesh->triangles, triangles, 3 * triangle_count * sizeof *triangles);
        qsort(mesh->triangles, triangle_count, 3 * sizeof *triangles, compare_triangles);
    }
    good = good && list_edges(mesh, edges, edge_count, error) && list_vertices(mesh, error);
    if (good) good = (mesh->still = rbt_array_new(node_count, 1, "nodes that have not moved", error));
    if (!good) rbt_intersect_mesh_free(mesh);
    return good;
}

bool rbt_intersect_mesh_add(rbt_intersect_mesh *mesh, const rbt_round *rounds, size_t round_count,
                            const rbt_half_space *planes, size_t plane_count, size_t obstacle_begin,
                            rbt_error *error) {
    for (size_t i = 0; i < round_count; i++)
        if (!check_nodes(rounds[i].node, rounds[i].node[1] < 0 ? 1 : 2, mesh->node_count, "balls and rods", error))
            return false;
    for (size_t i = 0; i < plane_count; i++)
        if (!check_nodes(&planes[i].node, 1, mesh->node_count, "planes", error)) return false;
    free(mesh->rounds);
    free(mesh->planes);
    mesh->round_count = mesh->plane_count = 0;
    mesh->rounds = rbt_array_new(round_count, sizeof *rounds, "balls and rods", error);
    mesh->planes = rbt_array_new(plane_count, sizeof *planes, "planes", error);
    if (!mesh->rounds || !mesh->planes) return false;
    if (round_count) memcpy(mesh->rounds, rounds, round_count * sizeof *rounds);
    if (plane_count) memcpy(mesh->planes, planes, plane_count * sizeof *planes);
    mesh->round_count = round_count;
    mesh->plane_count = plane_count;
    mesh->obstacle_begin = obstacle_begin;
    return true;
}

void rbt_intersect_mesh_free(rbt_intersect_mesh *mesh) {
    free(mesh->triangles);
    free(mesh->edges);
    free(mesh->vertices);
    free(mesh->rounds);
    free(mesh->planes);
    free(mesh->still);
    *mesh = (rbt_intersect_mesh){0};
}

void rbt_intersections_free(rbt_intersections *found) {
    free(found->kept_items);
    *found = (rbt_intersections){0};
}

// ---- States

typedef struct state {
    const rbt_intersect_mesh *mesh;
    const double *x;
} state;

static rbt_meeting judge(const state *s, const int32_t edge[2], const int32_t triangle[3]) {
    const double *x[3], *ends[2] = {s->x + 3 * (size_t)edge[0], s->x + 3 * (size_t)edge[1]};
    for (int c = 0; c < 3; c++) x[c] = s->x + 3 * (size_t)triangle[c];
    int shared = 0, end = 0, corner = 0;
    for (int e = 0; e < 2; e++)
        for (int c = 0; c < 3; c++)
            if (edge[e] == triangle[c]) {
                shared++;
                end = e;
                corner = c;
            }
    if (shared == 0) return rbt_segment_meets_triangle(ends[0], ends[1], x[0], x[1], x[2]);
    if (shared > 1) return RBT_APART;  // a side of the triangle
    bool overlaps = rbt_corner_segment_overlaps(ends[1 - end], x[corner], x[(corner + 1) % 3], x[(corner + 2) % 3]);
    return overlaps ? RBT_TOUCHING : RBT_APART;
}

static void visit(const void *context, int32_t edge, int32_t triangle, rbt_intersect_pile *pile) {
    const state *s = context;
    const int32_t *ends = s->mesh->edges + 2 * (size_t)edge, *corners = s->mesh->triangles + 3 * (size_t)triangle;
    const int32_t nodes[5] = {ends[0], ends[1], corners[0], corners[1], corners[2]};
    if (!rbt_intersect_counts(s->mesh, nodes, 5)) return;
    rbt_meeting meeting = judge(s, ends, corners);
    pile->tested++;
    if (meeting == RBT_APART) return;
    rbt_intersect_pile_add(pile,
                           (rbt_intersect_pair){RBT_EDGE_IN_TRIANGLE, edge, triangle, meeting == RBT_TOUCHING, 0});
}

static void describe(const state *s, const rbt_intersect_pair *pair, rbt_intersection *i) {
    if (pair->kind != RBT_EDGE_IN_TRIANGLE) {
        rbt_intersect_describe_round(s->mesh, pair, s->x, NULL, i);
        return;
    }
    const int32_t *edge = s->mesh->edges + 2 * (size_t)pair->first;
    const int32_t *triangle = s->mesh->triangles + 3 * (size_t)pair->second;
    *i = (rbt_intersection){.kind = RBT_EDGE_IN_TRIANGLE,
                            .touching = pair->touching,
                            .counts = {2, 3},
                            .nodes = {edge[0], edge[1], triangle[0], triangle[1], triangle[2]}};
    const double *x[5];
    for (int k = 0; k < 5; k++) x[k] = s->x + 3 * (size_t)i->nodes[k];
    double from = fabs(rbt_tet_volume(x[2], x[3], x[4], x[0])), to = fabs(rbt_tet_volume(x[2], x[3], x[4], x[1]));
    double share = from + to > 0 ? from / (from + to) : 0.5;
    for (int k = 0; k < 3; k++) i->place[k] = x[0][k] + share * (x[1][k] - x[0][k]);
}

static void boxes_of(const int32_t *elements, size_t count, size_t corners, const double *x, rbt_box *boxes) {
#pragma omp parallel for schedule(static) if (count > 4096)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        boxes[i] = rbt_box_empty();
        for (size_t c = 0; c < corners; c++)
            rbt_box_include(&boxes[i], x + 3 * (size_t)elements[corners * (size_t)i + c], 0);
    }
}

static bool keep_first(const state *s, const rbt_intersect_pile *pile, size_t keep, rbt_intersections *found,
                       rbt_error *error) {
    found->count = pile->count;
    found->tested = pile->tested;
    found->kept = pile->count < keep ? pile->count : keep;
    for (size_t i = 0; i < pile->count; i++) found->touching += pile->items[i].touching != 0;
    found->kept_items = rbt_array_new(found->kept, sizeof *found->kept_items, "intersections", error);
    if (!found->kept_items) return false;
    for (size_t i = 0; i < found->kept; i++) describe(s, &pile->items[i], &found->kept_items[i]);
    return true;
}

bool rbt_intersect_state(const rbt_intersect_mesh *mesh, const double *x, size_t keep, rbt_intersections *found,
                         rbt_error *error) {
    *found = (rbt_intersections){0};
    if (!rbt_intersect_check_finite(mesh, x, error)) return false;
    state s = {mesh, x};
    rbt_intersect_pile pile = {0};
    rbt_box_tree tree = {0};
    rbt_box *triangles = rbt_array_new(mesh->triangle_count, sizeof *triangles, "boxes", error);
    rbt_box *edges = triangles ? rbt_array_new(mesh->edge_count, sizeof *edges, "boxes", error) : NULL;
    bool good = edges != NULL;
    if (good) boxes_of(mesh->triangles, mesh->triangle_count, 3, x, triangles);
    if (good) boxes_of(mesh->edges, mesh->edge_count, 2, x, edges);
    good = good && rbt_box_tree_build(&tree, triangles, mesh->triangle_count, error) &&
           rbt_intersect_search(edges, mesh->edge_count, &tree, triangles, visit, &s, &pile, error) &&
           rbt_intersect_add_rounds(mesh, x, NULL, &pile, error);
    if (good) rbt_intersect_pile_sort(&pile);
    good = good && keep_first(&s, &pile, keep, found, error);
    if (!good) rbt_intersections_free(found);
    rbt_box_tree_free(&tree);
    free(triangles);
    free(edges);
    free(pile.items);
    return good;
}
