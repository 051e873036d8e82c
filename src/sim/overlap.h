// What a method without contact of its own lets happen: bodies that pass through each other or through themselves.
// Exact looks (verify/exact/intersect.h) at about twenty frames of a run, which are all of them in short ones: a look
// costs some 5 % of a frame in the shipped scenes, and up to as much as the frame where steps are cheap. What only
// touches, as bodies laid side by side and the faces of a cut do, does not count.
#ifndef RBT_SIM_OVERLAP_H
#define RBT_SIM_OVERLAP_H

#include "sim/sim.h"
#include "verify/verify.h"

typedef struct rbt_overlap {
    bool looks;        // the method does not keep bodies apart, and there are surfaces to look at
    int generation;    // of the model that `mesh` is of
    int64_t frames;    // looked at
    int64_t crossing;  // of these, with something that passes through something
    int64_t every;     // so many frames there is a look
    bool now;          // the latest frame is one of them
    // The first of them:
    int64_t first_frame;
    double first_time;   // [s]
    size_t first_count;  // edges that go through triangles, and the like
    char first_bodies[2][128];
    double seconds;
    rbt_intersect_mesh mesh;
} rbt_overlap;

// Looks at the state, which is a frame, if it is one to look at; `last`: it is the last one, which is. The first call,
// and the first after a cut, learns the model. false only if memory lacks or a position is not finite.
bool rbt_overlap_look(rbt_overlap *overlap, const rbt_sim *sim, bool last, rbt_error *error);
void rbt_overlap_free(rbt_overlap *overlap);

// "\"a\" and \"b\" pass through each other, …": what was seen first; false if nothing was.
bool rbt_overlap_text(const rbt_overlap *overlap, const rbt_sim *sim, char text[320]);

#endif
