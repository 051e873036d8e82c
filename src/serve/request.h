// What a page can ask for: a JSON object with one key, which says what, as {"frame": {"run": 0, "number": 12}}. The
// table in request.c has all of them with their limits.
#ifndef RBT_SERVE_REQUEST_H
#define RBT_SERVE_REQUEST_H

#include "base/memory.h"

#include <stdint.h>

enum { RBT_MAX_REQUEST = 1 << 16, RBT_MAX_RUNS = 64 };  // bytes; runs that are served

typedef struct rbt_ask_run {  // the list of a run's frames
    int run;
} rbt_ask_run;

typedef struct rbt_ask_frame {  // a frame, or what is drawn in it
    int run, number, fields;    // fields: bits of rbt_shown_field
} rbt_ask_frame;

typedef struct rbt_ask_live {  // the newest state of a run in progress, once there is one after that with a sequence
    double after;
    int fields;
} rbt_ask_live;

typedef struct rbt_ask_file {  // one of RBT_SERVED_FILES, from a byte on
    int run, name;
    double from;
} rbt_ask_file;

typedef struct rbt_ask_act {  // an event of a scene, as JSON and without its time
    int id;
    const char *event;
} rbt_ask_act;

typedef struct rbt_ask_pause {
    bool on;
    int steps;  // to take while it is paused
} rbt_ask_pause;

typedef struct rbt_request {  // one of these, the others NULL
    const rbt_ask_run *frames;
    const rbt_ask_frame *frame, *shape;
    const rbt_ask_live *live;
    const rbt_ask_file *file;
    const rbt_ask_act *act;
    const rbt_ask_pause *pause;
} rbt_request;

const char *rbt_served_file(int number);  // its name in the folder of a run; NULL past the end

// What the request points to is taken from the arena. `runs`: how many are served.
bool rbt_request_read(rbt_request *request, rbt_arena *arena, const char *json, size_t size, int runs,
                      rbt_error *error);

#endif
