// rubato compare: several methods on one scene, in turns; a table, CSV, JSON and a plot.
#include "base/file.h"
#include "base/threads.h"
#include "cli/command.h"
#include "cli/compare_plot.h"
#include "cli/compare_table.h"
#include "cli/viewing.h"
#include "serve/page.h"
#include "serve/request.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPEAT = 3, REPEAT_MOST = 1000 };
static const long NOT_TOLD = LONG_MIN;
static const double REPEAT_BELOW = 20;  // [s] unless told how often

static bool save(const rbt_comparison *all, rbt_error *error) {
    char *plot = rbt_path_join(all->folder, "compare.svg");
    bool good = plot ? rbt_comparison_write(all, error) && rbt_compare_plot_write(all, all->scene_path, plot, error)
                     : rbt_fail_memory(error, 0, "a file name");
    free(plot);
    return good;
}

static int present(const rbt_comparison *all, bool quiet) {
    rbt_error error = {0};
    rbt_text table = {0};
    bool saved = save(all, &error);
    rbt_compare_table(all, &table);
    const rbt_study_end end = {.kind = "method",
                               .files = "compare.svg, compare.csv, compare.json",
                               .folder = all->folder,
                               .count = all->count,
                               .contenders = all->contenders,
                               .saved = saved,
                               .quiet = quiet};
    return rbt_study_present(&end, &table, &error);
}

// The methods side by side, and the reference behind them; those that left no frame are left out.
static int show(rbt_viewing *viewing, const rbt_comparison *all) {
    const char *folders[RBT_MAX_RUNS], *names[RBT_MAX_RUNS];
    size_t count = 0;
    for (size_t i = 0; i <= all->count && count < RBT_MAX_RUNS; i++) {
        const rbt_contender *c = i < all->count ? &all->contenders[i] : &all->reference;
        if ((i == all->count && !all->has_reference) || !c->trial.frame_count) continue;
        folders[count] = c->folder;
        names[count++] = i < all->count ? c->name : "reference";
    }
    return count ? rbt_viewing_show(viewing, count, folders, names) : 1;
}

static int compare(rbt_compare_options *options, const char *folder, bool quiet, rbt_viewing *viewing) {
    rbt_error error = {0};
    char *chosen = folder ? strdup(folder) : rbt_default_folder("out/compare-", options->scene_path);
    options->folder = chosen;
    rbt_comparison *all = NULL;
    if (chosen) all = rbt_compare(options, &error);
    else rbt_fail_memory(&error, 0, "a folder name");
    int code = all ? present(all, quiet) : rbt_complain(&error);
    if (all && viewing) {
        int shown = show(viewing, all);
        code = code ? code : shown;
    }
    rbt_comparison_free(all);
    free(chosen);
    return code;
}

// What the words say wrongly ends with 2, what the scene or the machine does with 1.
static int complain_about(const char *option, const rbt_error *error) {
    fprintf(stderr, "rubato compare: %s: %s\n", option, error->message);
    return 2;
}

int rbt_command_compare(int count, char **words) {
    const char *folder = NULL, *methods = NULL, *reference = NULL, *scene_path;
    long repeat = NOT_TOLD, frames = -1, threads = 0;
    bool quiet = false, view = false, terminal = isatty(STDOUT_FILENO);
    rbt_viewing viewing = {0};
    rbt_word_list settings = {0};
    const rbt_option options[] = {
        {"--methods", "-m", "LIST", "method, method:solver, method@step, … with commas between (all methods)",
         .text = &methods},
        {"--reference", NULL, "M", "what distances are measured to, or none (the first at an eighth of its step)",
         .text = &reference},
        {"--repeat", NULL, "N",
         "run each method N times, in turns; times are medians (3, or 1 if a run takes more than 20 s)",
         .integer = &repeat, .min = 1, .max = REPEAT_MOST},
        {"--output", "-o", "DIR", "where the results go (out/compare-NAME of the scene)", .text = &folder},
        {"--frames", "-n", "N", "stop after frame N", .integer = &frames},
        {"--threads", "-t", "N",
         "threads (OMP_NUM_THREADS, or all processors); results do not depend on it, times do", .integer = &threads,
         .min = 1, .max = RBT_MAX_THREADS},
        {"--set", NULL, "PATH=VALUE", "change a value of the scene, as time.step=0.001; may be repeated",
         .list = &settings},
        {"--view", NULL, NULL, "then show the methods side by side in the browser", .flag = &view},
        RBT_VIEWING_OPTIONS(viewing),
        {"--quiet", "-q", NULL, "say nothing but errors", .flag = &quiet},
    };
    int positionals, code = rbt_options_read("compare", options, sizeof options / sizeof *options, count, words,
                                             &scene_path, &positionals, 1, 1);
    if (code >= 0) return code;
    bool told = repeat != NOT_TOLD;
    if (!told) repeat = REPEAT;
    rbt_error error = {0};
    if (view && !rbt_page_is_there(&error)) return rbt_complain(&error);
    rbt_compare_options o = {.scene_path = scene_path,
                             .no_reference = reference && strcmp(reference, "none") == 0,
                             .setting_count = (size_t)settings.count,
                             .settings = settings.words,
                             .rounds = {.repeat = (int)repeat,
                                        .repeat_below = told ? INFINITY : REPEAT_BELOW,
                                        .frames = frames,
                                        .hear = quiet ? NULL : rbt_contender_hear,
                                        .listener = &terminal}};
    rbt_method_spec finest, *specs = NULL;
    if (reference && !o.no_reference && !rbt_method_spec_parse(reference, &finest, &error))
        return complain_about("--reference", &error);
    if (reference && !o.no_reference) o.reference = &finest;
    if (!(methods ? rbt_method_specs_parse(methods, &specs, &o.spec_count, &error)
                  : rbt_method_specs_all(&specs, &o.spec_count, &error)))
        return complain_about("--methods", &error);
    o.specs = specs;
    rbt_threads_set((int)threads);
    code = compare(&o, folder, quiet, view ? &viewing : NULL);
    free(specs);
    return code;
}
