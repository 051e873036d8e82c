// Signed distance to a closed triangle surface.
#ifndef RBT_MESH_QUERY_SURFACE_DISTANCE_H
#define RBT_MESH_QUERY_SURFACE_DISTANCE_H

#include "mesh/query/box_tree.h"
#include "rubato/mesh.h"

typedef struct rbt_closed_surface rbt_closed_surface;

// From the triangles of a mesh; vertices in the same place count as one. Fails, naming their number, if edges are
// open or if neighbours are oriented against each other. `file` is for messages.
rbt_closed_surface *rbt_closed_surface_new(const rbt_mesh *mesh, const char *file, rbt_error *error);
void rbt_closed_surface_free(rbt_closed_surface *surface);

double rbt_surface_distance(const void *surface, const double x[3]);  // negative inside
double rbt_closed_surface_winding(const rbt_closed_surface *surface, const double x[3]);
rbt_box rbt_closed_surface_box(const rbt_closed_surface *surface);

#endif
