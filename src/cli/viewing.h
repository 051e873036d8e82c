// What commands with a viewer share: its options, the server, and waiting for the end.
#ifndef RBT_CLI_VIEWING_H
#define RBT_CLI_VIEWING_H

#include "cli/command.h"
#include "serve/server.h"

typedef struct rbt_viewing {
    const char *host;
    long port;
    bool interact;  // of a run in this program
    bool paused;    // with interact: before the first step
    bool stay;      // when the run is over, until Ctrl-C
    bool quiet;
    rbt_live *live;
    rbt_server *server;
} rbt_viewing;

// The options of all of them; `interact` and `stay` are those of runs.
#define RBT_VIEWING_OPTIONS(v)                                                                                       \
    {"--port", NULL, "N", "port of the viewer (any free one)", .integer = &(v).port, .min = 1, .max = 65535}, {      \
        "--host", NULL, "ADDRESS", "address the viewer listens at (127.0.0.1: this machine only)", .text = &(v).host \
    }

// Starts the server and says where it is. false: the error says why not.
bool rbt_viewing_start(rbt_viewing *viewing, size_t count, const char *const *folders, const char *const *names,
                       rbt_error *error);
void rbt_viewing_wait(const rbt_viewing *viewing, const volatile int *stop);  // until it becomes non-zero
void rbt_viewing_end(rbt_viewing *viewing);

// Shows runs until Ctrl-C; the exit code.
int rbt_viewing_show(rbt_viewing *viewing, size_t count, const char *const *folders, const char *const *names);

#endif
