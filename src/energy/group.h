// Elements of one kind with an energy W(x) = sum_e W_e: the global view of a force term.
//
// The functions of a type are pure and work on a range of elements; results are written in the order of the range.
// Threads, and the order in which results are summed up, are the caller's business (model/force.c, model/stiffness.c).
#ifndef RBT_ENERGY_GROUP_H
#define RBT_ENERGY_GROUP_H

#include "base/memory.h"
#include "energy/tet_kernels.h"

#include <stdbool.h>

typedef struct rbt_group rbt_group;

enum { RBT_MOST_CORNERS = 4 };  // of any element

// Node pairs (a, b), a >= b, of one element are numbered a (a + 1) / 2 + b; each has a 3x3 block, row by row.
typedef struct rbt_group_type {
    const char *name;
    int corners;  // nodes per element
    int pairs;    // corners (corners + 1) / 2
    // Elements first .. first + count - 1; `first` is a multiple of RBT_W. energy[e - first] [J]
    void (*energy)(const rbt_group *group, size_t first, size_t count, const double *x, double *energy);
    // dW_e/dx_a: gradient[3 (corners (e - first) + a) + i] [N]; energy may be NULL
    void (*gradient)(const rbt_group *group, size_t first, size_t count, const double *x, double *energy,
                     double *gradient);
    // The same added up at places of four numbers, the last a spare one: corner k of the range, counted as in
    // gradient, is at place[k] of the positions y and of sum; sum[4 place[k] + i] += dW_e/dx_a. NULL: gradient serves.
    void (*sum)(const rbt_group *group, size_t first, size_t count, const uint16_t *place, const double *y,
                double *energy, double *sum);
    // blocks[9 (pairs (e - first) + pair) + 3 i + j] [N/m]
    void (*stiffness)(const rbt_group *group, rbt_stiffness_kind kind, size_t first, size_t count, const double *x,
                      double *blocks);

    // The local view, one element: its energy; if wanted force -dW_e/dx (3 corners) and stiffness (square, row by row).
    double (*local)(const rbt_group *group, size_t element, const double *x, double *force, rbt_stiffness_kind kind,
                    double *stiffness);
    // Largest eigenvalue of M_e^-1 K_e at rest [1/s^2], with masses (corners) of its own [kg]: an explicit step is
    // stable below 2 / sqrt(rate). NULL: not known here (tets: mesh/core/stable_step.h).
    double (*rate)(const rbt_group *group, size_t element, const double *masses);

    // The gradient with what resists the rate of strain, dW_e/dx + beta[e - first] D_e(x) v, as in gradient; beta:
    // time constants [s]. With s the strain of the element (length, Green's strain, angle) and C its moduli at rest
    //   D = phi (ds/dx)^T C (ds/dx)
    // is symmetric, positive semi-definite and 0 on rigid motions whatever the deformation: linear and angular
    // momentum are kept, energy never grows. phi <= 1, 1 at rest, keeps the rate of D, the largest eigenvalue of
    // M_e^-1 D, at most that of K at rest.
    void (*damped_gradient)(const rbt_group *group, size_t first, size_t count, const double *x, const double *v,
                            const double *beta, double *gradient);

    // RBT_TANGENT as a map, without a matrix: tangent_size numbers per element hold what depends on x, in an order of
    // the type's own (`first` is a multiple of RBT_W, and its numbers begin at store[first * size]); apply adds K_e p
    // up as sum does, p and result in places of four numbers.
    size_t (*tangent_size)(const rbt_group *group);
    void (*tangent)(const rbt_group *group, size_t first, size_t count, const double *x, double *store);
    void (*apply)(const rbt_group *group, size_t first, size_t count, const double *store, const uint16_t *place,
                  const double *p, double *sum);

    // How much stiffer than at rest an element is (energy/stiffening.h); NULL: not known. modulus: the unit of d, of
    // a group whose stiffness is not constant and does not only turn; stiffening: d in this unit; laplacian: y += d
    // G_e p, p and y (node_count x 3).
    double (*modulus)(const rbt_group *group, size_t element);
    double (*stiffening)(const rbt_group *group, size_t element, const double *x);
    void (*laplacian)(const rbt_group *group, size_t element, double d, const double *p, double *y);

    // A group of some of its elements (ascending), node n of which is called number[n] there. NULL: `data` is an
    // array of data_size bytes per element, and rbt_group_part copies them.
    bool (*part)(const rbt_group *group, rbt_arena *arena, const int32_t *elements, size_t count,
                 const int32_t *number, rbt_group *part, rbt_error *error);
    size_t data_size;
} rbt_group_type;

struct rbt_group {
    const rbt_group_type *type;
    size_t count;             // elements
    const int32_t *nodes;     // (count x corners)
    const int32_t *members;   // (count) the elements' numbers in the model's array of their kind
    bool constant_stiffness;  // the stiffness does not depend on x
    bool turning_stiffness;   // RBT_TANGENT depends on a rotation of each element alone: the 9 numbers of its tangent
    const void *data;         // what the type keeps
};

// The global view as a loop over the local one, for types whose elements do not come in batches.
void rbt_group_energy(const rbt_group *group, size_t first, size_t count, const double *x, double *energy);
void rbt_group_gradient(const rbt_group *group, size_t first, size_t count, const double *x, double *energy,
                        double *gradient);
void rbt_group_stiffness(const rbt_group *group, rbt_stiffness_kind kind, size_t first, size_t count, const double *x,
                         double *blocks);
size_t rbt_group_tangent_size(const rbt_group *group);
void rbt_group_tangent(const rbt_group *group, size_t first, size_t count, const double *x, double *store);
void rbt_group_apply(const rbt_group *group, size_t first, size_t count, const double *store, const uint16_t *place,
                     const double *p, double *sum);

// See rbt_group_type.part.
bool rbt_group_part(const rbt_group *group, rbt_arena *arena, const int32_t *elements, size_t count,
                    const int32_t *number, rbt_group *part, rbt_error *error);

#endif
