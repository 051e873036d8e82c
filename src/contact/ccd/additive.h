// How far a pair of simple bodies (contact/distance/gap.h) may move along straight lines and surely stay apart.
//
// The answer is proved, rounding included (additive.c), and speaks of stored numbers: positions that a caller makes as
//   y' = x + s (y - x),   s <= t
// with an error per coordinate of at most e (max(|x|, |y|) + |y - x|), e = DBL_EPSILON. That holds for the line as
// written, computed in doubles, with or without fused operations, and for y itself if s = 1.
#ifndef RBT_CONTACT_CCD_ADDITIVE_H
#define RBT_CONTACT_CCD_ADDITIVE_H

#include "contact/distance/gap.h"

// The share of the first gap, or of `reach` if that is less, that a motion leaves.
#define RBT_CCD_KEEP 0.1

// The largest share t in [0, 1] found of the motion x -> y of a pair's corners (x 3 each, those of A first) such that
// for every s in [0, t] the pair is surely apart all along the stored motion x -> y':
//   distance - inside >= RBT_CCD_KEEP min(first gap, reach) > 0
// first gap: distance - inside at x, a lower bound that is less than the true one by rounding only.
// inside [m]: sum of the radii, thickness; at least 0. reach [m]: where contact forces begin; at least 0. A pair that
// never comes nearer than inside + reach gets exactly 1, so it need not be asked (if reach is above rounding, about
// 32 e of the largest coordinate).
// wall_normal: of RBT_TOUCH_WALL, a unit vector to the free side; else NULL. Its point, corner 1, may move.
// 0: rounding leaves no room at x, a number is not finite or beyond 1e70, inside or reach is negative.
// Kinds: all but RBT_TOUCH_STRETCH and RBT_TOUCH_SHRINK.
double rbt_ccd_pair(rbt_touch_kind kind, const double x[12], const double y[12], double inside, double reach,
                    const double wall_normal[3]);

#endif
