// A surface ready to be drawn: vertices with normals, split where the surface has a crease, and something to colour.
#ifndef RBT_VIEW_SKIN_H
#define RBT_VIEW_SKIN_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef enum rbt_skin_values {
    RBT_SKIN_PLAIN,         // no values: one colour
    RBT_SKIN_ON_VERTICES,   // (vertex_count) numbers, interpolated
    RBT_SKIN_ON_TRIANGLES,  // (triangle_count) numbers, constant on each
    RBT_SKIN_KINDS          // (triangle_count) whole numbers that name a kind
} rbt_skin_values;

typedef struct rbt_skin {
    size_t vertex_count;
    double *positions;  // (vertex_count x 3)
    double *normals;    // (vertex_count x 3) unit
    int32_t *node;      // (vertex_count) which node of the input it is
    size_t triangle_count;
    int32_t *triangles;    // (triangle_count x 3), in the order of the input
    size_t scenery_begin;  // triangles from here on are obstacles, grey whatever the values say
    rbt_skin_values kind;
    double *values;
} rbt_skin;

// Triangles that meet at a node share its normal if theirs differ by less than `crease` degrees. Triangles keep their
// order; nodes outside of all triangles are dropped.
bool rbt_skin_build(rbt_skin *skin, const double *nodes, size_t node_count, const int32_t *triangles,
                    size_t triangle_count, double crease, rbt_error *error);
void rbt_skin_free(rbt_skin *skin);

#endif
