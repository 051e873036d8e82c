// Hinges: two triangles that share an edge resist bending about it (Grinspun, Hirani, Desbrun and Schröder 2003,
// "Discrete shells"):
//   W = D/2 |e|^2 / (A_1 + A_2) (theta - theta_0)^2
// theta: angle between the normals, 0 when flat; e: the edge at rest, A: areas at rest, D: bending stiffness of the
// plate [N m]. The factor makes a sheet rolled to curvature kappa along a regular mesh cost D/2 kappa^2 per area, as
// the continuum does. On other meshes nodes may relax against each other and soften it: the alternating diagonals of
// the shapes "cloth" and "ribbon" leave 5/6 D to a sheet that bends freely.
// Differences of angles are taken modulo a full turn, so W is continuous for every rest angle.
//
// The projection is closed-form (hinge.c); the tangent is the projected Hessian, as for springs (spring.h).
//
// Nodes of a hinge: edge x_0 x_1, apex x_2 of the first triangle, apex x_3 of the second. The order of nodes in the
// triangles of the mesh does not matter.
#ifndef RBT_ENERGY_HINGE_H
#define RBT_ENERGY_HINGE_H

#include "base/memory.h"
#include "energy/group.h"

typedef struct rbt_hinge {
    double weight;      // D |e|^2 / (A_1 + A_2) [N m]
    double rest_angle;  // theta_0 [rad]
    double area;        // A_1 + A_2 at rest [m^2]
    double slope[4];    // |d theta/dx_a|^2 at rest [1/m^2]
    double yield;       // largest |theta - theta_0| before theta_0 follows; infinity: elastic [rad]
} rbt_hinge;

extern const rbt_group_type RBT_HINGES;  // data: rbt_hinge (count)

// nodes (count x 4), members (count), bending (count): D of each [N m], yield (count) [rad] or NULL: all elastic;
// rest angles are those of X.
bool rbt_hinge_group_build(rbt_group *group, rbt_arena *arena, const double *X, const int32_t *nodes,
                           const int32_t *members, const double *bending, const double *yield, size_t count,
                           rbt_error *error);

// Perfect plasticity: how far the rest angle, which has flowed by `flow` since the hinge was made, must continue at x.
double rbt_hinge_flow(const rbt_hinge *hinge, const int32_t nodes[4], const double *x, double flow);

double rbt_hinge_angle(const double *x,
                       const int32_t nodes[4]);  // [rad], positive if the triangles fold to their normals

#endif
