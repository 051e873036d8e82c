#include "serve/server.h"

#include "base/text.h"
#include "serve/page.h"
#include "serve/request.h"

#include <civetweb.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

// A request that a page waits for takes its turn; who asks for more than this at once is dropped.
enum { QUEUE = 256, WORKERS = RBT_MAX_CLIENTS + 8, TOKEN_BYTES = 16 };

typedef struct client {
    struct rbt_server *server;
    struct mg_connection *connection;  // NULL: the place is free
    int number;                        // counted from the start
    pthread_t sender;
    bool open;  // the sender runs
    // Under the server's lock
    bool leaving, wants_live;
    uint64_t live_after;
    size_t first, count;
    struct {
        char *json;
        size_t size;
    } queue[QUEUE];
    int status_seen;
    uint64_t shape_sent;  // of live states
} client;

struct rbt_server {
    rbt_server_options options;
    size_t run_count;
    rbt_replay **runs;
    char **names;
    rbt_live *live;
    struct mg_context *civetweb;
    char token[4 * TOKEN_BYTES + 1], host[64], address[256];
    int port;
    bool loopback;
    pthread_mutex_t lock;
    pthread_cond_t news;
    int joined, changes;
    bool stopping;
    client clients[RBT_MAX_CLIENTS];
};

static void say(const rbt_server *s, const char *format, ...) RBT_PRINTF(2, 3);
static void say(const rbt_server *s, const char *format, ...) {
    char line[512];
    va_list words;
    if (!s->options.log) return;
    va_start(words, format);
    vsnprintf(line, sizeof line, format, words);
    va_end(words);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    s->options.log(line, s->options.context);
}

// ---- Who may

// Same length for every path: how long it takes tells nothing about the token.
static bool same_token(const rbt_server *s, const char *given, size_t size) {
    size_t length = strlen(s->token);
    unsigned char differs = size != length;
    for (size_t i = 0; i < length; i++)
        differs |= (unsigned char)s->token[i] ^ (unsigned char)(i < size ? given[i] : 0);
    return !differs;
}

// What follows the token in the path; NULL: the token is missing or wrong.
static const char *behind_token(const rbt_server *s, const char *path) {
    if (!path || path[0] != '/') return NULL;
    const char *end = strchr(path + 1, '/');
    size_t size = end ? (size_t)(end - path - 1) : strlen(path + 1);
    if (!same_token(s, path + 1, size)) return NULL;
    return end ? end : path + 1 + size;
}

// The host that the browser believes to talk to must be ours, and so must the page that asks: other pages, and names
// that somebody has pointed at this machine, are refused.
static bool is_ours(const rbt_server *s, const char *host) {
    char expected[3][96];
    snprintf(expected[0], sizeof expected[0], "%s:%d", s->host, s->port);
    snprintf(expected[1], sizeof expected[1], "127.0.0.1:%d", s->port);
    snprintf(expected[2], sizeof expected[2], "localhost:%d", s->port);
    if (!s->loopback) return true;  // it may have any number of names then
    for (int i = 0; i < 3; i++)
        if (strcasecmp(host, expected[i]) == 0) return true;
    return false;
}

static bool may_connect(const rbt_server *s, const struct mg_connection *connection) {
    const char *host = mg_get_header(connection, "Host"), *origin = mg_get_header(connection, "Origin");
    const struct mg_request_info *info = mg_get_request_info(connection);
    if (!host || !is_ours(s, host)) {
        say(s, "refused a request from %s for the host \"%.80s\"", info->remote_addr, host ? host : "");
        return false;
    }
    if (origin && (strncasecmp(origin, "http://", 7) != 0 || strcasecmp(origin + 7, host) != 0)) {
        say(s, "refused a request from %s by a page of \"%.80s\"", info->remote_addr, origin);
        return false;
    }
    return true;
}

// ---- The page

static int answer(struct mg_connection *connection, int status, const char *type, const void *body, size_t size) {
    const char *words = status == 200   ? "OK"
                        : status == 403 ? "Forbidden"
                        : status == 405 ? "Method Not Allowed"
                                        : "Not Found";
    mg_printf(connection,
              "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
              "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"
              "X-Frame-Options: DENY\r\nCross-Origin-Resource-Policy: same-origin\r\n"
              "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
              "img-src data: blob:; media-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'\r\n\r\n",
              status, words, type, size);
    if (size) mg_write(connection, body, size);
    return status;
}

