// One of several runs of a scene that a study sets side by side: methods (study/compare.h) or values (study/sweep.h).
// Each run is a process of its own. They take turns and are repeated (a b c a b c …), so that whatever disturbs the
// machine for a while disturbs all of them. Nothing is printed here.
#ifndef RBT_STUDY_CONTENDER_H
#define RBT_STUDY_CONTENDER_H

#include "base/spread.h"
#include "study/setting_list.h"
#include "study/trial.h"

typedef struct rbt_contender {
    char *name;           // as people read it, as "backward-euler@0.01" or "young=1e5"
    const char **labels;  // one for each head of the study's table; the texts are the study's
    char *folder;
    rbt_scene_file *scene;
    rbt_trial trial;  // the latest
    size_t run_count;
    double first_seconds;  // in steps of the first run that went to the end
    double *rates;         // (run_count) seconds in steps per simulated second, of the runs that went to the end

    // Measured when all runs are over; NaN where there is nothing to measure: frame 0 alone is nothing.
    rbt_spread rate;                 // [s/s] NaN unless it went to the end
    double total_first, total_last;  // total energy of the first and of the last frame [J]
    double total_min, total_max;     // and the least and largest of all frames [J]
    double energy_scale;             // [J] that changes of energy are measured by
    double energy_end;               // change of the total energy, first to last frame, in parts of the energy scale
    double energy_max;               // and where it is largest, with its sign
    double momentum_max;             // largest |p(t) - p(0)| [kg m/s]
    double angular_max;              // largest |L(t) - L(0)| [kg m^2/s]
    double *distance;     // (trial.frame_count) to the reference: root of the mean over nodes of |x - x'|^2 [m]
    double distance_end;  // NaN unless it went to the end
    double distance_max;
} rbt_contender;

typedef struct rbt_contender_def {
    const char *scene_path;
    const char *folder;     // of the whole study
    const char *subfolder;  // of this run in it
    const char *name;
    size_t label_count;
    const rbt_setting_list *settings;
    int repeat;
} rbt_contender_def;

// Reads the scene with the settings; the labels are for the caller to fill. On failure the contender is still to be
// freed.
bool rbt_contender_make(rbt_contender *contender, const rbt_contender_def *def, rbt_error *error);
void rbt_contender_free(rbt_contender *contender);

// A run begins (`over` false), has written a frame, or is over.
typedef struct rbt_contender_news {
    const rbt_contender *contender;
    int run, runs;  // this one, counted from 1, of all
    bool over;
} rbt_contender_news;

typedef struct rbt_rounds {
    int repeat;  // at least 1
    // [s] longer runs are not repeated: what disturbs the machine for a moment does not matter then
    double repeat_below;
    int64_t frames;  // stop after this frame; -1: to the end of the scene
    void (*hear)(const rbt_contender_news *news, void *listener);  // may be NULL
    void *listener;
} rbt_rounds;

// Runs the reference (may be NULL) once, then all contenders in turns. One that fails is not repeated: the same bits
// would fail again. false only if a process cannot be started; runs that fail are results. The caller must not have
// run a parallel region before (study/trial.h).
bool rbt_contenders_run(const rbt_rounds *rounds, rbt_contender *reference, rbt_contender *contenders, size_t count,
                        rbt_error *error);
size_t rbt_contenders_finished(const rbt_contender *contenders, size_t count);  // with every step converged

// ---- Measuring (contender_measure.c)

// Largest kinetic + elastic + contact energy of the frames [J]; NaN: none. Unlike the total energy it does not depend
// on where gravity's potential is zero.
double rbt_contender_energy_scale(const rbt_contender *contender);

// Times, energies and momenta, from the trial.
bool rbt_contender_measure(rbt_contender *contender, double energy_scale, rbt_error *error);

// Distances to the reference, frame by frame, from the checkpoints of both on disk, which hold the very bits. Frames
// that are not there, of another time or with other nodes have no distance. Comes after rbt_contender_measure. false:
// no memory.
bool rbt_contender_measure_distance(rbt_contender *contender, const rbt_contender *reference, rbt_error *error);

// Computing time of a step [s], NaN unless it went to the end; and of all steps, of a failed run what it took until
// then.
double rbt_contender_step_seconds(const rbt_contender *contender);
double rbt_contender_seconds(const rbt_contender *contender);

#endif
