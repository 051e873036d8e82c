// The width of a cut: both sides of what was opened draw back, so that there is room between them.
//
// Right after a cut its two sides coincide, and no contact can tell them apart. A blade has a width, and so has its
// cut: every node i that was doubled moves into its own side by
//
//   dX_i = D_i U_i  at rest,    dx_i = D_i F_i U_i  now,    D_i = w/2 / min over its lips f of (-n_f . F_i U_i),
//
// U_i a unit vector away from all lips of i at rest (against the sum of their areas, or where they fold, the one that
// -N_f . U_i >= 1/2 of all of them asks for), n_f the unit normal of a lip f (a side that was opened) as it is now, F_i
// the deformation gradient of the elements around i, their mean by volume. By Nanson's formula n ~ F^-T N, so
// -n . F U = (-N . U) / |F^-T N| > 0 where F does not invert: D_i makes each side draw back by w/2 from where the cut
// was, across every lip. Since rest positions and positions move alike, F of the elements stays as it was up to
// differences between neighbours: a cut with a width stores no energy. Where neighbours differ so much that F_i U_i
// does not lead away from the lips, dx_i follows a direction of its own, found among the lips as they are now. What a
// cut takes away has its mass, density times area times width.
//
// Nodes on the rim of a cut that ends inside a body are not doubled and do not move: the gap falls to 0 there, linearly
// across the last elements. Pairs of primitives without a common node, which are those that contact knows, have in
// common at most points of doubled nodes where the cut was, so their gaps are w up to the angles between neighbouring
// lips, at the rim as well. And pairs with a common node cannot be the first to meet: see docs/contact.md.
//
// Elements near the cut may be thinner than w: no element loses more than half of its volume, at rest or now, nodes
// move less there.
#ifndef RBT_MESH_CUT_CUT_WIDTH_H
#define RBT_MESH_CUT_CUT_WIDTH_H

#include "mesh/cut/cut.h"

// rest, now (result->node_count x 3): where nodes are. Writes dX into rest_by and dx into by (node_count x 3), 0 for
// nodes that stay.
bool rbt_cut_widen(const rbt_cut_result *result, const rbt_side_kind *kind, const double *rest, const double *now,
                   double width, double *rest_by, double *by, rbt_error *error);

#endif
