// Whether the two sides of a cut with a width are apart from each other and from everything else, exactly.
//
// Everywhere else nodes come to where they are by moves that contact has tested. A cut puts them there, so the judge
// (verify/exact/intersect.h) looks at them before contact is asked to keep apart what it finds.
#ifndef RBT_MODEL_CUT_JUDGE_H
#define RBT_MODEL_CUT_JUDGE_H

#include "model/model.h"

typedef struct rbt_cut_verdict {
    size_t count;     // places where something that has been moved meets something
    int body;         // of the first of them
    double place[3];  // and where
    char close[200];  // no place at all, but what contact could not tell apart; empty: nothing
} rbt_cut_verdict;

// x (node_count x 3): positions at time t; moved (node_count): which nodes the cut has put there. Pairs without such a
// node are none of its business. Obstacles are where `motions` bring them. Sets bit 2 of `moved` for those that meet
// something.
bool rbt_cut_judge(const rbt_model *model, const rbt_motion_group *motions, const double *x, double t,
                   unsigned char *moved, rbt_cut_verdict *verdict, rbt_error *error);

#endif
