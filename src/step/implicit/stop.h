// When a step counts as solved. With r = grad E / tau^2 the residual force [N] (objective.h), a step stops
//
//   force           where |r| <= epsilon (|M (z - y)|/tau^2 + |f_int| + |f_ext| + |f_damping| + |f_obstacle|) on
//                   every connected piece (pieces.h), all at the iterate and over its free nodes. The forces of a
//                   solved step balance, so a residual of that share misplaces nodes by about that share of what the
//                   step moves them: of any size and stiffness, and under any load. This is the default.
//   characteristic  where |grad E| is below a size that knows stiffness and area alone (rbt_objective_tolerance): the
//                   test of Li et al. 2019, to lay counts of iterations beside theirs. Loads that are small beside
//                   the stiffness go unnoticed.
//   step            where the last direction moved no node by more than epsilon times the diagonal of the bodies' box
//                   times tau, before anything shortened it: the test of Li et al. 2020, for comparing with their
//                   times. What a direction asks for and what is wrong are of one size for Newton's method alone.
//   stall           where the residual no longer falls: the most exact that a solver can do, for references.
//
// A start is not a solution: `force` accepts no position that no iteration has been made from unless its residual is
// exactly 0, so that an error that is small in one step does not add up over many with the same sign.
//
// Rounding: no iterate can do better than the residual that belongs to the last bit of its positions
// (rbt_acting.rounding), which a load can be below. It counts as solved there once the residual no longer falls:
// after two iterations within TYPICAL times that level (rounding to half a bit has a mean square of 1/12 bits, a
// node's neighbours bring as much as itself, and the arithmetic of the elements about as much as both), after five
// within WORST times of it (half a bit everywhere, with all signs alike over the row of a node, whose absolute sum is
// up to 8 times its own block, and the arithmetic again).
#ifndef RBT_STEP_IMPLICIT_STOP_H
#define RBT_STEP_IMPLICIT_STOP_H

#include "base/record.h"
#include "rubato/methods.h"
#include "step/implicit/objective.h"

const char *rbt_stop_name(int i);  // NULL past the end

typedef struct rbt_stop {
    const rbt_objective *objective;
    rbt_stop_test test;
    double epsilon;
    double share;  // of the rounding level that counts (rbt_step_solver.share)
    // Of the iterate judged last
    double residual;  // over what is allowed: solved at 1
    double least;     // of |r| so far [N]
    int idle;         // iterations since that fell by a tenth
} rbt_stop;

// epsilon NaN: `share` of the test's own
rbt_stop rbt_stop_begin(const rbt_objective *objective, int test, double epsilon, double share);

// Judges the iterate whose gradient was taken last; true: it counts as solved. `iteration` is how many led to it.
bool rbt_stop_judge(rbt_stop *stop, int iteration);

// Whether the iterate judged last is as good as rounding allows: what a line search that finds no decrease asks.
bool rbt_stop_at_rounding(const rbt_stop *stop);

#endif
