// How many threads a simulation's steps take, where nobody has said: as many as pay. Results never depend on it.
//
// All processors are best for large bodies on a machine that does nothing else. Small ones take longer on several
// threads than on one, and on a busy machine everything that is shared waits for the thread that has no processor: a
// body of 637 nodes took twenty times as long on two threads as on one while other programs ran.
//
// Levels. Level k has max(1, most / 2^k) threads. Seconds of a step over its iterations are what levels are compared
// by, since iterations differ from step to step. Now and then a step is taken on the next level, with fewer threads or
// with more. If it is faster by a tenth than the step before it and than steps of late, and a second one with a step of
// the old level in between is, too, the simulation stays there and tries on in the same direction. If it is hardly
// slower, the number of threads is not what matters between these two, and the level behind is tried.
//
// Cost. A step on half of the threads takes at most about twice as long. Trials begin with the third step; after one
// that has not paid the next comes 100 steps later, then 200, then 400, and not before fifty times its seconds
// have passed: at most two per cent are lost. A step that takes twice as long as steps of late calls for a trial at
// once, since others may have begun to use the machine.
#ifndef RBT_SIM_THREAD_CHOICE_H
#define RBT_SIM_THREAD_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rbt_thread_choice {
    int most;           // threads that there are; 0: no step yet
    int level, trial;   // where steps are taken; where the present one is, if it is a trial, otherwise `level`
    int towards;        // trials: 1 with fewer threads, -1 with more
    int depth;          // levels from `level` to where a trial is; 0: none is going on
    int wins;           // trials there, in a row, that were faster
    bool rests;         // the next step is on `level`, between two trials
    double mean, last;  // [s] of an iteration on `level`: of late, in the last step there; 0: none yet
    double passed;      // [s] since the last trial that did not pay
    double wanted;      // [s] that must have passed before the next one
    int64_t steps;      // since then
    int64_t pause;      // steps until the next one
    int64_t fewer;      // steps taken on fewer threads than there are, in all
} rbt_thread_choice;

// Steps begin on one thread where there are few nodes, otherwise on all that there are.
int rbt_thread_choice_start(size_t node_count, int most);

// The number of threads for the next step, where there are `most`, and `start` of them are taken first; and what that
// step took: seconds, and iterations or other work that it is compared by (at least 1). A step whose `seconds` are 0 or
// less is not counted.
int rbt_thread_choice_begin(rbt_thread_choice *choice, int most, int start);
void rbt_thread_choice_end(rbt_thread_choice *choice, double seconds, double work);

#endif
