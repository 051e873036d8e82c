// Where nodes are: each has a place, a velocity and the time when it was there, and moves straight on until something
// kicks it. Reading a place at a later time does not move the node, so looking never changes a trajectory.
#ifndef RBT_STEP_ASYNC_TRACK_H
#define RBT_STEP_ASYNC_TRACK_H

#include <stddef.h>
#include <stdint.h>

typedef struct rbt_tracks {
    size_t count;
    double *x, *v;         // (count x 3)
    int64_t *t;            // (count) [ticks]
    double *inverse_mass;  // (count) 0: prescribed [1/kg]
    double tick;           // [s]
} rbt_tracks;

static inline void rbt_track_at(const rbt_tracks *s, size_t node, int64_t t, double x[3]) {
    double h = (double)(t - s->t[node]) * s->tick;
    for (size_t k = 0; k < 3; k++) x[k] = s->x[3 * node + k] + h * s->v[3 * node + k];
}

static inline void rbt_track_move(rbt_tracks *s, size_t node, int64_t t) {
    if (s->t[node] == t) return;
    double x[3];
    rbt_track_at(s, node, t, x);
    for (size_t k = 0; k < 3; k++) s->x[3 * node + k] = x[k];
    s->t[node] = t;
}

// v += by f. All is read before anything is written, here and above: pairs of numbers are then written as they are
// read next.
static inline void rbt_track_kick(rbt_tracks *s, size_t node, double by, const double f[3]) {
    double v[3];
    for (size_t k = 0; k < 3; k++) v[k] = s->v[3 * node + k] + by * f[k];
    for (size_t k = 0; k < 3; k++) s->v[3 * node + k] = v[k];
}

#endif
