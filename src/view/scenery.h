// The fixed obstacles of a scene as triangles, so that bodies are seen to rest on something.
#ifndef RBT_VIEW_SCENERY_H
#define RBT_VIEW_SCENERY_H

#include "rubato/scene.h"

#include <stdint.h>

typedef struct rbt_scenery {
    size_t node_count, node_capacity;
    double *nodes;  // (node_count x 3)
    size_t triangle_count, triangle_capacity;
    int32_t *triangles;  // (triangle_count x 3)
    bool has_floor;      // a level plane, facing up
    double floor;        // its height, the highest if there are several [m]
} rbt_scenery;

// low, high: box of the bodies. Level planes become the floor; tilted ones a square about as large as the box.
bool rbt_scenery_build(rbt_scenery *scenery, const rbt_obstacle *obstacles, size_t count, const double low[3],
                       const double high[3], rbt_error *error);
void rbt_scenery_free(rbt_scenery *scenery);

#endif
