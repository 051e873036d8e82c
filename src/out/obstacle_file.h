// obstacles.rbt of a run's folder: the obstacles of its scene that are meshes, as they were read, with all digits of
// their positions. What looks at a run afterwards then needs none of the files that the scene names.
//
//   char[8] "RBTOBST1", uint64 count of the scene's obstacles; then for each that is a mesh
//   uint64 number, nodes, triangles, frames, open edges, loop; double rate, from;
//   int32 triangles (triangles x 3), filled up to a multiple of 8 bytes; double frames (frames x nodes x 3)
// Little endian.
#ifndef RBT_OUT_OBSTACLE_FILE_H
#define RBT_OUT_OBSTACLE_FILE_H

#include "base/file.h"
#include "energy/obstacle.h"
#include "model/obstacle_geometry.h"

// Writes the file of a folder; without meshes there is none, and one of an earlier run is removed.
bool rbt_obstacle_file_write(const char *folder, const rbt_obstacles *obstacles, rbt_error *error);

// Geometries for the obstacles of a scene, from the file of a run's folder or, without such a file or with the folder
// NULL, from what the scene names. Free also after failure.
typedef struct rbt_obstacle_file {
    rbt_obstacles obstacles;           // those of the scene, with geometry
    rbt_obstacle_geometry **geometry;  // (obstacles.count)
} rbt_obstacle_file;

bool rbt_obstacle_file_read(rbt_obstacle_file *file, const char *folder, const rbt_scene *scene, rbt_error *error);
void rbt_obstacle_file_free(rbt_obstacle_file *file);

// The same from bytes, of which nothing is believed: geometry (count) is filled.
bool rbt_obstacle_file_parse(const char *path, const rbt_bytes *bytes, size_t count, rbt_obstacle_geometry **geometry,
                             rbt_error *error);

#endif
