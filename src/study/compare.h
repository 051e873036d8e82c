// Several methods on one scene: each is run in a process of its own, in turns and repeatedly (a b c a b c …, so that
// whatever disturbs the machine for a while disturbs all of them), and measured against a reference run.
//
// Every run leaves the usual files in DIR/NAME, the reference in DIR/reference; repetitions replace each other. A
// method that fails is not repeated: the same bits would fail again. One that takes long is not either, unless asked
// for: what disturbs the machine for a moment does not matter then. Nothing is printed here.
#ifndef RBT_STUDY_COMPARE_H
#define RBT_STUDY_COMPARE_H

#include "base/spread.h"
#include "study/method_spec.h"
#include "study/trial.h"

typedef struct rbt_contender {
    rbt_method_spec spec;
    char *folder;
    rbt_scene_file *scene;
    rbt_trial trial;  // the latest
    size_t run_count;
    double first_seconds;  // in steps of the first run that went to the end
    double *rates;         // (run_count) seconds in steps per simulated second, of the runs that went to the end

    // Measured when all runs are over; NaN where there is nothing to measure: frame 0 alone is nothing.
    rbt_spread rate;      // [s/s] NaN unless it went to the end
    double energy_end;    // change of the total energy, first to last frame, in parts of the energy scale
    double energy_max;    // and where it is largest, with its sign
    double momentum_max;  // largest |p(t) - p(0)| [kg m/s]
    double angular_max;   // largest |L(t) - L(0)| [kg m^2/s]
    double *distance;     // (trial.frame_count) to the reference: root of the mean over nodes of |x - x'|^2 [m]
    double distance_end;  // NaN unless it went to the end
    double distance_max;
} rbt_contender;

typedef struct rbt_comparison {
    const char *scene_path;
    char *folder;
    int repeat;
    size_t count;
    rbt_contender *contenders;  // (count)
    bool has_reference;
    rbt_contender reference;
    const rbt_contender *yardstick;  // the reference or else the first contender that went to the end; NULL: none did
    double energy_scale;             // [J] largest kinetic + elastic + contact energy of the yardstick; NaN: none
} rbt_comparison;

// A run begins (`over` false), has written a frame, or is over.
typedef struct rbt_compare_news {
    const rbt_contender *contender;
    int run, runs;  // this one, counted from 1, of all
    bool over;
} rbt_compare_news;

typedef struct rbt_compare_options {
    const char *scene_path;
    const char *folder;
    size_t spec_count;
    const rbt_method_spec *specs;      // (spec_count)
    const rbt_method_spec *reference;  // NULL: the first method at an eighth of its step
    bool no_reference;
    size_t setting_count;
    const char *const *settings;  // (setting_count) "path=value", applied before the method is set
    int repeat;                   // at least 1
    double repeat_below;          // [s] longer runs are not repeated
    int64_t frames;               // stop after this frame; -1: to the end of the scene
    void (*hear)(const rbt_compare_news *news, void *listener);  // may be NULL
    void *listener;
} rbt_compare_options;

// NULL with an error if the scene cannot be read with one of the methods or a process cannot be started; runs that
// fail are results. The caller must not have run a parallel region before (study/trial.h). The options' scene_path must
// outlive the result.
rbt_comparison *rbt_compare(const rbt_compare_options *options, rbt_error *error);
void rbt_comparison_free(rbt_comparison *comparison);
size_t rbt_comparison_finished(const rbt_comparison *comparison);  // contenders, with every step converged

// Fills what is measured, from the trials and the checkpoints on disk.
bool rbt_comparison_measure(rbt_comparison *comparison, rbt_error *error);

// folder/compare.csv: one row a contender. folder/compare.json: the same, the reference, and every frame of each.
bool rbt_comparison_write(const rbt_comparison *comparison, rbt_error *error);

#endif
