// Finding the tet of every vertex with a tree of boxes over the tets.
//
// A vertex first looks for a tet that contains it; if there is none, branch and bound finds the nearest one, entering
// the nearer box first. The nearest point of a tet lies on a face whose far corner has a negative weight, so only
// those are measured. Where several tets are equally near (they share the nearest edge or corner), the one that
// extrapolates least carries the vertex.
//
// Point and triangle: C. Ericson, "Real-Time Collision Detection", 2005, section 5.1.5.
#include "mesh/query/embed.h"

#include "base/memory.h"
#include "math/vec3.h"
#include "mesh/core/topology.h"
#include "mesh/query/box_tree.h"

#include <math.h>
#include <string.h>

static const double INSIDE = -1e-12;   // weights down to this count as inside: a shared face must not have a gap
static const double SAME = 1e-10;      // relative difference of squared distances that rounding may make
static const double ROUNDING = 1e-12;  // share of the body's diagonal that is no distance

typedef struct carriers {  // the tets that can carry a vertex
    const double *X;
    const int32_t *tets;
    size_t count;
    int32_t *number;    // (count) of the tet
    rbt_box_tree tree;  // over their boxes
} carriers;

static const double *corner(const carriers *t, int32_t tet, int a) {
    return t->X + 3 * (size_t)t->tets[4 * (size_t)tet + (size_t)a];
}

// Whether a tet is far enough from flat (as in the diagnosis) for weights to mean something.
static bool has_volume(const carriers *t, int32_t tet) {
    double e[3][3], c[3];
    for (int a = 0; a < 3; a++) rbt_subtract(corner(t, tet, a + 1), corner(t, tet, 0), e[a]);
    rbt_cross(e[1], e[2], c);
    double det = fabs(rbt_dot(e[0], c)), l = fmax(fmax(rbt_length(e[0]), rbt_length(e[1])), rbt_length(e[2]));
    return isfinite(det) && det > 6e-12 * l * l * l;
}

static void weights_in(const carriers *t, int32_t tet, const double *p, double w[4]) {
    const double *x0 = corner(t, tet, 0);
    double e[3][3], r[3], c[3];
    for (int a = 0; a < 3; a++) rbt_subtract(corner(t, tet, a + 1), x0, e[a]);
    rbt_subtract(p, x0, r);
    rbt_cross(e[1], e[2], c);
    double det = rbt_dot(e[0], c);
    w[1] = rbt_dot(r, c) / det;
    rbt_cross(e[2], e[0], c);
    w[2] = rbt_dot(r, c) / det;
    rbt_cross(e[0], e[1], c);
    w[3] = rbt_dot(r, c) / det;
    w[0] = 1 - w[1] - w[2] - w[3];
}

static double least(const double w[4]) { return fmin(fmin(w[0], w[1]), fmin(w[2], w[3])); }

static bool gather(carriers *t, const double *X, const int32_t *tets, size_t tet_count, rbt_error *error) {
    *t = (carriers){.X = X, .tets = tets};
    rbt_box *boxes = rbt_array_new(tet_count, sizeof *boxes, "boxes of tets", error);
    t->number = boxes ? rbt_array_new(tet_count, sizeof *t->number, "tets for an embedding", error) : NULL;
    for (size_t i = 0; t->number && i < tet_count; i++) {
        if (!has_volume(t, (int32_t)i)) continue;
        boxes[t->count] = rbt_box_empty();
        for (int a = 0; a < 4; a++) rbt_box_include(&boxes[t->count], corner(t, (int32_t)i, a), 0);
        t->number[t->count++] = (int32_t)i;
    }
    bool good = t->number && rbt_box_tree_build(&t->tree, boxes, t->count, error);
    free(boxes);
    return good &&
           (t->count || rbt_fail(error, "none of the %zu tets has a volume, so none can carry a surface", tet_count));
}

static void let_go(carriers *t) {
    free(t->number);
    rbt_box_tree_free(&t->tree);
}

// ---- Searching

