// What eliminating the vertices of a graph one after the other does, without any numbers: the tree along which
// columns of the Cholesky factor L depend on each other, and how many entries each column has (Liu 1990, "The role of
// elimination trees in sparse factorization").
//
// Columns are places in the order of elimination. The parent of column j is the row of its first entry below the
// diagonal,
//   parent(j) = min { i > j : L_ij != 0 },
// and the rows of column j are those of the matrix and of its children: all are ancestors of j.
#ifndef RBT_SOLVE_ELIMINATION_H
#define RBT_SOLVE_ELIMINATION_H

#include "solve/ordering.h"

typedef struct rbt_elimination {
    size_t count;
    int32_t *parent;  // (count) -1: a root
    int32_t *post;    // (count) a postorder: children, in ascending order, before their parents
    int32_t *rows;    // (count) entries of the column, with the diagonal
} rbt_elimination;

// order (vertices of the graph) lists the vertices in the order of elimination. To be freed only after success.
bool rbt_elimination_build(rbt_elimination *elimination, const rbt_node_graph *graph, const int32_t *order,
                           rbt_error *error);
void rbt_elimination_free(rbt_elimination *elimination);

// Entries of L
double rbt_elimination_fill(const rbt_elimination *elimination);

// Another postorder, in `post`: of the children of a column those with fewer rows come first, so that the largest
// update is made last and waits for its parent the shortest time.
bool rbt_elimination_sort(rbt_elimination *elimination, rbt_error *error);

#endif
