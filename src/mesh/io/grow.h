// A mesh that grows while its file is read, for formats that do not say beforehand how much will come (OBJ, STL, PLY,
// polygons of VTK). The arrays belong to the mesh at any moment, so a reader that fails has nothing to free.
#ifndef RBT_MESH_IO_GROW_H
#define RBT_MESH_IO_GROW_H

#include "mesh/core/build.h"

typedef struct rbt_growing {
    rbt_mesh *mesh;
    const char *file;  // for messages
    size_t node_capacity, triangle_capacity, edge_capacity;
} rbt_growing;

bool rbt_grow_node(rbt_growing *g, const double x[3], rbt_error *error);
// Corners must not be negative; that they are not too large is checked at the end, as nodes may come later.
bool rbt_grow_edge(rbt_growing *g, int64_t a, int64_t b, rbt_error *error);

// The triangles (0, i, i + 1) of a polygon with at least three corners: exact for convex ones.
bool rbt_grow_polygon(rbt_growing *g, const int64_t *corners, size_t count, rbt_error *error);

// Adds a set that nothing else has the name of, without the search of rbt_mesh_add_to_set: files may name as many
// regions as they have elements. `items` ascending, each once; copied.
bool rbt_mesh_append_set(rbt_mesh *mesh, const char *name, rbt_set_kind kind, const int32_t *items, size_t count,
                         size_t *capacity, rbt_error *error);

#endif
