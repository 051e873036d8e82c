// energy.csv: one row a frame, every number with 17 digits, so that reading gives the same bits. "work" is that of
// loads, wind and all that has a prescribed motion since time 0, "iterations" those of the solver since the frame
// before and "residual" what its last solve has left; empty where they are not known. "friction" is the energy that
// friction of contact has taken so far.
#ifndef RBT_OUT_ENERGY_CSV_H
#define RBT_OUT_ENERGY_CSV_H

#include "out/frame_file.h"
#include "step/core/statistics.h"

#define RBT_ENERGY_CSV_HEAD                                                                                          \
    "frame,time,kinetic,elastic,gravity,contact,total,px,py,pz,lx,ly,lz,work,iterations,residual,friction\n"

// from_frame as in rbt_frame_file_open.
bool rbt_energy_csv_open(rbt_frame_file *file, const char *path, int64_t from_frame, rbt_error *error);
bool rbt_energy_csv_add(rbt_frame_file *file, double t, const rbt_energies *energies, const double *statistics,
                        rbt_error *error);

#endif
