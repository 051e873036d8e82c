#include "study/compare.h"

#include "base/file.h"
#include "base/memory.h"
#include "step/core/method.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FINER = 8 };  // how many times shorter the steps of the reference are, unless told otherwise

// ---- Preparing: every scene is read before the first run, so that mistakes do not cost a night

// The settings that make the scene this contender's. Another method's solver and options would be errors, so they are
// taken out; every frame gets a checkpoint, from which distances are measured to the last bit.
typedef struct own_settings {
    char text[7][96];
    size_t count;
} own_settings;

static void add_setting(own_settings *own, const char *path, const char *value) {
    snprintf(own->text[own->count], sizeof own->text[0], "%s=%s", path, value);
    own->count++;
}

static own_settings settings_of(const rbt_method_spec *spec, int scene_method) {
    own_settings own = {.count = 0};
    const rbt_method *method = rbt_method_at(spec->method);
    char number[32];
    if (spec->method != scene_method) {
        add_setting(&own, "integrator.solver", "null");
        add_setting(&own, "integrator.options", "null");
        add_setting(&own, "integrator.method", method->name);
    }
    if (spec->solver >= 0) add_setting(&own, "integrator.solver", method->solvers(spec->solver));
    if (spec->step > 0) add_setting(&own, "time.step", rbt_text_number(spec->step, number));
    add_setting(&own, "output.checkpoint_every", "1");
    add_setting(&own, "output.checkpoint_keep", "0");
    return own;
}

static bool read_scene(const rbt_compare_options *o, rbt_contender *c, int scene_method, rbt_error *error) {
    own_settings own = settings_of(&c->spec, scene_method);
    const char **all = rbt_array_new(o->setting_count + own.count, sizeof *all, "settings", error);
    if (!all) return false;
    for (size_t i = 0; i < o->setting_count; i++) all[i] = o->settings[i];
    for (size_t i = 0; i < own.count; i++) all[o->setting_count + i] = own.text[i];
    c->scene = rbt_scene_read(o->scene_path, all, o->setting_count + own.count, error);
    free(all);
    return c->scene != NULL;
}

static bool prepare(const rbt_compare_options *o, rbt_contender *c, const rbt_method_spec *spec, const char *name,
                    int scene_method, rbt_error *error) {
    char plain[sizeof spec->name];
    snprintf(plain, sizeof plain, "%s", name);
    for (char *at = plain; *at; at++)
        if (*at == ':') *at = '-';  // some tools take what stands before a colon for a machine or a drive
    c->spec = *spec;
    c->folder = rbt_path_join(o->folder, plain);
    c->rates = rbt_array_new((size_t)o->repeat, sizeof *c->rates, "times", error);
    if (!c->folder) return rbt_fail_memory(error, strlen(o->folder), "a folder name");
    return c->rates && read_scene(o, c, scene_method, error);
}

static bool prepare_reference(const rbt_compare_options *o, rbt_comparison *all, int scene_method, rbt_error *error) {
    const rbt_contender *first = &all->contenders[0];
    rbt_method_spec finer;
    if (o->no_reference) return true;
    double step = rbt_scene_of(first->scene)->time.step / FINER;
    if (!o->reference && isnan(step))
        return rbt_fail(
            error, "the scene's step is \"auto\", so there is none to make a finer reference from; give a reference "
                   "or set time.step");
    if (!o->reference && !rbt_method_spec_at_step(&first->spec, step, &finer, error)) return false;
    all->has_reference = true;
    return prepare(o, &all->reference, o->reference ? o->reference : &finer, "reference", scene_method, error);
}

static bool prepare_all(const rbt_compare_options *o, rbt_comparison *all, rbt_error *error) {
    rbt_scene_file *scene = rbt_scene_read(o->scene_path, o->settings, o->setting_count, error);
    if (!scene) return false;
    int scene_method = rbt_scene_of(scene)->integrator.method;
    rbt_scene_free(scene);
    all->folder = strdup(o->folder);
    all->contenders = rbt_array_new(o->spec_count, sizeof *all->contenders, "methods", error);
    if (!all->folder || !all->contenders) return rbt_fail_memory(error, 0, "a comparison");
    all->count = o->spec_count;
    for (size_t i = 0; i < all->count; i++)
        if (!prepare(o, &all->contenders[i], &o->specs[i], o->specs[i].name, scene_method, error)) return false;
    return prepare_reference(o, all, scene_method, error);
}

// ---- Running

typedef struct herald {
    const rbt_compare_options *options;
    rbt_compare_news news;
} herald;

static void announce(const herald *h) {
    if (h->options->hear) h->options->hear(&h->news, h->options->listener);
}

static void heard(const rbt_trial *trial, pid_t process, void *listener) {
    (void)trial;
    (void)process;
    announce(listener);
}

static bool run_once(herald *h, rbt_contender *c, rbt_error *error) {
    const rbt_trial_def def = {
        .scene = c->scene, .folder = c->folder, .frames = h->options->frames, .heard = heard, .listener = h};
    rbt_trial_free(&c->trial);
    h->news = (rbt_compare_news){c, h->news.run + 1, h->news.runs, false};
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
static bool is_repeated(const rbt_compare_options *o, const rbt_contender *c) {
    return c->run_count && c->first_seconds <= o->repeat_below;
}

static bool run_all(const rbt_compare_options *o, rbt_comparison *all, rbt_error *error) {
    herald h = {.options = o, .news.runs = (int)all->count * o->repeat + all->has_reference};
    if (all->has_reference && !run_once(&h, &all->reference, error)) return false;
    for (int turn = 0; turn < o->repeat; turn++)
        for (size_t i = 0; i < all->count; i++) {
            rbt_contender *c = &all->contenders[i];
            if (turn && !is_repeated(o, c)) continue;
            if (!run_once(&h, c, error)) return false;
            if (!turn && !is_repeated(o, c)) h.news.runs -= o->repeat - 1;
        }
    return true;
}

// ---- The whole

rbt_comparison *rbt_compare(const rbt_compare_options *options, rbt_error *error) {
    rbt_comparison *all = rbt_array_new(1, sizeof *all, "a comparison", error);
    if (!all) return NULL;
    *all = (rbt_comparison){.scene_path = options->scene_path, .repeat = options->repeat, .energy_scale = NAN};
    int lock = -1;
    bool good = prepare_all(options, all, error) && rbt_folder_make(all->folder, error) &&
                (lock = rbt_folder_lock(all->folder, error)) >= 0 && run_all(options, all, error) &&
                rbt_comparison_measure(all, error);
    if (lock >= 0) close(lock);
    if (good) return all;
    rbt_comparison_free(all);
    return NULL;
}

static void free_contender(rbt_contender *c) {
    free(c->folder);
    rbt_scene_free(c->scene);
    rbt_trial_free(&c->trial);
    free(c->rates);
    free(c->distance);
}

void rbt_comparison_free(rbt_comparison *all) {
    if (!all) return;
    for (size_t i = 0; i < all->count; i++) free_contender(&all->contenders[i]);
    free_contender(&all->reference);
    free(all->contenders);
    free(all->folder);
    free(all);
}

size_t rbt_comparison_finished(const rbt_comparison *all) {
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) count += all->contenders[i].trial.end == RBT_TRIAL_FINISHED;
    return count;
}
