// A simulation in memory as the renderer sees the files of a frame (out/vtu.h): a mesh with fields.
#ifndef RBT_VIEW_LIVE_H
#define RBT_VIEW_LIVE_H

#include "mesh/io/read_vtu.h"
#include "sim/sim.h"

// All elements, with displacement, velocity, region, body and von_mises. Both are empty on failure.
bool rbt_live_elements(const rbt_sim *sim, rbt_mesh *mesh, rbt_fields *fields, rbt_error *error);

// The render surface of scenes with embedded ones, with displacement, velocity and body; an empty mesh of others.
bool rbt_live_surface(const rbt_sim *sim, rbt_mesh *mesh, rbt_fields *fields, rbt_error *error);

#endif
