// run.json: everything about a run in one file, rewritten after every frame so that it is never far behind.
#ifndef RBT_SIM_RUN_REPORT_H
#define RBT_SIM_RUN_REPORT_H

#include "sim/overlap.h"
#include "sim/sim.h"
#include "verify/verify.h"

typedef struct rbt_run_report {
    const rbt_sim *sim;
    const rbt_scene *scene;
    const char *scene_text;  // JSON
    const char *status;      // "running", "finished", "not converged", "intersected", "interrupted", "failed"
    char started[32];        // UTC
    int64_t resumed_from;    // frame, -1: from the start
    int64_t frames;          // newest frame on disk
    int64_t steps;
    int max_halvings;
    int64_t halved_steps;                   // steps that had to be cut
    double statistics[RBT_MAX_STATISTICS];  // of all steps (step/core/statistics.h)
    double compile_seconds, step_seconds, write_seconds, total_seconds;
    rbt_energies first, last;
    const rbt_step_report *failure;        // NULL: none
    const char *problem;                   // what the world did to the run; NULL: nothing
    const rbt_verification *verification;  // NULL: not asked for
    const rbt_overlap *overlap;            // NULL: not looked for
    const rbt_body *bodies;                // of the whole, where the model is a rank's part; NULL: the model's
    const char *more;                      // further members, in JSON, with a comma behind each; NULL: none
    const rbt_text *choices;               // of methods, as JSON (sim/run_choice.h)
} rbt_run_report;

bool rbt_run_report_write(const rbt_run_report *report, const char *path, rbt_error *error);

#endif
