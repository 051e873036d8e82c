#include "cli/viewing.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

static void print_line(const char *line, void *context) {
    (void)context;
    fprintf(stderr, "rubato: viewer: %s\n", line);
}

bool rbt_viewing_start(rbt_viewing *v, size_t count, const char *const *folders, const char *const *names,
                       rbt_error *error) {
    const rbt_server_options options = {.host = v->host,
                                        .port = (int)v->port,
                                        .run_count = count,
                                        .folders = folders,
                                        .names = names,
                                        .live = v->live,
                                        .log = print_line};
    signal(SIGPIPE, SIG_IGN);  // pages that vanish
    if (!(v->server = rbt_server_start(&options, error))) return false;
    if (!rbt_server_is_loopback(v->server))
        fprintf(
            stderr,
            "rubato: warning: the viewer listens at %s, where other machines reach it; whoever learns the address "
            "below can see the run%s, and it is not encrypted\n",
            v->host, v->live && v->interact ? " and act on it" : "");
    printf("view: %s\n", rbt_server_address(v->server));
    if (!v->quiet) printf("Open this address in a browser; Ctrl-C ends it.\n");
    fflush(stdout);
    return true;
}

void rbt_viewing_wait(const rbt_viewing *v, const volatile int *stop) {
    const struct timespec moment = {.tv_nsec = 50000000};
    while (v->server && !*stop) nanosleep(&moment, NULL);
}

void rbt_viewing_end(rbt_viewing *v) {
    rbt_server_stop(v->server);
    rbt_live_free(v->live);
    v->server = NULL;
    v->live = NULL;
}

static volatile int stop_requested;

static void on_interrupt(int signal_number) {
    stop_requested = 1;
    signal(signal_number, SIG_DFL);
}

int rbt_viewing_show(rbt_viewing *v, size_t count, const char *const *folders, const char *const *names) {
    rbt_error error = {0};
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    if (!rbt_viewing_start(v, count, folders, names, &error)) return rbt_complain(&error);
    rbt_viewing_wait(v, &stop_requested);
    rbt_viewing_end(v);
    return 0;
}
