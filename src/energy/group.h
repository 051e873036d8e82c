// Elements of one kind with an energy W(x) = sum_e W_e: the global view of a force term.
//
// Results go to places of their own per element, in the order of the group's elements, so that any number of threads gives
// the same bits; whoever sums them up does so in a fixed order (model/force.c, model/stiffness.c).
#ifndef RBT_ENERGY_GROUP_H
#define RBT_ENERGY_GROUP_H

#include "energy/tet_kernels.h"

#include <stdbool.h>

typedef struct rbt_group rbt_group;

// Node pairs (a, b), a >= b, of one element are numbered a (a + 1) / 2 + b; each has a 3x3 block, row by row.
typedef struct rbt_group_type {
    const char *name;
    int corners;                                                              // nodes per element
    int pairs;                                                                // corners (corners + 1) / 2
    void (*energy)(const rbt_group *group, const double *x, double *energy);  // energy[e] [J]
    // dW_e/dx_a: gradient[3 (corners e + a) + i] [N]; energy may be NULL
    void (*gradient)(const rbt_group *group, const double *x, double *energy, double *gradient);
    void (*stiffness)(const rbt_group *group, rbt_stiffness_kind kind, const double *x, double *blocks);
} rbt_group_type;

struct rbt_group {
    const rbt_group_type *type;
    size_t count;             // elements
    const int32_t *nodes;     // (count x corners)
    const int32_t *members;   // (count) the elements' numbers in the model's array of their kind
    bool constant_stiffness;  // the stiffness does not depend on x
    size_t first_element;     // what earlier groups have: elements,
    size_t first_corner;      // corners
    size_t first_pair;        // and pairs
    const void *data;         // what the type keeps
};

#endif
