// A whole run: a scene in, a folder of frames, energies, checkpoints and a report out.
#ifndef RBT_SIM_RUN_H
#define RBT_SIM_RUN_H

#include "sim/choice.h"
#include "sim/overlap.h"
#include "sim/sim.h"
#include "verify/verify.h"

typedef enum rbt_run_end {
    RBT_RUN_FINISHED,
    RBT_RUN_NOT_CONVERGED,  // all frames are there, but steps were accepted that had not converged
    RBT_RUN_INTERSECTED,    // all frames are there, but something in them passes through something
    RBT_RUN_INTERRUPTED,
    RBT_RUN_STEP_FAILED,
    RBT_RUN_WORLD_FAILED
} rbt_run_end;

typedef struct rbt_run_progress {  // what a listener hears at the start, after every frame and at the end
    const rbt_sim *sim;
    int64_t frame, last_frame;
    double seconds;        // since the run (or its resumption) started
    double frame_seconds;  // of this frame, writing included
    const rbt_step_report *report;
    rbt_energies energies;
    const struct rbt_run_report *totals;   // of the run so far: steps, iterations, seconds
    const rbt_verification *verification;  // its last state is this frame; NULL: not asked for
    const rbt_choice *choice;              // of a method, made since the last time; NULL: none
    const rbt_overlap *overlap;            // whether bodies pass through each other, where the method lets them
} rbt_run_progress;

typedef enum rbt_verify_level {  // where to look for intersections (verify/verify.h): each with the way to it
    RBT_VERIFY_NOTHING,
    RBT_VERIFY_FRAMES,  // and in one event a frame, of methods that have events
    RBT_VERIFY_STEPS,   // and in one event a step
    RBT_VERIFY_EVENTS   // from event to event: the whole motion, as the method made it
} rbt_verify_level;

// Somebody who acts on a run in progress. Before every step `act` gives an event to add to the scene, as JSON
// without its time, which is the present; NULL: take the step. It may wait. `acted` hears what became of the event
// (error NULL: it is part of the scene now, which scene.json has with the next frame), `stepped` that a step was taken.
// A run of the scene with these events has the same bits.
typedef struct rbt_run_hand {
    const char *(*act)(const rbt_sim *sim, void *self);
    void (*acted)(const rbt_error *error, double time, void *self);
    void (*stepped)(const rbt_sim *sim, void *self);
    void *self;
} rbt_run_hand;

typedef struct rbt_run_options {
    const rbt_scene *scene;
    const char *scene_text;  // the scene as JSON, settings applied: goes into run.json and scene.json
    const char *folder;
    const char *choices;  // folder of a run whose choices of methods are taken; NULL: they are made
    int64_t frames;       // stop after this frame; -1: to the end of the scene
    bool resume;          // from the newest checkpoint in the folder
    int64_t from_frame;   // from the checkpoint of this frame, the scene may have changed; -1: no
    rbt_verify_level verify;
    void (*started)(const rbt_run_progress *progress, void *listener);
    void (*framed)(const rbt_run_progress *progress, void *listener);
    void (*ended)(const rbt_run_progress *progress, void *listener);  // however it ended, once it has started
    void *listener;
    const rbt_run_hand *hand;  // NULL: nobody acts
    const volatile int
        *stop;  // becomes non-zero when the run should end: the step under way is given up; may be NULL
} rbt_run_options;

// Warnings beside those of the model: what the method says before it starts, and energy that came from nowhere in the
// motion so far.
bool rbt_run_foreseen(const rbt_sim *sim, char text[320]);
bool rbt_run_warning(const rbt_sim *sim, char text[320]);
// Steps of the least length whose error was larger than asked for
bool rbt_run_floor_warning(const rbt_sim *sim, char text[320]);
// Steps that another rule took than the one that was asked for
bool rbt_run_damped_warning(const rbt_sim *sim, char text[320]);

// "3 of 40 steps did not converge (the residual was up to 12.5 times the tolerance), the first at 0.1 s; …", and what
// to try
void rbt_unconverged_text(const rbt_tally *tally, char text[256]);

// On RBT_RUN_STEP_FAILED the report names stage, body and element; on RBT_RUN_WORLD_FAILED, RBT_RUN_NOT_CONVERGED
// and RBT_RUN_INTERSECTED the error says what.
rbt_run_end rbt_run(const rbt_run_options *options, rbt_step_report *report, rbt_error *error);

#endif
