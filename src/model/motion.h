// Scripted positions of driven nodes as a function of time alone, so that a resumed run sees the same bits.
#ifndef RBT_MODEL_MOTION_H
#define RBT_MODEL_MOTION_H

#include "model/input.h"
#include "rubato/scene.h"

#include <stddef.h>
#include <stdint.h>

typedef struct rbt_motion_group {
    size_t motion_count;
    const rbt_motion *motions;
    double release;                 // [s]
    const rbt_guide *const *guide;  // where a caller has moved it on top of that; NULL: callers cannot
    const char *name;               // of driven nodes; NULL: none
} rbt_motion_group;

typedef struct rbt_motions {
    size_t group_count;
    const rbt_motion_group *groups;
    size_t node_count;
    const int32_t *node;   // (node_count) ascending
    const int32_t *group;  // (node_count)
} rbt_motions;

// Where the motions of a group bring the point that started at `start`, at time t.
void rbt_motion_position(const rbt_motion_group *group, const double start[3], double t, double position[3]);

// How the ways of a group bend between two times: 0: they are straight; infinity: a motion begins, ends or has a
// corner there; else how fast it turns or swings [rad/s].
double rbt_motion_bend(const rbt_motion_group *group, double begin, double end);

#endif
