// Running a simulation from a program: create, advance, look. rubato/state.h sets, saves and restores states,
// rubato/input.h pushes and moves things, rubato/query.h asks for bodies, contacts, reactions and statistics.
//
// Conventions of all of these headers
//   objects     An rbt_sim is used by one thread at a time; different ones may be used by different threads at once.
//   NULL        An object that is NULL is no crash: functions that return bool or a pointer return false or NULL with
//               an error, counts and numbers are 0, the rest does nothing. Errors and reports may be NULL: not wanted.
//   errors      A call that is refused returns false or NULL, fills the rbt_error and leaves every object as it was. A
//               step that fails is an outcome: false, and the report says what; the state is that of the last good
//               step.
//   pointers    What a function returns belongs to the simulation and lives until it next steps, is set, restored or
//               freed, unless its comment says otherwise. Names live as long as the simulation.
//   arrays      Nodes of all bodies lie one after the other, (nodes x 3) numbers; indices count from 0. SI units.
//   reading     Looking changes no bit of what comes.
#ifndef RUBATO_SIM_H
#define RUBATO_SIM_H

#include "rubato/scene.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// How a step ended. Everything but RBT_DONE leaves the state as it was before the step.
typedef enum rbt_outcome {
    RBT_DONE,
    RBT_NOT_FINITE,             // a position, velocity or force is not a number or beyond any size
    RBT_INVERTED,               // an element turned inside out where its material forbids it
    RBT_NOT_POSITIVE_DEFINITE,  // the step's matrix has no Cholesky factor
    RBT_NOT_CONVERGED,          // an iteration reached its limit
    RBT_OUT_OF_MEMORY,
    RBT_STALLED,  // events come ever closer in time, or pieces of a step are too many: what is asked for is impossible,
                  // or nearly so
    RBT_UNSTABLE,  // energy has grown far beyond all that can account for it, or the step is longer than a stable one
    RBT_CUT_FAILED,    // a cut of the scene cannot be made, or the method cannot continue with what it leaves
    RBT_STOPPED,       // the caller asked for it (rbt_sim_set_stop)
    RBT_REFUSED,       // the call makes no sense: no simulation, a time that has passed
    RBT_EVENT_FAILED,  // an event of the scene cannot be done, as a drag that is too stiff for a step of the method
    RBT_BLOCKED,       // contact leaves no room: prescribed motions are in each other's way, or gaps are closed
    RBT_OUTCOMES
} rbt_outcome;

// Lives as long as the program; "unknown" for a number that is none.
const char *rbt_outcome_name(rbt_outcome outcome);

enum { RBT_MAX_STATISTICS = 16 };

// What the latest advance did.
typedef struct rbt_step_report {
    rbt_outcome outcome;
    const char *stage;                      // where it ended: "predict", "assemble", "factor", "solve", "update", …
    int64_t body, element;                  // worst body and its element (numbers within the body), -1 if not known
    const char *element_kind;               // "tet", "triangle" or "edge"; NULL if no element is known
    double value;                           // what was found there: determinant, speed, residual
    int64_t steps;                          // accepted steps
    int halvings;                           // of the step that needed most
    int64_t halved_steps;                   // steps that had to be halved at all
    bool at_cap;                            // whether the last solve reached its limit of iterations
    int64_t unconverged;                    // steps that were accepted although their solve had reached it
    double worst_residual;                  // of these, size of the gradient over the tolerance
    double first_unconverged;               // when the first of them began [s]
    double statistics[RBT_MAX_STATISTICS];  // what the method counts: rbt_report_statistic (rubato/query.h)
    double gain;     // energy gained so far from nothing, beside all energy that is accounted for; above 0.1
                     // it is worth a warning, far above it steps end with RBT_UNSTABLE
    char hint[256];  // what to try
} rbt_step_report;

typedef struct rbt_sim rbt_sim;

// ---- Life

// Checks the scene and compiles it. What the scene points to need not live on. NULL with an error that names the
// place in the scene; the caller frees the simulation.
rbt_sim *rbt_sim_create(const rbt_scene *scene, rbt_error *error);
void rbt_sim_free(rbt_sim *sim);  // NULL: nothing

