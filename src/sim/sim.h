// A simulation as a whole: the model compiled from a scene, its state and the stepper that moves it.
#ifndef RBT_SIM_SIM_H
#define RBT_SIM_SIM_H

#include "model/cutting.h"
#include "model/materials.h"
#include "rubato/input.h"
#include "sim/thread_choice.h"
#include "step/core/energy_watch.h"
#include "step/core/stepper.h"

// For questions (sim_query.c); empty until the first of them
typedef struct rbt_sim_workspace {
    size_t node_count, slot_count;
    double *partial;                  // (slot_count x 3)
    double *force, *elastic, *moved;  // (node_count x 3)
    double *reactions;                // (node_count x 3)
    unsigned char *constrained;       // (node_count)
} rbt_sim_workspace;

void rbt_sim_workspace_clear(rbt_sim_workspace *workspace);

struct rbt_sim {
    rbt_model *model;
    rbt_state state;
    rbt_stepper stepper;
    rbt_energy_watch watch;
    double cut_seconds;         // spent on cuts so far
    int threads;                // of steps; 0: as OpenMP has it, or fewer where these are faster
    rbt_thread_choice shared;   // how many those are
    uint64_t fingerprint;       // of the model before cuts
    int64_t topology;           // how often nodes and elements have got other numbers
    bool chooses;               // the step is the method's choice
    double longest;             // [s] that it may be; 0: no limit
    struct rbt_choice *choice;  // by which method and solver were found (sim/choice.h); NULL: the scene names them
    bool changed;               // and is to be chosen again at the end of the frame, since the model is another

    rbt_material_values own;  // those of the scene
    double *acting;           // (acting_count x 3) forces of a step while springs drag; NULL: none have yet
    size_t acting_count;

    rbt_sim_workspace *workspace;
    rbt_arena *arena;  // of the scene, which is a copy; meshes in memory are no part of it
    rbt_scene *scene;

    // Of scenes with cuts; NULL otherwise
    rbt_sources *sources;
    rbt_cutting *cutting;
    rbt_model *previous;  // the model of a stepper that could not follow a cut; NULL: all have
};

// Continues from a state of a checkpoint, of which the simulation becomes the owner, whatever comes of it. With cuts
// made, the model is compiled again.
bool rbt_sim_resume(rbt_sim *sim, rbt_state *state, rbt_error *error);

// The same simulation of a scene that has more events than this one, all of them still to come: in the same state, and
// it continues as one that has had them from the start, bit for bit. The step length is that of before. NULL with an
// error, and the simulation stays as it is.
rbt_sim *rbt_sim_extend(const rbt_sim *sim, const rbt_scene *scene, rbt_error *error);

// rbt_sim_energies of a state that no one else has changed: a frame's are known already.
rbt_energies rbt_sim_frame_energies(const rbt_sim *sim);

// Makes the cuts that are due now; false: one has failed, as the report says.
bool rbt_sim_cut(rbt_sim *sim, rbt_step_report *report);

// After cuts a step that was left to the method is chosen again, at the end of the frame, so that its steps stay
// equal; the method begins afresh with it, as a resumed run does.
bool rbt_sim_choose_again(rbt_sim *sim, rbt_step_report *report);

// The report of a cut or an event that failed; returns false.
bool rbt_sim_fail_change(rbt_step_report *report, rbt_outcome outcome, const char *stage, const rbt_error *error);

// One step (the last of a frame completes the frame), before it the cuts that are due; adds to the report.
rbt_outcome rbt_sim_take_step(rbt_sim *sim, rbt_step_report *report);

// A simulation of a model that is there: a rank's part of a scene's (model/ranks.h), of which it becomes the owner
// whatever comes of it.
rbt_sim *rbt_sim_create_part(const rbt_scene *scene, rbt_model *model, rbt_error *error);

// Stages of rbt_sim_create that others need too: a simulation with a copy of the scene and nothing else, the step
// that the method chooses, and stepper, memory and watch for its model and state.
rbt_sim *rbt_sim_begin(const rbt_scene *scene, rbt_error *error);
bool rbt_sim_choose_step(rbt_sim *sim, rbt_error *error);
bool rbt_sim_equip(rbt_sim *sim, rbt_error *error);

// Whether the scene leaves method or solver to rubato; and another method, solver and error from now on, where a frame
// has ended. On failure the simulation is as it was.
bool rbt_scene_is_open(const rbt_scene *scene);
typedef struct rbt_chosen {
    int method, solver;
    double error;    // for steps by error
    double longest;  // [s] of steps that are all equal; 0: as the method has them
} rbt_chosen;
bool rbt_sim_take_choice(rbt_sim *sim, const rbt_chosen *chosen, rbt_error *error);

// Puts a model in the place of this one: a stepper and a watch for it, whose counts continue. The model is the
// simulation's then; on failure it is freed and the simulation is as it was.
bool rbt_sim_exchange(rbt_sim *sim, rbt_model *model, rbt_error *error);

// Events (sim_event.c). Notes the materials of the scene, which the model has now.
bool rbt_sim_note_materials(rbt_sim *sim, rbt_error *error);

// The materials in force at a state
rbt_material_values rbt_sim_materials(const rbt_sim *sim, const rbt_state *state);

// Before a step of length h begins: events that are due if the step is a whole one, and forces of springs that drag.
// false: an event could not be done, and the error names it.
bool rbt_sim_begin_step(rbt_sim *sim, bool whole, double h, rbt_error *error);

// Where steps are chosen by their error: the longest that springs that drag allow [s], and when the next event is due
double rbt_sim_longest_step(const rbt_sim *sim);
double rbt_sim_next_event(const rbt_sim *sim);

// After a cut: forces of events on the nodes that there are now.
void rbt_sim_share_forces(rbt_sim *sim);

// rbt_sim_drive of a guide, which groups of driven nodes and then obstacles have
bool rbt_sim_guide(rbt_sim *sim, size_t guide, const rbt_drive *drive, rbt_error *error);

// Refuses a simulation that is not there.
bool rbt_sim_is_there(const rbt_sim *sim, rbt_error *error);

// A state that was set by somebody else is a jump for the energy watch: before and after.
bool rbt_sim_before_jump(rbt_sim *sim, rbt_error *error);
void rbt_sim_after_jump(rbt_sim *sim);

// When whole steps end, counted from the last whole frame
double rbt_sim_grid_time(const rbt_sim *sim, int64_t steps);

#endif
