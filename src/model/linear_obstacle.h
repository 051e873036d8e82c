// Obstacles in steps that are linear in the new velocities. A penalty force F is zero outside, so it is linearised
// where a node is heading rather than where it is: a node that would be inside at the end of the step meets the
// obstacle in this step, not when it is already deep in it.
//
//   y = x + h v + a,   a = h^2 f_ext / M,   F(z) ~ F(y) + K (y - z),   K = -dF/dx(y) = k A n n^T      (1)
//
// With z = x+ = x + h (v + dv), h^2 K goes into the matrix of the step, and to its forces
//   F(y) + K a          where the unknown is dv, counted from x + h v: semi-implicit, siere, ere, imex
//   F(y) + K (y - x)    where displacements are counted from x, less K times these: multirate-euler, schroeder
#ifndef RBT_MODEL_LINEAR_OBSTACLE_H
#define RBT_MODEL_LINEAR_OBSTACLE_H

#include "model/model.h"

// a of (1), one component; a node without mass is not pulled ahead.
static inline double rbt_obstacle_ahead(const rbt_model *m, size_t node, double h, double force) {
    return m->mass[node] > 0 ? h * h * force / m->mass[node] : 0;
}

// diagonal += factor K: a node's block of a matrix
static inline void rbt_obstacle_stiffen(double *diagonal, double factor, const double *K) {
    for (int i = 0; i < 9; i++) diagonal[i] += factor * K[i];
}

// One node that is heading for y: push = F(y) + K from_there, K; both 0 where it is not on a surface. from_there: y
// less what the step counts displacements from.
void rbt_obstacle_meet(const rbt_model *model, size_t node, const double y[3], const double from_there[3],
                       double push[3], double K[9]);

// All nodes of a step h from the state, whose external forces are f: f += F(y) + K a, and K (node_count x 9).
void rbt_obstacles_meet(const rbt_model *model, const rbt_state *state, double h, double *f, double *K);

// The same counted from x, into forces of their own or, push = f, into the external ones: push += F(y) + K (y - x).
// node_steps (node_count): h of each node; NULL: it is h for all.
void rbt_obstacles_meet_from_start(const rbt_model *model, const rbt_state *state, double h, const double *node_steps,
                                   const double *f, double *push, double *K);

#endif
