// PC2 point cache of the render surface: 32 bytes of head, then 32-bit floats x y z of every vertex, frame by frame.
//   char[12] "POINTCACHE2\0", int32 version 1, int32 points, float first frame, float frames per sample,
//   int32 samples
// Little endian. The number of samples is raised only after a sample is whole.
#ifndef RBT_OUT_PC2_H
#define RBT_OUT_PC2_H

#include "out/frame_file.h"

// from_frame as in rbt_frame_file_open.
bool rbt_pc2_open(rbt_frame_file *file, const char *path, size_t vertex_count, int64_t from_frame, rbt_error *error);

// `vertices` (vertex_count x 3); `scratch` as many floats.
bool rbt_pc2_add(rbt_frame_file *file, size_t vertex_count, const double *vertices, float *scratch, rbt_error *error);

#endif
