// The lowest eigenpairs of K u = lambda M u while K changes from step to step. Those of the last step, X, are the
// start of an inverse iteration with the factor of A = a M + c K, which is the one the step needs anyway:
//   A W = M X,    (W^T K W) C = (W^T M W) C Lambda,    U = W C,      K W = (M X - a M W) / c
// W is smooth with respect to the current K; X is not: where stiff parts rotate, X has energies far above its
// eigenvalues.
// With K W from the equation that W solves, neither products with K nor anything but a few long inner products are
// left beside the solve. The residual comes for nothing, too, and decides whether another round is needed:
//   K u - lambda M u = M (X C_l - (a + c lambda) u) / c
// and its square is a matter of small matrices where a and c are the same in all rows: (|X C_l|^2 - 2 (a + c lambda)
// (C^T X^T M W C)_ll + (a + c lambda)^2) / c^2, which is good to 1e-7 of (a + c lambda) / c.
// A few more vectors than wanted are carried along as guards, and one right-hand side is noise, so that a mode which
// comes down from above is noticed. (Measured on the paper's scenes: one round leaves 0.01 to 0.05 of a + c lambda.
// Adding X or the modes before it to the basis, or starting from where they are heading, changes little, and costs
// three times as much.)
//
// Where such rounds get too slow, and at the start from nothing, which is noise: locally optimal block iteration
// (Knyazev 2001) over span [U, T, V], T = A^-1 of the residuals, V the U before. (ARPACK, which the tests compare
// with, finds the same modes, but where several are equal it takes random numbers that depend on what ran before in the
// process: a resumed run would get other bits.)
//
// With a space (below) sums over rows are the caller's, and so are solves, which may be iterative and leave an error: K
// W is then a product wherever residuals must be finer than that.
#ifndef RBT_SOLVE_MODES_H
#define RBT_SOLVE_MODES_H

#include "base/memory.h"
#include "solve/cg.h"
#include "solve/cholesky.h"
#include "solve/vectors.h"

typedef enum rbt_modes_result {
    RBT_MODES_FOUND,
    RBT_MODES_NOT_CONVERGED,
    RBT_MODES_NOT_FINITE,
    RBT_MODES_NO_MEMORY,
    RBT_MODES_INDEFINITE,  // A is; only a space tells so, others know it before
} rbt_modes_result;

// Vectors that are divided among several programs, of which each has some rows and those around them, or whose sums
// must not depend on any order. All programs call all of it together, with the same small matrices.
typedef struct rbt_modes_space {
    void *self;
    size_t whole_rows;
    const int32_t *number;       // (row_count) of rows in the whole, ascending; NULL: they are the whole
    const unsigned char *owned;  // (row_count) rows that this program counts in sums; NULL: all
    void (*inner)(void *self, size_t a, const double *X, size_t b, const double *Y, double *C);  // rbt_vectors_inner
    void (*dots)(void *self, size_t count, const double *X, const double *Y, double *to);        // X_l^T Y_l
    void (*sum)(void *self, double *values, size_t count);                                       // of all programs
    void (*most)(void *self, double *values, size_t count);  // likewise the largest
    void (*share)(void *self, double *x);                    // (row_count x 3) from owners to who knows a row
    // A X = B; NOT_CONVERGED: X is what came of it
    rbt_modes_result (*solve)(void *self, size_t count, const double *B, double *X);
    // From now on `solve` has K + shift M, M lumped; 0: A again. INDEFINITE: it is not positive definite.
    rbt_modes_result (*shift)(void *self, double shift);
} rbt_modes_space;

