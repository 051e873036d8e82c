// Making the surface of a tet mesh a closed manifold: every edge of it between two triangles, every node with one fan.
#ifndef RBT_MESH_CORE_MANIFOLD_H
#define RBT_MESH_CORE_MANIFOLD_H

#include "rubato/mesh.h"

// For a fresh mesh without sets. `largest_only` also drops all connected parts but the one with the most tets.
// Where two parts of the body touch in an edge, the smaller of the wedges there is taken away; where they touch in a
// node, the node is doubled. Nodes without a tet vanish; the order of what stays is kept.
bool rbt_mesh_make_manifold(rbt_mesh *mesh, bool largest_only, rbt_error *error);

#endif
