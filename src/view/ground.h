// The floor: a level plane that shows shadows and a faint grid and fades into the background.
#ifndef RBT_VIEW_GROUND_H
#define RBT_VIEW_GROUND_H

#include "view/camera.h"
#include "view/color.h"
#include "view/exposure.h"

typedef struct rbt_ground {
    double height;           // y [m]
    double centre[2], size;  // of what stands on it, in x and z
    double spacing;          // of the grid lines [m], 1, 2 or 5 times a power of ten
    // Light on a patch around the shadows, in samples:
    int side;
    double low[2], step;
    float *sky, *key;  // (side * side) shares, x running first
} rbt_ground;

enum { RBT_GROUND_SIDE_MIN = 96, RBT_GROUND_SIDE_MAX = 320 };

// How many samples a side are worth while for a picture of this size.
int rbt_ground_side(const rbt_camera *camera);

// low, high: box of everything that will ever be drawn with it, so that a sequence of pictures shares the grid. Writes
// the points whose light is needed to probes (side * side x 3).
bool rbt_ground_new(rbt_ground *ground, const rbt_figure *figure, const rbt_lights *lights, int side, double height,
                    const double low[3], const double high[3], double *probes, rbt_error *error);
void rbt_ground_free(rbt_ground *ground);

// Takes the light on the probes from rbt_exposure.
void rbt_ground_light(rbt_ground *ground, const rbt_lights *lights, const uint64_t *seen);

// The background of the picture at (x, y), through which the ground shows where it is seen.
rbt_light rbt_ground_color(const rbt_ground *ground, const rbt_camera *camera, double x, double y);

// The background alone.
rbt_light rbt_background(const rbt_camera *camera, double x, double y);

#endif
