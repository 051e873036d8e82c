// Paces: parts of a model that take steps of their own (model/tempo.h), as linear systems. Part p takes steps of length h, and its
// matrix is that of a backward Euler step over its free nodes, with its children condensed into it:
//   A = (1 + h alpha) M + (theta h^2 + h beta) K + h^2 K_contact,      A* = A + B
// B lives on the nodes that touch a child (its border), one dense block for each child: what the child does to p at the end of
// p's step for a change of the border's velocity (step/multirate/march.h). theta is 1, or less if p moves with interpolated velocities.
//
// Numbers of nodes within a part are local; borders and held nodes that touch it are lists of its own.
#ifndef RBT_STEP_MULTIRATE_PACE_H
#define RBT_STEP_MULTIRATE_PACE_H

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
    int32_t *place;  // (node_count) in the parent; of held nodes: their driven motion, -1 without
    rbt_link *items;
} rbt_links;

// To a unit change of each component of a border's velocity during a step (3 border x 3 count): velocity, way and, if the border
// is not the root's, internal force
typedef struct rbt_response {
    double *Y, *W, *G;
} rbt_response;

typedef struct rbt_touch rbt_touch;
typedef struct rbt_stride rbt_stride;

typedef struct rbt_pace {
    int parent;        // -1: the root
    int substeps;      // in a step of the parent
    int64_t instants;  // in a step of the root
    size_t child_count;
    double h, theta;
    double kappa;  // how much of the border's change of velocity the part sees in the border's way

    size_t count;             // free nodes
    int32_t *node;            // (count) of the model, ascending
    double *mass;             // (count x 3) lumped
    double *damping, *delay;  // (count) alpha, beta; all alike but in the root
    rbt_scalar_matrix M;      // value NULL: lumped
    rbt_links border, held;
    size_t row_count;  // nodes that touch the border
    int32_t *rows;     // (row_count) ascending

    rbt_block_matrix A;  // A*: pattern of the stiffness and of the children's borders
    size_t *source;      // (blocks of A) 1 + block of the stiffness, 0: none
    double *upper;       // (blocks of A x 9) block (j, i) of an unsymmetric A*; NULL: symmetric
    size_t *cell;        // (border x border) block of the parent's A, lower triangle
    rbt_cholesky *cholesky;
    rbt_lu *lu;
    rbt_general_matrix general;
    size_t *general_source;  // of its values: 2 number in A + 1 if in upper
    bool stale;              // the factor and the response are not those of the values

    rbt_response *responses;  // (parts) of this part and those below it; empty of others
    double *B;                // (3 border x 3 border) row by row

    // The march: `columns` vectors (count x 3) one after the other; w is the way since the parent's step began, total that since
    // the march began
    double *v, *v_start, *Mv, *w, *total, *g, *kv, *rhs, *solution;
    double *K_border, *M_border;          // K and M times the border's velocity; M_border NULL: lumped
    double *push, *contact;               // force of obstacles, their stiffness (count x 9); NULL without
    double *factored_contact;             // (count x 9) that of the factor
    double *f;                            // (count x 3 x instants, or 1) external force
    double *held_v, *held_last, *held_x;  // (held x 3)
    double *change;                       // (columns x border x 3) change of the border's velocity
    bool held_moves;

    rbt_touch *touches;        // (substeps) obstacles met in each step (step/multirate/touch.h); NULL: push and contact are all
    rbt_block_matrix touched;  // work space for these
    rbt_stride *stride;        // all steps at once (step/multirate/stride.h); NULL: one by one
} rbt_pace;

enum { RBT_MARCH_COLUMNS = 8 };

typedef struct rbt_paces {
    const rbt_model *model;
    const rbt_stiffness *stiffness;
    const rbt_mass *mass;
    bool unsymmetric;  // A* as it is, factored L U; otherwise its symmetric part, factored L L^T
    bool averaged;     // theta = (m + 1) / (2 m)
    rbt_arena *arena;
    size_t count;
    rbt_pace *items;  // the root first, parents before their children
} rbt_paces;

// For the free nodes; `held` (node_count). To be freed also after failure.
bool rbt_paces_build(rbt_paces *parts, const rbt_tempos *tempos, const unsigned char *held, rbt_error *error);
void rbt_paces_free(rbt_paces *parts);

// Lengths of steps; theta
void rbt_paces_set_step(rbt_paces *parts, double H);

// A of one part from the stiffness, the mass and the contact's stiffness; and the blocks of its links. Without B.
void rbt_pace_assemble(const rbt_paces *parts, rbt_pace *part);
rbt_outcome rbt_pace_factor(const rbt_paces *parts, rbt_pace *part, const double *x, rbt_step_report *report);
// In its step `instant`
bool rbt_pace_solve(rbt_pace *part, int64_t instant, size_t columns, const double *b, double *y);

// Whether part i is part p or below it
bool rbt_pace_is_below(const rbt_paces *parts, size_t i, size_t p);

// y = M x, one vector of the part
void rbt_pace_mass_product(const rbt_pace *part, const double *x, double *y);

#endif
