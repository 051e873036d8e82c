#include "serve/live.h"

#include "base/text.h"
#include "model/obstacle_nodes.h"
#include "model/warp.h"
#include "out/vtu.h"
#include "serve/drawn.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

enum { ACTS = 64, ANSWERS = 64 };

typedef struct act {
    int client, id;
    char *event;
} act;

struct rbt_live {
    bool interact;
    atomic_uint wanted;  // fields, and WAITING if somebody waits
    pthread_mutex_t lock;
    pthread_cond_t change;  // of what the run's thread waits for
    void (*news)(void *context);
    void *context;

    // Under the lock
    rbt_message *newest, *shape;
    uint64_t sequence;
    bool paused, over, stopped;
    int steps;  // to take although paused
    size_t act_count, answer_count;
    act acts[ACTS];
    struct {
        int client;
        rbt_message *text;
    } answers[ANSWERS];
    double time;
    int64_t frame, step;

    // Of the run's thread
    const volatile int *stop;
    const rbt_model *model;  // that the rest belongs to
    int generation;
    rbt_vtu_frame cells;
    rbt_drawn *drawn;
    rbt_warp *warp;
    double *values;  // (RBT_SHOWN_FIELDS + 3 + 3) x nodes
    int32_t *labels;
    bool obstacles_move;
    double low[3], high[3];
    double shown_time;
    uint32_t shown_fields;
    act doing;
    bool has_doing;
};

static const unsigned WAITING = 1u << 31;

rbt_live *rbt_live_new(bool interact, rbt_error *error) {
    rbt_live *l = rbt_array_new(1, sizeof *l, "the view of a run", error);
    if (!l) return NULL;
    l->interact = interact;
    l->shown_time = NAN;
    atomic_init(&l->wanted, 0);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->change, NULL);
    return l;
}

static void forget_model(rbt_live *l) {
    rbt_vtu_frame_free(&l->cells);
    rbt_drawn_free(l->drawn);
    rbt_warp_free(l->warp);
    free(l->values);
    free(l->labels);
    l->drawn = NULL;
    l->warp = NULL;
    l->values = NULL;
    l->labels = NULL;
    l->model = NULL;
}

