// Several methods on one scene: each is run in turns and repeatedly (study/contender.h), and measured against a
// reference run. Every run leaves the usual files in DIR/NAME, the reference in DIR/reference; repetitions replace
// each other.
#ifndef RBT_STUDY_COMPARE_H
#define RBT_STUDY_COMPARE_H

#include "study/contender.h"
#include "study/method_spec.h"

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

typedef struct rbt_compare_options {
    const char *scene_path;
    const char *folder;
    size_t spec_count;
    const rbt_method_spec *specs;      // (spec_count)
    const rbt_method_spec *reference;  // NULL: the first method at an eighth of its step
    bool no_reference;
    size_t setting_count;
    const char *const *settings;  // (setting_count) "path=value", applied before the method is set
    rbt_rounds rounds;
} rbt_compare_options;

// NULL with an error if the scene cannot be read with one of the methods or a process cannot be started; runs that
// fail are results. The options' scene_path must outlive the result.
rbt_comparison *rbt_compare(const rbt_compare_options *options, rbt_error *error);
void rbt_comparison_free(rbt_comparison *comparison);

// Fills what is measured, from the trials and the checkpoints on disk.
bool rbt_comparison_measure(rbt_comparison *comparison, rbt_error *error);

// folder/compare.csv: one row a contender. folder/compare.json: the same, the reference, and every frame of each.
bool rbt_comparison_write(const rbt_comparison *comparison, rbt_error *error);

#endif
