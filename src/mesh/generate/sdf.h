// Bodies described by signed distances: round cones, boxes, ellipsoids and tori, melted into each other.
//
// A body is the smooth union of all added primitives, minus the subtracted ones, cut to the intersecting ones:
//   f = max(min_i d_i, max_j -d_j, max_k d_k),  every min and max rounded over the blend radius,  f < 0 inside.
// Every primitive's distance is exact and a rounded min or max mixes gradients convexly, so |grad f| <= 1: a point at
// distance f has nothing of the surface within |f|, on which the mesher relies to skip empty and full space.
#ifndef RBT_MESH_GENERATE_SDF_H
#define RBT_MESH_GENERATE_SDF_H

#include "mesh/query/box_tree.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum rbt_primitive_kind { RBT_CAPSULE, RBT_BOX, RBT_ELLIPSOID, RBT_TORUS } rbt_primitive_kind;
typedef enum rbt_combine { RBT_ADD, RBT_SUBTRACT, RBT_INTERSECT } rbt_combine;

// One primitive as plain data, so that a table of them is a creature.
typedef struct rbt_primitive {
    const char *region;  // name of the tet set of what lies nearest to it; NULL: none
    rbt_primitive_kind kind;
    double a[3];  // one end of a capsule, the centre of anything else [m]
    double b[3];  // the other end; half sides of a box, radii of an ellipsoid, {ring, tube, -} radii of a torus [m]
    double radius[2];  // of a capsule at a and at b; [0]: of a box's rounded edges [m]
    double turn[4];    // axis and degrees by which box, ellipsoid or torus (ring in its x-z plane) is turned
    double blend;      // how far it melts into what was listed before it [m]; 0: the body's blend radius
    rbt_combine combine;
    bool mirror;  // once more at -z
} rbt_primitive;

typedef struct rbt_sdf rbt_sdf;

rbt_sdf *rbt_sdf_new(const rbt_primitive *primitives, size_t count, double blend, rbt_error *error);
void rbt_sdf_free(rbt_sdf *sdf);

double rbt_sdf_distance(const void *sdf, const double x[3]);
rbt_box rbt_sdf_box(const rbt_sdf *sdf);  // holds the whole body

// The primitive (its place in the list given) nearest to x among those added.
int rbt_sdf_nearest(const rbt_sdf *sdf, const double x[3]);

#endif
