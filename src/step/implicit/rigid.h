// The part of an implicit step that has a closed form: the rigid motion of a piece that nothing holds.
//
// Elastic energy does not change when a connected piece moves as a whole, z_n -> a + Q (z_n - c), so that along these
// motions the step's function (objective.h, with lumped M and mass damping alpha) is, up to a constant,
//
//   1/2 sum_n w_n |a + Q (z_n - c) - g_n|^2,   w = (1 + tau alpha) m,
//   g = (y + tau^2 f_ext / m + tau alpha b) / (1 + tau alpha).
//
// Its minimum: a is the mean of g, c that of z, Q = U V^T of sum w (g - a) (z - c)^T (Kabsch 1976; Wahba 1965). There
// the residual has neither net force nor net torque: momenta are kept to rounding whatever the solver's tolerance is,
// and nothing elastic has to undo what a start did to the shape of a body that turns. A residual that is small beside
// the forces would still add up to a turn that is large beside the strains of a stiff body, since nothing holds it
// back.
#ifndef RBT_STEP_IMPLICIT_RIGID_H
#define RBT_STEP_IMPLICIT_RIGID_H

#include "step/implicit/objective.h"

typedef struct rbt_rigid {
    rbt_objective *objective;
    rbt_arena *arena;
    unsigned char *free;  // (pieces.count) nothing holds the piece in this step
    double *held;         // (pieces.count) 0 where that is so, work
    bool any;
    int32_t *cluster;               // (node_count) with contact: a node of the same cluster, work
    struct rbt_rigid_marks *marks;  // (node_count) with contact: what the clusters of rbt_rigid_fit_clusters are
    struct rbt_rigid_sums *sums;    // (node_count) with contact: of clusters, work
    double *shift;                  // (node_count x 3) with contact: what is added to z, work
} rbt_rigid;

bool rbt_rigid_init(rbt_rigid *rigid, rbt_objective *objective, rbt_error *error);
void rbt_rigid_free(rbt_rigid *rigid);

// For the constrained nodes of this step. Pieces with linear elasticity, consistent mass or stiffness damping, whose
// terms do change with a rigid motion, are left to the solver.
void rbt_rigid_begin(rbt_rigid *rigid);

// Moves the free pieces of z that touch no obstacle, each as a whole, to the minimum.
void rbt_rigid_fit(const rbt_rigid *rigid, double *z);

// The same with contact: pieces that push each other at the latest gradient are a cluster, which moves as a whole where
// nothing prescribed is in it. Contact does not change with it; friction, and with the midpoint rule contact too,
// change when it turns: then it is shifted only. Nothing moves if that would bring other surfaces together.
void rbt_rigid_fit_clusters(rbt_rigid *rigid, double *z);

// Clusters of rbt_rigid_fit_clusters with bodies of other methods in them (other_methods.h) stay where they are, since
// their positions and velocities change in other proportions. Where nothing prescribed and no damping of masses is in
// them, momentum is set right by velocities v (node_count x 3) of their end alone: from v0 by the outside forces of the
// step and by what free steps were given.
void rbt_rigid_balance(const rbt_rigid *rigid, const double *v0, double *v);

#endif
