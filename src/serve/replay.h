// A run's folder as a source of messages: its frames, what is drawn in them, and its tables. The run may be in
// progress. Any thread may ask.
#ifndef RBT_SERVE_REPLAY_H
#define RBT_SERVE_REPLAY_H

#include "serve/drawn.h"

typedef struct rbt_replay rbt_replay;

// `run`: the number that messages give it. A folder without frames is an error unless the run is `live`: it may begin
// to write some, or none at all.
rbt_replay *rbt_replay_open(const char *folder, uint32_t run, bool live, rbt_error *error);
void rbt_replay_free(rbt_replay *replay);  // NULL: nothing

const char *rbt_replay_name(const rbt_replay *replay);  // the folder, for people

// Text: {"type": "frames", "run": 0, "times": [...], "fields": bits that frame 0 has, "label": name of the labels}
rbt_message *rbt_replay_list(rbt_replay *replay, rbt_error *error);
rbt_message *rbt_replay_frame(rbt_replay *replay, size_t number, uint32_t fields, rbt_error *error);
// What is drawn of a frame with these fields: without stresses and the like the finer surface, if tets carry one along
rbt_message *rbt_replay_shape(rbt_replay *replay, size_t number, uint32_t fields, rbt_error *error);

// A file that is not there is empty: not every run has all of them.
rbt_message *rbt_replay_file(rbt_replay *replay, int name, double from, rbt_error *error);

// ---- For who writes all frames at once (serve/export.h); of one thread

size_t rbt_replay_count(rbt_replay *replay);
bool rbt_replay_is_finer(const rbt_replay *replay);  // whether tets carry a finer surface along
double rbt_replay_time(const rbt_replay *replay, size_t number);

// Frame `number` in memory: what is drawn, positions (mesh nodes x 3) and fields, which live until the next call.
typedef struct rbt_replay_values {
    const rbt_drawn *shape;
    const double *x;
    const double *fields[RBT_SHOWN_FIELDS];  // (mesh nodes) NULL: not there
    const rbt_scenery *scenery;              // where obstacles are
    bool obstacles_move;
    const char *label;  // name of RBT_SHOWN_LABEL; NULL: there is none
} rbt_replay_values;
bool rbt_replay_load(rbt_replay *replay, size_t number, uint32_t fields, rbt_replay_values *values, rbt_error *error);

#endif
