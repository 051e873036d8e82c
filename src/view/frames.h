// The frames of a run's folder, as its frames.pvd and surface.pvd list them.
#ifndef RBT_VIEW_FRAMES_H
#define RBT_VIEW_FRAMES_H

#include "base/error.h"

#include <stddef.h>

typedef struct rbt_frame_entry {
    double time;    // [s]
    char *tets;     // file of the tets
    char *surface;  // file of the finer surface, NULL if there is none
} rbt_frame_entry;

typedef struct rbt_frames {
    size_t count;
    rbt_frame_entry *entries;  // (count)
} rbt_frames;

bool rbt_frames_open(rbt_frames *frames, const char *folder, rbt_error *error);
void rbt_frames_free(rbt_frames *frames);

// Which of `count` frames: `list` as "0,5,10-20,last", or every n-th from the first on (`every` > 0), or neither:
// all of them if `all`, else the last. `name` is for messages. Allocates *chosen (*chosen_count), in the order asked
// for.
typedef struct rbt_frame_choice {
    const char *list;  // NULL: not given
    long every;        // 0: not given
    bool all;
} rbt_frame_choice;

bool rbt_frames_choose(size_t count, const char *name, rbt_frame_choice choice, size_t **chosen, size_t *chosen_count,
                       rbt_error *error);

#endif
