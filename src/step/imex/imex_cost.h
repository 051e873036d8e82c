// What a step of imex costs, and which step is the cheapest.
//
// Work is counted in fixed units: ns on one core of an AMD EPYC with AVX2, for bodies of 2,000 to 200,000
// corotational tets. Those of forces and nodes add up to 4.5 ms for 206,654 tets, where a step takes 4.3; those of
// the tangent are estimates from profiles, the others are measured. Choices made by them are the same in every run;
// only their proportions matter for choices. Between bodies and machines the predicted times are good to about a
// factor of 2.
#ifndef RBT_STEP_IMEX_IMEX_COST_H
#define RBT_STEP_IMEX_IMEX_COST_H

#include "step/explicit/stability.h"

#define RBT_UNIT_FORCE    18.0   // forces of an element
#define RBT_UNIT_NODE     20.0   // all that is done once a step for a node
#define RBT_UNIT_TANGENT  15.0   // preparing the tangent of an element
#define RBT_UNIT_PRODUCT  10.0   // applying it
#define RBT_UNIT_ROW      25.0   // vectors of an iteration, per implicit node
#define RBT_UNIT_ASSEMBLE 130.0  // the stiffness of an element into the matrix
#define RBT_UNIT_DIAGONAL 80.0   // into the diagonal blocks only
#define RBT_UNIT_SOLVE    0.5    // per non-zero of the factor
#define RBT_UNIT_FLOP     0.2    // of the factorisation

// What decides the cost of a step
typedef struct rbt_imex_work {
    double elements, nodes;                    // of the body
    double implicit_elements, implicit_nodes;  // at least one of whose nodes is implicit
    double fill, flops;                        // of the factor; 0: conjugate gradients with diagonal blocks
    double iterations;                         // of a solve
    double reuse;                              // steps that a factor serves; infinite: all
    bool kept;                                 // islands.h: no iterations
} rbt_imex_work;

double rbt_imex_cost(const rbt_imex_work *work);  // [s] of one step

// The work at a step, guessed from local bounds and connectivity alone: connected sets of k implicit nodes have
// factors of 30 k^(4/3) non-zeros and 30 k^2 flops, as nested dissection gives solids; an old factor takes two
// iterations and serves fifteen steps; one that is kept (islands.h), if it can be, needs no iterations and serves
// ten, with five looks; conjugate gradients take as many iterations as the median bound lets expect. The cheaper of
// both counts; without explicit nodes it is a new factor for every step. chosen (node_count): the implicit nodes;
// NULL: by the local test.
bool rbt_imex_guess(rbt_stability *s, const rbt_split_def *def, const unsigned char *chosen, bool keeps,
                    rbt_imex_work *work, rbt_error *error);

// The step with the least cost per simulated second among candidates between the body's bound and the largest local
// bound, in ratios of 2^(1/4). 0 with an error if there is none.
double rbt_imex_cheapest(rbt_stability *s, const rbt_split_def *def, bool keeps, rbt_error *error);

#endif
