// The surface of an obstacle that is a mesh: its triangles, and the positions of its nodes as a function of time.
//
// Of tets it has their hull, else the triangles as they are; nodes of no triangle are left out. Frame k of a sequence
// is reached at from + k / rate; with s = (t - from) rate, k = floor(s) and w = s - k the positions are
//   x(t) = (1 - w) x_k + w x_{k+1},
// before the first frame x_0 and after the last one that. With a loop s is taken modulo the number of frames, and the
// first frame follows the last one. A mesh without a sequence has one frame. Prescribed motions come on top
// (model/obstacle_nodes.h).
//
// It is read once and then const, and shared by counting: the sources of a model keep it, models, and who judges.
#ifndef RBT_MODEL_OBSTACLE_GEOMETRY_H
#define RBT_MODEL_OBSTACLE_GEOMETRY_H

#include "base/error.h"
#include "rubato/scene.h"

#include <stdatomic.h>

enum { RBT_MAX_SEQUENCE_POSITIONS = 1 << 27 };  // of all frames together: 3 GiB

typedef struct rbt_obstacle_geometry {
    size_t node_count, triangle_count, frame_count;
    int32_t *triangles;  // (triangle_count x 3) of its own nodes
    double *frames;      // (frame_count x node_count x 3) [m], placed by the transform
    double rate, from;   // [1/s], [s]; of several frames
    bool loop;
    size_t open_edges;  // that have a triangle on one side only
    atomic_size_t users;
} rbt_obstacle_geometry;

// Reads and checks the mesh and all frames; file names start at `folder`. Messages call it obstacles[number] of `file`.
// NULL with an error.
rbt_obstacle_geometry *rbt_obstacle_geometry_load(const rbt_obstacle_mesh *def, size_t number, const char *folder,
                                                  const char *file, rbt_error *error);

// An empty one with arrays of these sizes, for who fills them; NULL with an error.
rbt_obstacle_geometry *rbt_obstacle_geometry_new(size_t nodes, size_t triangles, size_t frames, rbt_error *error);

rbt_obstacle_geometry *rbt_obstacle_geometry_keep(rbt_obstacle_geometry *geometry);  // one more user
void rbt_obstacle_geometry_free(rbt_obstacle_geometry *geometry);                    // one less; NULL: nothing

// Where a node is at time t, without motions.
void rbt_obstacle_geometry_node(const rbt_obstacle_geometry *geometry, size_t node, double t, double x[3]);

// Whether nodes may move at all; and whether they have a corner strictly between two times.
bool rbt_obstacle_geometry_moves(const rbt_obstacle_geometry *geometry);
bool rbt_obstacle_geometry_turns(const rbt_obstacle_geometry *geometry, double begin, double end);

#endif
