// The obstacles of a scene as triangles, where they are at a time, so that bodies are seen to rest on something.
#ifndef RBT_VIEW_SCENERY_H
#define RBT_VIEW_SCENERY_H

#include "energy/obstacle.h"
#include "model/motion.h"

#include <stdint.h>

typedef struct rbt_scenery {
    size_t node_count, node_capacity;
    double *nodes;  // (node_count x 3)
    size_t triangle_count, triangle_capacity;
    int32_t *triangles;  // (triangle_count x 3)
    bool has_floor;      // a level plane, facing up, that does not move
    double floor;        // its height, the highest if there are several [m]
} rbt_scenery;

typedef struct rbt_scenery_sight {
    double low[3], high[3];  // box of the bodies
    double time;             // [s]
    const double *eye;       // where it is seen from; NULL: from anywhere
    // (obstacles) their motions, with what a caller has added; NULL: those of the scene
    const rbt_motion_group *motions;
} rbt_scenery_sight;

// Level planes at rest become the floor; others a square about as large as the bodies' box, if they are seen from
// their free side: from behind they would only hide what they hold.
bool rbt_scenery_build(rbt_scenery *scenery, const rbt_obstacles *obstacles, const rbt_scenery_sight *sight,
                       rbt_error *error);
void rbt_scenery_free(rbt_scenery *scenery);

#endif
