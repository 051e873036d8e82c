// How obstacles move in asynchronous contact: their nodes are tracks that go straight on from step to step, between the
// positions that model/contact_surface.h gives them there.
#ifndef RBT_STEP_ASYNC_ASYNC_SURFACE_H
#define RBT_STEP_ASYNC_ASYNC_SURFACE_H

#include "model/contact_surface.h"
#include "step/async/track.h"

// Positions and velocities of the obstacles from time t, which is `tick`, to t + h.
void rbt_async_surface_drive(const rbt_model_surface *surface, rbt_tracks *tracks, int64_t tick, double t, double h);

#endif
