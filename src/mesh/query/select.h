// Evaluating selections (rubato/scene.h) on the nodes, the tets or the triangles of a body in rest position.
#ifndef RBT_MESH_QUERY_SELECT_H
#define RBT_MESH_QUERY_SELECT_H

#include "rubato/mesh.h"
#include "rubato/scene.h"

// Sets chosen[i] to 1 for selected nodes (node_count), tets (tet_count) or triangles (triangle_count), 0 for the
// others. `named`: the body's own named selections, which a set name finds before the mesh's sets; "everything" is
// always known. Tets and triangles are judged by their centroids; by a node list or node set only if all their nodes
// are in it. A tet set asked for nodes gives the nodes of its tets, likewise a triangle set. `path`: JSON path of the
// selection for messages; an unknown set name is an error that lists the nearest known one. Selecting nothing is an
// error only if `must_match`. Box, sphere and plane include their limits, and forgive 1e-9 of the body's diagonal so
// that rounding does not lose a row of nodes.
typedef struct rbt_select_context {
    const rbt_mesh *mesh;
    const rbt_named_selection *named;
    size_t named_count;
    const char *file, *path;
    bool must_match;
} rbt_select_context;

bool rbt_select_nodes(const rbt_select_context *context, const rbt_selection *where, unsigned char *chosen,
                      rbt_error *error);
bool rbt_select_tets(const rbt_select_context *context, const rbt_selection *where, unsigned char *chosen,
                     rbt_error *error);
bool rbt_select_triangles(const rbt_select_context *context, const rbt_selection *where, unsigned char *chosen,
                          rbt_error *error);

#endif
