// The render surface as Wavefront OBJ: one object, so that a point cache fits it as a whole, with a group per body.
#ifndef RBT_OUT_OBJ_FRAMES_H
#define RBT_OUT_OBJ_FRAMES_H

#include "out/surface.h"

// `vertices` (vertex_count x 3), in the order of the surface. Under its name complete or not at all.
bool rbt_obj_write(const char *path, const rbt_surface *surface, const double *vertices, rbt_error *error);

#endif
