// Orders of matrices that have the blocks of one that has been ordered, the core, and some more: the matrix of a step
// with contact, whose pairs come and go from iteration to iteration. What is found depends on both patterns alone.
//
// Nested dissection of the core is kept. Blocks more are edges between its vertices, and a set of vertices that touches
// all of these edges, put to the end of the order, leaves the rest as it was: that is how a separator between two bodies
// would look. It is large where many surfaces touch, and then minimum degree, which is fast enough to be found again, has
// less work to do. So three orders are compared by the flops of their factors: the core's, the core's with the set at its
// end, and minimum degree.
#ifndef RBT_SOLVE_MORE_BLOCKS_H
#define RBT_SOLVE_MORE_BLOCKS_H

#include "math/block_matrix.h"
#include "solve/ordering.h"

typedef struct rbt_core_order {
    rbt_node_graph graph;
    int32_t *order;  // (graph.count) vertices in the order of elimination
} rbt_core_order;

// Of the rows that are kept; to be freed only after success.
bool rbt_core_order_find(rbt_core_order *core, const rbt_block_matrix *pattern, const unsigned char *keep,
                         rbt_error *error);
void rbt_core_order_free(rbt_core_order *core);

// order (count) for a graph with the core's vertices, the core's edges and more
bool rbt_order_more(const rbt_core_order *core, const rbt_node_graph *graph, int32_t *order, rbt_error *error);

#endif
