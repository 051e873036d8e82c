// External forces as a function of time, position and velocity: gravity, pulls, pulses, wind, drags.
#ifndef RBT_MODEL_LOAD_H
#define RBT_MODEL_LOAD_H

#include "rubato/scene.h"

#include <stddef.h>
#include <stdint.h>

typedef struct rbt_node_load {  // pull or pulse: a share of a force for each listed node
    double force[3];            // [N] total
    double from, until;         // [s]
    bool pulse;                 // half a sine between from and until
    size_t node_count;
    const int32_t *nodes;
    const double *share;  // (node_count) sums to 1
} rbt_node_load;

typedef struct rbt_wind {
    rbt_force_wind def;
    size_t triangle_begin, triangle_end;
} rbt_wind;

typedef struct rbt_drag {  // a spring from the centre of mass of nodes to a point
    double point[3], stiffness;
    double from, until;  // [s]
    size_t node_count;
    const int32_t *nodes;
    const double *share;  // (node_count) of their mass
} rbt_drag;

typedef struct rbt_loads {
    size_t node_load_count;
    const rbt_node_load *node_loads;
    size_t wind_count;
    const rbt_wind *winds;
    size_t drag_count;
    const rbt_drag *drags;
} rbt_loads;

// Whether some depend on the motion, and not on time alone.
static inline bool rbt_loads_follow_motion(const rbt_loads *loads) { return loads->wind_count || loads->drag_count; }

#endif
