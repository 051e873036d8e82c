// Cuts under contact: steps that must succeed, and the judge.
#ifndef TEST_SUPPORT_CUT_SCENE_H
#define TEST_SUPPORT_CUT_SCENE_H

#include "contact_scene.h"
#include "sim/sim.h"
#include "verify/verify.h"

// How many places the judge finds in the present state, those that only touch included
static inline size_t crossings(const rbt_sim *sim) {
    rbt_verification v = {0};
    rbt_error error = {0};
    rbt_verified about = {.t = sim->state.t};
    if (!rbt_verification_set_model(&v, sim->model, sim->stepper.method, &error) ||
        !rbt_verification_add(&v, &about, sim->state.x, &error))
        fail_msg("%s", error.message);
    size_t found = v.in_states;
    rbt_verification_free(&v);
    return found;
}

static inline void step(rbt_sim *sim) {
    rbt_step_report report = {0};
    if (!rbt_sim_step(sim, &report))
        fail_msg("t = %g: %s in %s: %s", sim->state.t, rbt_outcome_name(report.outcome), report.stage, report.hint);
}

#endif
