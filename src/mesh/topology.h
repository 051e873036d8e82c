// What follows from the connectivity of a mesh: its surface and the neighbours of its nodes and tets.
#ifndef RBT_MESH_TOPOLOGY_H
#define RBT_MESH_TOPOLOGY_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

// The triangles that belong to one tet only, oriented outwards, ordered by (tet, face). Allocates *triangles
// (count x 3) and, if wanted, *owner (count): the tet behind each.
bool rbt_boundary(const int32_t *tets, size_t tet_count, size_t node_count, int32_t **triangles, int32_t **owner,
                  size_t *count, rbt_error *error);

// Lists in compressed rows: the items of row i are items[start[i]] .. items[start[i + 1] - 1], ascending.
typedef struct rbt_rows {
    size_t row_count;
    size_t *start;   // (row_count + 1)
    int32_t *items;  // (start[row_count])
} rbt_rows;

void rbt_rows_free(rbt_rows *rows);

// node -> elements that use it; `corners` nodes per element.
bool rbt_elements_of_nodes(const int32_t *elements, size_t count, int corners, size_t node_count, rbt_rows *rows,
                           rbt_error *error);

// node -> nodes that share an element with it, itself included.
bool rbt_nodes_of_nodes(const int32_t *elements, size_t count, int corners, size_t node_count, rbt_rows *rows,
                        rbt_error *error);

// Connected part (0, 1, …) of each node; returns the number of parts that own an element. Isolated nodes get -1.
bool rbt_components(const int32_t *elements, size_t count, int corners, size_t node_count, int32_t *part,
                    size_t *part_count, rbt_error *error);

#endif
