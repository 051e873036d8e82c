// steps.csv of runs whose steps are chosen by their error: a row for every attempt at a step, and one for every frame.
//   frame,time,step,estimate,accepted,why
// `frame` is the last one before the attempt, `time` where it began, `estimate` its error over what it may have been,
// empty where the attempt failed. A frame's row has its own number, a step of 0 and the word "frame".
#ifndef RBT_OUT_STEPS_CSV_H
#define RBT_OUT_STEPS_CSV_H

#include "base/text.h"
#include "out/frame_file.h"
#include "step/core/step_control.h"

#define RBT_STEPS_CSV_HEAD "frame,time,step,estimate,accepted,why\n"

// from_frame as in rbt_frame_file_open.
bool rbt_steps_csv_open(rbt_frame_file *file, const char *path, int64_t from_frame, rbt_error *error);

// The rows of attempts are collected, and written with the frame that they led to.
void rbt_steps_csv_note(rbt_text *rows, int64_t frame, const rbt_step_attempt *attempt);
bool rbt_steps_csv_add(rbt_frame_file *file, rbt_text *rows, double t, rbt_error *error);

#endif
