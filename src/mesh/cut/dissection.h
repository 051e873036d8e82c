// What all cuts so far have made of one mesh, in terms of the mesh as it was loaded: every element is part of one old
// element, every node a fixed combination of the nodes of one. So whatever is known about the uncut mesh (rest
// positions, selections, materials, sets, an embedded surface) is known about the cut one.
#ifndef RBT_MESH_CUT_DISSECTION_H
#define RBT_MESH_CUT_DISSECTION_H

#include "mesh/cut/cut.h"

#include "base/file.h"
#include "base/text.h"

typedef struct rbt_dissection {
    const rbt_side_kind *kind;  // tets or triangles
    size_t old_node_count, old_element_count;
    size_t node_count, element_count;
    int32_t *elements;  // (element_count x corners)
    int32_t *origin;    // (element_count) the old element, ascending
    int32_t *support;   // (node_count x 4) old nodes; -1 where there are fewer
    double *weights;    // (node_count x 4) sum to 1
    uint64_t *on;       // (node_count) bit c: cut number c, not complete yet, has gone through the node
    double *offset;  // (node_count x 3) [m] by which cuts with a width have moved nodes at rest; NULL: none has one
} rbt_dissection;

bool rbt_dissection_begin(rbt_dissection *dissection, const rbt_side_kind *kind, size_t node_count,
                          const int32_t *elements, size_t element_count, rbt_error *error);
void rbt_dissection_free(rbt_dissection *dissection);

// Values on the old nodes (old_node_count x components) carried to the nodes.
void rbt_dissection_carry(const rbt_dissection *dissection, const double *old, int components, double *now);

// Rest positions: those of the old nodes (old_node_count x 3) carried, and the offsets.
void rbt_dissection_place(const rbt_dissection *dissection, const double *X, double *now);

// Adds to the offsets: by (node_count x 3).
bool rbt_dissection_move(rbt_dissection *dissection, const double *by, rbt_error *error);

// A node is chosen if all old nodes that it is made of are; an element if the old one is.
void rbt_dissection_carry_nodes(const rbt_dissection *dissection, const unsigned char *old, unsigned char *now);
void rbt_dissection_carry_elements(const rbt_dissection *dissection, const unsigned char *old, unsigned char *now);

// One cut more. X: old rest positions (old_node_count x 3). positions (node_count x 3): where the nodes are when they
// are cut. `cut` < 64 numbers the cut; `complete`: this was its last part. Parts that come out without volume are
// avoided by a larger tolerance than range->tolerance. `result` tells what became of nodes and elements (empty arrays
// if nothing did); free it.
bool rbt_dissection_cut(rbt_dissection *dissection, const double *X, const double *positions,
                        const rbt_cut_surface *surface, const rbt_cut_range *range, int cut, bool complete,
                        rbt_cut_result *result, rbt_error *error);

// As bytes, and back; the reader believes nothing. moved: the bytes have offsets.
void rbt_dissection_write(const rbt_dissection *dissection, rbt_text *bytes);
bool rbt_dissection_read(rbt_dissection *dissection, const rbt_side_kind *kind, size_t old_node_count,
                         const int32_t *old_elements, size_t old_element_count, bool moved, const char **at,
                         const char *end, rbt_error *error);

#endif
