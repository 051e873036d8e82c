// Checkpoints: a state on disk, from which the run continues with the same bits.
//
// Little endian:  "RBTCKPT1", uint32 version, uint32 bytes of the head, uint64 fingerprint of the model, int64 frame,
// int64 step, double t, uint64 nodes, uint64 bytes of the method's memory, uint64 bytes of the payload before and
// after compression, the tally of steps (int64 accepted, int64 not converged, double worst residual, double time of
// the first) and uint64 bytes about cuts (model/cutting.c); then the payload (x, v, memory, cuts; zstd) and the
// uint64 hash of everything before it. The fingerprint is that of the uncut model. A file appears complete
// or not at all, and the reader believes nothing.
#ifndef RBT_OUT_CHECKPOINT_H
#define RBT_OUT_CHECKPOINT_H

#include "base/file.h"
#include "model/model.h"

// What a checkpoint must share with the model that continues from it.
typedef enum rbt_checkpoint_match {
    RBT_SAME_MODEL,  // the fingerprint: the run is continued as if it had not stopped
    RBT_SAME_NODES   // the number of nodes only: the scene was changed on purpose
} rbt_checkpoint_match;

// model NULL: the state says itself what it belongs to. Packing gives the bytes of the file, to be freed.
bool rbt_checkpoint_pack(const rbt_model *model, const rbt_state *state, rbt_bytes *bytes, rbt_error *error);
bool rbt_checkpoint_write(const char *path, const rbt_model *model, const rbt_state *state, rbt_error *error);

// Fills *state, whatever it held, with newly allocated arrays (free with rbt_state_free). model NULL: any will do.
bool rbt_checkpoint_read(const char *path, const rbt_model *model, rbt_checkpoint_match match, rbt_state *state,
                         rbt_error *error);
bool rbt_checkpoint_parse(const char *name, const void *bytes, size_t size, const rbt_model *model,
                          rbt_checkpoint_match match, rbt_state *state, rbt_error *error);

// ---- The checkpoints of a run: `folder`/checkpoints/000123.rbt

char *rbt_checkpoint_path(const char *folder, int64_t frame, rbt_error *error);  // free it

// The newest readable one of a frame up to `limit` (INT64_MAX: any). If there is none, the error tells why the newest
// one cannot be used, or that there are none.
bool rbt_checkpoint_newest(const char *folder, int64_t limit, const rbt_model *model, rbt_checkpoint_match match,
                           rbt_state *state, rbt_error *error);

bool rbt_checkpoint_prune(const char *folder, int keep, rbt_error *error);              // to the newest; 0: keeps all
bool rbt_checkpoint_remove_after(const char *folder, int64_t frame, rbt_error *error);  // -1: all

#endif
