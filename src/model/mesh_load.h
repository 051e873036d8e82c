// Where a mesh of a scene comes from: memory, a file or a generator.
#ifndef RBT_MODEL_MESH_LOAD_H
#define RBT_MODEL_MESH_LOAD_H

#include "rubato/scene.h"

// The mesh in its own unit, slivers made; file names start at `folder`. The caller frees it; NULL with an error.
rbt_mesh *rbt_mesh_load(const rbt_mesh_def *def, const char *folder, rbt_error *error);

#endif
