// How far elements have turned since a stiffness was made of them, and how far they may before a step with it is
// unstable.
//
// The stiffness K of corotational elements depends on their rotations alone. A linearly implicit step with exact
// forces and an older stiffness K', d being the last step's motion and d+ this one's,
//   (M + h^2 K') (d+ - d) = - h^2 K (x + d),
// has for every vector y roots z of a z^2 - 2 (a - k) z + a - k = 0, with k = h^2 y^* K y and a = y^* (M + h^2 K') y.
// None is beyond 1 if 0 <= k <= 4 a / 3, so the step is stable as long as
//   K <= 4/3 (K' + M / h^2).
// An element that has turned by a small angle t has K_e <= 4/3 K_e' + 4 t^2 k_e M, k_e being the largest eigenvalue
// of M^-1 K_e. Summed up, that is so if at every node
//   sum over its elements of (h w_e t_e)^2 <= 1/3,      w_e^2 = sum of the diagonal of M^-1 K_e, no less than k_e.
// Beside explicit nodes less will do. There the step is that of K itself with M + h^2 (K' - K) in place of M, which
// is stable where this is positive on the motions that explicit nodes impose, and not only where it is above -h^2 K /
// 4. There is no bound in closed form; of 2,000 random turns of random bodies 6 were unstable with a sum of 1/3 (by
// up to 0.4 % a step), 4 with 0.5^2, none with 0.4^2. Turns go beyond what islands allow by three tenths at most
// (islands.c), so a lag of 0.3 keeps below 0.4.
#ifndef RBT_STEP_IMEX_ROTATION_LAG_H
#define RBT_STEP_IMEX_ROTATION_LAG_H

#include "model/part.h"
#include "model/tangent.h"

typedef struct rbt_rotation_lag {
    const rbt_model *model;
    size_t element_count;  // of all groups, in their order
    bool constant;         // no element's stiffness depends on its rotation
    rbt_tangent now;
    // (element_count) of the first of an element's nine numbers in now.store, which lie RBT_W apart; SIZE_MAX: it
    // has none
    size_t *place;
    double *rate;  // (element_count) w_e [1/s]
} rbt_rotation_lag;

// Whether the stiffness of all groups depends on rotations alone, or on nothing
bool rbt_rotation_lag_knows(const rbt_model *model);

// mass (node_count) [kg], X (node_count x 3): of the part's nodes. All of it lies in the part's arena.
bool rbt_rotation_lag_build(rbt_rotation_lag *turn, const rbt_model_part *part, const double *mass, const double *X,
                            rbt_error *error);

// Finds the rotations at x, for what follows.
void rbt_rotation_lag_look(rbt_rotation_lag *turn, const double *x);

void rbt_rotation_lag_rotation(const rbt_rotation_lag *turn, size_t element, double R[9]);

// t^2 of an element that had the rotation `made`, where t is small; no more than that elsewhere
double rbt_rotation_lag_square(const rbt_rotation_lag *turn, size_t element, const double made[9]);

#endif
