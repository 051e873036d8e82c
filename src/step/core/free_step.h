// The step of a method that solves one linear system: its end without contact, and its answer to contact.
//
// Such a step is linear in the impulses J that act on nodes during it, as forces J/h that do not change:
//
//   y = x + S_q J,   w = v + S_v J,      h S_q^-1 = B = A + sum over l of stiffening_l q_l q_l^T,   q_l = M u_l
//
// x and v are positions and velocities of its end without contact, A = M + h D + h^2 K, and u_l modes that are
// integrated exactly, u_k^T M u_l = 1 for k = l and 0 otherwise. Where K u = lambda M u, mode l alone answers to J by
// rho_l = I_l/h and sigma_l = S_l/h, with the responses I and S of math/oscillator.h, and so
//
//   stiffening_l = h / rho_l - theta_l,   theta_l = u_l^T A u_l = 1 + h d_l + h^2 lambda_l
//   w - v = (y - x)/h + sum over l of quickening_l u_l q_l^T (y - x),   quickening_l = sigma_l / rho_l - 1/h
//
// A slow mode has rho = h/2 and sigma = 1: B is twice its mass there, and velocities follow twice as far as positions
// do over the step, as those of a body under a constant force. stiffening > 0 where a step resolves the mode (h^2
// |lambda| <= 1 and h d <= 1), and is 0 for others, as in siere_contact.h. So B is positive definite for any u_l, and
//
//   y minimises 1/2 (y - x)^T B (y - x) + h^2 P(y)
//
// where contact is the potential P of forces J/h: what a body of such a method is in the minimum of an implicit step
// (step/implicit/other_methods.h).
//
// A mode that the step does not resolve answers by A then, and to all other forces by its exact I: what presses on it
// for long and what holds it would balance at another place than that of rest, by theta I / h^2. So where something
// touches the body as the step begins, such a mode is no mode in it, but part of the rest.
#ifndef RBT_STEP_CORE_FREE_STEP_H
#define RBT_STEP_CORE_FREE_STEP_H

#include "math/block_matrix.h"

#include <stdbool.h>

typedef struct rbt_free_part {      // what is to be stepped
    const unsigned char *left_out;  // (node_count) nodes that are not
    bool touched;                   // something touches it as the step begins
} rbt_free_part;

typedef struct rbt_free_step {
    const double *x, *v;        // (node_count x 3) [m], [m/s]
    const double *given;        // (node_count x 3) impulses of all forces, whose sum over a free body is what it gets
    const rbt_block_matrix *A;  // the pattern of K (model/stiffness.h); positive definite
    size_t mode_count;
    const double *U, *Q;                    // (mode_count x node_count x 3) u_l and q_l
    const double *stiffening, *quickening;  // (mode_count); the latter [1/s]
} rbt_free_step;

#endif
