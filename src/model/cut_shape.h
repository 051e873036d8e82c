// From the description of a cut's surface to triangles with a progress.
#ifndef RBT_MODEL_CUT_SHAPE_H
#define RBT_MODEL_CUT_SHAPE_H

#include "mesh/cut/cut_surface.h"
#include "rubato/mesh.h"
#include "rubato/scene.h"

// The triangles of a cut's file in metres; NULL with an error.
rbt_mesh *rbt_cut_shape_read(const rbt_cut_file *def, const char *folder, const char *scene_file, const char *path,
                             rbt_error *error);

// For a body whose rest shape has the box low..high and that lies, when it is cut, within here_low..here_high.
// `triangles`: of the file, NULL if the cut has none. The progress goes from 0 to 1 over the surface, that of a plane
// over the body.
bool rbt_cut_shape(const rbt_cut_def *def, const rbt_mesh *triangles, const double low[3], const double high[3],
                   const double here_low[3], const double here_high[3], rbt_cut_surface *surface, rbt_error *error);

#endif
