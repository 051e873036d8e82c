#include "model/mesh_load.h"

#include "base/file.h"
#include "mesh/core/build.h"
#include "mesh/core/slivers.h"
#include "mesh/generate/generate.h"

#include <stdlib.h>
#include <string.h>

static rbt_mesh *read_file(const char *folder, const char *name, rbt_error *error) {
    char *path = rbt_path_join(folder, name);
    if (!path) rbt_fail_memory(error, strlen(name), "a file name");
    rbt_mesh *mesh = path ? rbt_mesh_read(path, error) : NULL;
    free(path);
    return mesh;
}

rbt_mesh *rbt_mesh_load(const rbt_mesh_def *def, const char *folder, rbt_error *error) {
    rbt_mesh *mesh = def->mesh   ? rbt_mesh_copy(def->mesh, "the mesh in memory", error)
                     : def->file ? read_file(folder, def->file, error)
                                 : rbt_shape_generate(rbt_shape_name(def->shape.which), def->shape.value, error);
    if (mesh && def->slivers && !rbt_mesh_flatten(mesh, def->slivers, error)) {
        rbt_mesh_free(mesh);
        return NULL;
    }
    return mesh;
}
