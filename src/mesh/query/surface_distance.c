// The distance comes from a tree of boxes over the triangles, the sign from the generalised winding number (Jacobson,
// Kavan and Sorkine-Hornung 2013), the sum of the solid angles of all triangles over 4 pi: 1 inside, 0 outside, and
// still in between where a surface overlaps itself. A far group of triangles counts as one dipole (Barill, Dickson,
// Schmidt, Levin and Jacobson 2018), so that a query costs the logarithm of their number.
#include "mesh/query/surface_distance.h"

#include "base/memory.h"
#include "math/vec3.h"
#include "mesh/core/topology.h"

#include <math.h>
#include <string.h>

typedef struct dipole {
    double normal[3];  // sum of the area vectors below the node
    double centre[3];  // mean by area
    double radius;     // of a ball around the centre that holds them
} dipole;

struct rbt_closed_surface {
    size_t triangle_count;
    double *corners;  // (triangle_count x 9), in the order of the tree
    rbt_box_tree tree;
    dipole *dipoles;  // (tree.node_count)
};

// ---- Queries

static double segment_distance2(const double x[3], const double a[3], const double b[3]) {
    double d[3], r[3];
    rbt_subtract(b, a, d);
    rbt_subtract(x, a, r);
    double length2 = rbt_dot(d, d), t = length2 > 0 ? fmin(fmax(rbt_dot(r, d) / length2, 0), 1) : 0;
    rbt_add_scaled(r, -t, d);
    return rbt_dot(r, r);
}

// Above the triangle's inside the distance is that to its plane, else that to the nearest side.
static double triangle_distance2(const double x[3], const double corners[9]) {
    double u[3], v[3], n[3], best = INFINITY;
    rbt_subtract(corners + 3, corners, u);
    rbt_subtract(corners + 6, corners, v);
    rbt_cross(u, v, n);
    bool above = rbt_dot(n, n) > 0;
    for (int k = 0; k < 3; k++) {
        const double *a = corners + 3 * k, *b = corners + 3 * ((k + 1) % 3);
        double side[3], r[3], inward[3];
        rbt_subtract(b, a, side);
        rbt_subtract(x, a, r);
        rbt_cross(n, side, inward);
        if (above && rbt_dot(r, inward) >= 0) continue;
        above = false;
        break;
    }
    if (above) {
        double r[3];
        rbt_subtract(x, corners, r);
        double height = rbt_dot(r, n);
        return height * height / rbt_dot(n, n);
    }
    for (int k = 0; k < 3; k++) best = fmin(best, segment_distance2(x, corners + 3 * k, corners + 3 * ((k + 1) % 3)));
    return best;
}

static double nearest_distance2(const rbt_closed_surface *s, const double x[3]) {
    const rbt_box_node *nodes = s->tree.nodes;
    int32_t stack[RBT_BOX_TREE_DEPTH];
    double bound[RBT_BOX_TREE_DEPTH], best = INFINITY;
    int depth = 1;
    stack[0] = 0;
    bound[0] = 0;
    while (depth) {
        int32_t at = stack[--depth];
        if (bound[depth] >= best) continue;
        const rbt_box_node *node = &nodes[at];
        if (!node->right) {
            for (int32_t i = node->first; i < node->first + node->count; i++)
                best = fmin(best, triangle_distance2(x, s->corners + 9 * (size_t)i));
            continue;
        }
        double left = rbt_box_distance2(&nodes[at + 1].box, x), right = rbt_box_distance2(&nodes[node->right].box, x);
        bool left_first = left <= right;
        stack[depth] = left_first ? node->right : at + 1;
        bound[depth++] = left_first ? right : left;
        stack[depth] = left_first ? at + 1 : node->right;
        bound[depth++] = left_first ? left : right;
    }
    return best;
}

// Van Oosterom and Strackee: tan(angle / 2) = a . (b x c) / (|a||b||c| + (a . b)|c| + (b . c)|a| + (c . a)|b|)
static double solid_angle(const double x[3], const double corners[9]) {
    double a[3], b[3], c[3], n[3];
    rbt_subtract(corners, x, a);
    rbt_subtract(corners + 3, x, b);
    rbt_subtract(corners + 6, x, c);
    rbt_cross(b, c, n);
    double la = rbt_length(a), lb = rbt_length(b), lc = rbt_length(c);
    return 2 * atan2(rbt_dot(a, n), la * lb * lc + rbt_dot(a, b) * lc + rbt_dot(b, c) * la + rbt_dot(c, a) * lb);
}

