// The named stages of a step: one name serves timer, report and log.
#ifndef RBT_STEP_CORE_STAGE_H
#define RBT_STEP_CORE_STAGE_H

#include "base/clock.h"
#include "model/model.h"
#include "step/core/statistics.h"

enum { RBT_MAX_STAGES = 16 };

// How a step's solver converged, iteration by iteration: for those who compare solvers.
typedef struct rbt_trace {
    size_t capacity, count;
    double start;      // rbt_now() when the step began
    double *seconds;   // (capacity) since then
    double *residual;  // (capacity) size of the gradient over the tolerance
} rbt_trace;

typedef struct rbt_stages {  // seconds spent in each stage so far, in the order they first ran
    int count;
    const char *name[RBT_MAX_STAGES];
    double seconds[RBT_MAX_STAGES];
    rbt_trace *trace;          // of the latest step; NULL: not wanted
    const volatile int *stop;  // becomes non-zero when the step should be given up; NULL: never
    const rbt_ranks *ranks;    // that take the step together; NULL: one program does
    bool at_fault;             // with ranks: the latest stage failed on this one
} rbt_stages;

// Ranks give a step up together, after a stage.
static inline bool rbt_stage_stopped(const rbt_stages *stages) {
    return !stages->ranks && stages->stop && *stages->stop;
}

// What a stage has come to on all ranks: they leave an attempt together.
rbt_outcome rbt_stage_agree(rbt_stages *stages, rbt_outcome outcome);

void rbt_trace_begin(rbt_stages *stages);
void rbt_trace_add(rbt_stages *stages, double residual);

void rbt_stage_add(rbt_stages *stages, const char *name, double seconds);

// Runs one stage of an attempt and leaves the attempt if its outcome is not RBT_DONE, or if the step is to be given
// up. Needs `stages` and `report`.
#define RBT_STAGE(label, call)                                                                                       \
    do {                                                                                                             \
        report->stage = (label);                                                                                     \
        if (rbt_stage_stopped(stages)) return RBT_STOPPED;                                                           \
        double stage_start = rbt_now();                                                                              \
        rbt_outcome stage_outcome = (call);                                                                          \
        if (stages->ranks) stage_outcome = rbt_stage_agree(stages, stage_outcome);                                   \
        rbt_stage_add(stages, (label), rbt_now() - stage_start);                                                     \
        if (stage_outcome != RBT_DONE) return stage_outcome;                                                         \
    } while (0)

// The length of the step from state->t to `until`: the model's step halved some number of times, exactly, if it is
// that up to the rounding of times. Factors that depend on the step alone can then be kept, and a resumed run
// computes the same bits.
double rbt_step_length(const rbt_model *model, const rbt_state *state, double until);

// Names the place of trouble: the node's body and, of its tets, the one with the least det F at x; of a shell's
// triangles or a net's edges the one that has grown most.
void rbt_report_node(rbt_step_report *report, const rbt_model *model, const double *x, size_t node);

// Whether a tet is inside out at x although its material forbids it; the one with the least det F is reported.
bool rbt_report_inverted(rbt_step_report *report, const rbt_model *model, const double *x);

// RBT_DONE if all positions and velocities are numbers, no node moved further in this step than a thousand times its
// body's size and no tet is inside out that must not be; otherwise RBT_NOT_FINITE or RBT_INVERTED with the place
// reported.
rbt_outcome rbt_check_motion(const rbt_model *model, const rbt_state *state, double h, rbt_step_report *report);

#endif