static int on_request(struct mg_connection *connection, void *context) {
    const rbt_server *s = context;
    const struct mg_request_info *info = mg_get_request_info(connection);
    static const char no[] = "rubato: nothing here\n";
    if (!may_connect(s, connection)) return answer(connection, 403, "text/plain", no, sizeof no - 1);
    const char *rest = behind_token(s, info->local_uri);
    if (!rest) {
        say(s, "refused a request from %s without the token", info->remote_addr);
        return answer(connection, 404, "text/plain", no, sizeof no - 1);
    }
    if (strcmp(info->request_method, "GET") != 0 && strcmp(info->request_method, "HEAD") != 0)
        return answer(connection, 405, "text/plain", no, sizeof no - 1);
    if (strcmp(rest, "") == 0) {  // relative addresses need the slash
        mg_printf(connection, "HTTP/1.1 301 Moved Permanently\r\nLocation: /%s/\r\nContent-Length: 0\r\n\r\n",
                  s->token);
        return 301;
    }
    if (strcmp(rest, "/") != 0) return answer(connection, 404, "text/plain", no, sizeof no - 1);
    return answer(connection, 200, "text/html; charset=utf-8", RBT_PAGE, RBT_PAGE_SIZE);
}

// ---- Answers, made and sent by a thread of each client

static bool send_message(client *c, rbt_message *m) {
    int opcode = m->text ? MG_WEBSOCKET_OPCODE_TEXT : MG_WEBSOCKET_OPCODE_BINARY;
    int sent = mg_websocket_write(c->connection, opcode, (const char *)m->bytes, m->size);
    rbt_message_drop(m);
    return sent > 0;
}

static rbt_message *text_message(const char *text, size_t size) {
    rbt_message *m = rbt_message_new(true, NULL);
    if (m) rbt_message_add(m, text, size);
    return rbt_message_done(m, NULL);
}

static rbt_message *error_message(const rbt_error *error, const char *request) {
    rbt_text text = {0};
    char why[1600];
    rbt_text_add(&text, "{\"type\": \"error\", \"message\": ");
    rbt_text_add_json(&text, rbt_error_text(error, why, sizeof why));
    rbt_text_add(&text, ", \"request\": ");
    rbt_text_add_json(&text, request);
    rbt_text_add(&text, "}");
    rbt_message *m = text.failed ? NULL : text_message(text.text, text.size);
    rbt_text_free(&text);
    return m;
}

static rbt_message *hello(const rbt_server *s) {
    rbt_text text = {0};
    rbt_text_add(&text, "{\"type\": \"hello\", \"rubato\": \"%s\", \"runs\": [", RBT_VERSION);
    for (size_t i = 0; i < s->run_count; i++) {
        bool live = i == 0 && s->live;
        rbt_text_add(&text, "%s{\"name\": ", i ? ", " : "");
        rbt_text_add_json(&text, s->names[i]);
        rbt_text_add(&text, ", \"live\": %s, \"interact\": %s}", live ? "true" : "false",
                     live && rbt_live_interacts(s->live) ? "true" : "false");
    }
    rbt_text_add(&text, "]}");
    rbt_message *m = text.failed ? NULL : text_message(text.text, text.size);
    rbt_text_free(&text);
    return m;
}

static rbt_message *fulfil(client *c, const rbt_request *q, rbt_error *error) {
    rbt_server *s = c->server;
    if (q->frames) return rbt_replay_list(s->runs[q->frames->run], error);
    if (q->frame)
        return rbt_replay_frame(s->runs[q->frame->run], (size_t)q->frame->number, (uint32_t)q->frame->fields, error);
    if (q->file) return rbt_replay_file(s->runs[q->file->run], q->file->name, q->file->from, error);
    if (q->shape)
        return rbt_replay_shape(s->runs[q->shape->run], (size_t)q->shape->number, (uint32_t)q->shape->fields, error);
    if (!s->live) return rbt_fail(error, "no run is in progress here: frames of folders are shown"), NULL;
    if (q->live) {
        pthread_mutex_lock(&s->lock);
        c->wants_live = true;
        c->live_after = (uint64_t)q->live->after;
        pthread_mutex_unlock(&s->lock);
        rbt_live_want(s->live, (uint32_t)q->live->fields);
        return NULL;
    }
    if (q->pause) {
        rbt_live_pause(s->live, q->pause->on, q->pause->steps);
        return NULL;
    }
    rbt_live_act(s->live, c->number, q->act->id, q->act->event, error);
    return NULL;
}

