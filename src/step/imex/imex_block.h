// The implicit nodes of imex: one linearised step on them, with the new velocities of all other nodes known.
//   A dv = h f - h alpha M v - h (h + beta) K (v + dv_known),      A = (1 + h alpha) M + h (h + beta) K + h^2 K_contact
// (linearised.h with all explicit nodes constrained). K is the tangent at the start of the step of the elements at
// these nodes, and no others; it is applied as a map, without a matrix, in conjugate gradients.
//
// "cholesky" factors A in every step and solves exactly. What makes the others fast is the inverse of an older A: of
// A's Cholesky factor ("cached"), or of its diagonal blocks ("cg", the matrix-free solver of Fierz et al.). It is
// made again when the iterations since then have cost as much more than those of a fresh one as a new one costs. Costs
// are counted in fixed units, not measured: the same bits in every run. The positions that it belongs to and what was
// spent so far lie in the state's memory, so that a resumed run continues with the same inverse.
#ifndef RBT_STEP_IMEX_IMEX_BLOCK_H
#define RBT_STEP_IMEX_IMEX_BLOCK_H

#include "model/part.h"
#include "model/stiffness.h"
#include "model/tangent.h"
#include "solve/cholesky.h"
#include "step/core/stage.h"

typedef enum rbt_imex_solver {
    RBT_IMEX_AUTO,  // the cheaper of cg and cached
    RBT_IMEX_CHOLESKY,
    RBT_IMEX_CG,
    RBT_IMEX_CACHED,
    RBT_IMEX_LAGGED,  // not here: islands.h
    RBT_IMEX_SOLVERS
} rbt_imex_solver;

typedef struct rbt_imex_memory {
    uint64_t made;   // whether there is an inverse; then x (node_count x 3 of the part) behind this is where
    double h;        // the step it was made for
    double spent;    // in ns of the unit costs, since then
    double fresh;    // iterations of the first solve with it
    uint64_t stale;  // a new one is due
} rbt_imex_memory;

typedef struct rbt_imex_block {
    const rbt_model *whole;
    rbt_model_part part;
    size_t count;            // implicit nodes: the first of the part's
    rbt_imex_solver solver;  // never RBT_IMEX_AUTO
    double tolerance;
    bool constant;  // A depends on h and the constrained nodes only
    bool direct;    // the factor is A's own: no iterations

    rbt_tangent tangent;
    rbt_stiffness stiffness;  // of the factor: K and A of the part
    rbt_block_matrix A;
    rbt_cholesky *factor;
    double *inverse;  // CG: (count x 9) of A's diagonal blocks
    int32_t *rows;    // (count) those not constrained, ascending
    size_t row_count;
    unsigned char *constrained;  // (count) as analysed

    bool ready;                        // the inverse is that of `made_at` and `made_for`
    double *made_at;                   // (part nodes x 3)
    double made_for;                   // [s]
    double *mass;                      // (count)
    double *x, *moved, *Kp;            // (part nodes x 3)
    double *contact;                   // (count x 9), NULL without obstacles
    double *f;                         // (count x 3)
    double *rhs, *dv, *r, *z, *q, *p;  // (part nodes x 3)
} rbt_imex_block;

// chosen (node_count): the implicit nodes. `step` is what RBT_IMEX_AUTO looks at.
bool rbt_imex_block_init(rbt_imex_block *b, const rbt_model *model, const unsigned char *chosen,
                         rbt_imex_solver solver, double tolerance, double step, rbt_error *error);
void rbt_imex_block_free(rbt_imex_block *b);

// ---- The stages, in their order

// Where nodes are heading, with obstacles: needs f_ext (node_count x 3) of the whole.
void rbt_imex_block_meet(rbt_imex_block *b, const rbt_state *state, const double *external, double h);

// f (node_count x 3): f_ext - dW/dx of the whole, to which contact is added here.
void rbt_imex_block_take(rbt_imex_block *b, const double *f);

// K at state->x, and dv; state->v has the new velocities in all nodes but the implicit ones. constrained (node_count).
rbt_outcome rbt_imex_block_solve(rbt_imex_block *b, rbt_state *state, rbt_imex_memory *memory,
                                 const unsigned char *constrained, double h, rbt_stages *stages,
                                 rbt_step_report *report);

// After a solve with the solver "cholesky": dv = A^-1 (J - h (h + beta) K dv_known), what impulses J (node_count x 3)
// make of the implicit nodes if those make the velocities of all others change by dv_known (node_count x 3). False: no
// memory.
bool rbt_imex_block_push(rbt_imex_block *b, const double *J, const double *known, double h);

// v += dv in the implicit nodes
void rbt_imex_block_add(const rbt_imex_block *b, rbt_state *state);

// Costs in the fixed units [ns]: one iteration, one new inverse
double rbt_imex_iteration_cost(const rbt_imex_block *b);
double rbt_imex_inverse_cost(const rbt_imex_block *b);

#endif
