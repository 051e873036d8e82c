// The largest step at which an explicit method (symplectic Euler, central differences) stays stable: h = 2 / omega.
#ifndef RBT_MESH_CORE_STABLE_STEP_H
#define RBT_MESH_CORE_STABLE_STEP_H

#include "rubato/mesh.h"

// 2 / omega_max of one linear tet of linear elasticity with its mass shared equally by its corners, free in space [s].
// The least over all tets is a safe step for the whole body. 0 for a tet without volume or with a coordinate that is
// not a number, and for materials without a wave speed: young or density not above 0, poisson not within (-1, 1/2).
double rbt_tet_stable_step(const double X[4][3], double young, double poisson, double density);

// The same for every tet of a mesh: steps (tet_count) [s].
void rbt_stable_steps(const double *nodes, const int32_t *tets, size_t tet_count, double young, double poisson,
                      double density, double *steps);

typedef struct rbt_step_histogram {
    double min, max;                      // [s] of the steps above 0; both 0 if there is none
    int64_t smallest;                     // tet of the least step above 0, the first of several; -1 if there is none
    size_t none_count;                    // tets whose step is 0
    size_t count[RBT_HISTOGRAM_BINS];     // bin b: from edge[b] to edge[b + 1]
    double edge[RBT_HISTOGRAM_BINS + 1];  // [s] equal ratios from min to max
} rbt_step_histogram;

// Steps that differ by rounding only (1e-9 of their size) all go to the first bin.
void rbt_step_histogram_fill(const double *steps, size_t count, rbt_step_histogram *histogram);

#endif
