// Bad tets such as real meshers leave, made on purpose: for studies of what a few of them do to explicit steps.
#ifndef RBT_MESH_CORE_SLIVERS_H
#define RBT_MESH_CORE_SLIVERS_H

#include "rubato/mesh.h"
#include "rubato/scene.h"

// Flattens about def->share of the tets: one of a tet's nodes moves towards the opposite face until a part r of its
// height is left, r between def->height and 1, equally likely in every octave. No node takes part twice and no tet
// around a moved node is left with less than def->height of its own height, so all keep their orientation; where that
// cannot be, the tet stays as it was. Returns false without memory.
bool rbt_mesh_flatten(rbt_mesh *mesh, const rbt_slivers_def *def, rbt_error *error);

#endif
