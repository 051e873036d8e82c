// Moving points before time starts: placing a mesh, and deforming a rest shape into the start.
#ifndef RBT_MODEL_DEFORM_H
#define RBT_MODEL_DEFORM_H

#include "rubato/scene.h"

#include <stddef.h>

// x -> factor (x - corner): what "fit" of a transform means for one body
typedef struct rbt_fit {
    double factor, corner[3];
} rbt_fit;

// For these points (count x 3), which stay as they are.
rbt_fit rbt_fit_measure(const double *points, size_t count, double unit, const rbt_transform_def *transform);

// Multiply by `unit`, then scale, rotate, fit, translate. points (count x 3), in place.
void rbt_place_points(double *points, size_t count, double unit, const rbt_transform_def *transform,
                      const rbt_fit *fit);

// Applies one deformation in place; box_min and box_max bound the rest shape, whose centre stays where it is.
void rbt_deform_points(double *points, size_t count, const rbt_deformation *deformation, const double box_min[3],
                       const double box_max[3]);

#endif
