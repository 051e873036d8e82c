// Moving points before time starts: placing a mesh, and deforming a rest shape into the start.
#ifndef RBT_MODEL_DEFORM_H
#define RBT_MODEL_DEFORM_H

#include "rubato/scene.h"

#include <stddef.h>

// Multiply by `unit`, then scale, rotate, translate. points (count x 3), in place.
void rbt_place_points(double *points, size_t count, double unit, const rbt_transform_def *transform);

// Applies one deformation in place; box_min and box_max bound the rest shape, whose centre stays where it is.
void rbt_deform_points(double *points, size_t count, const rbt_deformation *deformation, const double box_min[3],
                       const double box_max[3]);

#endif
