// From a run's folder or a mesh file to a picture, a contact sheet or an animation on disk.
#ifndef RBT_VIEW_RENDER_H
#define RBT_VIEW_RENDER_H

#include "rubato/scene.h"
#include "view/camera.h"
#include "view/frames.h"
#include "view/image.h"
#include "view/legend.h"
#include "view/subject.h"

typedef struct rbt_render_options {
    const char *path;    // folder or mesh file
    const rbt_sim *sim;  // a simulation instead, as it is now; NULL: none
    const char *output;
    rbt_image *image;  // the picture instead of a file, which the caller frees; NULL: the file
    rbt_frame_choice frames;
    rbt_direction view;
    const rbt_coloring *coloring;
    int width, height;  // of each frame [pixels]; 0: 960 x 720, in a sheet 480 x 360
    long columns;       // of a sheet; 0: chosen
    double zoom;
    bool ground;
    double ground_height;  // [m]; NaN: the level obstacle, or the lowest point of the frames
    bool edges;
    double low, high;  // range of the colours; NaN: that of the frames
    bool animate;
    double frames_per_second;
    const rbt_scene *scene;  // whose obstacles are drawn and whose bodies have names; NULL: none
} rbt_render_options;

rbt_render_options rbt_render_default(void);

// What was drawn, for messages and tests.
typedef struct rbt_render_report {
    size_t frame_count, triangle_count;
    int width, height;  // of the file
    rbt_legend legend;
} rbt_render_report;

bool rbt_render(const rbt_render_options *options, rbt_render_report *report, rbt_error *error);

#endif
