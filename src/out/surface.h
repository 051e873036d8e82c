// The surface a picture shows: every body's own embedded surface if it has one, else the hull of its tets or the
// triangles of the shell, as one triangle mesh. Bodies of springs have none: their parts are empty.
#ifndef RBT_OUT_SURFACE_H
#define RBT_OUT_SURFACE_H

#include "model/model.h"

typedef struct rbt_surface_part {  // one body
    const char *name;
    bool is_embedded;
    size_t vertex_begin, vertex_end;
    size_t triangle_begin, triangle_end;
} rbt_surface_part;

typedef struct rbt_surface {
    const rbt_model *model;
    size_t part_count;
    rbt_surface_part *parts;  // (part_count) one per body, in the model's order
    size_t vertex_count, triangle_count;
    int32_t *triangles;  // (triangle_count x 3) outwards; numbers count through all parts
    int32_t *node;       // (vertex_count) the model's node of a hull vertex, -1 for embedded surface vertices
    bool has_embedded;   // at least one part is a embedded surface
} rbt_surface;

// The model must outlive the surface. Hull vertices are the nodes on the hull in ascending order.
bool rbt_surface_build(rbt_surface *surface, const rbt_model *model, rbt_error *error);
void rbt_surface_free(rbt_surface *surface);

// A vector field on nodes (node_count x 3) — positions, velocities, displacements — carried to the vertices
// (vertex_count x 3).
void rbt_surface_evaluate(const rbt_surface *surface, const double *nodal, double *vertices);

#endif
