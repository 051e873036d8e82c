// Which triangle is seen where: filling triangles into depth grids, and a picture's worth of that in tiles.
//
// Corners are rounded to 1/256 of a sample and edges follow the top-left rule, so that triangles with a common edge
// leave no gap and no sample belongs to both. The nearest wins; at equal depth the first. Tiles are independent, so
// the result is the same for any number of threads.
#ifndef RBT_VIEW_RASTER_H
#define RBT_VIEW_RASTER_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

// Samples at (x0 + i + 1/2, y0 + j + 1/2). Depth grows towards the viewer.
typedef struct rbt_depth_grid {
    int x0, y0, width, height;
    float *depth;    // (height x width)
    int32_t *owner;  // (height x width), or NULL if only the depth matters
} rbt_depth_grid;

void rbt_depth_grid_clear(rbt_depth_grid *grid);  // depth -FLT_MAX, owner -1

// corners (3 x 3): x, y, depth. Depth is linear over the triangle. Corners that are not finite or farther than a
// million samples from the origin make the triangle invisible.
void rbt_depth_grid_fill(rbt_depth_grid *grid, const double *a, const double *b, const double *c, int32_t owner);

typedef struct rbt_raster {
    int width, height;     // [pixels]
    int samples;           // per side of a pixel, 1 to 8
    const double *points;  // (point_count x 3): x, y in pixels, 1/distance; behind the eye if <= 0
    const int32_t *triangles;
    size_t triangle_count;
} rbt_raster;

// Called once for every pixel, possibly from several threads. owners (samples x samples): the triangle at each
// sample, row by row, or -1.
typedef void (*rbt_pixel_function)(void *context, int x, int y, const int32_t *owners);

bool rbt_raster_run(const rbt_raster *raster, rbt_pixel_function pixel, void *context, rbt_error *error);

#endif
