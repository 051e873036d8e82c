// Contact of an implicit step: a barrier energy that keeps all surfaces apart, friction, and how far nodes may move.
//
// The step's function E(z) (step/implicit/objective.h) gets two more terms,
//
//   tau^2 / r (B(y) + D(y)),      y = r z - (r - 1) x_n: the positions at the end of the step,
//
// r = 1 for backward Euler and BDF2, r = 2 for the midpoint rule, whose unknown is the middle: contact acts on the end
// state, as in Kane et al. 1999, "Finite element analysis of nonsmooth contact". dE/dz then has tau^2 (dB/dy + dD/dy):
// the forces act on average over the step.
//
//   B(y) = sum of k S b(d - inside),              b(d) = -d^ (d/d^ - 1)^2 ln(d/d^)    (Li et al. 2020)
//   D(y) = sum over pairs of mu N f0(|u|)         with N and the tangents of an earlier iterate
//
// or B is that of constraints and their multipliers (contact_multipliers.h), if the scene asks for it.
//
// d^ is the thickness; k makes every closest feature count once (contact_terms.h). S [N] of a node is a tenth of
// Young's modulus times the area that it stands for, what moves it by the thickness within a step, or what stops it
// within a step at the largest speed of the start, whichever is most: contact is neither much softer nor much harder
// than what it keeps apart, and gaps stay a good share of the thickness. Pieces of a halved step have the same S,
// unless it takes more to stop a node within the piece or the thickness (step_contact.c). Two edges have the least of
// their nodes. A node and a surface have the lesser one of the node's and of the mean of the surface's body: it must
// not change as the node slides from one triangle to the next.
//
// Nothing passes through anything, by induction: the start is apart, and a move between two iterates is made only as
// far as the conservative continuous test allows (contact/ccd). Nodes with a prescribed motion, those of obstacles
// included, move the same way: `share` tells how much of their motion in this step they have made so far.
//
// Same bits for any number of threads, and after resume: pairs are sorted, sums follow their order, and what is kept
// between steps (lists of candidates) changes no result.
#ifndef RBT_STEP_CONTACT_STEP_CONTACT_H
#define RBT_STEP_CONTACT_STEP_CONTACT_H

#include "base/text.h"
#include "contact/barrier/feature_count.h"
#include "contact/barrier/pair_barrier.h"
#include "contact/broad_phase/candidates.h"
#include "contact/friction/pair_friction.h"
#include "model/contact_surface.h"
#include "step/contact/contact_matrix.h"
#include "step/core/fall_back.h"
#include "step/core/method.h"
#include "step/core/stage.h"

typedef struct rbt_contact_pair {  // a candidate
    rbt_pair_key key;
    int32_t node[4];  // -1 behind the last corner
    rbt_pair_barrier barrier;
    // Of a constraint (contact_multipliers.h)
    double target;      // [m] the gap that is wanted
    double multiplier;  // lambda [N]
} rbt_contact_pair;

typedef struct
    rbt_active_pair {  // a candidate closer than the thickness, or a closest feature of some (contact_terms.h)
    rbt_contact_pair pair;
    size_t group;     // the first candidate of those that count together
    double value;     // [J] its energy
    double gap;       // [m]
    double hardness;  // [N/m] its second derivative along the normal
    // Of a constraint (contact_constraints.h)
    double force;  // [N]
    double weight[4], normal[3];
} rbt_active_pair;

typedef struct rbt_contact_near {  // nearest points of a candidate
    double gap;                    // [m]; infinity: far
    unsigned char nearest;         // bits of the corners that they lie between
} rbt_contact_near;

typedef struct rbt_pair_multiplier {  // contact_multipliers.h
    rbt_pair_key key;
    double force;    // lambda [N]
    double penalty;  // m [N/m], at least
} rbt_pair_multiplier;

typedef struct rbt_contact_constraint {  // contact_constraints.h
    rbt_contact_pair pair;
    double weight[4], normal[3];  // of the distance, linearised
    double target;                // [m] the gap that is wanted
    double multiplier, penalty;   // lambda [N], m [N/m]
    double force;                 // f [N] at the latest gradient
    int idle;                     // rounds without force
    bool near;                    // at the safe position
} rbt_contact_constraint;

typedef struct rbt_rubbing_pair {
    int32_t node[4];
    double change[12];  // N'/N [1/m] where the forces were taken
    rbt_pair_friction friction;
} rbt_rubbing_pair;

typedef struct rbt_contact_effort {  // what contact has done so far
    double search_seconds;           // looking for pairs
    double test_seconds;             // asking how far they may move, without the search
    size_t tests;                    // of motions
    size_t most_pairs;               // that pushed each other at once
    size_t rounds;                   // that multipliers have followed forces
} rbt_contact_effort;

