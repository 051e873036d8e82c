// Velocities by which every body has the energy that it should have: the end of a step of energy-euler.
//
// The positions of the end are a minimum (implicit.c) and stay as they are, so that nothing is inverted or pushed into
// anything. For each body, with those that it touches,
//
//   H = T + W + C + B     kinetic energy of free nodes, elastic energy, obstacles by penalty, barrier of contact
//   wanted: H of the start + work of outside forces, e.dx, and of prescribed nodes, mean(dW/dx).dx and through contact
//           - dx^T D dx / h of damping - friction - loss asked for + debt
//
// with e the mean outside force and dx the way of the step. What H misses of that is given, or taken, by velocities:
//
//   too much    v += g h M^-1 (f_1 - f_0), 0 <= g <= 1/2, f the elastic forces at both ends: as damping by the
//               stiffness takes it, from the fastest vibrations first, since h (f_1 - f_0).v is about -h^2 v^T K v; and
//               what is left over by
//   too little  v += u d, d the velocities about the rigid motion: of all changes that keep momenta and reach this
//               energy the one with the least |dv|_M, since the gradient of T along it is v less a rigid motion.
//
// Both are quadratic equations. u lies in a range; what cannot be given or taken within it (a body at its turning
// point has no velocities to scale) is the debt, which the next steps get.
//
// The rigid motion is that of the cluster of pieces that touch each other, so that clusters have their linear and
// angular momentum. A piece with prescribed nodes has the rigid motion of these, if they have one, which hold it. A
// cluster that touches something prescribed may also be pushed along the net force n of that contact: d gets n n.(V -
// V_prescribed).
//
// Elastic forces of the start pull at arms of the end, which turns a body by h dx x f, and bodies that touch turn about
// each other on ways that are not along their momenta. So what nothing prescribed holds, a cluster, first gets the
// angular velocity by which its angular momentum changes by the torque of outside forces alone.
//
// Loss asked for: at a rate r of energy, h r |d|_M^2: vibrations then lose energy at this rate, whatever their
// frequency, as mass damping of r makes them do.
#ifndef RBT_STEP_IMPLICIT_ENERGY_LEASH_H
#define RBT_STEP_IMPLICIT_ENERGY_LEASH_H

#include "step/implicit/objective.h"

typedef struct rbt_energy_leash {
    rbt_objective *objective;
    rbt_arena *arena;
    double decay;                   // [1/s] r
    bool turns;                     // elastic energy does not change with a rotation
    double *start, *end;            // (node_count x 3) elastic forces at both ends [N]
    double *outside, *penalty;      // (node_count x 3) outside forces and those of obstacles at the start [N]
    double *direction;              // (node_count x 3) work
    double *element;                // (chunk_count x RBT_CHUNK) energies, work
    int32_t *piece;                 // (node_count) a node of the same connected piece
    int32_t *cluster;               // (node_count) a node of the same cluster
    int32_t *turning;               // (node_count) a node of what turns as one, work
    int32_t *account;               // (body_count) a body of the same account
    double *energy;                 // (body_count) H at the start; then what is missing [J]
    double *size;                   // (body_count) of what H and the work were summed up from [J]
    struct rbt_leash_push *pushes;  // (node_count) by what is prescribed, of pairs at their first free node
    struct rbt_leash_set *sets;     // (node_count) of pieces or clusters, work
    struct rbt_leash_sum *sums;     // (body_count) work
} rbt_energy_leash;

bool rbt_energy_leash_init(rbt_energy_leash *leash, rbt_objective *objective, double decay, rbt_error *error);
void rbt_energy_leash_free(rbt_energy_leash *leash);

// At the start of a step, where constrained nodes are known; with contact `touch` follows once pairs of the start are.
void rbt_energy_leash_begin(rbt_energy_leash *leash, const rbt_state *state);
void rbt_energy_leash_touch(rbt_energy_leash *leash);

// M^-1 (F_0 - F_1) (node_count x 3) of all forces but contact and damping, x: the end.
void rbt_energy_leash_forces(rbt_energy_leash *leash, const double *x, double *difference);

// With contact: what its pairs did in the step, whose end is that of the latest gradient.
void rbt_energy_leash_take(rbt_energy_leash *leash);

// Corrects state->v of a step of length h from x0 and v0 to state->x, whose forces were mixed by theta
// (energy_euler.h). Pairs of contact have their energies at the end. debt (body_count) [J] follows.
void rbt_energy_leash_finish(rbt_energy_leash *leash, rbt_state *state, const double *x0, const double *v0, double h,
                             double theta, double *debt);

#endif
