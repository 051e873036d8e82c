// The meshes of the bodies as they were loaded and placed, and what cuts have made of them since. A model is compiled from
// a scene and a stock; it is the same model, bit for bit, whenever these are the same.
#ifndef RBT_MODEL_STOCK_H
#define RBT_MODEL_STOCK_H

#include "mesh/cut/dissection.h"
#include "model/deform.h"
#include "model/model.h"
#include "rubato/mesh.h"

struct rbt_stock {
    size_t body_count;
    rbt_mesh **meshes;            // (body_count) NULL before the first model is compiled
    rbt_fit *fits;                // (body_count) how they were fitted
    rbt_dissection *dissections;  // (body_count) elements NULL: not cut
};

rbt_stock *rbt_stock_new(size_t body_count, rbt_error *error);
void rbt_stock_free(rbt_stock *stock);

#endif
