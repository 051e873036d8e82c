// The surface of asynchronous contact: what bodies and obstacles are made of there, and how obstacles move.
//
// Obstacles have nodes of their own behind those of the model, of infinite mass: a plane the point it goes through, a
// sphere its centre, a capsule the ends of its axis, a box its corners. Their places are those of their prescribed
// motions at every step and lie on straight lines between, so that they follow from time alone and no checkpoint
// holds them.
#ifndef RBT_STEP_ASYNC_ASYNC_SURFACE_H
#define RBT_STEP_ASYNC_ASYNC_SURFACE_H

#include "model/model.h"
#include "step/async/contact.h"

typedef struct rbt_async_surface {
    const rbt_model *model;
    size_t node_count;  // of the model and of obstacles
    double *x;          // (node_count x 3) places at the start
    int32_t *obstacle;  // (node_count) number of the obstacle, -1 for nodes of the model
    bool prescribed;    // some obstacles follow one
    rbt_contact_surface_def def;
} rbt_async_surface;

// Nodes of all obstacles together.
size_t rbt_obstacle_node_count(const rbt_model *model);

bool rbt_async_surface_make(rbt_async_surface *surface, const rbt_model *model, rbt_arena *arena, rbt_error *error);

// Places and velocities of the obstacles from time t, which is `tick`, to t + h.
void rbt_async_surface_drive(const rbt_async_surface *surface, rbt_tracks *tracks, int64_t tick, double t, double h);

// Whether some move: by a prescribed motion, or because a caller has moved them.
bool rbt_async_surface_moves(const rbt_async_surface *surface);

// What the two primitives of a sentence are and belong to.
void rbt_async_surface_name(const rbt_async_surface *surface, const rbt_contact_surface *contact, rbt_pair_key key,
                            char *text, size_t size);

#endif
