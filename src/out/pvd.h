// The index of a run's VTU files (.pvd): which file shows which time. Valid after every frame, at constant
// cost per frame.
#ifndef RBT_OUT_PVD_H
#define RBT_OUT_PVD_H

#include "out/frame_file.h"

// `prefix`: of the frames' names seen from the index, as "frames/frame_"; must outlive the file. from_frame as in
// rbt_frame_file_open. The names end with .vtu, or .pvtu if the prefix begins with that ending and a colon, as in
// ".pvtu:frames/frame_".
bool rbt_pvd_open(rbt_frame_file *file, const char *path, const char *prefix, int64_t from_frame, rbt_error *error);

// The next frame: prefix000012.vtu at time t [s].
bool rbt_pvd_add(rbt_frame_file *file, const char *prefix, double t, rbt_error *error);

#endif
