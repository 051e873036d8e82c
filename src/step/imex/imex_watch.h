// Whether a certificate of imex still holds: the tangent stiffness changes as the body is strained. Here for elements
// whose stiffness only turns, and for hinges; those that stiffen have an envelope (imex_envelope.h).
//
// The measure is how much edges of elements are longer or shorter than at rest, |l^2 / L^2 - 1|, which does not
// change with rotations. It is looked at every so many steps, where explicit nodes are; when it goes beyond what has
// been certified, in levels of 0.1, the certificate is asked for again with the tangent at that place. What this
// depends on lies in the state's memory.
#ifndef RBT_STEP_IMEX_IMEX_WATCH_H
#define RBT_STEP_IMEX_IMEX_WATCH_H

#include "step/explicit/stability.h"

typedef struct rbt_imex_watched {
    uint64_t begun;  // the implicit nodes are in the memory
    uint64_t steps;  // since the start or the last cut
    double level;    // of strain that has been certified
} rbt_imex_watched;

typedef struct rbt_imex_edges {  // of the elements that have explicit nodes, but those of imex_envelope.h
    size_t count;
    int32_t *node;  // (count x 2)
    double *rest;   // (count) L^2 [m^2]
} rbt_imex_edges;

bool rbt_imex_edges_build(rbt_imex_edges *edges, const rbt_stability *s, const unsigned char *implicit,
                          rbt_error *error);
void rbt_imex_edges_free(rbt_imex_edges *edges);

typedef struct rbt_imex_watch {  // for the report
    int64_t certificates, moved;
    double strain;
} rbt_imex_watch;

// Once a step, before it. Nodes that a certificate at x makes implicit are added, and split->moved_count grows.
void rbt_imex_watch_look(rbt_imex_watch *w, const rbt_imex_edges *edges, rbt_stability *s, rbt_imex_watched *memory,
                         const double *x, unsigned char *implicit, rbt_split *split);

#endif
