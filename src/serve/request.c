#include "serve/request.h"

#include "scene/record_text.h"
#include "scene/table_macros.h"
#include "serve/message.h"

#include <limits.h>

static const char *const FILES[] = {"run.json", "energy.csv", "probes.csv", "times.csv"};

const char *rbt_served_file(int number) {
    return number >= 0 && number < (int)(sizeof FILES / sizeof FILES[0]) ? FILES[number] : NULL;
}

#define RUN(type)                                                                                                    \
    { FIELD(type, run, RBT_INT), .min = 0, .max = RBT_MAX_RUNS - 1, .doc = "Which of the runs, counted from 0." }
#define SHOWN(type)                                                                                                  \
    { FIELD(type, fields, RBT_INT), .min = 0, .max = RBT_SHOWN_ALL, .doc = "Which fields: bits of serve/message.h." }

static const rbt_field ASK_RUN[] = {RUN(rbt_ask_run)};
static const rbt_field ASK_FRAME[] = {
    RUN(rbt_ask_frame),
    {FIELD(rbt_ask_frame, number, RBT_INT), .flags = RBT_REQUIRED, .min = 0, .max = INT_MAX, .doc = "Of the frame."},
    SHOWN(rbt_ask_frame),
};
static const rbt_field ASK_LIVE[] = {
    {FIELD(rbt_ask_live, after, RBT_REAL), .min = 0, .max = 9e15, .doc = "Sequence of the state that is known."},
    SHOWN(rbt_ask_live),
};
static const rbt_field ASK_FILE[] = {
    RUN(rbt_ask_file),
    {FIELD(rbt_ask_file, name, RBT_CHOICE), .flags = RBT_REQUIRED, .of.names = rbt_served_file, .doc = "Its name."},
    {FIELD(rbt_ask_file, from, RBT_REAL), .min = 0, .max = 9e15, .doc = "The first byte that is wanted."},
};
static const rbt_field ASK_ACT[] = {
    {FIELD(rbt_ask_act, id, RBT_INT), .min = 0, .max = INT_MAX, .doc = "What the answer is to be called."},
    {FIELD(rbt_ask_act, event, RBT_TEXT), .flags = RBT_REQUIRED | RBT_NOT_EMPTY, .doc = "An event as JSON."},
};
static const rbt_field ASK_PAUSE[] = {
    {FIELD(rbt_ask_pause, on, RBT_BOOL), .doc = "Whether the run waits."},
    {FIELD(rbt_ask_pause, steps, RBT_INT), .min = 0, .max = 1000, .doc = "Steps to take nevertheless."},
};

RECORD(static, ASK_RUN_RECORD, rbt_ask_run, ASK_RUN, "ask-run", "A run.");
RECORD(static, ASK_FRAME_RECORD, rbt_ask_frame, ASK_FRAME, "ask-frame", "A frame of a run.");
RECORD(static, ASK_LIVE_RECORD, rbt_ask_live, ASK_LIVE, "ask-live", "The newest state.");
RECORD(static, ASK_FILE_RECORD, rbt_ask_file, ASK_FILE, "ask-file", "A file of a run.");
RECORD(static, ASK_ACT_RECORD, rbt_ask_act, ASK_ACT, "ask-act", "Something to do to the bodies.");
RECORD(static, ASK_PAUSE_RECORD, rbt_ask_pause, ASK_PAUSE, "ask-pause", "Whether the run waits.");

#define KIND(member, table)                                                                                          \
    { FIELD(rbt_request, member, RBT_OPTIONAL), .flags = RBT_ONE_OF, .of.record = table, .doc = "" }

static const rbt_field REQUEST[] = {KIND(frames, &ASK_RUN_RECORD),  KIND(frame, &ASK_FRAME_RECORD),
                                    KIND(shape, &ASK_FRAME_RECORD), KIND(live, &ASK_LIVE_RECORD),
                                    KIND(file, &ASK_FILE_RECORD),   KIND(act, &ASK_ACT_RECORD),
                                    KIND(pause, &ASK_PAUSE_RECORD)};
RECORD(static, REQUEST_RECORD, rbt_request, REQUEST, "request", "What a page asks for.");

static bool is_served(int run, int runs, rbt_error *error) {
    return run < runs || rbt_fail(error, "there is no run %d: %d are served, counted from 0", run, runs);
}

bool rbt_request_read(rbt_request *q, rbt_arena *arena, const char *json, size_t size, int runs, rbt_error *error) {
    if (size > RBT_MAX_REQUEST)
        return rbt_fail(error, "a request of %zu bytes is larger than the limit of %d", size, RBT_MAX_REQUEST);
    if (!rbt_record_read(&REQUEST_RECORD, arena, json, size, q, error)) return false;
    int run = q->frames ? q->frames->run : q->frame ? q->frame->run : q->shape ? q->shape->run : 0;
    if (q->file) run = q->file->run;
    return is_served(run, runs, error);
}