typedef struct rbt_modes_problem {
    const rbt_block_matrix *K;
    rbt_operator stiffness, mass;                // K x and M x; if the latter is NULL, M is `lumped`
    const double *lumped;                        // (row_count) M's row sums, and the measure of residuals
    const unsigned char *keep;                   // (row_count) 0: not an unknown
    rbt_cholesky *factor;                        // of A with these rows kept; unused with a space
    const double *mass_share, *stiffness_share;  // (row_count) a and c of A's rows
    const double *extra;                         // (row_count x 9) what A has besides on its diagonal, or NULL
    bool indefinite;   // A has negative eigenvalues: its inverse brings out others than the lowest modes
    double shift;      // s [1/s^2] > 0
    double tolerance;  // of |K u - lambda M u| beside (|lambda| + s) |M u|
} rbt_modes_problem;

typedef struct rbt_modes {
    const rbt_modes_space *space;  // the caller's; NULL: vectors are whole, and sums those of vectors.h
    rbt_arena *arena;              // of all arrays: aligned alike in every run, since BLAS's bits depend on it
    size_t row_count, capacity;    // capacity: most vectors that can be carried along
    size_t carried;                // vectors to carry along, guards included: the caller's choice up to the capacity
    size_t unknowns;               // 3 x rows kept, of the whole
    size_t count;                  // vectors that are, min(carried, unknowns)
    double *U;       // (capacity x row_count x 3) what a start needs, and all of it: to be kept by the caller
    double *Q, *KU;  // (capacity x row_count x 3) M U and K U; the latter only if `images`, see rbt_modes_images
    bool images;     // KU is there; otherwise K U = (B C - a Q) / c with what the last round left in block and turn
    double *lambda, *residual;  // (capacity) ascending; |K u - lambda M u| in the norm of M^-1 [1/s^2]
    int64_t solves;             // with the factor, blocks of right-hand sides, so far
    // work space
    double *T, *V;                     // (capacity x row_count x 3)
    double *basis, *image;             // (3 capacity x row_count x 3) of the projection, and K times it
    double *block, *weighted;          // (capacity x row_count x 3)
    double *reduced, *values, *small;  // ((3 capacity)^2), (3 capacity), (9 capacity)
    double *gram, *turn;               // (2 capacity^2), (3 capacity^2)
    double *partial;                   // of inner products
    double *weight, *per_weight;       // (row_count x 3) lumped and 1 / lumped, 0 where nothing is unknown
    double *mass_part, *per_part;      // (row_count x 3) a and 1 / c
    double a, c;                       // the same, if all rows have the same, otherwise c = 0
    size_t size;                       // vectors in the basis
} rbt_modes;

size_t rbt_modes_capacity(size_t wanted);  // guards included

bool rbt_modes_init(rbt_modes *modes, size_t row_count, size_t capacity, rbt_error *error);
void rbt_modes_free(rbt_modes *modes);

// From X (`carried` vectors), which may be U, until the lowest `wanted` pass the tolerance. Fills U, Q, lambda,
// residual.
rbt_modes_result rbt_modes_follow(rbt_modes *modes, const rbt_modes_problem *problem, size_t wanted, const double *X);

// From nothing but the first `known` vectors in T, which may be modes or close to them.
rbt_modes_result rbt_modes_start(rbt_modes *modes, const rbt_modes_problem *problem, size_t wanted, size_t known);

// C (a x b), columns one after the other: X^T Y, a and b not above 3 x capacity
void rbt_modes_inner(const rbt_modes *modes, size_t a, const double *X, size_t b, const double *Y, double *C);

// KU, if it is not there yet
void rbt_modes_images(rbt_modes *modes);

// y += alpha (Q z + K U k_z) for the first `count` modes; z is overwritten.
void rbt_modes_add(rbt_modes *modes, double alpha, size_t count, double *z, const double *k_z, double *y);

// Q, KU, lambda and residual from U alone.
void rbt_modes_refresh(rbt_modes *modes, const rbt_modes_problem *problem);

// A right-hand side in which every mode has a share; another for every seed.
void rbt_modes_noise(const rbt_modes *modes, const rbt_modes_problem *problem, size_t seed, double *b);

#endif
