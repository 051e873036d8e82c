// Whether prescribed motions are possible at all where bodies may not pass through each other: what is prescribed,
// driven or fixed nodes and moving obstacles, cannot yield, so it must not meet on its way.
//
// Looked at are nodes, edges and triangles of surfaces of which every node is prescribed, and particles, against each
// other and against obstacles. The whole time is halved until prescribed motions go straight within a span, or down
// to the steps, between which they do; each span is judged exactly (verify/exact/intersect.h). Spans with turns are
// passed over if boxes around the ways are apart. After 20,000 spans the rest is not looked at. Things that meet at
// the start already, as a fixed body built into a box, are left alone, and so are obstacles among themselves. Nodes
// count until they are released.
#ifndef RBT_MODEL_PRESCRIBED_MOTIONS_H
#define RBT_MODEL_PRESCRIBED_MOTIONS_H

#include "model/model.h"

// false: a sentence names what meets, and when.
bool rbt_prescribed_motions_are_possible(const rbt_model *model, rbt_error *error);

#endif
