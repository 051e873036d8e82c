// The events of a scene as a model has them: sorted by time, with names found and nodes selected. What they do is in
// sim/sim_event.c; cuts are in model/cutting.h.
#ifndef RBT_MODEL_EVENT_H
#define RBT_MODEL_EVENT_H

#include "model/load.h"
#include "rubato/scene.h"

typedef enum rbt_planned_kind {
    RBT_PLANNED_FORCE,
    RBT_PLANNED_DRAG,
    RBT_PLANNED_MATERIAL,
    RBT_PLANNED_DRIVE
} rbt_planned_kind;

typedef struct rbt_planned_event {
    double time;    // [s]
    size_t number;  // in the list of the scene
    rbt_planned_kind kind;
    rbt_node_load load;  // of a force: nodes, shares, force
    size_t target;       // of a drag
    double point[3], stiffness;
    size_t body, region;          // of a material: numbers in the model
    rbt_event_material material;  // without names
    size_t group;                 // of a drive: which driven nodes
    rbt_event_drive drive;        // without names
} rbt_planned_event;

typedef struct rbt_drag_target {  // nodes that can be dragged by a spring at their centre of mass
    size_t node_count;
    const int32_t *nodes;  // (node_count)
    double mass;           // [kg] of all of them
} rbt_drag_target;

#endif
