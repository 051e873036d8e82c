#include "mesh/cut/cut_surface.h"

#include "base/memory.h"
#include "math/vec3.h"

#include <string.h>

static const double SHIFT[3] = {0.5477e-12, 0.7211e-12, 0.4243e-12};  // share of the surface's size

static const double *vertex(const rbt_cut_surface *s, size_t triangle, int k) {
    return s->vertices + 3 * (size_t)s->triangles[3 * triangle + (size_t)k];
}

bool rbt_cut_surface_init(rbt_cut_surface *surface, const double *vertices, size_t vertex_count,
                          const int32_t *triangles, size_t triangle_count, const double *progress, rbt_error *error) {
    rbt_cut_surface *s = surface;
    *s = (rbt_cut_surface){.vertex_count = vertex_count, .triangle_count = triangle_count};
    s->vertices = rbt_array_new(vertex_count, 3 * sizeof(double), "the surface of a cut", error);
    s->triangles = rbt_array_new(triangle_count, 3 * sizeof(int32_t), "the surface of a cut", error);
    s->progress = rbt_array_new(vertex_count, sizeof(double), "the surface of a cut", error);
    rbt_box *boxes = rbt_array_new(triangle_count, sizeof *boxes, "the surface of a cut", error);
    bool good = s->vertices && s->triangles && s->progress && boxes;
    if (good) {
        double size = 0;
        for (size_t i = 0; i < 3 * vertex_count; i++) size = fmax(size, fabs(vertices[i]));
        for (size_t i = 0; i < 3 * vertex_count; i++) s->vertices[i] = vertices[i] + size * SHIFT[i % 3];
        memcpy(s->triangles, triangles, 3 * triangle_count * sizeof *triangles);
        if (progress) memcpy(s->progress, progress, vertex_count * sizeof *progress);
        for (size_t t = 0; t < triangle_count; t++) {
            boxes[t] = rbt_box_empty();
            for (int k = 0; k < 3; k++) rbt_box_include(&boxes[t], vertex(s, t, k), 0);
        }
        good = rbt_box_tree_build(&s->tree, boxes, triangle_count, error);
    }
    free(boxes);
    if (!good) rbt_cut_surface_free(s);
    return good;
}

void rbt_cut_surface_free(rbt_cut_surface *surface) {
    free(surface->vertices);
    free(surface->triangles);
    free(surface->progress);
    rbt_box_tree_free(&surface->tree);
    *surface = (rbt_cut_surface){0};
}

double rbt_cut_surface_side(const rbt_cut_surface *surface, int32_t triangle, const double x[3]) {
    size_t t = (size_t)triangle;
    return rbt_tet_volume(vertex(surface, t, 0), vertex(surface, t, 1), vertex(surface, t, 2), x);
}

// ---- Walking the tree

static bool boxes_meet(const rbt_box *a, const rbt_box *b) {
    for (int k = 0; k < 3; k++)
        if (a->min[k] > b->max[k] || b->min[k] > a->max[k]) return false;
    return true;
}

typedef struct walk {
    const rbt_box_tree *tree;
    const rbt_box *box;
    int32_t stack[RBT_BOX_TREE_DEPTH], top;
    int32_t at, end;  // items of the leaf
} walk;

static walk walk_begin(const rbt_box_tree *tree, const rbt_box *box) {
    return (walk){.tree = tree, .box = box, .stack = {0}, .top = tree->node_count ? 1 : 0};
}

// The next item whose leaf meets the box; -1: no more
static int32_t walk_next(walk *w) {
    while (w->at == w->end) {
        if (!w->top) return -1;
        int32_t i = w->stack[--w->top];
        const rbt_box_node *node = &w->tree->nodes[i];
        if (!boxes_meet(&node->box, w->box)) continue;
        if (node->right) {
            w->stack[w->top++] = node->right;
            w->stack[w->top++] = i + 1;
        } else {
            w->at = node->first;
            w->end = node->first + node->count;
        }
    }
    return w->tree->order[w->at++];
}

// ---- Queries

static bool comes_first(const double a[3], const double b[3]) {
    for (int k = 0; k < 3; k++)
        if (a[k] != b[k]) return a[k] < b[k];
    return true;
}

// Volume of p, q and an edge of the surface, with the same bits but for the sign from both triangles at the edge.
static double around(const double *p, const double *q, const double *u, const double *v) {
    return comes_first(u, v) ? rbt_tet_volume(p, q, u, v) : -rbt_tet_volume(p, q, v, u);
}

static void insert(rbt_crossing *list, size_t *count, rbt_crossing crossing) {
    size_t i = *count;
    if (i == RBT_CROSSINGS) return;
    for (; i > 0 && list[i - 1].s > crossing.s; i--) list[i] = list[i - 1];
    list[i] = crossing;
    ++*count;
}

