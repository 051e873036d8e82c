// Which method: candidates that can do a scene, what they would cost, trials of the best, a choice, and why.
//
// 1. Candidates are the rows of the table of methods, with each of their solvers, that can choose their own steps: by
//    error, or one that is stable. Whether they know what the scene has is asked of the methods themselves, and again
//    when a stepper is made for a trial.
// 2. Prediction. With the largest acceleration A and speed of the start, over the size of the body, and W, how often
//    sound crosses it in a second, a step by error may be as long as its share of the error allows:
//      first order  h = 2 error / (T A),     second order  h = sqrt(5 error / (T A W))
//    Explicit methods, whose velocities are half a step late, misplace nodes by h/2 times their speed, which sqrt(A) or
//    that of the start stand for: half of 2 error / speed, if that is stable. This
//    times what a step costs: its work (rbt_method.work) by the unit costs of this machine (sim/unit_costs.h).
// 3. Trials. The best of each kind (first order; second, damped or not; equal steps) takes steps from the present
//    state, on a copy of it, for a moment: seconds of the processor per step and the steps that the error allows are
//    measured. How much longer these are than predicted holds for others of that kind, and those follow that still
//    promise more than the best has shown.
//    In scenes in which things meet, methods without damping that choose their steps count twice: impacts leave
//    vibrations, which they resolve for ever.
// 4. The least time per simulated second is chosen. Nothing else of times enters a result: a choice is written down,
// and
//    a run that continues or is repeated takes the recorded one.
#ifndef RBT_SIM_CHOICE_H
#define RBT_SIM_CHOICE_H

#include "base/text.h"
#include "sim/sim.h"

enum { RBT_MAX_CANDIDATES = 48 };

typedef enum rbt_fate {
    RBT_FATE_UNABLE,     // cannot do the scene
    RBT_FATE_UNWANTED,   // not what goal.keep asks for
    RBT_FATE_PREDICTED,  // others promise more
    RBT_FATE_FAILED,     // its trial did
    RBT_FATE_TRIED,
    RBT_FATE_CHOSEN
} rbt_fate;

typedef struct rbt_method_candidate {
    int method, solver;
    rbt_fate fate;
    char reason[256];                 // of the first two and RBT_FATE_FAILED
    double step, step_seconds, cost;  // predicted [s], [s], and seconds per simulated second
    double longest;  // [s] step that is accurate enough, of methods whose steps are all equal; 0: no such limit
    double tried_step, tried_seconds, tried_cost;
    double counted_cost;  // what is compared: tried_cost, or more where impacts will make it more
} rbt_method_candidate;

typedef struct rbt_choice {
    int64_t frame;
    double time;
    const char *occasion;  // "the run begins", "contact began", …
    double error, asked;   // that steps are chosen for, and that goal asks for, which a budget can make less strict
    bool open;             // steps are left open too
    double seconds;        // that choosing took
    int count, best;       // best: -1 if there is none
    rbt_method_candidate candidates[RBT_MAX_CANDIDATES];
} rbt_choice;

// For the present state; method, solver: -1 where they are open, otherwise only those. `without`: a method that has
// failed; -1: none. false if nothing can do the scene
// or memory lacks; the simulation is as it was.
bool rbt_choose(const rbt_sim *sim, const rbt_state *state, int method, int solver, int without, const char *occasion,
                rbt_choice *choice, rbt_error *error);

// One paragraph for people, and an object for run.json
void rbt_choice_text(const rbt_choice *choice, rbt_text *text);
void rbt_choice_json(const rbt_choice *choice, rbt_text *json);

#endif
