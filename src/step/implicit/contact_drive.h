// A step with contact, as every solver that knows contact takes it. What differs is the iteration.
//
// First what is prescribed moves: nodes of bodies and of obstacles go to where they must be, and the free nodes follow
// by the linear prediction p_f = -H_ff^-1 (g_f + H_fp p_p), all as far as the continuous test allows. Where it stops
// them, an iteration without prescribed motion lets the barrier push the free nodes out of the way. Then come the
// solver's iterations as without contact, each no longer than the test allows.
//
// The continuous test gives one length for all nodes: where things move by many thicknesses in a step, one pair after
// the other stops everything. After many such iterations a chase finds the pairs that are in the way all at once
// (contact_chase.c).
//
// Friction has the normal forces and tangents of an earlier iterate (lag). New ones are taken whenever the residual
// with the old ones has halved: sooner, energies of different friction would be compared, and both swing. An iterate is
// called solved only if it is with its own forces, so that it meets Coulomb's law. Where lags are many, steps with the
// true derivative of friction take over (contact_coupled.c).
#ifndef RBT_STEP_IMPLICIT_CONTACT_DRIVE_H
#define RBT_STEP_IMPLICIT_CONTACT_DRIVE_H

#include "step/implicit/search.h"
#include "step/implicit/solver.h"

enum { RBT_KRYLOV_DIMENSION = 20 };

typedef struct rbt_contact_iteration {  // what a step solver brings
    // A matrix for directions at z, where the gradient was taken last: that of the elastic problem with contact's part.
    rbt_outcome (*make)(void *self, const double *z, rbt_stages *stages, rbt_step_report *report);
    // The same of objective->pairs->matrix as it is now, whose pattern may have grown.
    rbt_outcome (*factor)(void *self, const double *z, rbt_stages *stages, rbt_step_report *report);
    // p = -A^-1 rhs, or nearly; 0 in constrained nodes
    rbt_outcome (*solve)(void *self, const double *rhs, double *p, rbt_step_report *report);
    // One iteration from z, whose E and gradient are *value and drive->gradient, to another z. *found: there is one.
    rbt_outcome (*relax)(void *self, double *z, double *value, bool *found, rbt_stages *stages,
                         rbt_step_report *report);
} rbt_contact_iteration;

typedef struct rbt_contact_drive {
    rbt_objective *objective;
    const rbt_contact_iteration *solver;
    void *self;  // the solver's
    rbt_search *search;
    double *gradient, *direction;  // (node_count x 3) the solver's
    rbt_arena *arena;
    double *rhs, *plain, *before;             // (node_count x 3) a right-hand side, and where a detour began, work
    double *lagged_at;                        // (node_count x 3) where friction got its forces last
    double *wanted;                           // (node_count x 3) where a chase leads to
    double *basis[RBT_KRYLOV_DIMENSION + 1];  // (node_count x 3 each) with friction, work
    int stopped;   // iterations of this step that the continuous test has cut short, since the last detour
    size_t lags;   // changes of friction so far
    bool is_bent;  // the matrix has constraints in it, which no later direction should have
} rbt_contact_drive;

bool rbt_contact_drive_init(rbt_contact_drive *drive, rbt_objective *objective, rbt_search *search, double *gradient,
                            double *direction, rbt_error *error);
void rbt_contact_drive_free(rbt_contact_drive *drive);

// Like a step solver's solve: `last` is apart, z holds the wanted start, which need not be, and receives the minimum;
// every move between two iterates is as long as the continuous test allows, at most.
rbt_outcome rbt_contact_drive_solve(rbt_contact_drive *drive, const double *last, double *z, rbt_stop *stop,
                                    int max_iterations, rbt_stages *stages, rbt_step_report *report);

// ---- What iterations are made of

// How much of z -> z + direction leaves every element that must not turn inside out a tenth of its volume: `longest`,
// or a half, a quarter ... of it. The energy of such a material grows with the square of a logarithm only: a line
// search that looks at energies alone takes a step to a volume of 1e-13, from where each iteration at best doubles it.
double rbt_contact_drive_room(rbt_contact_drive *drive, const double *z, double longest);

// H of the elastic problem at z, and with contact's part in pairs->matrix; both true or positive semidefinite.
rbt_outcome rbt_contact_drive_assemble(rbt_contact_drive *drive, bool exact, const double *z);
rbt_outcome rbt_contact_drive_add(rbt_contact_drive *drive, bool exact);

// rbt_solver_judge, but a residual that is no more than rounding solves nothing where a gap is closed to rounding
// (rbt_step_contact_is_shut): such a pair is so stiff that any residual of its piece is below the rounding of its
// force.
rbt_outcome rbt_contact_drive_judge(rbt_contact_drive *drive, rbt_stop *stop, const double *z, int iteration,
                                    int max_iterations, bool *solved, rbt_stages *stages, rbt_step_report *report);

// How much of drive->direction is free, with `advance` of the prescribed motion
rbt_outcome rbt_contact_drive_limit(rbt_contact_drive *drive, const double *z, double advance, double *longest);

// From the safe position z towards drive->wanted, with what is in the way as constraints (contact_chase.c): z is safe
// all the time and comes close to the minimum of E without friction, contact->share with it.
rbt_outcome rbt_contact_drive_chase(rbt_contact_drive *drive, double *z, rbt_stages *stages, rbt_step_report *report);

// Where drive->direction is free for a small share of its length only, again and again, and what is prescribed has been
// made: a chase towards its end. *found: it led to a z of
// lower E, and *value and drive->gradient belong to it; else z is as it was.
rbt_outcome rbt_contact_drive_detour(rbt_contact_drive *drive, double *z, double *value, double longest, bool *found,
                                     rbt_stages *stages, rbt_step_report *report);

// A Newton step from z, whose gradient has friction of its own forces, with the true derivative of friction
// (contact_coupled.c). *found: it made the residual less, and z, *value, drive->gradient and friction are those of its
// end; else they are those of z.
rbt_outcome rbt_contact_drive_coupled(rbt_contact_drive *drive, double *z, double *value, bool *found,
                                      rbt_stages *stages, rbt_step_report *report);

#endif
