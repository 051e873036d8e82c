// Cutting a mesh of tets (or of triangles) along a surface.
//
// Every edge that the surface crosses gets a node at each crossing; elements are bisected at these nodes, edge by
// edge in an order that all elements share, so the parts fit together whatever the surface does. A crossing within
// `tolerance` of an edge's end moves nothing: the node there counts as on the surface instead. Sides (faces of tets,
// edges of triangles) whose nodes all lie on the surface are then opened: a node is doubled if the elements around it
// fall apart, and only then, so the rim of a cut that ends inside the body stays joined. Inside one element the
// surface is replaced by flat pieces between its crossings.
//
// New nodes lie on old edges: x = (1 - share) x_a + share x_b with old nodes a and b. So everything that is linear on
// elements (positions, velocities) is carried over without being changed, volumes add up to what they were, and no
// element is turned inside out.
#ifndef RBT_MESH_CUT_CUT_H
#define RBT_MESH_CUT_CUT_H

#include "mesh/core/topology.h"
#include "mesh/cut/cut_surface.h"

typedef struct rbt_cut_mesh {
    const rbt_side_kind *kind;  // RBT_FACES_OF_TETS or RBT_EDGES_OF_TRIANGLES
    size_t node_count, element_count;
    const double *positions;  // (node_count x 3) where the nodes are when the surface cuts
    const int32_t *elements;  // (element_count x corners)
    const unsigned char *on;  // (node_count) 1: put on this surface by an earlier part of the same cut; NULL: none
} rbt_cut_mesh;

typedef struct rbt_cut_range {
    double from, until;  // the part of the surface with from < progress <= until
    double tolerance;    // share of an edge
    double length;       // [m] edges are parted no nearer to their ends than that either, up to RBT_WIDEST_TOLERANCE
} rbt_cut_range;

#define RBT_WIDEST_TOLERANCE 0.25  // share of an edge that no tolerance exceeds

typedef struct rbt_cut_result {
    size_t node_count, node_capacity, element_count;
    int32_t *elements;       // (element_count x corners) parts stand where their element stood
    int32_t *origin;         // (element_count) the old element
    int32_t *parents;        // (node_count x 2) old nodes a and b, equal for old nodes and their doubles
    double *share;           // (node_count) of b
    unsigned char *on;       // (node_count) on the surface, as far as it has been cut
    unsigned char *doubled;  // (node_count) 1: one of several nodes that were one before
    size_t lip_count;
    int32_t *lips;           // (lip_count x 2) element and side of every side that was opened, both of its elements
    unsigned char *touched;  // (node_count) 1: the elements around the node are others than before
    size_t split_count;      // old elements that were split
    size_t opened_count;     // sides that were opened
} rbt_cut_result;

// Old nodes keep their numbers, new ones follow. Nothing crossed and nothing opened is no error: split_count and
// opened_count are 0 then.
bool rbt_cut(const rbt_cut_mesh *mesh, const rbt_cut_surface *surface, const rbt_cut_range *def,
             rbt_cut_result *result, rbt_error *error);
void rbt_cut_result_free(rbt_cut_result *result);

// field (node_count x components) on the new nodes from the old ones
void rbt_cut_carry(const rbt_cut_result *result, const double *field, int components, double *carried);

// ---- The second half of rbt_cut (cut_open.c)

// Doubles nodes along the sides that lie on the surface: renumbers result->elements, appends nodes. `positions` are
// those of the nodes before.
bool rbt_cut_open(const rbt_cut_surface *surface, const rbt_side_kind *kind, const double *positions, double until,
                  rbt_cut_result *result, rbt_error *error);

// Room for `extra` more nodes
bool rbt_cut_result_grow(rbt_cut_result *result, size_t extra, rbt_error *error);

#endif
