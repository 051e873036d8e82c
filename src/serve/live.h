// A run in this program as a source of messages: its newest state, for whoever asks. The run's thread makes a message
// only if somebody waits for one, so that looking costs it little and changes no bit; a slow reader gets fewer states.
//
// With `interact` a page may also pause it, take single steps and act: an act is an event of the scene
// (rubato/scene.h), which the run adds to its scene before the next step begins.
#ifndef RBT_SERVE_LIVE_H
#define RBT_SERVE_LIVE_H

#include "serve/message.h"
#include "sim/run.h"

typedef struct rbt_live rbt_live;

rbt_live *rbt_live_new(bool interact, rbt_error *error);
void rbt_live_free(rbt_live *live);  // NULL: nothing

// ---- Of the run's thread

void rbt_live_show(rbt_live *live, const rbt_sim *sim);    // a state that may be looked at
void rbt_live_finish(rbt_live *live, const rbt_sim *sim);  // the last one, which stays
void rbt_live_stop(rbt_live *live);                        // nobody waits any more; the run continues unseen

// What the run asks before every step (sim/run.h)
rbt_run_hand rbt_live_hand(rbt_live *live, const volatile int *stop);

// ---- Of any thread

bool rbt_live_interacts(const rbt_live *live);

// `news` is called after every new state and every answer to an act, with `context`.
void rbt_live_set_news(rbt_live *live, void (*news)(void *context), void *context);

void rbt_live_want(rbt_live *live, uint32_t fields);
rbt_message *rbt_live_newest(rbt_live *live, uint64_t after);  // NULL: there is none after that one; drop it
rbt_message *rbt_live_shape(rbt_live *live);                   // of the newest state; NULL: none yet; drop it

// false: too many wait already, or nobody may act.
bool rbt_live_act(rbt_live *live, int client, int id, const char *event, rbt_error *error);
void rbt_live_pause(rbt_live *live, bool on, int steps);

// The oldest answer to an act of this client, as text; NULL: none. Drop it.
rbt_message *rbt_live_answer(rbt_live *live, int client);

// Text: {"type": "live", "paused": …, "frame": …, "time": …, "over": …}
rbt_message *rbt_live_status(rbt_live *live, rbt_error *error);

#endif
