// Pieces of a step that are backward Euler's, where a method with one solve a step does not find them itself.
//
// One linearisation cannot tell every impact (step/contact/impulses.h): an element that is hit at hundreds of meters a
// second loses nearly all of its height in any step that is not thousands of times shorter, and of light things pressed
// between heavy ones the programme of impulses may not be solved. So from the fourth halving on a piece that the method
// refuses is found as the minimum of an energy, with contact as constraints (step/contact/contact_multipliers.h): they
// want the same gaps as impulses do and store no energy, so that there is none to be given from one piece to the next.
// The piece is one of backward Euler alone: it knows no more than x, v and the impulses of the last piece, and what it
// leaves behind is x, v and its forces. That it was made so is counted (RBT_STAT_DAMPED), and said at the end of a run.
#ifndef RBT_STEP_CORE_FALL_BACK_H
#define RBT_STEP_CORE_FALL_BACK_H

#include "contact/broad_phase/surface.h"
#include "model/model.h"
#include "step/core/method.h"

typedef struct rbt_pair_force {
    rbt_pair_key key;
    double force;  // along the normal [N]
} rbt_pair_force;

typedef struct rbt_contact_handover {  // contact of the last step or piece, from one method's memory to another's
    size_t count, capacity;
    rbt_pair_force *pairs;     // (count) ascending by key, the same ones for every method
    double *force;             // (node_count x 3) [N] on nodes
    double work, dissipation;  // [J] of what is prescribed, through contact, and by friction: in this piece
} rbt_contact_handover;

typedef struct rbt_fall_back {
    rbt_model model;           // the same, with constraints
    const rbt_method *method;  // backward Euler
    void *self;                // a workspace of it; NULL: not needed yet
    void *memory;              // its part of a state
    size_t memory_size;
    rbt_contact_handover handover;
    const rbt_observer *observer;
} rbt_fall_back;

// Whether a piece of so many halvings that the method refused is for backward Euler
bool rbt_fall_back_concerns(const rbt_model *model, const rbt_method *method, int halvings);

// The piece, from a state that is as it was before the method tried
rbt_outcome rbt_fall_back_attempt(rbt_fall_back *fall_back, const rbt_model *model, const rbt_method *method,
                                  void *self, rbt_state *state, double until, rbt_stages *stages,
                                  rbt_step_report *report);

void rbt_fall_back_set_observer(rbt_fall_back *fall_back, const rbt_observer *observer);
void rbt_fall_back_free(rbt_fall_back *fall_back);

#endif
