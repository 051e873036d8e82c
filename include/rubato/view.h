// Pictures and plots of what a run has left in its folder, without a display. They are a library of their own,
// librubato_view, so that librubato needs none of what it takes to write pictures.
#ifndef RUBATO_VIEW_H
#define RUBATO_VIEW_H

#include "rubato/sim.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Values are those of the options of `rubato render`, which messages name.
typedef struct rbt_view_options {
    const char *frames;     // which, as "0,5,10-20,last"; NULL: the last, of an animation all
    long every;             // every so many frames instead; 0: as `frames` says
    const char *direction;  // where the camera stands: "hero", "front", …, or "yaw,pitch" [degrees]
    const char *color;      // by what: "plain", "displacement", "velocity", "stress", "region", "body", "quality"
    int width, height;      // of each frame [pixels]; 0: 960 x 720, in a sheet 480 x 360
    long columns;           // of a sheet; 0: chosen
    double zoom;            // larger than 1: closer
    bool ground;
    double ground_height;  // [m]; NaN: that of a level obstacle, or the lowest point of the frames
    bool edges;            // of triangles
    double low, high;      // values that the colours run over, in SI units; NaN: those of the frames
    bool animate;          // an animated PNG instead of a sheet
    double frames_per_second;
    const rbt_scene *scene;  // of the run: its obstacles are drawn and its bodies have names; NULL: without
} rbt_view_options;

rbt_view_options rbt_view_default(void);  // the last frame, "hero", "plain", with ground

typedef struct rbt_view_report {
    size_t frame_count;
    size_t triangle_count;  // of the last frame
    int width, height;      // of the file [pixels]
} rbt_view_report;

// Draws frames of a run's folder, or a mesh file, into the PNG file `output`: one picture, a sheet of several, or an
// animation. The file appears whole or not at all. `report` may be NULL.
bool rbt_view_draw(const char *path, const char *output, const rbt_view_options *options, rbt_view_report *report,
                   rbt_error *error);

// ---- Into memory

typedef struct rbt_view_image {
    int width, height;  // [pixels]
    unsigned char
        *pixels;  // (height x width x 3) red, green and blue, top row first; free it with rbt_view_image_free
} rbt_view_image;

// What rbt_view_draw would write, as an image: one picture or a sheet. Refused: an animation.
bool rbt_view_paint(const char *path, const rbt_view_options *options, rbt_view_image *image, rbt_error *error);

// A simulation as it is now, with its obstacles where they are now. Options about frames, and the scene, are not looked
// at. It changes nothing in the simulation.
bool rbt_view_paint_sim(const rbt_sim *sim, const rbt_view_options *options, rbt_view_image *image, rbt_error *error);

void rbt_view_image_free(rbt_view_image *image);  // NULL: nothing

// ---- Plots

// Energies and momenta of a run's folder over time, as the SVG file `output`
bool rbt_view_plot(const char *folder, const char *output, rbt_error *error);

#ifdef __cplusplus
}
#endif
#endif
