// What of islands depends on the mesh alone: which nodes and elements each has, and where elements' parts of K go.
#ifndef RBT_STEP_IMEX_ISLANDS_BUILD_H
#define RBT_STEP_IMEX_ISLANDS_BUILD_H

#include "step/imex/islands.h"

enum { RBT_ISLAND_FEW = 8 };           // nodes whose inverse is dense
#define RBT_ISLAND_OUTSIDE UINT32_MAX  // in `target`: a corner that is not implicit

// Fills node, islands, elements, start, column, use, target and shape of `s`, whose part is there; the values of
// matrices are not.
bool rbt_islands_build(rbt_islands *s, rbt_error *error);

#endif
