// What is round, or behind a plane: balls and rods against triangles, edges of no triangle and each other, in a state
// or on a way.
#include "base/memory.h"
#include "math/exact_round.h"
#include "verify/exact/intersect_pairs.h"

#include <float.h>
#include <string.h>

typedef struct search {
    const rbt_intersect_mesh *mesh;
    const double *x0, *x1;  // x1: NULL in a state
    rbt_intersection_kind kind;
} search;

// ---- Pairs

// The nodes of a pair and how many are on each side
static void pair_nodes(const rbt_intersect_mesh *m, rbt_intersection_kind kind, int32_t first, int32_t second,
                       int32_t nodes[5], int counts[2]) {
    for (int i = 0; i < 5; i++) nodes[i] = -1;
    const int32_t *from;
    if (kind == RBT_NODE_BEHIND_PLANE) {
        nodes[0] = first;
        from = &m->planes[second].node;
        counts[0] = counts[1] = 1;
    } else {
        const rbt_round *round = &m->rounds[first];
        counts[0] = round->node[1] < 0 ? 1 : 2;
        memcpy(nodes, round->node, (size_t)counts[0] * sizeof *nodes);
        from = kind == RBT_ROUND_AT_TRIANGLE ? m->triangles + 3 * (size_t)second
               : kind == RBT_ROUND_AT_EDGE   ? m->edges + 2 * (m->side_count + (size_t)second)
                                             : m->rounds[second].node;
        counts[1] = kind == RBT_ROUND_AT_TRIANGLE ? 3 : kind == RBT_ROUND_AT_EDGE || from[1] >= 0 ? 2 : 1;
    }
    memcpy(nodes + counts[0], from, (size_t)counts[1] * sizeof *nodes);
}

static bool shares_a_node(const int32_t nodes[5], const int counts[2]) {
    for (int i = 0; i < counts[0]; i++)
        for (int j = counts[0]; j < counts[0] + counts[1]; j++)
            if (nodes[i] == nodes[j]) return true;
    return false;
}

// On ways a point without a radius and a triangle are a matter of math/exact.h, which decides them without rounding.
static bool points_meet(const rbt_round_pair *pair, double *when) {
    rbt_paths paths;
    memcpy(paths.from, pair->from, sizeof paths.from);
    memcpy(paths.to, pair->to, sizeof paths.to);
    return !rbt_paths_apart(&paths, RBT_VERTEX_TRIANGLE, 0, 1) && rbt_paths_meet(&paths, RBT_VERTEX_TRIANGLE, when);
}

static bool meet(const search *s, const rbt_round_pair *pair, bool *touching, double *when) {
    if (!s->x1) {
        rbt_meeting meeting = rbt_round_meets(pair);
        *touching = meeting == RBT_TOUCHING;
        return meeting != RBT_APART;
    }
    if (pair->count[0] == 1 && pair->count[1] == 3 && pair->radius == 0) return points_meet(pair, when);
    return rbt_round_paths_meet(pair, when);
}

static void visit(const void *context, int32_t round, int32_t other, rbt_intersect_pile *pile) {
    const search *s = context;
    const rbt_intersect_mesh *m = s->mesh;
    int32_t nodes[5];
    rbt_round_pair pair = {.radius = m->rounds[round].radius};
    if (s->kind == RBT_ROUND_AT_ROUND && other <= round) return;
    pair_nodes(m, s->kind, round, other, nodes, pair.count);
    int count = pair.count[0] + pair.count[1];
    if (!rbt_intersect_counts(m, nodes, count) || shares_a_node(nodes, pair.count)) return;
    if (s->kind == RBT_ROUND_AT_ROUND) pair.other_radius = m->rounds[other].radius;
    bool moves = !s->x1;
    for (int i = 0; i < count; i++) {
        size_t at = 3 * (size_t)nodes[i], size = sizeof pair.from[i];
        memcpy(pair.from[i], s->x0 + at, size);
        if (!s->x1) continue;
        memcpy(pair.to[i], s->x1 + at, size);
        for (int k = 0; k < 3; k++) moves |= pair.from[i][k] != pair.to[i][k];
    }
    if (!moves) return;
    pile->tested++;
    bool touching = false;
    double when = 0;
    if (meet(s, &pair, &touching, &when))
        rbt_intersect_pile_add(pile, (rbt_intersect_pair){(int32_t)s->kind, round, other, touching, when});
}

// ---- Boxes

// Around places at both ends of the way and everything within the radius; a little more, so that rounding leaves
// nothing outside.
static void include(rbt_box *box, const search *s, int32_t node, double radius) {
    for (int end = 0; end < (s->x1 ? 2 : 1); end++) {
        const double *x = (end ? s->x1 : s->x0) + 3 * (size_t)node;
        double size = fabs(x[0]) + fabs(x[1]) + fabs(x[2]) + radius;
        rbt_box_include(box, x, radius + 4 * DBL_EPSILON * size + DBL_MIN);
    }
}

