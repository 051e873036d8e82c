// Line search: how far to go along a direction of descent.
#ifndef RBT_STEP_IMPLICIT_SEARCH_H
#define RBT_STEP_IMPLICIT_SEARCH_H

#include "step/implicit/objective.h"

typedef struct rbt_search {
    rbt_objective *objective;
    rbt_arena *arena;
    double *trial, *trial_gradient;  // (node_count x 3)
    int expected;                    // halvings that the last search took; to be 0 at the start of a step
} rbt_search;

bool rbt_search_init(rbt_search *search, rbt_objective *objective, rbt_error *error);
void rbt_search_free(rbt_search *search);

// Takes z <- z + s p with s the first of first, first/2, first/4, ... for which E does not increase; z, *value and
// gradient become those of the new position. Returns s, or 0 if even tiny steps do not help. The search begins with as
// many halvings as it took last time and continues from there in either direction, since a direction like the last
// needs about as many: that E increases for all greater lengths, too, is known of the next greater one only. The
// first trial brings its gradient along. Where the decrease that `slope` = p.grad E promises is less than the
// rounding of E (small strains of stiff bodies, and tight tolerances), the slope at the new position decides instead
// of E. The objective gets to know how far p wants to move nodes, whatever becomes of it.
double rbt_search_along(rbt_search *search, const double *p, double slope, double first, double *z, double *value,
                        double *gradient);

#endif
