// The meshes of the bodies as they were loaded and placed, and what cuts have made of them since. A model is compiled
// from a scene and a sources; it is the same model, bit for bit, whenever these are the same.
#ifndef RBT_MODEL_SOURCES_H
#define RBT_MODEL_SOURCES_H

#include "mesh/cut/dissection.h"
#include "model/deform.h"
#include "model/model.h"
#include "model/obstacle_geometry.h"
#include "rubato/mesh.h"

struct rbt_sources {
    size_t body_count;
    rbt_mesh **meshes;            // (body_count) NULL before the first model is compiled
    rbt_fit *fits;                // (body_count) how they were fitted
    rbt_dissection *dissections;  // (body_count) elements NULL: not cut
    size_t obstacle_count;
    rbt_obstacle_geometry **obstacles;  // (obstacle_count) of meshes; NULL: not read, or none
};

rbt_sources *rbt_sources_new(size_t body_count, size_t obstacle_count, rbt_error *error);
void rbt_sources_free(rbt_sources *sources);

#endif
