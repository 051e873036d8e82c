// One picture of a figure: light, shade, colour and the floor.
#ifndef RBT_VIEW_PICTURE_H
#define RBT_VIEW_PICTURE_H

#include "view/camera.h"
#include "view/color.h"
#include "view/figure.h"

typedef struct rbt_look {
    double low, high;               // values that the colour map runs over
    rbt_rgb plain;                  // colour where there are no values
    bool ground;                    // draw the floor
    double ground_height;           // y [m]
    double box_min[3], box_max[3];  // of everything in the sequence: floor grid and fading follow it
    bool edges;                     // draw the triangles' edges thinly
    int samples;                    // per side of a pixel
} rbt_look;

rbt_look rbt_look_default(void);

// Draws over the whole image, whose size is the camera's.
bool rbt_picture_draw(const rbt_figure *figure, const rbt_look *look, const rbt_camera *camera, rbt_image *image,
                      rbt_error *error);

#endif
