// times.csv of a run's folder: how long the steps of every frame took. It is for people who look: nothing depends on
// it, and a run that cannot write it continues.
#ifndef RBT_SIM_RUN_TIMES_H
#define RBT_SIM_RUN_TIMES_H

#include <stdint.h>

// Starts it anew, or keeps the rows up to the frame that a run continues from; from_frame -1: none.
void rbt_run_times_begin(const char *folder, int64_t from_frame);
void rbt_run_times_add(const char *folder, int64_t frame, double time, int64_t steps, double step_seconds);

#endif
