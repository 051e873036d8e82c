// A simulation as a whole: the model compiled from a scene, its state and the stepper that moves it.
#ifndef RBT_SIM_SIM_H
#define RBT_SIM_SIM_H

#include "model/cutting.h"
#include "step/core/energy_watch.h"
#include "step/core/stepper.h"

struct rbt_sim {
    rbt_model *model;
    rbt_state state;
    rbt_stepper stepper;
    rbt_energy_watch watch;
    double cut_seconds;  // spent on cuts so far
    bool chooses;        // the step is the method's choice
    bool changed;        // and is to be chosen again at the end of the frame, since the model is another

    // Of scenes with cuts; NULL otherwise. The scene is a copy that lives as long as the simulation.
    rbt_arena *arena;
    rbt_scene *scene;
    rbt_sources *sources;
    rbt_cutting *cutting;
    rbt_model *previous;  // the model of a stepper that could not follow a cut; NULL: all have
};

// Continues from a state of a checkpoint, of which the simulation becomes the owner, whatever comes of it. With cuts
// made, the model is compiled again.
bool rbt_sim_restore(rbt_sim *sim, const rbt_scene *scene, rbt_state *state, rbt_error *error);

// rbt_sim_energies of a state that no one else has changed: a frame's are known already.
rbt_energies rbt_sim_frame_energies(const rbt_sim *sim);

// One step (the last of a frame completes the frame), before it the cuts that are due.
rbt_outcome rbt_sim_step(rbt_sim *sim, rbt_step_report *report);

#endif