// What a page has sent may be no UTF-8, which a text message must be.
static void make_plain(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text > '~') *text = '?';
}

static bool work_off(client *c, char *json, size_t size) {
    rbt_request request;
    rbt_error error = {0};
    rbt_arena *arena = rbt_arena_new();
    bool read = arena && rbt_request_read(&request, arena, json, size, (int)c->server->run_count, &error);
    rbt_message *m = read ? fulfil(c, &request, &error) : NULL;
    if (!read) say(c->server, "page %d sent a request that is none: %s", c->number, error.message);
    if (!read) make_plain(error.message);
    make_plain(json);
    if (!m && error.message[0]) m = error_message(&error, json);
    rbt_arena_free(arena);
    return !m || send_message(c, m);
}

// What is due for a client, without waiting; *good false: it cannot be reached any more.
static bool serve_once(client *c, bool *good) {
    rbt_server *s = c->server;
    char *json = NULL;
    size_t size = 0;
    pthread_mutex_lock(&s->lock);
    bool wants = c->wants_live, status = s->live && c->status_seen != s->changes;
    c->status_seen = s->changes;
    uint64_t after = c->live_after;
    if (c->count) {
        json = c->queue[c->first].json;
        size = c->queue[c->first].size;
        c->first = (c->first + 1) % QUEUE;
        c->count--;
    }
    pthread_mutex_unlock(&s->lock);
    bool did = json != NULL;
    if (json) *good = work_off(c, json, size);
    free(json);
    rbt_message *m = *good && status ? rbt_live_status(s->live, NULL) : NULL;
    if (m) *good = send_message(c, m), did = true;
    m = *good && s->live ? rbt_live_answer(s->live, c->number) : NULL;
    if (m) *good = send_message(c, m), did = true;
    m = *good && wants ? rbt_live_newest(s->live, after) : NULL;
    if (!m) return did;
    // A shape that the page does not know goes ahead of its first state.
    uint64_t shape;
    memcpy(&shape, m->bytes + 24, sizeof shape);
    pthread_mutex_lock(&s->lock);
    c->wants_live = false;
    pthread_mutex_unlock(&s->lock);
    rbt_message *drawn = rbt_live_shape(s->live);
    bool same = drawn && memcmp(drawn->bytes + 24, &shape, sizeof shape) == 0;
    if (same && c->shape_sent != shape) *good = send_message(c, rbt_message_keep(drawn));
    if (same) c->shape_sent = shape;
    rbt_message_drop(drawn);
    if (*good) *good = send_message(c, m);
    else rbt_message_drop(m);
    return true;
}

static void *send_all(void *context) {
    client *c = context;
    rbt_server *s = c->server;
    rbt_message *first = hello(s);
    bool good = first && send_message(c, first), leaving = false;
    while (good && !leaving) {
        bool did = serve_once(c, &good);
        pthread_mutex_lock(&s->lock);
        bool idle = !did && !c->count && c->status_seen == s->changes;
        if (idle && !c->leaving) pthread_cond_wait(&s->news, &s->lock);
        leaving = c->leaving;
        pthread_mutex_unlock(&s->lock);
    }
    if (!good && !leaving) say(s, "page %d does not read or is gone: dropped", c->number);
    return NULL;
}

static void on_news(void *context) {
    rbt_server *s = context;
    pthread_mutex_lock(&s->lock);
    s->changes++;
    pthread_cond_broadcast(&s->news);
    pthread_mutex_unlock(&s->lock);
}

// ---- Connections

