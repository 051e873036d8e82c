#include "study/compare.h"

#include "base/file.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FINER = 8 };  // how many times shorter the steps of the reference are, unless told otherwise

// ---- Preparing: every scene is read before the first run, so that mistakes do not cost a night

static bool make_contender(const rbt_compare_options *o, rbt_contender *c, const rbt_method_spec *spec,
                           const char *subfolder, const rbt_setting_list *settings, rbt_error *error) {
    char plain[sizeof spec->name];
    snprintf(plain, sizeof plain, "%s", subfolder);
    for (char *at = plain; *at; at++)
        if (*at == ':') *at = '-';  // some tools take what stands before a colon for a machine or a drive
    const rbt_contender_def def = {.scene_path = o->scene_path,
                                   .folder = o->folder,
                                   .subfolder = plain,
                                   .name = spec->name,
                                   .label_count = 1,
                                   .settings = settings,
                                   .repeat = o->rounds.repeat};
    if (!rbt_contender_make(c, &def, error)) return false;
    c->labels[0] = c->name;
    return true;
}

static bool prepare(const rbt_compare_options *o, rbt_contender *c, const rbt_method_spec *spec,
                    const char *subfolder, const rbt_scene *scene, rbt_error *error) {
    rbt_setting_list settings = {0};
    bool good = true;
    for (size_t i = 0; good && i < o->setting_count; i++)
        good = rbt_setting_add_text(&settings, o->settings[i], error);
    good = good && rbt_method_spec_settings(spec, scene, &settings, error) &&
           rbt_setting_add_checkpoints(&settings, error) && make_contender(o, c, spec, subfolder, &settings, error);
    rbt_setting_list_free(&settings);
    return good;
}

static bool prepare_reference(const rbt_compare_options *o, rbt_comparison *all, const rbt_scene *scene,
                              rbt_error *error) {
    rbt_method_spec finer;
    if (o->no_reference) return true;
    double step = rbt_scene_of(all->contenders[0].scene)->time.step / FINER;
    if (!o->reference && isnan(step))
        return rbt_fail(
            error, "the scene's step is \"auto\", so there is none to make a finer reference from; give a reference "
                   "or set time.step");
    if (!o->reference && !rbt_method_spec_at_step(&o->specs[0], step, &finer, error)) return false;
    all->has_reference = true;
    return prepare(o, &all->reference, o->reference ? o->reference : &finer, "reference", scene, error);
}

static bool prepare_runs(const rbt_compare_options *o, rbt_comparison *all, const rbt_scene *scene,
                         rbt_error *error) {
    all->folder = strdup(o->folder);
    all->contenders = rbt_array_new(o->spec_count, sizeof *all->contenders, "methods", error);
    if (!all->folder || !all->contenders) return rbt_fail_memory(error, 0, "a comparison");
    all->count = o->spec_count;
    for (size_t i = 0; i < all->count; i++)
        if (!prepare(o, &all->contenders[i], &o->specs[i], o->specs[i].name, scene, error)) return false;
    return prepare_reference(o, all, scene, error);
}

static bool prepare_all(const rbt_compare_options *o, rbt_comparison *all, rbt_error *error) {
    rbt_scene_file *scene = rbt_scene_read(o->scene_path, o->settings, o->setting_count, error);
    bool good = scene && prepare_runs(o, all, rbt_scene_of(scene), error);
    rbt_scene_free(scene);
    return good;
}

// ---- The whole

rbt_comparison *rbt_compare(const rbt_compare_options *options, rbt_error *error) {
    rbt_comparison *all = rbt_array_new(1, sizeof *all, "a comparison", error);
    if (!all) return NULL;
    *all = (rbt_comparison){.scene_path = options->scene_path, .repeat = options->rounds.repeat, .energy_scale = NAN};
    int lock = -1;
    bool good = prepare_all(options, all, error) && rbt_folder_make(all->folder, error) &&
                (lock = rbt_folder_lock(all->folder, error)) >= 0 &&
                rbt_contenders_run(&options->rounds, all->has_reference ? &all->reference : NULL, all->contenders,
                                   all->count, error) &&
                rbt_comparison_measure(all, error);
    if (lock >= 0) close(lock);
    if (good) return all;
    rbt_comparison_free(all);
    return NULL;
}

void rbt_comparison_free(rbt_comparison *all) {
    if (!all) return;
    for (size_t i = 0; i < all->count; i++) rbt_contender_free(&all->contenders[i]);
    rbt_contender_free(&all->reference);
    free(all->contenders);
    free(all->folder);
    free(all);
}
