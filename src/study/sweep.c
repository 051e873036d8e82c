#include "study/sweep.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// ---- Preparing: every scene is read before the first run, so that mistakes do not cost a night

// "03-young=1e5-step=0.01": the number tells apart what the letters that every tool takes do not.
static void name_folder(size_t run, size_t count, const char *name, char folder[128]) {
    char digits[32];
    int width = snprintf(digits, sizeof digits, "%zu", count);
    snprintf(folder, 128, "%0*zu-%.100s", width, run + 1, name);
    for (char *c = folder; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._=@+-", *c)) *c = '-';
}

// The method comes first: settings may be about its options.
static bool collect_settings(const rbt_sweep_axes *axes, size_t run, const rbt_scene *scene, rbt_setting_list *list,
                             rbt_error *error) {
    bool distances = false;
    for (size_t i = 0; i < axes->count; i++) {
        const rbt_sweep_axis *axis = &axes->items[i];
        size_t k = rbt_sweep_axes_index(axes, i, run);
        distances = distances || (axis->numerical && axis->count > 1);
        if (axis->specs && !rbt_method_spec_settings(&axis->specs[k], scene, list, error)) return false;
    }
    for (size_t i = 0; i < axes->count; i++) {
        const rbt_sweep_axis *axis = &axes->items[i];
        const char *value = axis->values[rbt_sweep_axes_index(axes, i, run)];
        if (!axis->specs && !rbt_setting_add(list, axis->path, value, error)) return false;
    }
    return !distances || rbt_setting_add_checkpoints(list, error);
}

static bool make_run(const rbt_sweep_options *o, rbt_sweep_result *all, size_t run, const char *name,
                     const rbt_setting_list *settings, rbt_error *error) {
    char folder[128];
    name_folder(run, o->count, name, folder);
    rbt_contender *c = &all->runs[run];
    const rbt_contender_def def = {.scene_path = o->scene_path,
                                   .folder = o->folder,
                                   .subfolder = folder,
                                   .name = name,
                                   .label_count = o->axes->count,
                                   .settings = settings,
                                   .repeat = o->rounds.repeat};
    if (!rbt_contender_make(c, &def, error)) {
        size_t length = error ? strlen(error->message) : 0;
        if (error && !error->out_of_memory)
            snprintf(error->message + length, sizeof error->message - length, " (in the run %s)", name);
        return false;
    }
    for (size_t i = 0, label = 0; i < o->axes->count; i++)
        if (rbt_sweep_axes_shown(o->axes, i))
            c->labels[label++] = o->axes->items[i].values[rbt_sweep_axes_index(o->axes, i, run)];
    return true;
}

static bool prepare(const rbt_sweep_options *o, rbt_sweep_result *all, size_t run, const rbt_scene *scene,
                    rbt_error *error) {
    rbt_setting_list settings = {0};
    rbt_text name = {0};
    rbt_sweep_axes_add_name(o->axes, run, o->axes->count, &name);
    bool good = !name.failed || rbt_fail_memory(error, name.size, "a name");
    good = good && collect_settings(o->axes, run, scene, &settings, error) &&
           make_run(o, all, run, name.text, &settings, error);
    rbt_text_free(&name);
    rbt_setting_list_free(&settings);
    return good;
}

// The scene as it is, if methods are listed; settings of the integrator are about those. *scene: NULL if none are.
static bool read_scene(const rbt_sweep_options *o, rbt_scene_file **scene, rbt_error *error) {
    bool listed = false;
    rbt_setting_list settings = {0};
    bool good = true;
    for (size_t i = 0; good && i < o->axes->count; i++) {
        const rbt_sweep_axis *axis = &o->axes->items[i];
        listed = listed || axis->specs;
        if (!axis->numerical) good = rbt_setting_add(&settings, axis->path, axis->values[0], error);
    }
    *scene = NULL;
    if (good && listed) {
        *scene = rbt_scene_read(o->scene_path, (const char *const *)settings.items, settings.count, error);
        good = *scene != NULL;
    }
    rbt_setting_list_free(&settings);
    return good;
}

static bool prepare_runs(const rbt_sweep_options *o, rbt_sweep_result *all, const rbt_scene *scene,
                         rbt_error *error) {
    all->folder = strdup(o->folder);
    all->runs = rbt_array_new(o->count, sizeof *all->runs, "runs", error);
    all->references = rbt_array_new(o->count, sizeof *all->references, "runs", error);
    if (!all->folder || !all->runs || !all->references) return rbt_fail_memory(error, 0, "a sweep");
    all->count = o->count;
    for (size_t i = 0; i < all->count; i++)
        if (!prepare(o, all, i, scene, error)) return false;
    return true;
}

static bool prepare_all(const rbt_sweep_options *o, rbt_sweep_result *all, rbt_error *error) {
    rbt_scene_file *scene;
    bool good = read_scene(o, &scene, error) && prepare_runs(o, all, scene ? rbt_scene_of(scene) : NULL, error);
    rbt_scene_free(scene);
    return good;
}

// ---- Measuring

static bool same_motion(const rbt_sweep_axes *axes, size_t a, size_t b) {
    for (size_t i = 0; i < axes->count; i++)
        if (!axes->items[i].numerical && rbt_sweep_axes_index(axes, i, a) != rbt_sweep_axes_index(axes, i, b))
            return false;
    return true;
}

static const rbt_contender *find_reference(const rbt_sweep_result *all, size_t run) {
    const rbt_contender *best = NULL;
    size_t others = 0;
    for (size_t i = 0; i < all->count; i++) {
        const rbt_contender *c = &all->runs[i];
        if (!same_motion(all->axes, run, i)) continue;
        others += i != run;
        if (rbt_trial_complete(&c->trial) && (!best || c->trial.step < best->trial.step)) best = c;
    }
    return others ? best : NULL;
}

// Changes of energy are measured by the reference's scale, or the run's own where there is none.
static bool measure(rbt_sweep_result *all, rbt_error *error) {
    for (size_t i = 0; i < all->count; i++) {
        rbt_contender *c = &all->runs[i];
        const rbt_contender *reference = all->references[i] = find_reference(all, i);
        double scale = reference                       ? rbt_contender_energy_scale(reference)
                       : rbt_trial_complete(&c->trial) ? rbt_contender_energy_scale(c)
                                                       : NAN;
        if (!rbt_contender_measure(c, scale, error)) return false;
        if (reference && !rbt_contender_measure_distance(c, reference, error)) return false;
    }
    return true;
}

// ---- The whole

rbt_sweep_result *rbt_sweep_run(const rbt_sweep_options *options, rbt_error *error) {
    rbt_sweep_result *all = rbt_array_new(1, sizeof *all, "a sweep", error);
    if (!all) return NULL;
    *all = (rbt_sweep_result){
        .scene_path = options->scene_path, .repeat = options->rounds.repeat, .axes = options->axes};
    int lock = -1;
    bool good = prepare_all(options, all, error) && rbt_folder_make(all->folder, error) &&
                (lock = rbt_folder_lock(all->folder, error)) >= 0 &&
                rbt_contenders_run(&options->rounds, NULL, all->runs, all->count, error) && measure(all, error);
    if (lock >= 0) close(lock);
    if (good) return all;
    rbt_sweep_free(all);
    return NULL;
}

void rbt_sweep_free(rbt_sweep_result *all) {
    if (!all) return;
    for (size_t i = 0; i < all->count; i++) rbt_contender_free(&all->runs[i]);
    free(all->runs);
    free(all->references);
    free(all->folder);
    free(all);
}
