// One implicit step as the minimum of a function. With tau the scale of the method's step (h for backward Euler, 2h/3
// for BDF2, h/2 for the midpoint rule), base position b and base velocity u, the unknown position z minimises
//
//   E(z) = 1/2 |z - y|_M^2 + tau^2 (W(z) + C(z) - f_ext.(z - y)) + c tau/2 (z - b)^T D (z - b),   y = b + tau u
//
// (for a lumped M this is, up to a constant, 1/2 |z - y'|_M^2 + ... with y' = y + tau^2 M^-1 f_ext.)
// W: elastic energy, C: penalty of obstacles, D = alpha M + beta K(x_n): Rayleigh damping with K frozen and
// projected, so that damping is a quadratic, and c = 1 but for energy-euler (energy_euler.h). Held nodes are no
// unknowns: their z is given, and their rows of the gradient are 0. Nodes of bodies with a method of their own have
// other terms (other_methods.h).
#ifndef RBT_STEP_IMPLICIT_OBJECTIVE_H
#define RBT_STEP_IMPLICIT_OBJECTIVE_H

#include "model/force.h"
#include "model/mass.h"
#include "model/pieces.h"
#include "model/stiffness.h"
#include "step/contact/step_contact.h"
#include "step/core/stage.h"
#include "step/implicit/other_methods.h"

// The forces on a connected piece where the gradient was taken last, and what rounding makes of them: 2-norms over
// its free nodes [N].
typedef struct rbt_acting {
    double residual;  // grad E / tau^2
    double inertia;   // M (z - y) / tau^2
    double internal;  // dW/dz
    double external, damping, obstacle;
    double rounding;  // what the residual is at a position that could not be stored more exactly
} rbt_acting;

typedef struct rbt_objective {
    const rbt_model *model;
    rbt_arena *arena;
    rbt_stiffness stiffness;
    rbt_mass mass;
    rbt_block_matrix H;  // d^2E/dz^2, pattern of K
    double *damping;     // values of beta K(x_n) per block, NULL without stiffness damping

    double tau, drag;            // drag: c
    const double *base;          // b (node_count x 3)
    double *target;              // y
    double *external;            // f_ext
    double *inertia;             // (node_count x 3) M (z - y), work
    unsigned char *constrained;  // (node_count)
    rbt_sum *energies;           // (plan.chunk_count) work
    double *partial;             // (plan.slot_count x 3) work
    double *force;               // (node_count x 3) work
    double *contact;             // (node_count x 9) stiffness of obstacles by penalty, NULL without
    rbt_step_contact *pairs;     // contact of the scene, with terms of its own in E; NULL without
    rbt_other_methods *others;   // bodies with a method of their own; NULL: none
    rbt_pieces pieces;
    rbt_acting *acting;     // (pieces.count)
    size_t acting_terms;    // of the sums that follow those that are not 0
    rbt_sum *block_sums;    // (pieces.block_count x 8) work: value, and squares of forces
    rbt_sum *piece_sums;    // (pieces.count x 8) work
    double *stiff;          // (node_count) size of a node's own block of K at rest, with obstacles [N/m]
    double *product;        // (node_count x 3) work
    double characteristic;  // |sum over elements at a node of |psi''(I)| * opposite area|, over all nodes [N]
    double diagonal;        // of the box of all nodes at the start [m]
    double move;            // how far the last direction wanted to move the node that moves most [m]
    double unit_energy;     // sum over elements of |psi''(I)| * volume: about the energy of strains of size 1 [J]
} rbt_objective;

bool rbt_objective_init(rbt_objective *o, const rbt_model *model, rbt_error *error);
void rbt_objective_free(rbt_objective *o);

// Freezes beta K at x; nothing to do without stiffness damping.
void rbt_objective_freeze_damping(rbt_objective *o, const double *x);

// D (to - from) (node_count x 3); NULL: nothing is damped.
const double *rbt_objective_damping(rbt_objective *o, const double *from, const double *to);

// E(z); infinity where a material forbids z.
double rbt_objective_value(rbt_objective *o, const double *z);

// E(z) and its gradient (node_count x 3), 0 in constrained nodes; `acting` follows.
double rbt_objective_gradient(rbt_objective *o, const double *z, double *gradient);

// H(z) with projected element stiffness: positive definite.
void rbt_objective_hessian(rbt_objective *o, const double *z);

// The same with the true stiffness of elements, which may be indefinite.
void rbt_objective_true_hessian(rbt_objective *o, const double *z);

// The characteristic size of a gradient times epsilon: epsilon tau^2 <W> |l| (Li et al. 2019, section 5.2; with
// several materials each element brings its own <W>). Shells and nets, stiff in one direction and soft in others, ask
// for epsilon m l instead: no node is misplaced by more than that share of an edge. It knows nothing of the loads
// (stop.h).
double rbt_objective_tolerance(const rbt_objective *o, double epsilon);

// Lamé parameters of linear elasticity [Pa], which every material has at rest; lambda is 0 for materials without it.
void rbt_small_strain_lame(const rbt_material_def *material, double *mu, double *lambda);

// The longest move of a node in a direction p (node_count x 3) [m]
double rbt_objective_longest(const rbt_objective *o, const double *p);

// Differences of E(z) below this are rounding: what is summed up to `value` are terms of the size of unit_energy.
double rbt_objective_rounding(const rbt_objective *o, double value);

#endif
