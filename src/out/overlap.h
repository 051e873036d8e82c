// What a method without contact of its own lets happen: bodies that pass through each other or through themselves. One exact look at every frame
// (mesh/intersect.h); what only touches, as bodies laid side by side and the faces of a cut do, does not count.
#ifndef RBT_OUT_OVERLAP_H
#define RBT_OUT_OVERLAP_H

#include "out/verify.h"
#include "scene/sim.h"

typedef struct rbt_overlap {
    bool looks;        // the method does not keep bodies apart, and there are surfaces to look at
    int generation;    // of the model that `mesh` is of
    int64_t frames;    // looked at
    int64_t crossing;  // of these, with something that passes through something
    bool now;          // the latest is one of them
    // The first of them:
    int64_t first_frame;
    double first_time;       // [s]
    char first_bodies[2][128];
    double seconds;
    rbt_intersect_mesh mesh;
} rbt_overlap;

// Looks at the state, which is a frame. The first call, and the first after a cut, learns the model. false only if memory lacks or a position is
// not finite.
bool rbt_overlap_look(rbt_overlap *overlap, const rbt_sim *sim, rbt_error *error);
void rbt_overlap_free(rbt_overlap *overlap);

// "\"a\" and \"b\" pass through each other, …": what was seen first; false if nothing was.
bool rbt_overlap_text(const rbt_overlap *overlap, const rbt_sim *sim, char text[320]);

#endif
