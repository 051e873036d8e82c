// The table of step solvers: ways to find the minimum of a step's function (objective.h). All start from the same
// place and stop by the same test, so that iterations and times compare. Adding one is a file and a line in
// RBT_STEP_SOLVER_LIST.
#ifndef RBT_STEP_IMPLICIT_SOLVER_H
#define RBT_STEP_IMPLICIT_SOLVER_H

#include "base/record.h"
#include "base/text.h"
#include "rubato/methods.h"
#include "step/core/step_work.h"
#include "step/implicit/stop.h"

extern const rbt_record RBT_SOLVER_OPTIONS;  // of rbt_implicit_options
extern const rbt_record RBT_ENERGY_OPTIONS;  // of rbt_energy_euler_options

typedef struct rbt_step_solver {
    const char *name;
    const char *doc;     // what it does, one sentence
    int max_iterations;  // its own limit
    bool contact;        // it knows the terms of contact (objective->pairs)
    // Of the force test's tolerance, unless the scene gives one, and of what counts as rounding there (0: 1). A
    // residual that is left in the softest modes moves a body further than one of the same size that is spread over
    // all of them, and where it is left depends on the matrix that a solver has in place of H: the shares are what
    // test/verify/measure_sweep.c asks for.
    double share;
    rbt_step_work work;  // of a step
    // A workspace for this objective, which stays alive as long; the options too.
    void *(*create)(rbt_objective *objective, const rbt_implicit_options *options, rbt_error *error);
    void (*destroy)(void *self);
    // From z, which holds the start and receives the minimum, until `stop` says so. `last` is where the step began:
    // the place for what is computed once a step.
    rbt_outcome (*solve)(void *self, const double *last, double *z, rbt_stop *stop, int max_iterations,
                         rbt_stages *stages, rbt_step_report *report);
    // What it has to say about itself in run.json: the members of an object, in JSON; NULL: nothing.
    void (*describe)(const void *self, rbt_text *json);
    // Labels of the nodes, as rbt_method has them; NULL: none.
    int (*labels)(const void *self, int32_t *label);
    // Whether ranks can take it, and how many subdomains it divides a model into, as rbt_method has them; NULL: no, 0
    bool (*on_ranks)(const rbt_implicit_options *options);
    size_t (*subdomains)(const rbt_model *model, const rbt_implicit_options *options);
} rbt_step_solver;

const rbt_step_solver *rbt_step_solver_at(int i);  // NULL past the end
const char *rbt_step_solver_name(int i);           // NULL past the end

// Every solver, in the order of the table; SOLVER(NAME) is the rbt_step_solver RBT_NAME of some file. The first is the
// default.
#define RBT_STEP_SOLVER_LIST(SOLVER)                                                                                 \
    SOLVER(NEWTON)                                                                                                   \
    SOLVER(DOT)                                                                                                      \
    SOLVER(LBFGS_H)                                                                                                  \
    SOLVER(LBFGS_PD)                                                                                                 \
    SOLVER(ADMM_PD)

#define RBT_STEP_SOLVER_EXTERN(NAME) extern const rbt_step_solver RBT_##NAME;
RBT_STEP_SOLVER_LIST(RBT_STEP_SOLVER_EXTERN)

// ---- What solvers share

// Why E or its gradient has no value at z: a tet is inside out, or numbers are too large.
rbt_outcome rbt_solver_not_finite(const rbt_objective *objective, const double *z, const double *gradient,
                                  rbt_step_report *report);

// When no length along a direction lets E decrease: RBT_DONE if the iterate judged last is as good as rounding allows.
rbt_outcome rbt_solver_no_descent(const rbt_stop *stop, const double *z, const double *gradient,
                                  rbt_step_report *report);

// Judges an iterate, whose gradient was taken last: RBT_DONE with *solved if it counts as solved, without it if the
// iteration continues; RBT_NOT_FINITE, RBT_INVERTED; RBT_NOT_CONVERGED, and report->at_cap, if iteration ==
// max_iterations. Writes residual and trace.
rbt_outcome rbt_solver_judge(rbt_stop *stop, const double *z, const double *gradient, int iteration,
                             int max_iterations, bool *solved, rbt_stages *stages, rbt_step_report *report);

// The outcome of an iterate that is not solved after so many iterations as there may be
rbt_outcome rbt_solver_at_cap(const rbt_stop *stop, const double *z, const double *gradient, rbt_step_report *report);

#endif