double rbt_closed_surface_winding(const rbt_closed_surface *s, const double x[3]) {
    int32_t stack[RBT_BOX_TREE_DEPTH];
    int depth = 0;
    double sum = 0;
    stack[depth++] = 0;
    while (depth) {
        int32_t at = stack[--depth];
        const rbt_box_node *node = &s->tree.nodes[at];
        const dipole *d = &s->dipoles[at];
        double r[3];
        rbt_subtract(d->centre, x, r);
        double distance2 = rbt_dot(r, r), near = 2.3 * d->radius;  // the factor Barill et al. found accurate enough
        if (distance2 > near * near) {
            sum += rbt_dot(d->normal, r) / (distance2 * sqrt(distance2));
        } else if (!node->right) {
            for (int32_t i = node->first; i < node->first + node->count; i++)
                sum += solid_angle(x, s->corners + 9 * (size_t)i);
        } else {
            stack[depth++] = node->right;
            stack[depth++] = at + 1;
        }
    }
    return sum / (4 * M_PI);
}

double rbt_surface_distance(const void *surface, const double x[3]) {
    const rbt_closed_surface *s = surface;
    double d = sqrt(nearest_distance2(s, x));
    return fabs(rbt_closed_surface_winding(s, x)) > 0.5 ? -d : d;
}

rbt_box rbt_closed_surface_box(const rbt_closed_surface *surface) { return surface->tree.nodes[0].box; }

// ---- Making

typedef struct place {
    const double *x;
    int32_t node;
} place;

