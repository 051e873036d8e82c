// Everything a run leaves on disk, frame by frame:
//
//   DIR/frames/frame_000000.vtu    DIR/frames.pvd     the tets
//   DIR/frames/surface_000000.vtu  DIR/surface.pvd    the render surface, if a body has a embedded surface
//   DIR/obj/frame_000000.obj                          the render surface as OBJ
//   DIR/surface.pc2  DIR/surface.obj                  the same as point cache, and the mesh it belongs to
//   DIR/frames.usda  DIR/usda/BODY.usda               the same as USD (the latter with several bodies)
//   DIR/energy.csv                                    always
//   DIR/probes.csv                                    if the scene has probes
//   DIR/checkpoints/000000.rbt                        when asked for
//
// A frame is written in the order frame files, energy row, indices, checkpoint. So a run that is killed at any moment
// leaves files that are at least as far as its newest checkpoint; continuing from there cuts them back. A frame that
// cannot be written (disk full) is taken back as a whole; the frames before it stay as they are.
#ifndef RBT_OUT_RECORDER_H
#define RBT_OUT_RECORDER_H

#include "model/model.h"
#include "step/core/step_control.h"

typedef struct rbt_recorder rbt_recorder;

// from_frame -1: a new run; removes what an earlier run's recorder left in this folder. surface.obj and obj/ are
// touched only if this run writes them, since such names may well be the user's own. k >= 0: keeps the frames 0..k,
// drops later ones and continues with k + 1; if a file holds less than that, an error names it and nothing is changed.
// by_error: steps are chosen by their error, and attempts at them go into steps.csv.
// The model must outlive the recorder, or its own next frame once another one follows; the definition's `folder` is
// not used.
rbt_recorder *rbt_recorder_open(const char *folder, const rbt_model *model, const rbt_output_def *output,
                                bool by_error, int64_t from_frame, rbt_error *error);

// The model from now on: after a cut another one, with other points and cells in the frames to come.
bool rbt_recorder_follow(rbt_recorder *recorder, const rbt_model *model, rbt_error *error);

// What the next frame's row of energy.csv says about the solver (RBT_MAX_STATISTICS; NULL: not known), and its row of
// probes.csv (probe_count readings). Both must live until the frame is recorded.
void rbt_recorder_note(rbt_recorder *recorder, const double *statistics, const rbt_probe_reading *readings);

// The contact forces that the next frame's VTU file shows (node_count x 3); NULL: none. They must live until then.
void rbt_recorder_note_contact(rbt_recorder *recorder, const double *forces);

// The labels of nodes that the next frame's VTU file shows (node_count), and what they are called; NULL: none.
void rbt_recorder_note_labels(rbt_recorder *recorder, const char *name, const int32_t *labels);

// A row of probes.csv for a step inside the next frame, written together with it. The model may be another one than
// at the last frame.
bool rbt_recorder_step(rbt_recorder *recorder, const rbt_model *model, const rbt_state *state,
                       const rbt_probe_reading *readings, rbt_error *error);

// A row of steps.csv, written together with the next frame
void rbt_recorder_attempt(rbt_recorder *recorder, const rbt_step_attempt *attempt);

void rbt_recorder_forget_attempts(rbt_recorder *recorder);  // those of the next frame

// The state is that of the next frame (state->frame). `checkpoint`: write one, then keep only the newest
// output.checkpoint_keep.
bool rbt_recorder_frame(rbt_recorder *recorder, const rbt_state *state, const rbt_energies *energies, bool checkpoint,
                        rbt_error *error);

bool rbt_recorder_close(rbt_recorder *recorder, rbt_error *error);  // frees it in any case; NULL is fine

#endif
