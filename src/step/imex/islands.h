// The implicit nodes of imex in islands: sets that share no element with each other, so that each has an equation of
// its own,
//   A dv = h (f_ext + f(x~)) + beta (f(x~) - f(x)) - h alpha M v,      x~ = x + h v,
//   A = (1 + h alpha) M + h (h + beta) K'
// where f are the elastic forces, and v the new velocities of explicit nodes. To first order f(x~) is f(x) - h K v:
// imex_block.h. Most islands are tiny. K' is the stiffness that an island's elements had when one of them had last
// turned too far (turn.h), which no other island has to wait for: K' and an inverse of A, dense for few nodes and a
// Cholesky factor for many, serve until then. As forces are exact, an old K' matters for changes of velocity only:
// with K' (v + dv) instead of f(x~), rotations of neighbours would seem to strain an element, and explicit nodes next
// to it could blow up. For elements whose stiffness depends on their rotations alone, where no obstacles are.
//
// K' is made of rotations in single precision, four numbers each, and these lie in the state's memory: a resumed run
// continues with the same K'.
#ifndef RBT_STEP_IMEX_ISLANDS_H
#define RBT_STEP_IMEX_ISLANDS_H

#include "model/part.h"
#include "solve/cholesky.h"
#include "step/core/stage.h"
#include "step/imex/rotation_lag.h"

typedef struct rbt_island {
    size_t begin, end;                  // rows
    size_t element_begin, element_end;  // in `elements`
    rbt_block_matrix A;                 // many nodes: as it is factored
    rbt_cholesky *factor;
    double *inverse;  // few nodes: (3 rows)^2
    bool stale;       // K is to be made again
} rbt_island;

typedef struct rbt_islands {
    const rbt_model *whole;
    rbt_model_part part;
    double lag;           // the root of the most that turn.h's sum may be
    size_t count;         // rows: implicit nodes, island by island
    const int32_t *node;  // (count) of the part
    size_t island_count;
    rbt_island *islands;
    const int32_t *elements;  // (part elements) island by island
    rbt_rotation_lag turn;

    // K: blocks of each row
    const size_t *start;      // (count + 1)
    const int32_t *column;    // rows, counted from the island's first, ascending
    double *K;                // (blocks x 9)
    const size_t *use_start;  // (count + 1) the elements at each row
    const uint32_t *use;      // 4 element + corner
    const uint32_t *target;   // (uses x 4) the block that a corner's part goes to, from the row's first
    const double *shape;      // (elements x 14) gradients of the four corners, volume times mu and lambda

    int64_t renewed;             // islands, so far
    bool ready;                  // K is that of the rotations below
    float *turned;               // (elements x 4) as quaternions
    double *rotation;            // (elements x 9) the same
    double *square;              // (elements) work space
    double made_for;             // [s] the step of A
    unsigned char *constrained;  // (count) as in A
    unsigned char *every_row;    // (count) 1
    double *x, *bent;            // (part nodes x 3) places, forces there
    double *partial;             // work space of these
    double *external, *elastic;  // (count x 3) forces at the start
    double *rhs, *dv;            // (count x 3)
} rbt_islands;

typedef struct rbt_islands_memory {
    uint64_t made;   // the rotations behind this are there
    uint64_t every;  // steps from a look at elements to the next
    uint64_t wait;   // steps until the next one
} rbt_islands_memory;

bool rbt_islands_can(const rbt_model *model, double lag);
size_t rbt_islands_memory_size(const rbt_model *model);

// chosen (node_count): the implicit nodes.
bool rbt_islands_init(rbt_islands *s, const rbt_model *model, const unsigned char *chosen, double lag,
                      rbt_error *error);
void rbt_islands_free(rbt_islands *s);

// ---- The stages, in their order

// f (node_count x 3): external forces, and then with elastic ones
void rbt_islands_take_external(rbt_islands *s, const double *f);
void rbt_islands_take(rbt_islands *s, const double *f);

// dv; state->v has the new velocities in all nodes but the implicit ones. constrained (node_count).
rbt_outcome rbt_islands_solve(rbt_islands *s, rbt_state *state, rbt_islands_memory *memory,
                              const unsigned char *constrained, double h, rbt_stages *stages,
                              rbt_step_report *report);

void rbt_islands_add(const rbt_islands *s, rbt_state *state);  // v += dv

#endif
