// Orders of matrices that have the blocks of one that has been ordered, the core, and some more: the matrix of a step
// with contact, whose pairs come and go from iteration to iteration. What is found depends on both patterns alone.
//
// Nested dissection of the core is kept. Blocks more are edges between its vertices, and a set of vertices that touches
// all of these edges, put to the end of the order, leaves the rest as it was: that is how a separator between two
// bodies would look. It is large where many surfaces touch, and then minimum degree, which is fast enough to be found
// again, has less work to do. So both are made and compared by the flops of their factors (in 1e6, of nodes):
//                                          blocks more   core   set last   minimum degree   both found anew
//   four rods twisted, 2,396 nodes             157        0.44    0.73         0.48             0.48
//   a sheet twisted, 3,040 nodes               700        5.2    11.6          7.9              7.9
//   two spheres that meet, 3,520 nodes          69       13.7    14.5         21.0             13.8
//   100 balls in a box, 14,700 nodes         6,992        9.3    33.6         14.9             14.9
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
