// The tangent stiffness of a model as a map, without a matrix: prepared once at x, then applied to any direction.
// Sums go along the plan (model/plan.h), so any number of threads gives the same bits.
#ifndef RBT_MODEL_TANGENT_H
#define RBT_MODEL_TANGENT_H

#include "model/model.h"

typedef struct rbt_tangent {
    const rbt_model *model;
    const size_t *chunk_start;  // (plan.chunk_count + 1) the numbers of each chunk in `store`
    double *store;              // what of the elements' stiffness depends on x
    double *partial;            // (plan.slot_count x 9) work space
} rbt_tangent;

// Only node_count, groups and plan of the model are looked at.
bool rbt_tangent_build(rbt_tangent *tangent, rbt_arena *arena, const rbt_model *model, rbt_error *error);

void rbt_tangent_prepare(rbt_tangent *tangent, const double *x);

// y = K p, both (node_count x 3)
void rbt_tangent_product(rbt_tangent *tangent, const double *p, double *y);

// D (node_count x 9): the diagonal blocks of K at x, whatever was prepared
void rbt_tangent_diagonal(rbt_tangent *tangent, const double *x, double *D);

#endif
