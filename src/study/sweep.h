// One scene with several values: every combination of the axes (study/sweep_axes.h) is run (study/contender.h). Every
// run leaves the usual files in DIR/NUMBER-VALUES; repetitions replace each other.
//
// Runs that differ only in numerical axes compute the same motion, so their distances are errors: they are measured
// to the run with the shortest step among them that went to the end, the first one if there are several. Runs that
// differ otherwise are different motions and are not measured against each other.
#ifndef RBT_STUDY_SWEEP_H
#define RBT_STUDY_SWEEP_H

#include "study/contender.h"
#include "study/sweep_axes.h"

typedef struct rbt_sweep_result {
    const char *scene_path;
    char *folder;
    int repeat;
    const rbt_sweep_axes *axes;
    size_t count;
    rbt_contender *runs;               // (count) labels: the values of the axes that are shown
    const rbt_contender **references;  // (count) what each was measured to; NULL: nothing
} rbt_sweep_result;

typedef struct rbt_sweep_options {
    const char *scene_path;
    const char *folder;
    const rbt_sweep_axes *axes;  // finished
    size_t count;                // runs, as rbt_sweep_axes_finish counts them
    rbt_rounds rounds;
} rbt_sweep_options;

// NULL with an error if the scene cannot be read with some of the values, or a process cannot be started; runs that
// fail are results. The options' scene_path and axes must outlive the result.
rbt_sweep_result *rbt_sweep_run(const rbt_sweep_options *options, rbt_error *error);
void rbt_sweep_free(rbt_sweep_result *sweep);

// folder/sweep.csv: one row a run. folder/sweep.json: the same, the axes, and every frame of each.
bool rbt_sweep_write(const rbt_sweep_result *sweep, rbt_error *error);

#endif