// Another simulation of the same scene in the same state, bit for bit, with what a caller has set. The two share what
// never changes and are independent otherwise: each may be used by a thread of its own. Stop flag and number of
// threads are taken over. NULL with an error if memory lacks, or if a scene with cuts cannot be compiled again.
rbt_sim *rbt_sim_clone(const rbt_sim *sim, rbt_error *error);

// How many threads steps of this simulation use from now on, at most 1024; 0, the default: as many as OpenMP gives the
// calling thread, or fewer where these turn out to be faster, unless OMP_NUM_THREADS is set. Results do not depend on
// it. false if the number is out of range.
bool rbt_sim_set_threads(rbt_sim *sim, int count, rbt_error *error);

// ---- Advancing: false if a step failed for good, and the report says why. Steps that did not converge, where the
// scene's
// options let a run continue, are no failure: report->unconverged counts them. Counts of the report are those of the
// call.

// One step; the last one of a frame completes the frame. After rbt_sim_advance_to has stopped inside a step: the rest
// of that step.
bool rbt_sim_step(rbt_sim *sim, rbt_step_report *report);

// To the next frame (t = frame * interval).
bool rbt_sim_advance_frame(rbt_sim *sim, rbt_step_report *report);

// To this time [s]. Steps stay on the grid of frames and steps; where the time lies inside a step, the last one is
// shortened to end there, and the next advance takes the rest of it first. So frames keep their times whatever was
// asked for in between, and a state that was saved there continues with the same bits. A time within a millionth of a
// step of the grid means the grid. One that has passed by more is refused (RBT_REFUSED); the present one does
// nothing. Stopping inside steps changes results as a smaller step does, but for async-contact, whose clocks do not
// mind.
bool rbt_sim_advance_to(rbt_sim *sim, double time, rbt_step_report *report);

// Frames from the present one to the last of the scene; `each` may be NULL and may return false to stop early, which
// is no failure.
typedef bool (*rbt_frame_callback)(const rbt_sim *sim, int64_t frame, void *context);
bool rbt_sim_run(rbt_sim *sim, rbt_frame_callback each, void *context, rbt_step_report *report);

// While *stop is not zero, a step that is under way is given up at its next stage, as a failed one is: RBT_STOPPED,
// and the state is that before the step. With zero again the simulation can continue. For a signal handler or another
// thread; NULL: no more. `stop` must stay valid.
void rbt_sim_set_stop(rbt_sim *sim, const volatile int *stop);

// ---- Looking. In scenes with cuts, counts change with them.

double rbt_sim_time(const rbt_sim *sim);            // [s]
double rbt_sim_step_length(const rbt_sim *sim);     // [s] of a whole step; by error: that is tried next
double rbt_sim_frame_interval(const rbt_sim *sim);  // [s]
int64_t rbt_sim_frame(const rbt_sim *sim);          // the last whole one
int64_t rbt_sim_frame_count(const rbt_sim *sim);    // frames after frame 0
size_t rbt_sim_node_count(const rbt_sim *sim);
const double *rbt_sim_positions(const rbt_sim *sim);   // (nodes x 3) [m]
const double *rbt_sim_velocities(const rbt_sim *sim);  // (nodes x 3) [m/s]
size_t rbt_sim_tet_count(const rbt_sim *sim);
const int32_t *rbt_sim_tets(const rbt_sim *sim);  // (tets x 4)
size_t rbt_sim_triangle_count(const rbt_sim *sim);
const int32_t *rbt_sim_triangles(const rbt_sim *sim);  // (triangles x 3) hulls of solids and shells
size_t rbt_sim_edge_count(const rbt_sim *sim);
const int32_t *rbt_sim_edges(const rbt_sim *sim);  // (edges x 2) springs of bodies made of them

// Energies [J] and momenta, as in energy.csv. All 0 without a simulation.
typedef struct rbt_energies {
    double kinetic, elastic, gravity, contact, total;
    double momentum[3], angular_momentum[3];
    // Done so far by loads, wind, callers' forces and all that has a prescribed motion: total - work stays, or falls
    // by damping. Known where frames end, NaN where not.
    double work;
    double friction;  // [J] taken by friction of contact so far, where the scene has contact; 0 with other methods
} rbt_energies;
rbt_energies rbt_sim_energies(const rbt_sim *sim);

#ifdef __cplusplus
}
#endif
#endif
