// Fill-reducing orders of symmetric sparse matrices, found on the graph of the nodes: one vertex per row of blocks.
#ifndef RBT_SOLVE_ORDERING_H
#define RBT_SOLVE_ORDERING_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

// Each kept row of blocks is a vertex, numbered in ascending order; each kept block off the diagonal an edge, listed
// at both ends.
typedef struct rbt_node_graph {
    size_t count;
    int32_t *row;        // (count) row of the matrix
    size_t *start;       // (count + 1)
    int32_t *neighbour;  // (start[count]) vertices
    size_t *block;       // (start[count]) the block in the matrix that is this edge
} rbt_node_graph;

// Of the lower triangle of a pattern: columns of row i are column[start[i] .. start[i + 1]), all <= i.
bool rbt_node_graph_build(rbt_node_graph *graph, size_t row_count, const size_t *start, const int32_t *column,
                          const unsigned char *keep, rbt_error *error);

// The same for the rows listed (ascending), with memory and time in proportion to them.
bool rbt_node_graph_build_rows(rbt_node_graph *graph, const int32_t *rows, size_t count, const size_t *start,
                               const int32_t *column, rbt_error *error);
void rbt_node_graph_free(rbt_node_graph *graph);

// The better (less fill) of nested dissection by METIS and of minimum degree: order (count) lists the vertices in the
// order of elimination. METIS wins on large solid bodies, minimum degree on small and thin ones; flops of the factor:
//                                METIS on nodes   METIS on unknowns   minimum degree
//   solid bar, 17,315 nodes          2.2e10            2.2e10             4.4e10
//   bunny, 4,670 nodes               6.2e8             6.2e8              8.5e8
//   armadillo, 726 nodes             1.5e7             1.5e7              0.9e7
// Nodes are as good as the three times as many unknowns (seeds of METIS vary by 5 %) and take less time.
bool rbt_order_nodes(const rbt_node_graph *graph, int32_t *order, rbt_error *error);

// Minimum degree alone
bool rbt_order_by_degree(const rbt_node_graph *graph, int32_t *order, rbt_error *error);

#endif
