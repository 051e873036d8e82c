// What follows from the connectivity of a mesh: its surface and the neighbours of its nodes and tets.
#ifndef RBT_MESH_CORE_TOPOLOGY_H
#define RBT_MESH_CORE_TOPOLOGY_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

// The triangles that belong to one tet only, oriented outwards (for tets of positive volume), ordered by (tet, face).
// Allocates *triangles (count x 3) and, if wanted, *owner (count): the tet behind each. Time and memory are linear.
bool rbt_boundary(const int32_t *tets, size_t tet_count, size_t node_count, int32_t **triangles, int32_t **owner,
                  size_t *count, rbt_error *error);

// Which elements, or which of their sides, have the same nodes. Side s of element e has the number e * sides + s;
// first[number] is the lowest number with the same set of nodes (its own if it is the first), RBT_NO_SIDE for a side
// that names a node twice.
typedef struct rbt_side_kind {
    int element_corners;  // nodes per element
    int sides;            // per element
    int side_corners;     // 2, 3 or 4
    int corner[4][4];     // [side][k]: place in the element
} rbt_side_kind;

extern const rbt_side_kind RBT_FACES_OF_TETS;         // outwards; face f lies opposite to corner f
extern const rbt_side_kind RBT_EDGES_OF_TRIANGLES;    // in the triangle's sense
extern const rbt_side_kind RBT_TETS_THEMSELVES;       // to find tets that occur twice
extern const rbt_side_kind RBT_TRIANGLES_THEMSELVES;  // likewise

#define RBT_NO_SIDE UINT32_MAX

bool rbt_match_sides(const int32_t *elements, size_t count, const rbt_side_kind *kind, size_t node_count,
                     uint32_t *first, rbt_error *error);

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

// node -> nodes that share an element with it, itself included (also if it is in no element).
bool rbt_nodes_of_nodes(const int32_t *elements, size_t count, int corners, size_t node_count, rbt_rows *rows,
                        rbt_error *error);

// Connected part (0, 1, … in the order of their lowest nodes) of each node, and the number of parts. Nodes of no
// element get -1.
bool rbt_components(const int32_t *elements, size_t count, int corners, size_t node_count, int32_t *part,
                    size_t *part_count, rbt_error *error);

#endif
