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

#include "step/exponential/siere.h"

// Whether a step resolves a mode, and how many of the first modes it does
bool rbt_siere_is_resolved(double lambda, double damping, double h);
size_t rbt_siere_resolved(size_t used, const double *lambda, const double *damping, double h);

// The same answer as step/core/free_step.h has it, of `used` modes
void rbt_siere_answer(size_t used, const double *lambda, const double *damping, double h, double *stiffening,
                      double *quickening);

// A mode that a step does not resolve answers to contact as A does, but to its own forces exactly:
// the two would balance at another place than that of rest. While something touches it is left to the rest.
void rbt_siere_leave_unresolved(rbt_siere *s, const rbt_state *state, double h);

// The end of a step with contact: state->x and state->v. `right` has the motion without it and the velocities of its
// end, one behind the other.
rbt_outcome rbt_siere_meet(rbt_siere *s, rbt_state *state, double h, rbt_stages *stages, rbt_step_report *report);

#endif
