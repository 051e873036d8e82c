#include "view/figure.h"

#include "base/memory.h"
#include "math/vec3.h"
#include "mesh/core/topology.h"

#include <math.h>
#include <string.h>

enum { FAN_MAX = 64 };  // triangles at a node whose creases are looked at; larger fans are smooth

// Normals weighted with twice the area: a cross product as it is.
static void face_normals(const double *nodes, const int32_t *triangles, size_t count, double *normals) {
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++) {
        const double *a = nodes + 3 * (size_t)triangles[3 * i], *b = nodes + 3 * (size_t)triangles[3 * i + 1];
        const double *c = nodes + 3 * (size_t)triangles[3 * i + 2];
        double u[3], v[3];
        rbt_subtract(b, a, u);
        rbt_subtract(c, a, v);
        rbt_cross(u, v, normals + 3 * i);
        for (int k = 0; k < 3; k++)
            if (!isfinite(normals[3 * i + (size_t)k])) memset(normals + 3 * i, 0, 3 * sizeof *normals);
    }
}

// Bit j of masks[i]: the i-th and the j-th triangle of the fan are on the same side of every crease.
static void fan_masks(const double *face, const int32_t *fan, int count, double cosine, uint64_t *masks) {
    for (int i = 0; i < count; i++) {
        masks[i] = (uint64_t)1 << i;
        const double *a = face + 3 * (size_t)fan[i];
        double length = rbt_length(a);
        for (int j = 0; j < count; j++) {
            const double *b = face + 3 * (size_t)fan[j];
            if (rbt_dot(a, b) >= cosine * length * rbt_length(b)) masks[i] |= (uint64_t)1 << j;
        }
    }
}

static void replace_corner(int32_t *triangle, const int32_t *nodes, int32_t node, size_t vertex) {
    for (int k = 0; k < 3; k++)
        if (nodes[k] == node) triangle[k] = (int32_t)vertex;
}

// Makes the vertices of one node: one for every different set of smoothly joined triangles around it.
static void split_node(rbt_figure *figure, const double *nodes, const int32_t *triangles, const double *face,
                       int32_t node, const int32_t *fan, size_t fan_size, double cosine) {
    uint64_t masks[FAN_MAX];
    int count = fan_size <= FAN_MAX ? (int)fan_size : 1;
    bool smooth = fan_size > FAN_MAX;
    if (!smooth) fan_masks(face, fan, count, cosine, masks);
    uint64_t done = 0;
    for (int i = 0; i < count; i++) {
        if (done >> i & 1) continue;
        size_t vertex = figure->vertex_count++;
        double sum[3] = {0};
        for (size_t j = 0; j < fan_size; j++) {
            bool same = smooth || masks[j] == masks[i];
            if (smooth || masks[i] >> j & 1) rbt_add_scaled(sum, 1, face + 3 * (size_t)fan[j]);
            if (!same) continue;
            if (!smooth) done |= (uint64_t)1 << j;
            replace_corner(figure->triangles + 3 * (size_t)fan[j], triangles + 3 * (size_t)fan[j], node, vertex);
        }
        memcpy(figure->positions + 3 * vertex, nodes + 3 * (size_t)node, 3 * sizeof(double));
        rbt_normalize(sum, figure->normals + 3 * vertex);
        figure->node[vertex] = node;
    }
}

bool rbt_figure_build(rbt_figure *figure, const double *nodes, size_t node_count, const int32_t *triangles,
                      size_t triangle_count, double crease, rbt_error *error) {
    *figure = (rbt_figure){.triangle_count = triangle_count, .scenery_begin = triangle_count};
    rbt_rows fans = {0};
    double *face = rbt_array_new(triangle_count, 3 * sizeof *face, "normals", error);
    bool good = face && rbt_elements_of_nodes(triangles, triangle_count, 3, node_count, &fans, error);
    size_t most = 3 * triangle_count;  // every corner a vertex of its own
    good = good && (figure->positions = rbt_array_new(most, 3 * sizeof(double), "vertices", error));
    good = good && (figure->normals = rbt_array_new(most, 3 * sizeof(double), "normals", error));
    good = good && (figure->node = rbt_array_new(most, sizeof(int32_t), "vertices", error));
    good = good && (figure->triangles = rbt_array_new(most, sizeof(int32_t), "triangles", error));
    if (good) {
        face_normals(nodes, triangles, triangle_count, face);
        double cosine = cos(crease * M_PI / 180);
        for (size_t i = 0; i < node_count; i++)
            if (fans.start[i + 1] > fans.start[i])
                split_node(figure, nodes, triangles, face, (int32_t)i, fans.items + fans.start[i],
                           fans.start[i + 1] - fans.start[i], cosine);
    } else {
        rbt_figure_free(figure);
    }
    free(face);
    rbt_rows_free(&fans);
    return good;
}

void rbt_figure_free(rbt_figure *figure) {
    free(figure->positions);
    free(figure->normals);
    free(figure->node);
    free(figure->triangles);
    free(figure->values);
    *figure = (rbt_figure){0};
}
