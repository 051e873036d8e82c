// Obstacles as the judge of intersections knows them (verify/exact/intersect.h): nodes behind those of the bodies
// that go where prescribed motions want them. A plane is a point and a side, a sphere a ball, a capsule a rod, a box
// twelve triangles between its corners, a mesh the triangles that it has.
#ifndef RBT_MODEL_OBSTACLE_PARTS_H
#define RBT_MODEL_OBSTACLE_PARTS_H

#include "model/obstacle_nodes.h"
#include "verify/exact/intersect.h"

typedef struct rbt_obstacle_parts {
    size_t first_node;
    rbt_obstacle_nodes nodes;
    rbt_motion_group *own_motions;  // those of the description
    size_t round_count, plane_count, triangle_count;
    rbt_round *rounds;
    rbt_half_space *planes;
    int32_t *triangles;  // (triangle_count x 3)
    bool moving;         // some have a prescribed motion
} rbt_obstacle_parts;

// Numbers of nodes begin with `first_node`. What the obstacles point to must stay, and so must `motions`, which may
// tell where a caller has moved them; NULL: those of the description.
bool rbt_obstacle_parts_make(rbt_obstacle_parts *parts, const rbt_obstacles *obstacles,
                             const rbt_motion_group *motions, size_t first_node, rbt_error *error);
void rbt_obstacle_parts_free(rbt_obstacle_parts *parts);

#endif
