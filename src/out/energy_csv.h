// energy.csv: one row a frame, every number with 17 digits, so that reading gives the same bits. The last cell is the
// work of loads, wind and all that has a prescribed motion since time 0; empty where it is not known.
#ifndef RBT_OUT_ENERGY_CSV_H
#define RBT_OUT_ENERGY_CSV_H

#include "out/frame_file.h"
#include "rubato/sim.h"

#define RBT_ENERGY_CSV_HEAD "frame,time,kinetic,elastic,gravity,contact,total,px,py,pz,lx,ly,lz,work\n"

// from_frame as in rbt_frame_file_open.
bool rbt_energy_csv_open(rbt_frame_file *file, const char *path, int64_t from_frame, rbt_error *error);
bool rbt_energy_csv_add(rbt_frame_file *file, double t, const rbt_energies *energies, rbt_error *error);

#endif
