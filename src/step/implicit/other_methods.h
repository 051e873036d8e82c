// Bodies of other methods in the minimum of an implicit step: one coupled step, contact never split.
//
// The step of such a body is linear in what pushes it (step/core/free_step.h): without contact it ends at x^, and the
// more it is to end elsewhere, the more must push it there. So in the function that the step minimises (objective.h,
// tau = h) its nodes have, in place of inertia, elasticity, loads and damping, the quadratic term
//
//   1/2 (z - x^)^T B (z - x^),   B = A + P P^T,   column l of P: sqrt(stiffening_l) q_l
//
// and contact and friction are those of all bodies. At the minimum B (z - x^) = h^2 f_contact: z is what the method
// itself makes of the impulses J = h f_contact, and its velocities follow (free_step.h). Where nothing touches a body,
// z = x^ to the last bit, since the gradient is 0 there. The forces of a pair are opposite on both sides, whatever
// moves these, so momentum is kept; what the tolerance of the minimum leaves is taken from velocities (rigid.h).
//
// Of P P^T, which is dense, only products are needed: in gradients, and in Newton's directions by the formula of
// Sherman, Morrison and Woodbury, with the factor of H, the part of the matrix without it:
//
//   (H + P P^T)^-1 b = y - T (1 + P^T T)^-1 P^T y,    H y = b,   H T = P
//
// W is evaluated at positions whose nodes of other methods are where the step began: that adds a constant to E. Bodies
// share no elements, so A and H have no blocks between them. In a scene without contact x^ is where these nodes are, as
// if it were prescribed.
//
// A hard impact is more than one linearisation can tell (step/contact/impulse_step.c). Energy of these bodies that
// nothing gives shows it, and the step is tried again in halves.
#ifndef RBT_STEP_IMPLICIT_OTHER_METHODS_H
#define RBT_STEP_IMPLICIT_OTHER_METHODS_H

#include "model/mass.h"
#include "solve/cholesky.h"
#include "step/contact/step_contact.h"
#include "step/core/body_methods.h"

typedef struct rbt_other_method {  // bodies that are stepped alike
    const rbt_method *method;
    const void *options;
    void *self;
    unsigned char *left_out;  // (node_count) all other nodes
    rbt_free_part part;
    size_t memory;  // where its part of the state's memory begins
    rbt_free_step step;
} rbt_other_method;

typedef struct rbt_other_methods {
    rbt_model model;  // of the free steps: contact is no matter of theirs
    rbt_arena *arena;
    size_t count;
    rbt_other_method *methods;
    unsigned char *is_other;      // (node_count) nodes that another method moves
    double *x, *v, *given;        // (node_count x 3) of the free steps; elsewhere 0
    const double *start;          // (node_count x 3) where the step began
    rbt_block_matrix A;           // rows of these nodes; 0 elsewhere
    double *still;                // (node_count x 3) z, with these nodes where the step began
    double *away, *pull;          // (node_count x 3) z - x^ and B (z - x^), 0 elsewhere
    double h;                     // [s]
    size_t mode_count, capacity;  // of all free steps, those that a step resolves
    double *P, *T;                // (capacity x node_count x 3)
    double *quickening;           // (capacity) over stiffening
    double *small, *inverse;      // (capacity x capacity) 1 + P^T T, and its inverse
    double *share, *work;         // (2 x capacity), and of rbt_vectors_inner
} rbt_other_methods;

bool rbt_other_methods_any(const rbt_model *model);

// Bytes of the state's memory that they need
size_t rbt_other_methods_memory(const rbt_model *model);

// K: the pattern of the step's matrix
rbt_other_methods *rbt_other_methods_new(const rbt_model *model, const rbt_block_matrix *K, rbt_error *error);
void rbt_other_methods_free(rbt_other_methods *others);

// The free steps from state->t to `until`; their part of the state's memory begins at `memory`. contact: with the pairs
// that touch where the step begins; NULL: there is none.
rbt_outcome rbt_other_methods_begin(rbt_other_methods *others, const rbt_state *state, void *memory,
                                    const rbt_step_contact *contact, double until, rbt_stages *stages,
                                    rbt_step_report *report);

const double *rbt_other_methods_still(const rbt_other_methods *others, const double *z);
void rbt_other_methods_pull(rbt_other_methods *others, const double *z);  // away and pull

// The factor of H has changed; false: there is not enough memory.
bool rbt_other_methods_prepare(rbt_other_methods *others, rbt_cholesky *factor);
// y = H^-1 b becomes (H + P P^T)^-1 b.
void rbt_other_methods_correct(const rbt_other_methods *others, double *y);

// The velocities of these nodes where the step ends at z
void rbt_other_methods_velocities(rbt_other_methods *others, const double *z, double *v);

// After a step from (x0, v0) to (x, v), in which `push` (node_count x 3) [N] was the force of contact: whether these
// bodies have gained energy that nothing gave. energies (plan.chunk_count): work.
rbt_outcome rbt_other_methods_check(rbt_other_methods *others, const rbt_state *end, const double *x0,
                                    const double *v0, const double *push, rbt_sum *energies, rbt_step_report *report);

#endif
