// The tree of supernodes of a sparse Cholesky factor L, found on the graph of nodes. A supernode is a run of columns
// of L with (nearly) the same rows below; all of them are eliminated at once, as one dense front:
//
//   [ columns | rows below ]      rows below are columns of ancestors: first of the parent, then of those above it
//
// Children with similar rows are merged into their parents: zeros are then stored and computed with, but fronts are
// larger and fewer. What is worth merging is decided by a model of the time that a front takes.
#ifndef RBT_SOLVE_SUPERNODES_H
#define RBT_SOLVE_SUPERNODES_H

#include "solve/ordering.h"

typedef struct rbt_supernodes {
    size_t count, node_count;
    size_t block;  // unknowns of a node
    // (node_count) vertices of the graph in the order of elimination; nodes below are positions in it
    int32_t *order;
    // (count + 1) first node of each supernode; every subtree is a run of supernodes, its root the last
    int32_t *first;
    size_t *row_start;         // (count + 1)
    int32_t *row;              // (row_start[count]) the nodes below each supernode, ascending
    int32_t *relative;         // (row_start[count]) where they are in the parent's front, its columns counted first
    int32_t *parent;           // (count) -1: a root
    double *flops;             // (count) of its front, with the zeros
    double fill, total_flops;  // of L itself, without the zeros
} rbt_supernodes;

// order (node count) is where the search for supernodes begins; theirs has the same fill.
bool rbt_supernodes_build(rbt_supernodes *tree, const rbt_node_graph *graph, const int32_t *order, size_t block,
                          rbt_error *error);
void rbt_supernodes_free(rbt_supernodes *tree);

#endif
