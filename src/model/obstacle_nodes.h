// Nodes of obstacles, and where they are: the one place that methods, the check of prescribed motions and the judge of
// intersections ask, so that all of them mean the same bits.
//
// A plane has the point it goes through, a sphere its centre, a capsule the ends of its axis, a box its corners, a mesh
// the nodes of its surface. A node that starts at X is at m(X, t), of a mesh at m(x(t), t) with x(t) of its sequence, m
// being the prescribed motions and what a caller adds to them.
#ifndef RBT_MODEL_OBSTACLE_NODES_H
#define RBT_MODEL_OBSTACLE_NODES_H

#include "energy/obstacle.h"
#include "model/motion.h"
#include "model/obstacle_geometry.h"

typedef struct rbt_obstacle_nodes {
    size_t count;
    double *start;      // (count x 3) before motions; of meshes at time 0
    int32_t *obstacle;  // (count) ascending
    int32_t *number;    // (count) within its obstacle
    rbt_obstacles obstacles;
    const rbt_motion_group *motions;  // (obstacles)
} rbt_obstacle_nodes;

// How many nodes and triangles an obstacle has; boxes are made of triangles too.
size_t rbt_obstacle_node_count(const rbt_obstacles *obstacles, size_t number);
size_t rbt_obstacle_triangle_count(const rbt_obstacles *obstacles, size_t number);

// The geometry of an obstacle that is a mesh; NULL: it is none.
const rbt_obstacle_geometry *rbt_obstacle_geometry_of(const rbt_obstacles *obstacles, size_t number);

// Those of the description, which no caller changes.
rbt_motion_group rbt_obstacle_motion(const rbt_obstacle *obstacle);

// Whether it has a prescribed motion, a sequence included.
bool rbt_obstacle_is_prescribed(const rbt_obstacles *obstacles, size_t number, const rbt_motion_group *motion);

// Adds the nodes of obstacle `number`, for which the arrays must have room.
void rbt_obstacle_nodes_add(rbt_obstacle_nodes *nodes, size_t number);

// Where node i is at time t exactly.
void rbt_obstacle_nodes_at(const rbt_obstacle_nodes *nodes, size_t i, double t, double x[3]);

// All of them at time t, as methods move them: x (count x 3) on straight lines between their positions at multiples
// of the step [s]; times that are multiples but for rounding are multiples. Step 0: exactly.
void rbt_obstacle_nodes_place(const rbt_obstacle_nodes *nodes, double t, double step, double *x);

#endif
