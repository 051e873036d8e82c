// The render surface as USD text: one Mesh prim per body, topology once, points.timeSamples with one sample a frame.
//
// A sample is one line, written over the closing braces, which follow it again; endTimeCode has a fixed width and is
// patched in place. Only one attribute of a file can grow that way, so with a single body frames.usda holds it all,
// and with several each body has a layer usda/NAME.usda of its own and frames.usda is a stage of references to them
// (its growing attribute is the time in seconds, rubato:time). Time codes are frame numbers. Extents are not
// authored: USD computes them from the points where they are absent.
//
// Reference: the grammar of .usda files and the schemas of UsdGeom in the OpenUSD documentation.
#ifndef RBT_OUT_USDA_H
#define RBT_OUT_USDA_H

#include "base/text.h"
#include "out/frame_file.h"
#include "out/surface.h"

typedef struct rbt_usda {
    const rbt_surface *surface;
    size_t file_count;      // one per body and, with several bodies, the stage behind them
    rbt_frame_file *files;  // (file_count)
    rbt_text sample;        // scratch
} rbt_usda;

// `folder`: the run's. `interval`: seconds between frames. from_frame as in rbt_frame_file_open.
bool rbt_usda_open(rbt_usda *usda, const char *folder, const rbt_surface *surface, double interval,
                   int64_t from_frame, rbt_error *error);

// The next frame, `vertices` (vertex_count x 3) at time t [s]. After a failure the files are not all at the same
// frame: rbt_frame_file_undo those that are ahead.
bool rbt_usda_add(rbt_usda *usda, const double *vertices, double t, rbt_error *error);

bool rbt_usda_close(rbt_usda *usda, rbt_error *error);

#endif
