// What work costs, in ns on one core: measured once (an AMD EPYC with AVX2, bodies of 2,000 to 200,000 tets), fixed for ever, since
// choices made by them must be the same in every run. Only their proportions matter for choices.
#ifndef RBT_STEP_IMEX_UNITS_H
#define RBT_STEP_IMEX_UNITS_H

#define RBT_UNIT_FORCE    40.0   // forces of a tet
#define RBT_UNIT_NODE     25.0   // all that is done once a step for a node
#define RBT_UNIT_TANGENT  25.0   // preparing the tangent of a tet
#define RBT_UNIT_PRODUCT  16.0   // applying it
#define RBT_UNIT_ROW      25.0   // vectors of an iteration, per implicit node
#define RBT_UNIT_ASSEMBLE 130.0  // the stiffness of a tet into the matrix
#define RBT_UNIT_DIAGONAL 80.0   // into the diagonal blocks only
#define RBT_UNIT_SOLVE    0.9    // per non-zero of the factor
#define RBT_UNIT_FLOP     0.25   // of the factorisation

#endif
