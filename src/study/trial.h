// One run of a scene in a process of its own: a crash, a failed step or a full disk ends this run and nothing else, and
// its peak memory is its own. The child sends a note after every frame; what was heard until then stays, however it
// ends.
//
// The process is forked, not started again, and threads do not survive a fork: the caller must not have run a parallel
// region before.
#ifndef RBT_STUDY_TRIAL_H
#define RBT_STUDY_TRIAL_H

#include "rubato/sim.h"

#include <sys/types.h>

typedef enum rbt_trial_end {
    RBT_TRIAL_FINISHED,
    RBT_TRIAL_NOT_CONVERGED,  // to the end, but with steps that had not converged
    RBT_TRIAL_STEP_FAILED,
    RBT_TRIAL_WORLD_FAILED,  // files, memory, the model
    RBT_TRIAL_CRASHED        // the process ended without saying why
} rbt_trial_end;

typedef struct rbt_trial_frame {
    double t;  // [s]
    rbt_energies energies;
} rbt_trial_frame;

typedef struct rbt_trial {
    rbt_trial_end end;
    char stage[32];             // of the step that failed, else ""
    char reason[512];           // one sentence, "" if it finished
    char warning[320];          // of a run that went to the end: energy that came from nowhere; else ""
    double step;                // [s] that was used: the scene's, shortened to divide the frame
    double t;                   // [s] of the last good step
    int64_t last_frame;         // that it was to reach
    int64_t steps, iterations;  // accepted steps; of the solver, summed
    int64_t halved_steps;       // steps that had to be halved
    int64_t unconverged;        // steps accepted although they had not converged
    double setup_seconds;       // until the first step
    double step_seconds;        // in steps, writing left out
    double peak_memory;         // [bytes]
    size_t frame_count;         // frames on disk, frame 0 included
    size_t capacity;            // of `frames`
    rbt_trial_frame *frames;    // (frame_count)
} rbt_trial;

typedef struct rbt_trial_def {
    const rbt_scene_file *scene;
    const char *folder;
    int64_t frames;  // stop after this frame; -1: to the end of the scene
    void (*heard)(const rbt_trial *trial, pid_t process, void *listener);  // after every frame; may be NULL
    void *listener;
} rbt_trial_def;

// false only if there is no process or memory to try it: everything else is an end of the trial. Fills *trial, whatever
// it held (rbt_trial_free first).
bool rbt_trial_run(const rbt_trial_def *def, rbt_trial *trial, rbt_error *error);
void rbt_trial_free(rbt_trial *trial);

bool rbt_trial_complete(
    const rbt_trial *trial);  // went to the end, converged or not: times and distances mean something

#endif
