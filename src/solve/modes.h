// The lowest eigenpairs of K u = lambda M u while K changes from step to step. Those of the last step are the start: one
// Rayleigh-Ritz projection onto
//   span [U, T, V],   U: the last modes,   T = A^-1 M U,   V: the modes before them (and so their drift),
// and where the residuals are still too large, more such rounds with the factor of A, which is the one the step needs anyway:
// A = c (K + s M) inverts the low end of the spectrum. This is locally optimal block iteration (Knyazev 2001). A few more vectors
// than wanted are carried along as guards, and one right-hand side of T is noise, so that a mode which comes down from
// above is noticed. The start from nothing is noise. (ARPACK, solve/eigen.h, finds the same modes, but where several are
// equal it takes random numbers that depend on what ran before in the process: a resumed run would get other bits.)
//
// Dense products are BLAS's on one thread, sparse ones sum in a fixed order: the same bits for any number of threads.
#ifndef RBT_SOLVE_MODES_H
#define RBT_SOLVE_MODES_H

#include "base/memory.h"
#include "solve/cg.h"
#include "solve/cholesky.h"

typedef struct rbt_modes_problem {
    const rbt_block_matrix *K;
    rbt_operator stiffness, mass;  // K x and M x
    const double *lumped;       // (row_count) M's row sums: M itself if it is diagonal, and the measure of residuals
    const unsigned char *keep;  // (row_count) 0: not an unknown
    rbt_cholesky *factor;       // of A with these rows kept
    bool indefinite;            // A has negative eigenvalues: its inverse brings out others than the lowest modes
    double shift;               // s [1/s^2] > 0
    double tolerance;           // of |K u - lambda M u| beside (|lambda| + s) |M u|
} rbt_modes_problem;

typedef struct rbt_modes {
    rbt_arena *arena;            // of all arrays: aligned alike in every run, since BLAS's bits depend on it
    size_t row_count, capacity;  // capacity: most vectors that can be carried along
    size_t carried;              // vectors to carry along, guards included: the caller's choice up to the capacity
    size_t unknowns;             // 3 x rows kept
    size_t count;                // vectors that are, min(carried, unknowns)
    double *U, *T, *V;  // (capacity x row_count x 3) what a start needs, and all of it: to be kept by the caller
    double *Q, *KU;     // (capacity x row_count x 3) M U and K U
    double *lambda, *residual;  // (capacity) ascending; |K u - lambda M u| in the norm of M^-1 [1/s^2]
    int64_t solves;             // with the factor, blocks of right-hand sides, so far
    // work space
    double *basis, *image;             // (3 capacity x row_count x 3) of the projection, and K times it
    double *given, *block, *weighted;  // (capacity x row_count x 3)
    double *reduced, *values, *small;  // ((3 capacity)^2), (3 capacity), (dsyevd's)
    double *gram, *turn;               // (capacity^2), (3 capacity^2)
    int *integers;                     // (dsyevd's)
    size_t size;                       // vectors in the basis
} rbt_modes;

typedef enum rbt_modes_result {
    RBT_MODES_FOUND,
    RBT_MODES_NOT_CONVERGED,
    RBT_MODES_NOT_FINITE,
    RBT_MODES_NO_MEMORY,
} rbt_modes_result;

size_t rbt_modes_capacity(size_t wanted);  // guards included

bool rbt_modes_init(rbt_modes *modes, size_t row_count, size_t capacity, rbt_error *error);
void rbt_modes_free(rbt_modes *modes);

// From U, T and V (which may hold zeros) until the lowest `wanted` pass the tolerance. Fills U, Q, KU, lambda, residual; V becomes
// the U that was given.
rbt_modes_result rbt_modes_follow(rbt_modes *modes, const rbt_modes_problem *problem, size_t wanted);

// From nothing but the first `known` vectors in T, which may be modes or close to them.
rbt_modes_result rbt_modes_start(rbt_modes *modes, const rbt_modes_problem *problem, size_t wanted, size_t known);

// Q, KU, lambda and residual from U alone.
void rbt_modes_refresh(rbt_modes *modes, const rbt_modes_problem *problem);

// A right-hand side in which every mode has a share; another for every seed.
void rbt_modes_noise(const rbt_modes *modes, const rbt_modes_problem *problem, size_t seed, double *b);

// ---- dense products of blocks of vectors, n numbers each, one after the other ----

// C (a x b), columns one after the other: X^T Y
void rbt_vectors_inner(size_t n, size_t a, const double *X, size_t b, const double *Y, double *C);

// Y (b vectors) = beta Y + alpha X C, X of a vectors, C (a x b) with columns `row` >= a apart
void rbt_vectors_combine(size_t n, double alpha, size_t a, const double *X, size_t row, const double *C, size_t b,
                         double beta, double *Y);

#endif
