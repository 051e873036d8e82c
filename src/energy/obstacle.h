// Fixed obstacles by penalty: W = sum_v 1/2 k A_v d_v^2 over surface nodes deeper than the obstacle's surface.
#ifndef RBT_ENERGY_OBSTACLE_H
#define RBT_ENERGY_OBSTACLE_H

#include "rubato/scene.h"

#include <stddef.h>
#include <stdint.h>

// Meshes push nobody by penalty: methods that have no contact refuse them (step/core/stepper.c).
struct rbt_obstacle_geometry;
typedef struct rbt_obstacles {
    size_t count;
    const rbt_obstacle *items;  // values copied into the model's arena
    // (count) of those that are meshes (model/obstacle_geometry.h), NULL for the others; NULL: none is known
    struct rbt_obstacle_geometry *const *geometry;
} rbt_obstacles;

// One node at x with area A: energy [J], force -dW/dx [N] (may be NULL), Gauss-Newton stiffness k A n n^T (may be
// NULL).
double rbt_obstacles_node(const rbt_obstacles *obstacles, const double x[3], double area, double force[3],
                          double stiffness[9]);

// How deep x lies in the deepest of them [m]; outside minus its distance, or minus less than that (near edges of
// boxes).
double rbt_obstacles_depth(const rbt_obstacles *obstacles, const double x[3]);

// Its k [Pa/m], and the outward unit normal where that is the same everywhere; 0 where it is not.
double rbt_obstacle_stiffness(const rbt_obstacle *obstacle, double normal[3]);

#endif
