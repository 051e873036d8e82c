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
void rbt_node_graph_free(rbt_node_graph *graph);

// Nested dissection by METIS: order (count) lists the vertices in the order of elimination.
bool rbt_order_nested_dissection(const rbt_node_graph *graph, int32_t *order, rbt_error *error);

#endif
