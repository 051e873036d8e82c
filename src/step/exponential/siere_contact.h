// Contact of siere: impulses (step/contact/impulses.h) act on the modes as they do on the rest.
//
// An impulse J is a force J/h that is constant in the step. With true eigenvectors U the formulas of siere.c make of it
//
//   S_v = A^-1 + U (sigma - Theta^-1) U^T,            sigma_l = impulse_l / h
//   S_q = h A^-1 + U (rho - h Theta^-1) U^T,          rho_l = step_l / h
//
// where impulse_l and step_l are velocity and displacement of the oscillator l after a time h of unit force
// (math/oscillator.h): what A^-1 has of the modes is replaced by their exact answer. Both are symmetric, and S_q is
// positive semidefinite, since U^T A U = Theta makes A^-1 - U Theta^-1 U^T so, and rho >= 0. Modes that a step does not
// resolve, h^2 |lambda| > 1, keep the answer of A^-1: sigma changes its sign where a step is longer than half a period.
//
// Displacements follow half as fast as velocities in slow modes (rho = h/2, sigma = 1): a body that meets a floor
// leaves it with the speed it came with, less what the gap before it took: contact gives no energy, since its force
// does the work p (c_end - c_start) <= 0 at gaps that do not grow.
#ifndef RBT_STEP_EXPONENTIAL_SIERE_CONTACT_H
#define RBT_STEP_EXPONENTIAL_SIERE_CONTACT_H

#include "solve/modes.h"
#include "step/linearised/linearised.h"

typedef struct rbt_siere_meeting {
    rbt_linearised *base;
    const rbt_modes *modes;
    size_t used;
    const double *damping;  // (used) d_l
    double h;
    const double *move;                     // (nodes x 3) displacements without contact
    double *velocity;                       // (nodes x 3) velocities; momentum is made right to rounding
    double *by_displacement, *by_velocity;  // (used) work: the coefficients of U U^T above
    double *share;                          // (2 x used) work
} rbt_siere_meeting;

// How many of the first modes a step resolves
size_t rbt_siere_resolved(size_t used, const double *lambda, const double *damping, double h);

// The same answer as step/core/free_step.h has it, of `used` modes
void rbt_siere_answer(size_t used, const double *lambda, const double *damping, double h, double *stiffening,
                      double *quickening);

// The end of a step with contact: state->x and state->v.
rbt_outcome rbt_siere_meet(rbt_siere_meeting *meeting, rbt_state *state, rbt_stages *stages, rbt_step_report *report);

#endif