// Square of the distance from p to the triangle a, b, c, by the Voronoi region p lies in.
static double triangle_square(const double *p, const double *a, const double *b, const double *c) {
    double ab[3], ac[3], ap[3], bp[3], cp[3], d[3];
    rbt_subtract(b, a, ab);
    rbt_subtract(c, a, ac);
    rbt_subtract(p, a, ap);
    rbt_subtract(p, b, bp);
    rbt_subtract(p, c, cp);
    double d1 = rbt_dot(ab, ap), d2 = rbt_dot(ac, ap), d3 = rbt_dot(ab, bp), d4 = rbt_dot(ac, bp);
    double d5 = rbt_dot(ab, cp), d6 = rbt_dot(ac, cp);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    double v = 0, w = 0;  // nearest point a + v ab + w ac
    if (d1 <= 0 && d2 <= 0) {
    } else if (d3 >= 0 && d4 <= d3) v = 1;
    else if (d6 >= 0 && d5 <= d6) w = 1;
    else if (vc <= 0 && d1 >= 0 && d3 <= 0) v = d1 / (d1 - d3);
    else if (vb <= 0 && d2 >= 0 && d6 <= 0) w = d2 / (d2 - d6);
    else if (va <= 0 && d4 >= d3 && d5 >= d6) {
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        v = 1 - w;
    } else {
        v = vb / (va + vb + vc);
        w = vc / (va + vb + vc);
    }
    for (int k = 0; k < 3; k++) d[k] = ap[k] - v * ab[k] - w * ac[k];
    return rbt_dot(d, d);
}

static double tet_square(const carriers *t, int32_t tet, const double *p, const double w[4]) {
    double nearest = INFINITY;
    for (int f = 0; f < 4; f++) {
        if (w[f] >= 0) continue;
        const int *c = RBT_FACES_OF_TETS.corner[f];
        nearest = fmin(nearest, triangle_square(p, corner(t, tet, c[0]), corner(t, tet, c[1]), corner(t, tet, c[2])));
    }
    return isinf(nearest) ? 0 : nearest;
}

typedef struct found {
    int32_t tet;
    double weights[4];
    double square;  // of the distance; 0 inside
} found;

static bool find_containing(const carriers *t, const double *p, found *best) {
    int32_t stack[RBT_BOX_TREE_DEPTH], top = 0;
    stack[top++] = 0;
    while (top) {
        int32_t at = stack[--top];
        const rbt_box_node *node = &t->tree.nodes[at];
        if (rbt_box_distance2(&node->box, p) > 0) continue;
        if (node->right) {
            stack[top++] = node->right;
            stack[top++] = at + 1;
            continue;
        }
        for (int32_t i = node->first; i < node->first + node->count; i++) {
            int32_t tet = t->number[t->tree.order[i]];
            double w[4];
            weights_in(t, tet, p, w);
            if (!(least(w) >= INSIDE)) continue;
            *best = (found){.tet = tet};
            memcpy(best->weights, w, sizeof w);
            return true;
        }
    }
    return false;
}

static void consider(const carriers *t, int32_t tet, const double *p, found *best) {
    double w[4];
    weights_in(t, tet, p, w);
    double square = tet_square(t, tet, p, w);
    if (best->tet >= 0 && square > best->square * (1 + SAME)) return;
    if (best->tet >= 0 && square >= best->square * (1 - SAME)) {
        double difference = least(w) - least(best->weights);
        if (difference < 0 || (difference == 0 && tet > best->tet)) return;
    }
    best->tet = tet;
    best->square = square;
    memcpy(best->weights, w, sizeof w);
}

