// rubato sweep: one scene with several values and methods, every combination; a table, CSV, JSON and a plot.
#include "base/file.h"
#include "base/threads.h"
#include "cli/command.h"
#include "cli/sweep_plot.h"
#include "cli/sweep_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPEAT_MAX = 1000 };

static bool save(const rbt_sweep_result *all, rbt_error *error) {
    char *plot = rbt_path_join(all->folder, "sweep.svg");
    bool good = plot ? rbt_sweep_write(all, error) && rbt_sweep_plot_write(all, all->scene_path, plot, error)
                     : rbt_fail_memory(error, 0, "a file name");
    free(plot);
    return good;
}

static int sweep(const rbt_sweep_options *options, bool quiet) {
    rbt_error error = {0};
    rbt_sweep_result *all = rbt_sweep_run(options, &error);
    if (!all) return rbt_complain(&error);
    rbt_text table = {0};
    bool saved = save(all, &error);
    rbt_sweep_table(all, &table);
    const rbt_study_end end = {.kind = "run",
                               .files = "sweep.svg, sweep.csv, sweep.json",
                               .folder = all->folder,
                               .count = all->count,
                               .contenders = all->runs,
                               .saved = saved,
                               .quiet = quiet};
    int code = rbt_study_present(&end, &table, &error);
    rbt_sweep_free(all);
    return code;
}

// What the words say wrongly ends with 2, as everywhere.
static bool read_axes(rbt_sweep_axes *axes, const char *methods, const rbt_word_list *settings, size_t *count,
                      rbt_error *error) {
    if (!methods && !settings->count)
        return rbt_fail(error, "there is nothing to vary; write --set path=a,b,c or --methods a,b");
    if (methods && !rbt_sweep_axes_add_methods(axes, methods, error)) return false;
    for (int i = 0; i < settings->count; i++)
        if (!rbt_sweep_axes_add(axes, settings->words[i], error)) return false;
    return rbt_sweep_axes_finish(axes, count, error);
}

int rbt_command_sweep(int count, char **words) {
    const char *folder = NULL, *methods = NULL, *scene_path;
    long repeat = 1, frames = -1, threads = 0;
    bool quiet = false, terminal = isatty(STDOUT_FILENO);
    rbt_word_list settings = {0};
    const rbt_option options[] = {
        {"--set", NULL, "PATH=A,B",
         "the values of a key of the scene, as time.step=0.01,0.005; may be repeated: every "
         "combination is run. Commas inside brackets, braces and double quotes do not split",
         .list = &settings},
        {"--methods", "-m", "LIST", "method, method:solver, method@step, … with commas between (the scene's)",
         .text = &methods},
        {"--repeat", NULL, "N", "run each combination N times, in turns; times are medians (1)", .integer = &repeat,
         .min = 1, .max = REPEAT_MAX},
        {"--output", "-o", "DIR", "where the results go (out/sweep-NAME of the scene)", .text = &folder},
        {"--frames", "-n", "N", "stop after frame N", .integer = &frames},
        {"--threads", "-t", "N",
         "threads (OMP_NUM_THREADS, or all processors); results do not depend on it, times do", .integer = &threads,
         .min = 1, .max = RBT_MAX_THREADS},
        {"--quiet", "-q", NULL, "say nothing but errors", .flag = &quiet},
    };
    int positionals, code = rbt_options_read("sweep", options, sizeof options / sizeof *options, count, words,
                                             &scene_path, &positionals, 1, 1);
    if (code >= 0) return code;
    rbt_error error = {0};
    rbt_sweep_axes axes = {0};
    rbt_sweep_options o = {.scene_path = scene_path,
                           .axes = &axes,
                           .rounds = {.repeat = (int)repeat,
                                      .repeat_below = INFINITY,
                                      .frames = frames,
                                      .hear = quiet ? NULL : rbt_contender_hear,
                                      .listener = &terminal}};
    char *chosen = folder ? strdup(folder) : rbt_default_folder("out/sweep-", scene_path);
    o.folder = chosen;
    if (!read_axes(&axes, methods, &settings, &o.count, &error)) {
        fprintf(stderr, "rubato sweep: %s\n", error.message);
        code = error.out_of_memory ? 1 : 2;
    } else if (!chosen) {
        rbt_fail_memory(&error, 0, "a folder name");
        code = rbt_complain(&error);
    } else {
        rbt_threads_set((int)threads);
        code = sweep(&o, quiet);
    }
    free(chosen);
    rbt_sweep_axes_free(&axes);
    return code;
}
