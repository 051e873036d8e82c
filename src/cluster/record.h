// What a run on ranks leaves on disk. All ranks call each function together; what one cannot do none has done, and all
// return the same.
//
//   DIR/frames/frame_000012.pvtu               which pieces frame 12 has (DIR/frames.pvd: which frames there are)
//   DIR/frames/rank_0001/frame_000012.vtu      the piece of a rank: its elements and nodes, with numbers in the whole
//   DIR/energy.csv, DIR/probes.csv, DIR/checkpoints/000012.rbt       as without ranks, byte for byte
#ifndef RBT_CLUSTER_RECORD_H
#define RBT_CLUSTER_RECORD_H

#include "cluster/communicator.h"
#include "out/frame_file.h"
#include "out/vtu.h"
#include "sim/sim.h"

typedef struct rbt_shared_record {
    rbt_communicator *ranks;
    const rbt_piece *piece;
    const char *folder;
    rbt_output_def output;
    int64_t next;                          // the frame to come
    rbt_frame_file energy, probes, index;  // of the first rank
    rbt_text rows;                         // of probes.csv, of steps since the last frame
    rbt_vtu_frame frame;
    // The cells of this rank, and the nodes that they have
    size_t cell_count, point_count;
    int32_t *cells, *ends, *region, *body, *element, *rank, *point, *point_number;
    int32_t *cell;  // (cell_count) of frame
    unsigned char *types;
    double *points, *displacement, *velocity, *stress;
    int32_t *labels;        // (node_count) of the frame to come
    int32_t *point_labels;  // (point_count)
    const char *label_name;
} rbt_shared_record;

// Whether all ranks are well; else the error of the first that is not, at all of them
bool rbt_ranks_agree(rbt_communicator *ranks, bool good, rbt_error *error);

// from_frame as in rbt_recorder_open
bool rbt_shared_record_open(rbt_shared_record *record, rbt_communicator *ranks, const rbt_piece *piece,
                            const char *folder, const rbt_output_def *output, int64_t from_frame, rbt_error *error);
void rbt_shared_record_close(rbt_shared_record *record);

// `state` is that of the next frame.
bool rbt_shared_record_frame(rbt_shared_record *record, const rbt_sim *sim, const rbt_energies *energies,
                             const double *statistics, const rbt_probe_reading *readings, bool checkpoint,
                             rbt_error *error);

// A row of probes.csv for a step inside the next frame
bool rbt_shared_record_step(rbt_shared_record *record, const rbt_sim *sim, const rbt_probe_reading *readings,
                            rbt_error *error);

// The state of all ranks as one file, and from it
bool rbt_shared_record_state(rbt_communicator *ranks, const rbt_piece *piece, const rbt_sim *sim, const char *path,
                             rbt_error *error);
bool rbt_shared_record_restore(rbt_communicator *ranks, const rbt_piece *piece, const rbt_sim *sim,
                               const char *folder, int64_t from_frame, rbt_state *state, rbt_error *error);

#endif