size_t rbt_cut_surface_cross(const rbt_cut_surface *surface, const double p[3], const double q[3],
                             rbt_crossing crossings[RBT_CROSSINGS]) {
    const rbt_cut_surface *s = surface;
    rbt_box box = rbt_box_empty();
    rbt_box_include(&box, p, 0);
    rbt_box_include(&box, q, 0);
    size_t count = 0;
    walk w = walk_begin(&s->tree, &box);
    for (int32_t t; (t = walk_next(&w)) >= 0;) {
        double from = rbt_cut_surface_side(s, t, p), to = rbt_cut_surface_side(s, t, q);
        if ((from >= 0) == (to >= 0)) continue;
        const double *a = vertex(s, (size_t)t, 0), *b = vertex(s, (size_t)t, 1), *c = vertex(s, (size_t)t, 2);
        double wa = around(p, q, b, c), wb = around(p, q, c, a), wc = around(p, q, a, b), sum = wa + wb + wc;
        if ((wa >= 0) != (wb >= 0) || (wb >= 0) != (wc >= 0) || sum == 0) continue;
        const int32_t *corner = s->triangles + 3 * (size_t)t;
        double progress =
            (wa * s->progress[corner[0]] + wb * s->progress[corner[1]] + wc * s->progress[corner[2]]) / sum;
        insert(crossings, &count, (rbt_crossing){from / (from - to), progress});
    }
    return count;
}

bool rbt_cut_surface_separates(const rbt_cut_surface *surface, const double (*points)[3], int count) {
    rbt_box box = rbt_box_empty();
    for (int i = 0; i < count; i++) rbt_box_include(&box, points[i], 0);
    walk w = walk_begin(&surface->tree, &box);
    for (int32_t t; (t = walk_next(&w)) >= 0;) {
        bool above = false, below = false;
        for (int i = 0; i < count; i++) {
            bool up = rbt_cut_surface_side(surface, t, points[i]) >= 0;
            above |= up;
            below |= !up;
        }
        if (above && below) return true;
    }
    return false;
}

static double segment_distance2(const double x[3], const double a[3], const double b[3]) {
    double d[3], r[3];
    rbt_subtract(b, a, d);
    rbt_subtract(x, a, r);
    double length2 = rbt_dot(d, d), t = length2 > 0 ? fmin(fmax(rbt_dot(r, d) / length2, 0), 1) : 0;
    rbt_add_scaled(r, -t, d);
    return rbt_dot(r, r);
}

// Above the triangle's inside the distance is that to its plane, else that to the nearest side.
static double triangle_distance2(const rbt_cut_surface *s, int32_t t, const double x[3]) {
    const double *c[3] = {vertex(s, (size_t)t, 0), vertex(s, (size_t)t, 1), vertex(s, (size_t)t, 2)};
    double u[3], v[3], n[3], r[3], best = INFINITY;
    rbt_subtract(c[1], c[0], u);
    rbt_subtract(c[2], c[0], v);
    rbt_cross(u, v, n);
    bool above = rbt_dot(n, n) > 0;
    for (int k = 0; k < 3; k++) {
        double side[3], inward[3];
        rbt_subtract(c[(k + 1) % 3], c[k], side);
        rbt_subtract(x, c[k], r);
        rbt_cross(n, side, inward);
        above = above && rbt_dot(r, inward) >= 0;
        best = fmin(best, segment_distance2(x, c[k], c[(k + 1) % 3]));
    }
    rbt_subtract(x, c[0], r);
    double height = rbt_dot(r, n);
    return above ? height * height / rbt_dot(n, n) : best;
}

double rbt_cut_surface_distance2(const rbt_cut_surface *surface, const double x[3], double until, int32_t *triangle) {
    const rbt_cut_surface *s = surface;
    int32_t stack[RBT_BOX_TREE_DEPTH], top = 0;
    double best = INFINITY;
    *triangle = -1;
    if (s->tree.node_count) stack[top++] = 0;
    while (top) {
        int32_t at = stack[--top];
        const rbt_box_node *node = &s->tree.nodes[at];
        if (rbt_box_distance2(&node->box, x) >= best) continue;
        if (node->right) {
            bool left_first = rbt_box_distance2(&s->tree.nodes[at + 1].box, x) <=
                              rbt_box_distance2(&s->tree.nodes[node->right].box, x);
            stack[top++] = left_first ? node->right : at + 1;
            stack[top++] = left_first ? at + 1 : node->right;
            continue;
        }
        for (int32_t i = node->first; i < node->first + node->count; i++) {
            int32_t t = s->tree.order[i];
            const int32_t *corner = s->triangles + 3 * (size_t)t;
            double earliest = fmin(fmin(s->progress[corner[0]], s->progress[corner[1]]), s->progress[corner[2]]);
            double distance2 = earliest > until ? INFINITY : triangle_distance2(s, t, x);
            if (distance2 < best) {
                best = distance2;
                *triangle = t;
            }
        }
    }
    return best;
}