typedef struct rbt_step_contact {
    const rbt_model *model;
    rbt_arena *arena;
    rbt_model_surface surface;       // nodes of bodies, then those of obstacles
    rbt_contact_surface primitives;  // its triangles, edges and points
    size_t node_count;               // of bodies and obstacles

    // Constants, from the scene
    bool augmented;          // pairs are constraints with multipliers, not barriers
    double support;          // [m] no pair wider than this has energy
    double thickness;        // d^ [m]
    double ahead;            // [m] gaps below which pairs are listed, and get blocks in the matrix before they push
    double fitting;          // [m] the thickness that fits the meshes
    double least_gap;        // [m] of the start; infinity: nothing is near
    rbt_pair_key least;      // whose
    double slip_speed;       // e/h, the mean speed of a step below which friction sticks [m/s]
    bool has_friction;       // some pair may have some
    double *stiffness;       // (node_count) S [N]; infinity for obstacles
    double inertia;          // [m/s^2] what S has of it per mass
    double whole_tau;        // of a whole step, for questions between steps
    double speed;            // [m/s] the largest of the start, for S
    double *raise;           // (node_count) what S is multiplied with in pieces of this step
    bool is_raised;          // some of them are more than 1
    bool uses_raise;         // in a step, not between steps
    double step_speed;       // [m/s] the largest where the whole step began, for S of its pieces
    double *node_speed;      // (node_count) [m/s] of each node there
    double *body_stiffness;  // (bodies) [N] mean of S over the nodes of a body's surface
    int32_t *node_edges, *edge_faces;  // (node_count), (edges of primitives): edges at a node, triangles at an edge
    double *half_gap;                  // (node_count) [m] what a node keeps free of others
    double *reach;                     // (node_count) for the candidates
    double edge_length;                // [m] mean of the surface, which bounds the slack of candidates

    // Of a step, set by rbt_step_contact_begin
    double h, tau, rate;  // rate: r above
    const double *last;   // x_n (node_count of the model x 3)
    const unsigned char *constrained;
    double *x0;        // (node_count x 3) where the step starts
    double *x1;        // (node_count x 3) where prescribed nodes are at its end; others: as x0
    double share;      // of the prescribed motion that has been made
    double *firmness;  // (node_count) [N/m] stiffness and inertia over tau^2 of a node, from the caller
    bool linearised;   // energy and forces are those of the constraints (contact_constraints.h)

    // Of the latest evaluation
    double *y;  // (node_count x 3) positions
    rbt_candidates candidates;
    rbt_contact_pair *pairs;  // (candidates.count)
    double *values;           // (candidates.count) energies or times of candidates, work
    size_t pair_capacity, value_capacity, listed;
    rbt_contact_near *near;  // (candidates.count)
    rbt_active_pair *terms;  // (term_count) of the barrier, contact_terms.h
    rbt_near_simplex *simplices;
    rbt_counted_feature *features;
    rbt_feature_work feature_work;
    size_t near_capacity, term_count, term_capacity, simplex_capacity, feature_capacity;
    rbt_active_pair *active;  // (active_count)
    size_t active_count, active_capacity;
    double *gradients, *hessians;  // (active_count x 12), (active_count x 144)
    int32_t *corners;              // (active_count and rubbing_count x 4) nodes of the hessians
    size_t gradient_capacity, hessian_capacity, corner_capacity;
    rbt_rubbing_pair *rubbing;  // (rubbing_count) pairs of friction with their lagged forces
    double *lagged;             // (active_count) work: their normal forces [N]
    size_t rubbing_count, rubbing_capacity, lagged_capacity;
    bool lagged_once;  // friction keeps the normal forces of the step's start
    bool cautious;     // the secant of friction stands in the Hessian (contact/friction/pair_friction.h)
    double *force;     // (node_count x 3) -d(B + D)/dy
    double *hardness;  // (node_count) sum of the second derivatives of the pairs at a node [N/m]
    bool out_of_memory;

    rbt_contact_constraint *constraints;  // (constraint_count) ascending by key
    size_t constraint_count, constraint_capacity;

    rbt_pair_multiplier *multipliers;  // (multiplier_count) ascending by key
    size_t multiplier_count, multiplier_capacity;
    bool has_multipliers;  // and some of them are forces of a round or a step

    rbt_contact_matrix matrix;     // H with the blocks of pairs
    rbt_pair_key blocking;         // the pair that limited the last motion
    double *motion;                // (node_count x 3) work: the end of a motion
    const rbt_observer *observer;  // sees every accepted iterate; NULL: nobody does
    double t;                      // when the step began [s]
    rbt_contact_effort effort;
} rbt_step_contact;

// For a model with contact; `tau` of a whole step, for S. Refuses a start with crossings, or with a pair that is
// closer than its gap.
rbt_step_contact *rbt_step_contact_new(const rbt_model *model, double tau, const rbt_block_matrix *K,
                                       rbt_error *error);
