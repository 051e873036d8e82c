// probes.csv: one row a frame with what the probes of a scene read: for each one mean position and velocity, the
// force of constraints and that of contact. Every number has 17 digits, so that reading gives the same bits.
#ifndef RBT_OUT_PROBES_CSV_H
#define RBT_OUT_PROBES_CSV_H

#include "model/model.h"
#include "out/frame_file.h"

// from_frame as in rbt_frame_file_open. The model has probes.
bool rbt_probes_csv_open(rbt_frame_file *file, const char *path, const rbt_model *model, int64_t from_frame,
                         rbt_error *error);

// readings (probe_count)
bool rbt_probes_csv_add(rbt_frame_file *file, double t, const rbt_probe_reading *readings, size_t count,
                        rbt_error *error);

#endif
