// A simulation as a whole: the model compiled from a scene, its state and the stepper that moves it.
#ifndef RBT_SCENE_SIM_H
#define RBT_SCENE_SIM_H

#include "step/stepper.h"

struct rbt_sim {
    rbt_model *model;
    rbt_state state;
    rbt_stepper stepper;
};

// One step (the last of a frame completes the frame).
rbt_outcome rbt_sim_step(rbt_sim *sim, rbt_step_report *report);

#endif
