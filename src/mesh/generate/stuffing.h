// Tetrahedra for a body given by a signed distance: isosurface stuffing on the body-centred cubic lattice.
#ifndef RBT_MESH_GENERATE_STUFFING_H
#define RBT_MESH_GENERATE_STUFFING_H

#include "mesh/query/box_tree.h"
#include "rubato/mesh.h"

// A body: f(x) < 0 inside, |f(x) - f(y)| <= |x - y|, and a box outside of which there is nothing of it.
// `at` is called from several threads.
typedef struct rbt_distance {
    double (*at)(const void *self, const double x[3]);
    const void *self;
    rbt_box box;
} rbt_distance;

// `cell` [m]: side of the lattice's cubes. `largest_only`: keep the largest connected part. The surface is a closed
// manifold; the dihedral angles lie between 10.7 and 164.8 degrees.
rbt_mesh *rbt_stuff(const rbt_distance *body, double cell, bool largest_only, rbt_error *error);

#endif