void rbt_live_free(rbt_live *l) {
    if (!l) return;
    forget_model(l);
    for (size_t i = 0; i < l->act_count; i++) free(l->acts[i].event);
    for (size_t i = 0; i < l->answer_count; i++) rbt_message_drop(l->answers[i].text);
    if (l->has_doing) free(l->doing.event);
    rbt_message_drop(l->newest);
    rbt_message_drop(l->shape);
    pthread_cond_destroy(&l->change);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

bool rbt_live_interacts(const rbt_live *l) { return l->interact; }

void rbt_live_set_news(rbt_live *l, void (*news)(void *context), void *context) {
    pthread_mutex_lock(&l->lock);
    l->news = news;
    l->context = context;
    pthread_mutex_unlock(&l->lock);
}

static void tell(rbt_live *l) {
    pthread_mutex_lock(&l->lock);
    void (*news)(void *) = l->news;
    void *context = l->context;
    pthread_mutex_unlock(&l->lock);
    if (news) news(context);
}

// ---- States, of the run's thread. Where memory lacks nothing is shown, and the run continues.

static rbt_drawn_source source_of(const rbt_live *l) {
    const rbt_model *m = l->model;
    size_t shells = 0;
    for (size_t b = 0; b < m->body_count; b++)
        if (m->bodies[b].kind == RBT_SHELL) shells += rbt_body_element_count(&m->bodies[b]);
    const int32_t *cells = l->cells.cells;
    return (rbt_drawn_source){.node_count = m->node_count,
                              .rest = m->X,
                              .tet_count = m->tet_count,
                              .triangle_count = shells,
                              .edge_count = m->edge_count,
                              .cell_count = l->cells.cell_count,
                              .tets = cells,
                              .triangles = cells + 4 * m->tet_count,
                              .edges = cells + 4 * m->tet_count + 3 * shells,
                              .body = l->cells.body,
                              .region = l->cells.region};
}

static rbt_scenery_sight sight_of(const rbt_live *l, double time) {
    rbt_scenery_sight sight = {.time = time};
    memcpy(sight.low, l->low, sizeof sight.low);
    memcpy(sight.high, l->high, sizeof sight.high);
    return sight;
}

static rbt_message *make_shape(const rbt_live *l, double time) {
    rbt_scenery scenery = {0};
    const rbt_scenery_sight sight = sight_of(l, time);
    if (!rbt_scenery_build(&scenery, &l->model->obstacles, &sight, NULL)) return NULL;
    rbt_message *m = rbt_drawn_message(l->drawn, &scenery, 0, 0, NULL);
    rbt_scenery_free(&scenery);
    return m;
}

static void note_box(rbt_live *l) {
    const rbt_model *m = l->model;
    for (int k = 0; k < 3; k++) l->low[k] = INFINITY, l->high[k] = -INFINITY;
    for (size_t i = 0; i < 3 * m->node_count; i++) {
        l->low[i % 3] = fmin(l->low[i % 3], m->x0[i]);
        l->high[i % 3] = fmax(l->high[i % 3], m->x0[i]);
    }
}

// What depends on the model: at first, and after a cut or an act
static bool follow(rbt_live *l, const rbt_sim *sim) {
    const rbt_model *m = sim->model;
    if (l->model == m && l->generation == m->generation) return true;
    bool first = !l->model && !l->sequence;
    forget_model(l);
    if (!rbt_vtu_frame_init(&l->cells, m, NULL, NULL)) return false;
    l->model = m;
    l->generation = m->generation;
    if (first) note_box(l);
    for (size_t i = 0; i < m->obstacles.count; i++)
        l->obstacles_move =
            l->obstacles_move || rbt_obstacle_is_prescribed(&m->obstacles, i, &m->obstacle_motions[i]);
    const rbt_drawn_source source = source_of(l);
    l->drawn = rbt_drawn_new(&source, NULL);
    l->values = rbt_array_new(m->node_count, (RBT_SHOWN_FIELDS + 6) * sizeof(double), "values", NULL);
    l->labels = rbt_array_new(m->node_count, sizeof(int32_t), "labels", NULL);
    if (sim->scene->output.warp) l->warp = rbt_warp_new(m, NULL);
    rbt_message *shape = l->drawn ? make_shape(l, sim->state.t) : NULL;
    if (!shape || !l->values || !l->labels) {
        rbt_message_drop(shape);
        forget_model(l);
        return false;
    }
    pthread_mutex_lock(&l->lock);
    rbt_message_drop(l->shape);
    l->shape = shape;
    pthread_mutex_unlock(&l->lock);
    return true;
}

static void sizes(const double *vectors, size_t count, double *values) {
    for (size_t i = 0; i < count; i++) {
        const double *v = vectors + 3 * i;
        values[i] = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
}

static void fill_fields(rbt_live *l, const rbt_sim *sim, uint32_t fields, rbt_shown_frame *frame) {
    const rbt_stepper *stepper = &sim->stepper;
    size_t n = l->model->node_count;
    double *work = l->values + RBT_SHOWN_FIELDS * n;
    for (int k = 0; k < RBT_SHOWN_FIELDS; k++) {
        double *values = l->values + (size_t)k * n;
        bool known = fields >> k & 1;
        if (!known) continue;
        if (1u << k == RBT_SHOWN_SPEED) sizes(sim->state.v, n, values);
        if (1u << k == RBT_SHOWN_STRESS) {
            const rbt_drawn_source source = source_of(l);
            rbt_vtu_frame_stress(&l->cells, l->model, sim->state.x);
            known = rbt_drawn_means(&source, l->cells.stress, values, NULL);
        }
        if (1u << k == RBT_SHOWN_CONTACT) {
            known =
                rbt_method_has_contact(stepper->method, stepper->model) && rbt_sim_contact_forces(sim, work, NULL);
            if (known) sizes(work, n, values);
        }
        if (1u << k == RBT_SHOWN_LABEL) {
            known = stepper->method->labels && stepper->method->labels(stepper->self, l->labels) >= 0;
            for (size_t i = 0; known && i < n; i++) values[i] = l->labels[i];
        }
        if (known) frame->fields[k] = values;
    }
}

static void show(rbt_live *l, const rbt_sim *sim, uint32_t fields) {
    if (!follow(l, sim)) return;
    const rbt_state *s = &sim->state;
    rbt_shown_frame frame = {
        .frame = (uint32_t)s->frame, .time = s->t, .live = s->step ? 2 : 1, .sequence = l->sequence + 1};
    frame.x = s->x;
    double *warped = l->values + (RBT_SHOWN_FIELDS + 3) * l->model->node_count;
    if (l->warp && rbt_warp_apply(l->warp, s->t, s->x, warped, NULL)) frame.x = warped;
    fill_fields(l, sim, fields, &frame);
    rbt_scenery scenery = {0};
    const rbt_scenery_sight sight = sight_of(l, s->t);
    if (l->obstacles_move && rbt_scenery_build(&scenery, &l->model->obstacles, &sight, NULL))
        frame.scenery = &scenery;
    rbt_message *m = rbt_drawn_frame_message(l->drawn, &frame, NULL);
    rbt_scenery_free(&scenery);
    if (!m) return;
    l->shown_time = s->t;
    l->shown_fields = fields;
    pthread_mutex_lock(&l->lock);
    rbt_message_drop(l->newest);
    l->newest = m;
    l->sequence++;
    pthread_mutex_unlock(&l->lock);
    tell(l);
}

static void note_time(rbt_live *l, const rbt_sim *sim) {
    pthread_mutex_lock(&l->lock);
    l->time = sim->state.t;
    l->frame = sim->state.frame;
    l->step = sim->state.step;
    pthread_mutex_unlock(&l->lock);
}

void rbt_live_show(rbt_live *l, const rbt_sim *sim) {
    note_time(l, sim);
    unsigned wanted = atomic_exchange(&l->wanted, 0);
    if (wanted & WAITING) show(l, sim, wanted & RBT_SHOWN_ALL);
}

void rbt_live_finish(rbt_live *l, const rbt_sim *sim) {
    note_time(l, sim);
    show(l, sim, RBT_SHOWN_ALL);
    rbt_live_stop(l);
}

void rbt_live_stop(rbt_live *l) {
    pthread_mutex_lock(&l->lock);
    l->over = true;
    pthread_cond_broadcast(&l->change);
    pthread_mutex_unlock(&l->lock);
    forget_model(l);
    tell(l);
}

// ---- Acts, of the run's thread

static void wait_a_little(rbt_live *l) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50000000;
    if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
    pthread_cond_timedwait(&l->change, &l->lock, &until);
}

// While the run waits, a state is shown once, and again if other fields are asked for.
static void show_waiting(rbt_live *l, const rbt_sim *sim) {
    unsigned wanted = atomic_load(&l->wanted);
    if (!(wanted & WAITING)) return;
    if (l->shown_time == sim->state.t && !((wanted & RBT_SHOWN_ALL) & ~l->shown_fields)) return;
    atomic_store(&l->wanted, 0);
    show(l, sim, (wanted & RBT_SHOWN_ALL) | (l->shown_time == sim->state.t ? l->shown_fields : 0));
}

// The next act; NULL: take a step.
static const char *next_act(const rbt_sim *sim, void *self) {
    rbt_live *l = self;
    note_time(l, sim);
    bool told = false;
    for (;;) {
        show_waiting(l, sim);
        pthread_mutex_lock(&l->lock);
        bool go = l->over || (l->stop && *l->stop) || (!l->paused && !l->act_count);
        if (!go && l->act_count) {
            l->doing = l->acts[0];
            l->has_doing = true;
            memmove(l->acts, l->acts + 1, --l->act_count * sizeof *l->acts);
            pthread_mutex_unlock(&l->lock);
            return l->doing.event;
        }
        if (!go && l->steps > 0) {
            l->steps--;
            go = true;
        }
        bool wait = !go && told;
        if (wait) wait_a_little(l);
        pthread_mutex_unlock(&l->lock);
        if (go) return NULL;
        if (!told) tell(l);  // where it waits
        told = true;
    }
}

static void acted(const rbt_error *error, double time, void *self) {
    rbt_live *l = self;
    rbt_text text = {0};
    char why[1600];
    rbt_text_add(&text, "{\"type\": \"act\", \"id\": %d, \"time\": %.17g, \"error\": ", l->doing.id, time);
    if (error) rbt_text_add_json(&text, rbt_error_text(error, why, sizeof why));
    else rbt_text_add(&text, "null");
    rbt_text_add(&text, "}");
    rbt_message *m = text.failed ? NULL : rbt_message_new(true, NULL);
    if (m) rbt_message_add(m, text.text, text.size);
    rbt_text_free(&text);
    pthread_mutex_lock(&l->lock);
    if (l->answer_count == ANSWERS) {  // of somebody who does not read them
        rbt_message_drop(l->answers[0].text);
        memmove(l->answers, l->answers + 1, --l->answer_count * sizeof *l->answers);
    }
    if (m) {
        l->answers[l->answer_count].client = l->doing.client;
        l->answers[l->answer_count++].text = m;
    }
    pthread_mutex_unlock(&l->lock);
    free(l->doing.event);
    l->has_doing = false;
    tell(l);
}

static void stepped(const rbt_sim *sim, void *self) { rbt_live_show(self, sim); }

rbt_run_hand rbt_live_hand(rbt_live *l, const volatile int *stop) {
    l->stop = stop;
    return (rbt_run_hand){next_act, acted, stepped, l};
}

// ---- Of any thread

void rbt_live_want(rbt_live *l, uint32_t fields) { atomic_fetch_or(&l->wanted, WAITING | (fields & RBT_SHOWN_ALL)); }

rbt_message *rbt_live_newest(rbt_live *l, uint64_t after) {
    pthread_mutex_lock(&l->lock);
    rbt_message *m = l->newest && l->sequence > after ? rbt_message_keep(l->newest) : NULL;
    pthread_mutex_unlock(&l->lock);
    return m;
}

rbt_message *rbt_live_shape(rbt_live *l) {
    pthread_mutex_lock(&l->lock);
    rbt_message *m = rbt_message_keep(l->shape);
    pthread_mutex_unlock(&l->lock);
    return m;
}

bool rbt_live_act(rbt_live *l, int client, int id, const char *event, rbt_error *error) {
    if (!l->interact) return rbt_fail(error, "this run is shown only; --interact lets people act on it");
    char *copy = strdup(event);
    if (!copy) return rbt_fail_memory(error, strlen(event), "an act");
    pthread_mutex_lock(&l->lock);
    bool over = l->over, room = !over && l->act_count < ACTS;
    if (room) l->acts[l->act_count++] = (act){client, id, copy};
    pthread_cond_broadcast(&l->change);
    pthread_mutex_unlock(&l->lock);
    if (!room) free(copy);
    return room || rbt_fail(error, over ? "the run is over" : "%d acts wait already; this one is dropped", ACTS);
}

void rbt_live_pause(rbt_live *l, bool on, int steps) {
    pthread_mutex_lock(&l->lock);
    if (l->interact) {
        l->paused = on;
        l->steps = on ? l->steps + steps : 0;
    }
    pthread_cond_broadcast(&l->change);
    pthread_mutex_unlock(&l->lock);
    tell(l);
}

rbt_message *rbt_live_answer(rbt_live *l, int client) {
    rbt_message *m = NULL;
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; !m && i < l->answer_count; i++) {
        if (l->answers[i].client != client) continue;
        m = l->answers[i].text;
        memmove(l->answers + i, l->answers + i + 1, (--l->answer_count - i) * sizeof *l->answers);
    }
    pthread_mutex_unlock(&l->lock);
    return m;
}

rbt_message *rbt_live_status(rbt_live *l, rbt_error *error) {
    rbt_message *m = rbt_message_new(true, error);
    rbt_text text = {0};
    pthread_mutex_lock(&l->lock);
    rbt_text_add(&text,
                 "{\"type\": \"live\", \"paused\": %s, \"over\": %s, \"frame\": %lld, \"step\": %lld, \"time\": ",
                 l->paused ? "true" : "false", l->over ? "true" : "false", (long long)l->frame, (long long)l->step);
    rbt_text_add_json_number(&text, l->time);
    rbt_text_add(&text, "}");
    pthread_mutex_unlock(&l->lock);
    if (m && !text.failed) rbt_message_add(m, text.text, text.size);
    if (m && text.failed) m->failed = true;
    rbt_text_free(&text);
    return rbt_message_done(m, error);
}
