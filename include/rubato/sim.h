// Running a simulation from a program: create, advance, look.
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
    RBT_STALLED,   // events come ever closer in time: what is asked for is impossible, or nearly so
    RBT_UNSTABLE,  // energy has grown far beyond all that can account for it, or the step is longer than a stable one
    RBT_CUT_FAILED,  // a cut of the scene cannot be made, or the method cannot continue with what it leaves
    RBT_STOPPED,     // the caller asked for it (rbt_sim_set_stop)
    RBT_OUTCOMES
} rbt_outcome;

const char *rbt_outcome_name(rbt_outcome outcome);

// What the latest advance did.
typedef struct rbt_step_report {
    rbt_outcome outcome;
    const char *stage;         // where it ended: "predict", "assemble", "factor", "solve", "update", …
    int64_t body, element;     // worst body and its element (numbers within the body), -1 if not known
    const char *element_kind;  // "tet", "triangle" or "edge"; NULL if no element is known
    double value;              // what was found there: determinant, speed, residual
    int64_t steps;             // accepted steps
    int64_t iterations;        // of the solver, summed
    int halvings;              // of the step that needed most
    int64_t halved_steps;      // steps that had to be halved at all
    double residual;           // of the last solve, relative
    bool at_cap;               // whether the last solve reached its limit of iterations
    int64_t unconverged;       // steps that were accepted although their solve had reached it
    double worst_residual;     // of these, size of the gradient over the tolerance
    double first_unconverged;  // when the first of them began [s]
    int64_t substeps;          // of ere: parts that its exponentials went in
    int64_t indefinite;        // steps of siere whose matrix was indefinite and factored as it was
    int64_t projected;         // steps of siere whose matrix was indefinite, with projected stiffness instead
    double gain;     // energy gained so far from nothing, beside all energy that is accounted for; above 0.1
                     // it is worth a warning, far above it steps end with RBT_UNSTABLE
    char hint[256];  // what to try
} rbt_step_report;

typedef struct rbt_sim rbt_sim;

rbt_sim *rbt_sim_create(const rbt_scene *scene, rbt_error *error);
void rbt_sim_free(rbt_sim *sim);

// To the next frame (t = frame * interval); false if a step failed for good: the state is that of the last good step.
// Steps that did not converge, where the scene's options let a run continue, are no failure here: report->unconverged
// counts them.
bool rbt_sim_advance_frame(rbt_sim *sim, rbt_step_report *report);

// While *stop is not zero, a step that is under way is given up at its next stage, as a failed one is: RBT_STOPPED,
// and the state is that before the step. With zero again the simulation can continue. For a signal handler or another
// thread; NULL: no more. `stop` must stay valid.
void rbt_sim_set_stop(rbt_sim *sim, const volatile int *stop);

// Frames from 0 (the start) to the last; `each` may be NULL and may return false to stop early.
typedef bool (*rbt_frame_callback)(const rbt_sim *sim, int64_t frame, void *context);
bool rbt_sim_run(rbt_sim *sim, rbt_frame_callback each, void *context, rbt_step_report *report);

// Pointers below are valid until the next step; in scenes with cuts, counts change with them.
double rbt_sim_time(const rbt_sim *sim);
int64_t rbt_sim_frame(const rbt_sim *sim);
int64_t rbt_sim_frame_count(const rbt_sim *sim);  // frames after frame 0
size_t rbt_sim_node_count(const rbt_sim *sim);
const double *rbt_sim_positions(const rbt_sim *sim);   // (nodes x 3) [m], bodies one after the other
const double *rbt_sim_velocities(const rbt_sim *sim);  // (nodes x 3) [m/s]
size_t rbt_sim_tet_count(const rbt_sim *sim);
const int32_t *rbt_sim_tets(const rbt_sim *sim);  // (tets x 4)
size_t rbt_sim_triangle_count(const rbt_sim *sim);
const int32_t *rbt_sim_triangles(const rbt_sim *sim);  // (triangles x 3) hulls of solids and shells
size_t rbt_sim_edge_count(const rbt_sim *sim);
const int32_t *rbt_sim_edges(const rbt_sim *sim);  // (edges x 2) springs of bodies made of them

// Energies [J] and momenta, as in energy.csv.
typedef struct rbt_energies {
    double kinetic, elastic, gravity, contact, total;
    double momentum[3], angular_momentum[3];
    // Done so far by loads, wind and all that has a prescribed motion: total - work stays, or falls by damping. Known
    // where frames end, NaN where not.
    double work;
} rbt_energies;
rbt_energies rbt_sim_energies(const rbt_sim *sim);

#ifdef __cplusplus
}
#endif
#endif