static void find_nearest(const carriers *t, const double *p, found *best) {
    struct {
        int32_t at;
        double square;
    } stack[RBT_BOX_TREE_DEPTH];
    const rbt_box_node *nodes = t->tree.nodes;
    int top = 0;
    *best = (found){.tet = -1, .square = INFINITY};
    stack[top].at = 0;
    stack[top++].square = 0;
    while (top) {
        top--;
        if (stack[top].square > best->square * (1 + SAME)) continue;
        const rbt_box_node *node = &nodes[stack[top].at];
        if (!node->right) {
            for (int32_t i = node->first; i < node->first + node->count; i++)
                consider(t, t->number[t->tree.order[i]], p, best);
            continue;
        }
        int32_t near = stack[top].at + 1, far = node->right;
        double near_square = rbt_box_distance2(&nodes[near].box, p),
               far_square = rbt_box_distance2(&nodes[far].box, p);
        bool swap = far_square < near_square;
        stack[top].at = swap ? near : far;
        stack[top++].square = swap ? near_square : far_square;
        stack[top].at = swap ? far : near;
        stack[top++].square = swap ? far_square : near_square;
    }
}

// ---- Entry

static double body_size(const carriers *t) {
    double diagonal[3];
    rbt_subtract(t->tree.nodes[0].box.max, t->tree.nodes[0].box.min, diagonal);
    return rbt_length(diagonal);
}

static bool check_vertices(const double *vertices, size_t count, rbt_error *error) {
    if (count > INT32_MAX) return rbt_fail(error, "%zu surface vertices: the limit is %d", count, INT32_MAX);
    for (size_t i = 0; i < 3 * count; i++)
        if (!isfinite(vertices[i]))
            return rbt_fail(error, "surface vertex %zu has the %c coordinate %g, which is not a finite number", i / 3,
                            "xyz"[i % 3], vertices[i]);
    return true;
}

bool rbt_embed(const double *X, size_t node_count, const int32_t *tets, size_t tet_count, const double *vertices,
               size_t vertex_count, rbt_embedding *embedding, rbt_error *error) {
    *embedding = (rbt_embedding){0};
    if (tet_count > INT32_MAX || node_count > INT32_MAX)
        return rbt_fail(error, "%zu nodes and %zu tets: the limit is %d", node_count, tet_count, INT32_MAX);
    if (!check_vertices(vertices, vertex_count, error)) return false;
    carriers t;
    bool good = gather(&t, X, tets, tet_count, error);
    double *squares = good ? rbt_array_new(vertex_count, sizeof *squares, "an embedding", error) : NULL;
    embedding->tet = squares ? rbt_array_new(vertex_count, sizeof *embedding->tet, "an embedding", error) : NULL;
    if (embedding->tet)
        embedding->weights = rbt_array_new(vertex_count, 4 * sizeof *embedding->weights, "an embedding", error);
    good = embedding->weights != NULL;
    if (good) {
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < vertex_count; i++) {
            found best;
            if (!find_containing(&t, vertices + 3 * i, &best)) find_nearest(&t, vertices + 3 * i, &best);
            embedding->tet[i] = best.tet;
            memcpy(embedding->weights + 4 * i, best.weights, sizeof best.weights);
            squares[i] = best.square;
        }
        embedding->vertex_count = vertex_count;
        double rounding = ROUNDING * body_size(&t);
        for (size_t i = 0; i < vertex_count; i++) {
            double distance = sqrt(squares[i]);
            if (!(distance > rounding)) continue;
            embedding->outside_count++;
            embedding->farthest = fmax(embedding->farthest, distance);
        }
    } else rbt_embedding_free(embedding);
    free(squares);
    let_go(&t);
    return good;
}

void rbt_embedding_free(rbt_embedding *embedding) {
    free(embedding->tet);
    free(embedding->weights);
    *embedding = (rbt_embedding){0};
}

void rbt_embedding_apply(const rbt_embedding *embedding, const int32_t *tets, const double *x, double *positions) {
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < embedding->vertex_count; i++) {
        const int32_t *tet = tets + 4 * (size_t)embedding->tet[i];
        double y[3] = {0};
        for (int a = 0; a < 4; a++) rbt_add_scaled(y, embedding->weights[4 * i + (size_t)a], x + 3 * (size_t)tet[a]);
        memcpy(positions + 3 * i, y, sizeof y);
    }
}
