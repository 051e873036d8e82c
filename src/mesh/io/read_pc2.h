// PC2 point caches: positions of the vertices of a mesh, frame by frame (out/pc2.h writes them and has the format).
#ifndef RBT_MESH_IO_READ_PC2_H
#define RBT_MESH_IO_READ_PC2_H

#include "base/file.h"

#include <stdint.h>

typedef struct rbt_point_cache {
    size_t point_count, sample_count;  // at least 1 each
    const char *samples;               // (sample_count x point_count x 3) 32-bit floats, anywhere in the bytes
} rbt_point_cache;

// The bytes must stay as long as the cache. Counts are believed only if they are those of the bytes.
bool rbt_read_pc2(const char *path, const rbt_bytes *bytes, rbt_point_cache *cache, rbt_error *error);

// Positions of a sample: (point_count x 3). false: one is not finite.
bool rbt_point_cache_sample(const rbt_point_cache *cache, const char *path, size_t sample, double *x,
                            rbt_error *error);

#endif
