#include "study/contender.h"

#include "base/file.h"
#include "base/memory.h"

#include <string.h>

bool rbt_contender_make(rbt_contender *c, const rbt_contender_def *def, rbt_error *error) {
    *c = (rbt_contender){.name = strdup(def->name), .folder = rbt_path_join(def->folder, def->subfolder)};
    if (!c->name || !c->folder) return rbt_fail_memory(error, strlen(def->folder), "a folder name");
    c->labels = rbt_array_new(def->label_count, sizeof *c->labels, "labels", error);
    c->rates = c->labels ? rbt_array_new((size_t)def->repeat, sizeof *c->rates, "times", error) : NULL;
    if (!c->rates) return false;
    const rbt_setting_list *settings = def->settings;
    c->scene = rbt_scene_read(def->scene_path, (const char *const *)settings->items, settings->count, error);
    return c->scene != NULL;
}

void rbt_contender_free(rbt_contender *c) {
    free(c->name);
    free(c->labels);
    free(c->folder);
    rbt_scene_free(c->scene);
    rbt_trial_free(&c->trial);
    free(c->rates);
    free(c->distance);
    *c = (rbt_contender){0};
}

// ---- Running

typedef struct herald {
    const rbt_rounds *rounds;
    rbt_contender_news news;
} herald;

static void announce(const herald *h) {
    if (h->rounds->hear) h->rounds->hear(&h->news, h->rounds->listener);
}

static void heard(const rbt_trial *trial, pid_t process, void *listener) {
    (void)trial;
    (void)process;
    announce(listener);
}

static bool run_once(herald *h, rbt_contender *c, rbt_error *error) {
    const rbt_trial_def def = {
        .scene = c->scene, .folder = c->folder, .frames = h->rounds->frames, .heard = heard, .listener = h};
    rbt_trial_free(&c->trial);
    h->news = (rbt_contender_news){c, h->news.run + 1, h->news.runs, false};
    announce(h);
    if (!rbt_trial_run(&def, &c->trial, error)) return false;
    if (rbt_trial_complete(&c->trial) && c->trial.t > 0) {
        if (!c->run_count) c->first_seconds = c->trial.step_seconds;
        c->rates[c->run_count++] = c->trial.step_seconds / c->trial.t;
    }
    h->news.over = true;
    announce(h);
    return true;
}

// By its first run, so that all that are repeated are repeated equally often
static bool is_repeated(const rbt_rounds *rounds, const rbt_contender *c) {
    return c->run_count && c->first_seconds <= rounds->repeat_below;
}

bool rbt_contenders_run(const rbt_rounds *rounds, rbt_contender *reference, rbt_contender *contenders, size_t count,
                        rbt_error *error) {
    herald h = {.rounds = rounds, .news.runs = (int)count * rounds->repeat + (reference != NULL)};
    if (reference && !run_once(&h, reference, error)) return false;
    for (int round = 0; round < rounds->repeat; round++)
        for (size_t i = 0; i < count; i++) {
            rbt_contender *c = &contenders[i];
            if (round && !is_repeated(rounds, c)) continue;
            if (!run_once(&h, c, error)) return false;
            if (!round && !is_repeated(rounds, c)) h.news.runs -= rounds->repeat - 1;
        }
    return true;
}

size_t rbt_contenders_finished(const rbt_contender *contenders, size_t count) {
    size_t finished = 0;
    for (size_t i = 0; i < count; i++) finished += contenders[i].trial.end == RBT_TRIAL_FINISHED;
    return finished;
}