static int compare_places(const void *left, const void *right) {
    const place *a = left, *b = right;
    for (int k = 0; k < 3; k++)
        if (a->x[k] != b->x[k]) return a->x[k] < b->x[k] ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

// The triangles with vertices in the same place made one, degenerate ones left out. Free *triangles.
static bool weld(const rbt_mesh *mesh, int32_t **triangles, size_t *count, rbt_error *error) {
    place *places = rbt_array_new(mesh->node_count, sizeof *places, "vertices", error);
    int32_t *same = rbt_array_new(mesh->node_count, sizeof *same, "vertices", error);
    *triangles = rbt_array_new(mesh->triangle_count, 3 * sizeof **triangles, "triangles", error);
    *count = 0;
    bool made = places && same && *triangles;
    if (made) {
        for (size_t i = 0; i < mesh->node_count; i++) places[i] = (place){mesh->nodes + 3 * i, (int32_t)i};
        qsort(places, mesh->node_count, sizeof *places, compare_places);
        for (size_t i = 0; i < mesh->node_count; i++) {
            const double *x = places[i].x, *before = i ? places[i - 1].x : NULL;
            bool equal = before && x[0] == before[0] && x[1] == before[1] && x[2] == before[2];
            same[places[i].node] = equal ? same[places[i - 1].node] : places[i].node;
        }
        for (size_t t = 0; t < mesh->triangle_count; t++) {
            int32_t *out = *triangles + 3 * *count;
            for (int k = 0; k < 3; k++) out[k] = same[mesh->triangles[3 * t + (size_t)k]];
            *count += out[0] != out[1] && out[1] != out[2] && out[2] != out[0];
        }
    }
    free(places);
    free(same);
    return made;
}

// Every edge must be run through as often in one direction as in the other.
static bool check_closed(const int32_t *triangles, size_t count, size_t node_count, const char *file,
                         rbt_error *error) {
    uint32_t *first = rbt_array_new(count, 3 * sizeof *first, "edges", error);
    int32_t *balance = first ? rbt_array_new(count, 6 * sizeof *balance, "edges", error) : NULL;
    bool made = balance && rbt_match_sides(triangles, count, &RBT_EDGES_OF_TRIANGLES, node_count, first, error);
    size_t open = 0, twisted = 0;
    for (size_t i = 0; made && i < 3 * count; i++) {
        int32_t a = triangles[i], b = triangles[i / 3 * 3 + (i + 1) % 3];
        if (first[i] == RBT_NO_SIDE) continue;
        balance[2 * first[i]] += a < b ? 1 : -1;
        balance[2 * first[i] + 1]++;
    }
    for (size_t i = 0; made && i < 3 * count; i++) {
        open += balance[2 * i + 1] % 2 != 0;
        twisted += balance[2 * i + 1] % 2 == 0 && balance[2 * i] != 0;
    }
    free(first);
    free(balance);
    if (!made) return false;
    if (open)
        return rbt_fail_at(error, file, 0, 0,
                           "the surface is not closed: %zu of its edges are open (belong to an odd number of "
                           "triangles); close the holes",
                           open);
    if (twisted)
        return rbt_fail_at(
            error, file, 0, 0,
            "%zu edges of the surface lie between triangles of opposite orientation; make the orientation consistent",
            twisted);
    return true;
}

static void measure_dipoles(rbt_closed_surface *s) {
    for (size_t n = 0; n < s->tree.node_count; n++) {
        const rbt_box_node *node = &s->tree.nodes[n];
        dipole *d = &s->dipoles[n];
        double total = 0;
        for (int32_t i = node->first; i < node->first + node->count; i++) {
            const double *x = s->corners + 9 * (size_t)i;
            double u[3], v[3], area[3];
            rbt_subtract(x + 3, x, u);
            rbt_subtract(x + 6, x, v);
            rbt_cross(u, v, area);
            double weight = rbt_length(area) / 2;
            total += weight;
            rbt_add_scaled(d->normal, 0.5, area);
            for (int k = 0; k < 9; k++) d->centre[k % 3] += weight * x[k] / 3;
        }
        for (int k = 0; k < 3; k++)
            d->centre[k] = total > 0 ? d->centre[k] / total : (node->box.min[k] + node->box.max[k]) / 2;
        for (int32_t i = 3 * node->first; i < 3 * (node->first + node->count); i++) {
            double r[3];
            rbt_subtract(s->corners + 3 * (size_t)i, d->centre, r);
            d->radius = fmax(d->radius, rbt_length(r));
        }
    }
}

// Boxes and corners of the triangles, and the tree over them.
static bool build_surface(rbt_closed_surface *s, const double *nodes, const int32_t *triangles, size_t count,
                          rbt_error *error) {
    rbt_box *boxes = rbt_array_new(count, sizeof *boxes, "triangles", error);
    if (!boxes) return false;
    for (size_t t = 0; t < count; t++) {
        boxes[t] = rbt_box_empty();
        for (int k = 0; k < 3; k++) rbt_box_include(&boxes[t], nodes + 3 * triangles[3 * t + (size_t)k], 0);
    }
    s->triangle_count = count;
    bool made = rbt_box_tree_build(&s->tree, boxes, count, error) &&
                (s->corners = rbt_array_new(count, 9 * sizeof *s->corners, "triangles", error)) &&
                (s->dipoles = rbt_array_new(s->tree.node_count, sizeof *s->dipoles, "triangles", error));
    free(boxes);
    for (size_t i = 0; i < 3 * count && made; i++)
        memcpy(s->corners + 3 * i, nodes + 3 * triangles[3 * (size_t)s->tree.order[i / 3] + i % 3],
               3 * sizeof *nodes);
    if (made) measure_dipoles(s);
    return made;
}

rbt_closed_surface *rbt_closed_surface_new(const rbt_mesh *mesh, const char *file, rbt_error *error) {
    if (!mesh->triangle_count) {
        rbt_fail_at(error, file, 0, 0, "there are no triangles in it: a body needs a closed surface");
        return NULL;
    }
    int32_t *triangles = NULL;
    size_t count = 0;
    rbt_closed_surface *s = rbt_array_new(1, sizeof *s, "a surface", error);
    bool made = s && weld(mesh, &triangles, &count, error);
    if (made && !count)
        made = rbt_fail_at(error, file, 0, 0, "all %zu triangles are degenerate", mesh->triangle_count);
    made = made && check_closed(triangles, count, mesh->node_count, file, error) &&
           build_surface(s, mesh->nodes, triangles, count, error);
    free(triangles);
    if (made) return s;
    rbt_closed_surface_free(s);
    return NULL;
}

void rbt_closed_surface_free(rbt_closed_surface *surface) {
    if (!surface) return;
    rbt_box_tree_free(&surface->tree);
    free(surface->corners);
    free(surface->dipoles);
    free(surface);
}
