// Obstacles as the judge of intersections knows them (verify/exact/intersect.h): nodes behind those of the bodies
// that go where prescribed motions want them. A plane is a point and a side, a sphere a ball, a capsule a rod, a box
// twelve triangles between its corners.
#ifndef RBT_MODEL_OBSTACLE_PARTS_H
#define RBT_MODEL_OBSTACLE_PARTS_H

#include "model/motion.h"
#include "verify/exact/intersect.h"

typedef struct rbt_obstacle_parts {
    size_t first_node, node_count;
    double *start;              // (node_count x 3)
    int32_t *obstacle;          // (node_count) its number
    const rbt_obstacle *items;  // the caller's
    size_t round_count, plane_count, triangle_count;
    rbt_round *rounds;
    rbt_half_space *planes;
    int32_t *triangles;  // (triangle_count x 3)
    bool moving;         // some have a prescribed motion
} rbt_obstacle_parts;

// Numbers of nodes begin with `first_node`. `items` must stay.
bool rbt_obstacle_parts_make(rbt_obstacle_parts *parts, const rbt_obstacle *items, size_t count, size_t first_node,
                             rbt_error *error);
void rbt_obstacle_parts_free(rbt_obstacle_parts *parts);

// Where they are at time t: (node_count x 3). With a step [s], on straight lines between their positions at its
// multiples, as methods move them.
void rbt_obstacle_parts_place(const rbt_obstacle_parts *parts, double t, double step, double *x);

// The motions of an obstacle
rbt_motion_group rbt_obstacle_motion(const rbt_obstacle *obstacle);

#endif
