// The viewer's server: HTTP and WebSockets by civetweb, on the loopback interface unless told otherwise. It hands out
// one page and messages about the runs it was given, to those who know the token in the address, and no file by its
// name.
#ifndef RBT_SERVE_SERVER_H
#define RBT_SERVE_SERVER_H

#include "serve/live.h"
#include "serve/replay.h"

enum { RBT_MAX_CLIENTS = 8 };

typedef struct rbt_server_options {
    const char *host;   // address to listen at; NULL: 127.0.0.1
    int port;           // 0: any free one
    const char *token;  // in the address; NULL: a random one
    size_t run_count;
    const char *const *folders;  // (run_count) of runs, each with
    const char *const *names;    // (run_count) what people call it
    rbt_live *live;              // of run 0, if it is one of this program; NULL: none is. It must outlive the server
    void (*log)(const char *line, void *context);  // about who was refused or dropped; NULL: not wanted
    void *context;
} rbt_server_options;

typedef struct rbt_server rbt_server;

rbt_server *rbt_server_start(const rbt_server_options *options, rbt_error *error);
void rbt_server_stop(rbt_server *server);  // NULL: nothing

const char *rbt_server_address(const rbt_server *server);  // "http://127.0.0.1:41234/token/"
bool rbt_server_is_loopback(const rbt_server *server);
size_t rbt_server_clients(const rbt_server *server);  // pages that are open

#endif