void rbt_step_contact_free(rbt_step_contact *contact);

// Before a whole step from t to t + h: the speeds that things move against each other with, v + h f/m, the largest for
// S of its pieces. v has the prescribed velocities; f are outside forces.
void rbt_step_contact_note_speed(rbt_step_contact *contact, double t, double h, const double *v,
                                 const double *external);

// After an attempt at a step that failed, or a piece of a step: S of pairs that are close is more for what is left of
// the whole step.
void rbt_step_contact_raise(rbt_step_contact *contact);

// A step from x_n at time t; positions are those of x_n, nothing prescribed has moved. false: no memory.
bool rbt_step_contact_begin(rbt_step_contact *contact, double t, double h, double tau, double rate,
                            const double *last, const unsigned char *constrained);

// Whether prescribed nodes move in this step, and some of that is left.
bool rbt_step_contact_is_driven(const rbt_step_contact *contact);

// What is left of their motion: p of constrained nodes, in terms of z (model nodes x 3); others stay as they are.
void rbt_step_contact_drive(const rbt_step_contact *contact, double *p);

// tau^2/r (B + D) at z; infinity where surfaces touch. `share`: how far prescribed obstacles have come.
double rbt_step_contact_value(rbt_step_contact *contact, const double *z, double share);

// The same with `force` (node_count x 3).
double rbt_step_contact_gradient(rbt_step_contact *contact, const double *z, double share);

// Puts H of the elastic problem and the Hessian of tau^2/r (B + D) into contact->matrix, at the place of the latest
// gradient. exact: the true second derivatives of the barrier, which may be indefinite; else positive semidefinite ones
// that are no less. false: no memory.
bool rbt_step_contact_hessian(rbt_step_contact *contact, const rbt_block_matrix *H, bool exact);

// rhs (model nodes x 3) += H_free,obstacle times what is left of the obstacles' motion.
void rbt_step_contact_couple(const rbt_step_contact *contact, double *rhs);

// How much of z -> z + p, and of the prescribed motion of obstacles from `share` on by `advance`, is free of contact:
// from 0 to 1. contact->blocking is the pair that limits it.
double rbt_step_contact_limit(rbt_step_contact *contact, const double *z, const double *p, double share,
                              double advance);

// The same answer but for rounding and what is kept of gaps, where motions are long beside the edges: parts of the
// motion are asked about first, since all of it passes by nearly every pair there is.
double rbt_step_contact_first_stop(rbt_step_contact *contact, const double *z, const double *p, double share,
                                   double advance);

// Whether a pair that pushes at the place of the latest gradient is so close that the rounding of positions changes its
// gap, and with it its force, by more than a thousandth: there is no room left to move in, and a residual that is no
// more than rounding means nothing.
bool rbt_step_contact_is_shut(const rbt_step_contact *contact);

// Shows the observer where the accepted iterate z has brought all nodes.
void rbt_step_contact_show(rbt_step_contact *contact, const double *z);

// Tells the observer that what it has seen since is given up, and the iteration is at z again.
void rbt_step_contact_return(rbt_step_contact *contact, const double *z);

// rhs (model nodes x 3) += B p of the present friction, B = sum of F (N'/N)^T: how forces follow the normal forces that
// p changes; in terms of z, as the Hessian is.
void rbt_step_contact_couple_friction(const rbt_step_contact *contact, const double *p, double *rhs);

// The normal forces of active pairs into contact->lagged [N]: those of terms that take off what others count twice are
// taken off the others of their group, and 0 themselves. false: no memory.
bool rbt_step_contact_normal_forces(rbt_step_contact *contact);

// Normal forces and tangents of friction at z, for what comes.
void rbt_step_contact_lag(rbt_step_contact *contact, const double *z);

// The pairs that push each other at positions x of the model's nodes at time t, into `active`, with their forces,
// without friction; between steps. Of constraints these are the multipliers that were set last. false: no memory, or
// surfaces touch.
bool rbt_step_contact_look(rbt_step_contact *contact, double t, const double *x);

// What it has done so far, as members of a JSON object
void rbt_step_contact_describe(const rbt_step_contact *contact, rbt_text *json);

// "node 12 and triangle 3-4-5 (ball, obstacles[0])"
void rbt_step_contact_name(const rbt_step_contact *contact, rbt_pair_key key, char *text, size_t size);

// A sentence about a start in which contact stores so much energy that it throws things apart. false: nothing to say.
bool rbt_step_contact_foresee(rbt_step_contact *contact, char text[320]);

// Whether positions x of the model's nodes at time t are apart; false: `text` names a pair that is not.
bool rbt_step_contact_is_apart(rbt_step_contact *contact, double t, const double *x, char *text, size_t size);

#endif
