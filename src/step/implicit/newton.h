// What the two files of Newton's method share.
#ifndef RBT_STEP_IMPLICIT_NEWTON_H
#define RBT_STEP_IMPLICIT_NEWTON_H

#include "step/implicit/contact_drive.h"
#include "step/subdomain/linear_kind.h"

typedef struct rbt_newton {
    rbt_objective *objective;
    rbt_linear linear;
    rbt_search search;
    rbt_arena *arena;
    double *gradient, *direction;  // (node_count x 3)
    double factored_tau;           // of the factor that is kept for a linear model; 0: none
    // With contact:
    rbt_contact_drive drive;
    bool exact;                     // the next factor is to be that of the true Hessian
    int waited, patience;           // iterations until that is tried again, and after the next failure
    int body_waits, body_patience;  // the same for the true stiffness of elements
} rbt_newton;

// Like a step solver's solve, with contact.
rbt_outcome rbt_newton_contact(rbt_newton *newton, const double *last, double *z, rbt_stop *stop, int max_iterations,
                               rbt_stages *stages, rbt_step_report *report);

#endif
