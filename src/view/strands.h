// What has no surface of its own: springs as thin rods, particles as balls of their radius.
#ifndef RBT_VIEW_STRANDS_H
#define RBT_VIEW_STRANDS_H

#include "rubato/mesh.h"
#include "rubato/scene.h"

typedef struct rbt_strands {
    size_t node_count;
    double *nodes;    // (node_count x 3)
    int32_t *origin;  // (node_count) the mesh's node that it belongs to
    size_t triangle_count;
    int32_t *triangles;  // (triangle_count x 3) nodes of these strands
    int32_t *cell;       // (triangle_count) the file's cell: springs and particles come behind tets and triangles
} rbt_strands;

typedef struct rbt_strands_source {
    const rbt_mesh *mesh;
    size_t cell_count;  // of the file; those that the mesh does not list are particles: its nodes outside of elements
    const double *body;  // (cell_count x body_stride) body of each; NULL: unknown
    size_t body_stride;
    const rbt_scene *scene;  // which knows the radii of particles; NULL: they are drawn small
} rbt_strands_source;

bool rbt_strands_build(rbt_strands *strands, const rbt_strands_source *source, rbt_error *error);
void rbt_strands_free(rbt_strands *strands);

#endif
