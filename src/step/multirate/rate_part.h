// Rate partition: parts of a model that take steps of their own (model/tempo.h), as linear systems. Part p takes
// steps of length h, and its matrix is that of a backward Euler step over its free nodes, with its children condensed
// into it:
//   A = (1 + h alpha) M + (theta h^2 + h beta) K + h^2 K_contact,      A* = A + B
// B lives on the nodes that touch a child (its interface), one dense block for each child: what the child does to p
// at the end of p's step for a change of the interface's velocity (step/multirate/subcycling.h). theta is 1, or less
// if p moves with interpolated velocities.
//
// Numbers of nodes within a part are local; interfaces and constrained nodes that touch it are lists of its own.
#ifndef RBT_STEP_MULTIRATE_RATE_PART_H
#define RBT_STEP_MULTIRATE_RATE_PART_H

#include "model/mass.h"
#include "model/stiffness.h"
#include "solve/cholesky.h"
#include "solve/lu.h"
#include "step/core/stage.h"

typedef struct rbt_link {  // between a node of the part and one outside of it
    int32_t row;           // the part's
    int32_t column;        // of the list of nodes outside
    size_t source;         // 2 block of the stiffness + 1 if transposed
    double K[9], M;
} rbt_link;

typedef struct rbt_links {
    size_t node_count, count;
    int32_t *node;   // (node_count) of the model, ascending
    int32_t *place;  // (node_count) in the parent; of constrained nodes: their driven motion, -1 without
    rbt_link *items;
} rbt_links;

// To a unit change of each component of an interface's velocity during a step (3 interface x 3 count): velocity, way
// and, if the interface is not the root's, internal force
typedef struct rbt_interface_response {
    double *Y, *W, *G;
} rbt_interface_response;

typedef struct rbt_substep_obstacle rbt_substep_obstacle;
typedef struct rbt_fused_part rbt_fused_part;

typedef struct rbt_rate_part {
    int parent;        // -1: the root
    int substeps;      // in a step of the parent
    int64_t instants;  // in a step of the root
    size_t child_count;
    double h, theta;
    double kappa;  // how much of the interface's change of velocity the part sees in the interface's way

    size_t count;             // free nodes
    int32_t *node;            // (count) of the model, ascending
    double *mass;             // (count x 3) lumped
    double *damping, *delay;  // (count) alpha, beta; all alike but in the root
    rbt_scalar_matrix M;      // value NULL: lumped
    rbt_links interface, constrained;
    size_t row_count;  // nodes that touch the interface
    int32_t *rows;     // (row_count) ascending

    rbt_block_matrix A;  // A*: pattern of the stiffness and of the children's interfaces
    size_t *source;      // (blocks of A) 1 + block of the stiffness, 0: none
    double *upper;       // (blocks of A x 9) block (j, i) of an unsymmetric A*; NULL: symmetric
    size_t *cell;        // (interface x interface) block of the parent's A, lower triangle
    rbt_cholesky *cholesky;
    rbt_lu *lu;
    rbt_general_matrix general;
    size_t *general_source;  // of its values: 2 number in A + 1 if in upper
    bool stale;              // the factor and the response are not those of the values

    rbt_interface_response *responses;  // (parts) of this part and those below it; empty of others
    double *B;                          // (3 interface x 3 interface) row by row

    // The sub-cycling: `columns` vectors (count x 3) one after the other; w is the way since the parent's step began,
    // total that since the sub-cycling began
    double *v, *v_start, *Mv, *w, *total, *g, *kv, *rhs, *solution;
    double *K_interface, *M_interface;  // K and M times the interface's velocity; M_interface NULL: lumped
    double *push, *contact;             // force of obstacles, their stiffness (count x 9); NULL without
    double *factored_contact;           // (count x 9) that of the factor
    double *f;                          // (count x 3 x instants, or 1) external force
    double *impulse;                    // (columns x count x 3) [N s] of the root's step; NULL without contact
    double *constrained_v, *constrained_last, *constrained_x;  // (constrained x 3)
    double *change;  // (columns x interface x 3) change of the interface's velocity
    bool constrained_moves;

    // (substeps) obstacles met in each step (step/multirate/substep_obstacle.h); NULL: push and contact are all
    rbt_substep_obstacle *touches;
    rbt_block_matrix touched;  // work space for these
    rbt_fused_part *fused;     // all steps at once (step/multirate/fused_part.h); NULL: one by one
} rbt_rate_part;

enum { RBT_RESPONSE_COLUMNS = 8 };

typedef struct rbt_rate_parts {
    const rbt_model *model;
    const rbt_stiffness *stiffness;
    const rbt_mass *mass;
    bool unsymmetric;  // A* as it is, factored L U; otherwise its symmetric part, factored L L^T
    bool averaged;     // theta = (m + 1) / (2 m)
    rbt_arena *arena;
    size_t count;
    rbt_rate_part *items;  // the root first, parents before their children
} rbt_rate_parts;

// For the free nodes; `constrained` (node_count). To be freed also after failure.
bool rbt_rate_parts_build(rbt_rate_parts *parts, const rbt_tempos *tempos, const unsigned char *constrained,
                          rbt_error *error);
void rbt_rate_parts_free(rbt_rate_parts *parts);

// Lengths of steps; theta
void rbt_rate_parts_set_step(rbt_rate_parts *parts, double H);

// A of one part from the stiffness, the mass and the contact's stiffness; and the blocks of its links. Without B.
void rbt_rate_part_assemble(const rbt_rate_parts *parts, rbt_rate_part *part);
rbt_outcome rbt_rate_part_factor(const rbt_rate_parts *parts, rbt_rate_part *part, const double *x,
                                 rbt_step_report *report);
// In its step `instant`
bool rbt_rate_part_solve(rbt_rate_part *part, int64_t instant, size_t columns, const double *b, double *y);

// Whether part i is part p or below it
bool rbt_rate_part_is_below(const rbt_rate_parts *parts, size_t i, size_t p);

// y = M x, one vector of the part
void rbt_rate_part_mass_product(const rbt_rate_part *part, const double *x, double *y);

#endif
