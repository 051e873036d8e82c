// The element kernels of every material on tets, by instruction set. The order of materials is that of material_list.h.
#ifndef RBT_ENERGY_TET_KERNELS_H
#define RBT_ENERGY_TET_KERNELS_H

#include "energy/material_list.h"
#include "math/lanes.h"

#include <stddef.h>
#include <stdint.h>

typedef struct rbt_lame {
    double mu[RBT_W], lambda[RBT_W];
} rbt_lame;

typedef struct rbt_tet_batch {
    double B[9][RBT_W];      // Dm^-1 [1/m]
    double volume[RBT_W];    // [m^3]; 0 in padding lanes
    rbt_lame k;              // parameters of psi [Pa]
    int32_t node[4][RBT_W];  // padding lanes repeat a real tet
} rbt_tet_batch;

// `blocks` of one tet: the 10 node pairs (a, b), a >= b, in the order 00 10 11 20 21 22 30 31 32 33, each 3x3 row by
// row.
enum { RBT_TET_PAIRS = 10, RBT_TET_BLOCK_DOUBLES = 90 };

typedef enum rbt_stiffness_kind {
    RBT_HESSIAN,    // the second derivative of the energy
    RBT_PROJECTED,  // with the negative eigenvalues of each element replaced by 0
    RBT_TANGENT,    // what linearly implicit methods use: the Hessian, for corotational elements the warped stiffness
    RBT_STIFFNESS_KINDS
} rbt_stiffness_kind;

typedef struct rbt_tet_kernels {
    // `count` tets of the batches, which are full but for the last. energy[e] [J]
    void (*energy)(const rbt_tet_batch *batches, size_t count, const double *x, double *energy);
    // gradient[12 e + 3 a + i] [N]; energy may be NULL
    void (*gradient)(const rbt_tet_batch *batches, size_t count, const double *x, double *energy, double *gradient);
    // the gradient added up at places of four numbers: sum[4 place[4 e + a] + i] += dW/dx, positions y likewise;
    // energy may be NULL
    void (*sum)(const rbt_tet_batch *batches, size_t count, const uint16_t *place, const double *y, double *energy,
                double *sum);
    void (*stiffness[RBT_STIFFNESS_KINDS])(const rbt_tet_batch *batches, size_t count, const double *x,
                                           double *blocks);
    // RBT_TANGENT as a map: tangent_size numbers per tet hold what depends on x (0: nothing does), apply gives K p as
    // sum does, p and result in places. In lanes: number k of tet l of a batch is store[RBT_W k + l].
    size_t tangent_size;
    void (*tangent)(const rbt_tet_batch *batches, size_t count, const double *x, double *store);
    void (*apply)(const rbt_tet_batch *batches, size_t count, const double *store, const uint16_t *place,
                  const double *p, double *sum);
    // Of linear elasticity: result[12 e + 3 a + i], V (T - F) g_a, T the deformation that F stands for
    // (tet_warp_kernel.h). NULL: no such thing.
    void (*warp)(const rbt_tet_batch *batches, size_t count, const double *x, double *result);
    // |F^T F - I|^2 of each tet, infinite where it is inside out: square[e]
    void (*strain)(const rbt_tet_batch *batches, size_t count, const double *x, double *square);
} rbt_tet_kernels;

extern const rbt_tet_kernels RBT_TET_KERNELS_PLAIN[RBT_TET_MATERIALS];
extern const rbt_tet_kernels RBT_TET_KERNELS_AVX2[RBT_TET_MATERIALS];
extern const rbt_tet_kernels RBT_TET_KERNELS_AVX512[RBT_TET_MATERIALS];

#endif
