// Elements of a mesh divided into parts of about equal size with small interfaces, by METIS on the dual graph: two
// elements are neighbours if they share a face (tets), an edge (triangles) or a node (edges).
#ifndef RBT_SOLVE_PARTITION_H
#define RBT_SOLVE_PARTITION_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Element e has the nodes node[start[e] .. start[e + 1]). part (element_count) receives a number below part_count for
// each; parts may stay empty. The same mesh gives the same parts.
bool rbt_partition(size_t element_count, const size_t *start, const int32_t *node, size_t node_count, int part_count,
                   int32_t *part, rbt_error *error);

#endif