static int on_connect(const struct mg_connection *connection, void *context) {
    rbt_server *s = context;
    const struct mg_request_info *info = mg_get_request_info(connection);
    if (!may_connect(s, connection)) return 1;
    const char *rest = behind_token(s, info->local_uri);
    if (!rest || strcmp(rest, "/ws") != 0) {
        say(s, "refused a connection from %s without the token", info->remote_addr);
        return 1;
    }
    pthread_mutex_lock(&s->lock);
    client *free_place = NULL;
    for (int i = 0; i < RBT_MAX_CLIENTS && !s->stopping; i++)
        if (!s->clients[i].connection) free_place = &s->clients[i];
    if (free_place) {
        *free_place = (client){.server = s, .number = ++s->joined, .status_seen = -1};
        free_place->connection = (struct mg_connection *)(uintptr_t)connection;
    }
    pthread_mutex_unlock(&s->lock);
    if (!free_place) {
        say(s, "refused a connection from %s: %d pages are open already", info->remote_addr, RBT_MAX_CLIENTS);
        return 1;
    }
    mg_set_user_connection_data(connection, free_place);
    return 0;
}

static void on_ready(struct mg_connection *connection, void *context) {
    (void)context;
    client *c = mg_get_user_connection_data(connection);
    if (c) c->open = pthread_create(&c->sender, NULL, send_all, c) == 0;
}

static bool enqueue(client *c, const char *data, size_t size) {
    rbt_server *s = c->server;
    char *json = malloc(size + 1);
    if (!json) return false;
    memcpy(json, data, size);
    json[size] = '\0';
    pthread_mutex_lock(&s->lock);
    bool room = c->count < QUEUE;
    if (room) {
        size_t place = (c->first + c->count++) % QUEUE;
        c->queue[place].json = json;
        c->queue[place].size = size;
    }
    pthread_cond_broadcast(&s->news);
    pthread_mutex_unlock(&s->lock);
    if (!room) free(json);
    return room;
}

static int on_data(struct mg_connection *connection, int bits, char *data, size_t size, void *context) {
    rbt_server *s = context;
    client *c = mg_get_user_connection_data(connection);
    int opcode = bits & 0xf;
    if (!c || !c->open) return 0;
    if (opcode == MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE) return 0;
    if (opcode == MG_WEBSOCKET_OPCODE_PING || opcode == MG_WEBSOCKET_OPCODE_PONG) return 1;
    if (opcode != MG_WEBSOCKET_OPCODE_TEXT || !(bits & 0x80)) {
        say(s, "page %d sent what is no request (opcode %d): dropped", c->number, opcode);
        return 0;
    }
    if (size > RBT_MAX_REQUEST) {
        say(s, "page %d sent a request of %zu bytes, more than %d: dropped", c->number, size, RBT_MAX_REQUEST);
        return 0;
    }
    if (enqueue(c, data, size)) return 1;
    say(s, "page %d asks for more than %d things at once: dropped", c->number, QUEUE);
    return 0;
}

static void on_close(const struct mg_connection *connection, void *context) {
    rbt_server *s = context;
    client *c = mg_get_user_connection_data(connection);
    if (!c) return;
    pthread_mutex_lock(&s->lock);
    c->leaving = true;
    pthread_cond_broadcast(&s->news);
    pthread_mutex_unlock(&s->lock);
    if (c->open) pthread_join(c->sender, NULL);
    for (rbt_message *m; s->live && (m = rbt_live_answer(s->live, c->number));) rbt_message_drop(m);
    pthread_mutex_lock(&s->lock);
    for (; c->count; c->count--, c->first = (c->first + 1) % QUEUE) free(c->queue[c->first].json);
    c->connection = NULL;
    pthread_mutex_unlock(&s->lock);
}

static int on_log(const struct mg_connection *connection, const char *message) {
    (void)connection;
    (void)message;  // what we want to know we say ourselves
    return 1;
}

// ---- Life

