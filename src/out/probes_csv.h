// probes.csv: one row a frame with what the probes of a scene read: for each one mean position and velocity, the force
// of constraints and that of contact. Probes of every step have rows between them, which begin with the number of the
// last whole frame and in which the cells of other probes are empty; they are written together with the next frame's
// row. Every number has 17 digits, so that reading gives the same bits.
#ifndef RBT_OUT_PROBES_CSV_H
#define RBT_OUT_PROBES_CSV_H

#include "base/text.h"
#include "model/model.h"
#include "out/frame_file.h"

// from_frame as in rbt_frame_file_open. The model has probes.
bool rbt_probes_csv_open(rbt_frame_file *file, const char *path, const rbt_model *model, int64_t from_frame,
                         rbt_error *error);

// readings (probe_count): a row for a step inside the frame that follows `frame`, added to the text that waits
bool rbt_probes_csv_step(rbt_text *rows, const rbt_model *model, int64_t frame, double t,
                         const rbt_probe_reading *readings, rbt_error *error);

// The rows that have waited, which are empty then, and that of a frame
bool rbt_probes_csv_add(rbt_frame_file *file, rbt_text *rows, const rbt_model *model, double t,
                        const rbt_probe_reading *readings, rbt_error *error);

#endif
