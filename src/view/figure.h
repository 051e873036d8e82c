// A surface ready to be drawn: vertices with normals, split where the surface has a crease, and something to colour.
#ifndef RBT_VIEW_FIGURE_H
#define RBT_VIEW_FIGURE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef enum rbt_figure_values {
    RBT_FIGURE_PLAIN,         // no values: one colour
    RBT_FIGURE_ON_VERTICES,   // (vertex_count) numbers, interpolated
    RBT_FIGURE_ON_TRIANGLES,  // (triangle_count) numbers, constant on each
    RBT_FIGURE_KINDS          // (triangle_count) whole numbers that name a kind
} rbt_figure_values;

typedef struct rbt_figure {
    size_t vertex_count;
    double *positions;  // (vertex_count x 3)
    double *normals;    // (vertex_count x 3) unit
    int32_t *node;      // (vertex_count) which node of the input it is
    size_t triangle_count;
    int32_t *triangles;    // (triangle_count x 3), in the order of the input
    size_t scenery_begin;  // triangles from here on are obstacles, grey whatever the values say
    rbt_figure_values kind;
    double *values;
} rbt_figure;

// Triangles that meet at a node share its normal if theirs differ by less than `crease` degrees. Triangles keep their
// order; nodes outside of all triangles are dropped.
bool rbt_figure_build(rbt_figure *figure, const double *nodes, size_t node_count, const int32_t *triangles,
                      size_t triangle_count, double crease, rbt_error *error);
void rbt_figure_free(rbt_figure *figure);

#endif