static rbt_box *boxes_of(const search *s, const int32_t *elements, size_t count, size_t corners, rbt_error *error) {
    rbt_box *boxes = rbt_array_new(count, sizeof *boxes, "boxes", error);
    for (size_t i = 0; boxes && i < count; i++) {
        boxes[i] = rbt_box_empty();
        for (size_t c = 0; c < corners; c++) include(&boxes[i], s, elements[corners * i + c], 0);
    }
    return boxes;
}

static rbt_box *boxes_of_rounds(const search *s, rbt_error *error) {
    const rbt_intersect_mesh *m = s->mesh;
    rbt_box *boxes = rbt_array_new(m->round_count, sizeof *boxes, "boxes", error);
    for (size_t i = 0; boxes && i < m->round_count; i++) {
        boxes[i] = rbt_box_empty();
        for (int end = 0; end < 2; end++)
            if (m->rounds[i].node[end] >= 0) include(&boxes[i], s, m->rounds[i].node[end], m->rounds[i].radius);
    }
    return boxes;
}

// All that is round against the items of one kind
static bool search_kind(const search *s, const rbt_box *rounds, const rbt_box *items, size_t count,
                        rbt_intersect_pile *pile, rbt_error *error) {
    rbt_box_tree tree = {0};
    bool good = items && rbt_box_tree_build(&tree, items, count, error) &&
                rbt_intersect_search(rounds, s->mesh->round_count, &tree, items, visit, s, pile, error);
    rbt_box_tree_free(&tree);
    return good;
}

// ---- Planes

static void look_behind(const search *s, int32_t node, double radius, rbt_intersect_pile *pile) {
    for (size_t p = 0; p < s->mesh->plane_count; p++) {
        const rbt_half_space *plane = &s->mesh->planes[p];
        const int32_t nodes[2] = {node, plane->node};
        if (!rbt_intersect_counts(s->mesh, nodes, 2)) continue;
        pile->tested++;
        int above = rbt_ball_above(s->x0 + 3 * (size_t)node, radius, s->x0 + 3 * (size_t)plane->node, plane->normal);
        if (above <= 0)
            rbt_intersect_pile_add(pile,
                                   (rbt_intersect_pair){RBT_NODE_BEHIND_PLANE, node, (int32_t)p, above == 0, 0});
    }
}

static void search_planes(const search *s, rbt_intersect_pile *pile) {
    const rbt_intersect_mesh *m = s->mesh;
    for (size_t i = 0; i < m->vertex_count; i++) look_behind(s, m->vertices[i], 0, pile);
    for (size_t i = 0; i < m->round_count; i++)
        for (int end = 0; end < 2; end++)
            if (m->rounds[i].node[end] >= 0) look_behind(s, m->rounds[i].node[end], m->rounds[i].radius, pile);
}

// ---- All

bool rbt_intersect_add_rounds(const rbt_intersect_mesh *m, const double *x0, const double *x1,
                              rbt_intersect_pile *pile, rbt_error *error) {
    search s = {m, x0, x1, RBT_ROUND_AT_TRIANGLE};
    bool good = true;
    if (m->round_count) {
        size_t free_edges = m->edge_count - m->side_count;
        rbt_box *rounds = boxes_of_rounds(&s, error), *triangles = NULL, *edges = NULL;
        good = rounds && (triangles = boxes_of(&s, m->triangles, m->triangle_count, 3, error)) &&
               (edges = boxes_of(&s, m->edges + 2 * m->side_count, free_edges, 2, error)) &&
               search_kind(&s, rounds, triangles, m->triangle_count, pile, error);
        s.kind = RBT_ROUND_AT_EDGE;
        good = good && search_kind(&s, rounds, edges, free_edges, pile, error);
        s.kind = RBT_ROUND_AT_ROUND;
        good = good && search_kind(&s, rounds, rounds, m->round_count, pile, error);
        free(rounds);
        free(triangles);
        free(edges);
    }
    if (good && !x1) search_planes(&s, pile);
    return good && (!pile->failed || rbt_fail_memory(error, sizeof *pile->items, "pairs that may intersect"));
}

void rbt_intersect_describe_round(const rbt_intersect_mesh *m, const rbt_intersect_pair *pair, const double *x0,
                                  const double *x1, rbt_intersection *i) {
    *i = (rbt_intersection){.kind = (rbt_intersection_kind)pair->kind,
                            .touching = pair->touching,
                            .on_way = x1 != NULL,
                            .when = pair->when};
    pair_nodes(m, i->kind, pair->first, pair->second, i->nodes, i->counts);
    // The place: that of the first node which belongs to a body
    int of_body = 0;
    while (of_body < i->counts[0] + i->counts[1] - 1 && (size_t)i->nodes[of_body] >= m->obstacle_begin) of_body++;
    size_t at = 3 * (size_t)i->nodes[of_body];
    for (size_t k = 0; k < 3; k++) i->place[k] = x1 ? (1 - i->when) * x0[at + k] + i->when * x1[at + k] : x0[at + k];
}
