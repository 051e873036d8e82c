// Contact of multirate-euler: impulses (step/contact/impulses.h) act evenly on all steps of a part.
//
// An impulse J on a node is a force J/H that is constant in the root's step, and so in each of the short steps of the
// part that the node is in. The sub-cycling (subcycling.h) is linear in forces. With all else at rest, and the
// interface of part S held, J_S moves S to v = P J_S with the way Q J_S, and pulls at the interface with the impulse -R
// J_S. So
//
//   Delta = (A + B)^-1 (J_root - sum over S of R J_S),   way of the root  theta H Delta,
//   way of S  Q J_S + W Delta,                            velocity of S  P J_S + Y Delta
//
// Gaps are kept at the end of the root's step, and the continuous test goes straight from its start to there: states of
// a part within the step are no states of the run. Friction sees the velocity at the end in the root, and in parts the
// mean one, way over H: the velocity at the end is what the last short step has left, and its answer to a force may
// have any sign. In impulses.h slip_share is 1/theta in the root and 1 in parts.
//
// P and Q are symmetric, (A + B)^-1 is, but W answers to an interface that is accelerated through the step, R to a
// force that acts evenly: S_q is not quite symmetric between a part and others, and its lower triangle counts
// (`approximate`).
//
// Sub-cycling itself loses some momentum between a part and its parent, which feel each other at different instants. In
// scenes with contact each connected part of bodies that nothing holds gets that back as a translation.
#ifndef RBT_STEP_MULTIRATE_MULTIRATE_CONTACT_H
#define RBT_STEP_MULTIRATE_MULTIRATE_CONTACT_H

#include "step/contact/impulses.h"
#include "step/multirate/rate_part.h"
#include "step/multirate/rest_modes.h"

typedef struct rbt_multirate_buffer {
    double *value;
    size_t capacity;
} rbt_multirate_buffer;

typedef struct rbt_multirate_contact {
    rbt_impulses *impulses;
    rbt_arena *arena;
    int32_t *part_of, *place;     // (nodes) rate part and number within it; -1: constrained
    int32_t *number;              // (nodes of the root) among `base`; -1: not there
    int32_t *base;                // (nodes of the root) work: rows of contact and interfaces
    int32_t *chosen, *chosen_at;  // (nodes) work: columns in the root and where they come from
    unsigned char *asked;         // (parts) work
    double *moved;                // (nodes x 3) new velocities of constrained nodes over the whole step
    double *sliding, *share;      // (nodes x 3, nodes) of impulses.h
    double *given;                // (nodes x 3) impulses of external forces
    double *reaction;             // (nodes x 3) work: impulses on the root
    rbt_multirate_buffer inverse, change;

    // The step that is taken
    rbt_rate_parts *parts;
    const rbt_state *state;
    const unsigned char *constrained;
    rbt_rest_modes *rest;  // NULL: no modes
    double H;
    bool varies;  // external forces differ from one short step to the next
    // The whole sub-cycling with impulses J (nodes x 3; NULL: none): leaves it in the parts. false: no memory.
    bool (*cycle)(void *self, const double *J);
    void *self;
} rbt_multirate_contact;

// For a model with contact; K is the stiffness matrix.
rbt_multirate_contact *rbt_multirate_contact_new(const rbt_model *model, const rbt_block_matrix *K, rbt_error *error);
void rbt_multirate_contact_free(rbt_multirate_contact *contact);

// Parts were built.
bool rbt_multirate_contact_parts(rbt_multirate_contact *contact, const rbt_rate_parts *parts);

// What it brings to impulses.h; self is the contact.
rbt_impulse_response rbt_multirate_response(const rbt_multirate_contact *contact);

// The step, whose matrices are factored: positions and velocities of the state.
rbt_outcome rbt_multirate_meet(rbt_multirate_contact *contact, rbt_state *state, rbt_stages *stages,
                               rbt_step_report *report);

#endif
