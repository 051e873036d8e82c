// Driving a method: the step-attempt loop. A step that fails is undone and tried again in two halves, each of which
// may be halved again; if the shortest allowed piece still fails, the whole step is undone and the report says why.
//
// Pieces that follow are of the length that has worked. One of twice the length is tried after two that have worked,
// after four if that was in vain, and so on up to 16: where all of a step needs short pieces, as many attempts at
// longer ones would fail otherwise, each dearer than a piece. A step begins with all of its length: nothing is
// remembered that a checkpoint would have to hold.
//
// Pieces that a method refuses may at last be another one's (step/core/fall_back.h).
//
// Where a method says how many attempts a step is worth, one that gets on by ever so little ends as RBT_STALLED,
// instead of in thousands of pieces.
#ifndef RBT_STEP_CORE_STEPPER_H
#define RBT_STEP_CORE_STEPPER_H

#include "step/core/fall_back.h"
#include "step/core/method.h"
#include "step/core/step_control.h"

typedef struct rbt_pieces_memory {  // of a step that is taken in pieces
    int depth;                      // halvings of the length that has worked, or is to be tried
    int attempts;                   // so far
    double start;                   // [s] of the step
    rbt_outcome failure;            // of the latest attempt that failed
    int patience, waiting;          // pieces to make before one of twice that length is tried: in all, and still
} rbt_pieces_memory;

typedef struct rbt_stepper {
    const rbt_model *model;
    const rbt_method *method;
    void *self;
    int max_halvings;
    rbt_stages stages;
    double statistics[RBT_MAX_STATISTICS];  // of all advances so far
    size_t memory_size;                     // bytes of the method's memory in a state
    char *saved;                            // (1 + max_halvings) times x, v and memory: one level of halving each
    rbt_sum *energies;                      // (plan.chunk_count) work space
    rbt_pieces_memory pieces;               // of the step in progress
    bool undoable;                          // the next advance can be undone although it succeeds
    rbt_fall_back fall_back;                // pieces that are backward Euler's
    rbt_step_control control;               // where steps are chosen by their error; off: the caller says how long
} rbt_stepper;

bool rbt_stepper_init(rbt_stepper *stepper, const rbt_model *model, const rbt_integrator_def *def, rbt_error *error);
void rbt_stepper_free(rbt_stepper *stepper);

// Whether a method knows what a model has, as far as it can be said without making a stepper; false: an error says
// what.
bool rbt_stepper_knows(const rbt_model *model, const rbt_method *method, rbt_error *error);

// Gives the state the memory that the method needs, empty unless it has it already. To be called for every state once.
bool rbt_stepper_prepare(const rbt_stepper *stepper, rbt_state *state, rbt_error *error);

// Those of the model, and what the method alone knows of.
rbt_energies rbt_stepper_energies(const rbt_stepper *stepper, const rbt_state *state);

// After a cut: from now on for change->after, which the state already belongs to but for its memory. Times of stages
// continue. On failure the stepper is as it was.
bool rbt_stepper_follow(rbt_stepper *stepper, const rbt_change *change, const rbt_integrator_def *def,
                        rbt_state *state, rbt_error *error);

// Who sees the places of every attempt from now on, if the method has events (rbt_method.set_observer).
void rbt_stepper_set_observer(rbt_stepper *stepper, const rbt_observer *observer);

// The state is, or is about to be, another one than the last advance has left: one of a checkpoint, or set by
// somebody else.
void rbt_stepper_reset(const rbt_stepper *stepper);
// Somebody else has set x or v: the method's memory starts afresh.
void rbt_stepper_forget(const rbt_stepper *stepper, rbt_state *state);

// After an advance that was undoable: x, v, memory and t as they were before it.
void rbt_stepper_undo(const rbt_stepper *stepper, rbt_state *state, double t);

// Where steps are chosen by their error: one step towards `until`, as long as its error allows and at most `longest`.
// Attempts with a larger error are undone and tried again shorter, those that fail in halves. One that ends at `until`
// ends there exactly. Otherwise as rbt_stepper_advance.
rbt_outcome rbt_stepper_advance_by_error(rbt_stepper *stepper, rbt_state *state, double until, double longest,
                                         rbt_step_report *report);

// What is remembered of steps by error; NULL: they are not
rbt_step_memory *rbt_stepper_step_memory(const rbt_stepper *stepper, const rbt_state *state);

// From state->t to `until`. Adds to the report's counts; on failure the state is bit for bit what it was.
rbt_outcome rbt_stepper_advance(rbt_stepper *stepper, rbt_state *state, double until, rbt_step_report *report);

#endif