static bool choose_token(rbt_server *s, rbt_error *error) {
    unsigned char bytes[TOKEN_BYTES];
    if (s->options.token) {
        snprintf(s->token, sizeof s->token, "%s", s->options.token);
        return true;
    }
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return rbt_fail(error, "the system gives no random numbers for the address: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(s->token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static bool open_runs(rbt_server *s, rbt_error *error) {
    size_t count = s->options.run_count;
    s->runs = rbt_array_new(count, sizeof(rbt_replay *), "runs", error);
    s->names = s->runs ? rbt_array_new(count, sizeof *s->names, "runs", error) : NULL;
    if (!s->names) return false;
    for (; s->run_count < count; s->run_count++) {
        size_t i = s->run_count;
        if (!(s->runs[i] = rbt_replay_open(s->options.folders[i], (uint32_t)i, i == 0 && s->live, error)))
            return false;
        if (!(s->names[i] = strdup(s->options.names[i]))) {
            rbt_replay_free(s->runs[i]);
            return rbt_fail_memory(error, strlen(s->options.names[i]), "a name");
        }
    }
    return true;
}

static bool start_civetweb(rbt_server *s, rbt_error *error) {
    char listening[96], workers[16];
    snprintf(listening, sizeof listening, "%s:%d", s->host, s->options.port);
    snprintf(workers, sizeof workers, "%d", WORKERS);
    const char *words[] = {"listening_ports",
                           listening,
                           "num_threads",
                           workers,
                           "request_timeout_ms",
                           "10000",
                           "websocket_timeout_ms",
                           "20000",
                           "enable_websocket_ping_pong",
                           "yes",
                           "tcp_nodelay",
                           "1",
                           "enable_directory_listing",
                           "no",
                           "enable_keep_alive",
                           "no",
                           NULL};
    struct mg_callbacks callbacks = {.log_message = on_log};
    struct mg_server_port ports[1];
    errno = 0;
    s->civetweb = mg_start(&callbacks, s, words);
    if (!s->civetweb)
        return rbt_fail(error, "the viewer cannot listen at %s%s%s; --port chooses another port", listening,
                        errno ? ": " : "", errno ? strerror(errno) : "");
    s->port = mg_get_server_ports(s->civetweb, 1, ports) == 1 ? ports[0].port : s->options.port;
    snprintf(s->address, sizeof s->address, "http://%s:%d/%s/", s->host, s->port, s->token);
    mg_set_websocket_handler(s->civetweb, "/**", on_connect, on_ready, on_data, on_close, s);
    mg_set_request_handler(s->civetweb, "/**", on_request, s);
    return true;
}

rbt_server *rbt_server_start(const rbt_server_options *options, rbt_error *error) {
    if (!rbt_page_is_there(error)) return NULL;
    rbt_server *s = rbt_array_new(1, sizeof *s, "the viewer", error);
    if (!s) return NULL;
    s->options = *options;
    s->live = options->live;
    snprintf(s->host, sizeof s->host, "%s", options->host ? options->host : "127.0.0.1");
    s->loopback =
        strncmp(s->host, "127.", 4) == 0 || strcmp(s->host, "[::1]") == 0 || strcmp(s->host, "localhost") == 0;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->news, NULL);
    mg_init_library(0);
    if (choose_token(s, error) && open_runs(s, error) && start_civetweb(s, error)) {
        if (s->live) rbt_live_set_news(s->live, on_news, s);
        return s;
    }
    rbt_server_stop(s);
    return NULL;
}

void rbt_server_stop(rbt_server *s) {
    if (!s) return;
    if (s->live) rbt_live_set_news(s->live, NULL, NULL);
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    for (int i = 0; i < RBT_MAX_CLIENTS; i++) s->clients[i].leaving = true;
    pthread_cond_broadcast(&s->news);
    pthread_mutex_unlock(&s->lock);
    if (s->civetweb) mg_stop(s->civetweb);
    mg_exit_library();
    for (size_t i = 0; i < s->run_count; i++) {
        rbt_replay_free(s->runs[i]);
        free(s->names[i]);
    }
    free(s->runs);
    free(s->names);
    pthread_cond_destroy(&s->news);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

const char *rbt_server_address(const rbt_server *s) { return s->address; }
bool rbt_server_is_loopback(const rbt_server *s) { return s->loopback; }

size_t rbt_server_clients(const rbt_server *server) {
    rbt_server *s = (rbt_server *)(uintptr_t)server;
    size_t count = 0;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < RBT_MAX_CLIENTS; i++) count += s->clients[i].connection != NULL;
    pthread_mutex_unlock(&s->lock);
    return count;
}
