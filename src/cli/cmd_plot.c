// rubato plot: the curves of a run, or of several in one picture.
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "view/energy_plot.h"
#include "view/steps_plot.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// Folders inside that are runs, as a study's folder has
static size_t count_runs_inside(const char *folder) {
    size_t count = 0;
    char *pattern = rbt_path_join(folder, "*/energy.csv");
    glob_t found;
    if (pattern && glob(pattern, 0, NULL, &found) == 0) {
        count = found.gl_pathc;
        globfree(&found);
    }
    free(pattern);
    return count;
}

// The energy.csv of a run's folder; NULL with an error if it is none. Free it.
static char *find_csv(const char *folder, rbt_error *error) {
    struct stat info;
    char *csv = rbt_path_join(folder, "energy.csv");
    size_t inside = 0;
    bool good = csv != NULL;
    if (!good) rbt_fail_memory(error, strlen(folder), "a file name");
    else if (stat(folder, &info) != 0) good = rbt_fail_at(error, folder, 0, 0, "there is no such folder");
    else if (!S_ISDIR(info.st_mode)) good = rbt_fail_at(error, folder, 0, 0, "is no folder; give a run's folder");
    else if (stat(csv, &info) != 0 && (inside = count_runs_inside(folder)))
        good =
            rbt_fail_at(error, folder, 0, 0,
                        "the folder holds no energy.csv, so it is no run; %zu folder%s in it %s: rubato plot %s/*/",
                        inside, inside == 1 ? "" : "s", inside == 1 ? "is one" : "are", folder);
    else if (stat(csv, &info) != 0)
        good = rbt_fail_at(error, folder, 0, 0,
                           "the folder holds no energy.csv, so it is no run; rubato run writes one");
    if (good) return csv;
    free(csv);
    return NULL;
}

static bool plot_one(const char *folder, const char *output, rbt_error *error) {
    char *csv = find_csv(folder, error), *beside = rbt_path_join(folder, "energy.svg");
    const char *target = output ? output : beside;
    bool good = csv && (target || rbt_fail_memory(error, strlen(folder), "a file name")) &&
                rbt_energy_plot_write(csv, folder, target, error);
    if (good) printf("%s\n", target);
    free(csv);
    free(beside);
    return good;
}

static bool plot_steps(const char *folder, const char *output, rbt_error *error) {
    struct stat info;
    char *energies = find_csv(folder, error), *csv = rbt_path_join(folder, "steps.csv");
    char *beside = rbt_path_join(folder, "steps.svg");
    const char *target = output ? output : beside;
    bool good = energies && (csv && target ? true : rbt_fail_memory(error, strlen(folder), "a file name"));
    if (good && stat(csv, &info) != 0)
        good = rbt_fail_at(error, folder, 0, 0,
                           "the folder holds no steps.csv: the run had steps of equal length; \"time\": {\"step\": "
                           "\"auto\"} chooses them by their error");
    good = good && rbt_steps_plot_write(csv, folder, target, error);
    if (good) printf("%s\n", target);
    free(energies);
    free(csv);
    free(beside);
    return good;
}

// ---- Several

static size_t length_without_slashes(const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    return length;
}

// The last part of a path, without slashes behind it
static const char *last_part(const char *path, size_t *length) {
    size_t end = length_without_slashes(path), begin = end;
    while (begin > 0 && path[begin - 1] != '/') begin--;
    *length = end - begin;
    return path + begin;
}

// Whether the last part of a folder's path tells it from the others
static bool is_told(const char *const *folders, size_t count, size_t i) {
    size_t length, other_length;
    const char *own = last_part(folders[i], &length);
    for (size_t k = 0; k < count; k++) {
        const char *other = last_part(folders[k], &other_length);
        if (k != i && length == other_length && strncmp(own, other, length) == 0) return false;
    }
    return length > 0;
}

static bool find_sources(const char *const *folders, size_t count, rbt_arena *arena, rbt_energy_source *runs,
                         rbt_error *error) {
    for (size_t i = 0; i < count; i++) {
        size_t length = length_without_slashes(folders[i]);
        const char *name = is_told(folders, count, i) ? last_part(folders[i], &length) : folders[i];
        char *csv = find_csv(folders[i], error), *shown = strndup(name, length);
        if (csv)
            runs[i] = (rbt_energy_source){rbt_arena_text(arena, csv), shown ? rbt_arena_text(arena, shown) : NULL};
        bool found = csv != NULL;
        free(csv);
        free(shown);
        if (!found) return false;
        if (!runs[i].csv || !runs[i].name) return rbt_fail_memory(error, length, "a name");
    }
    return true;
}

static bool plot_several(const char *const *folders, size_t count, const char *output, rbt_error *error) {
    const char *target = output ? output : "plot.svg";
    char title[64];
    snprintf(title, sizeof title, "%zu runs", count);
    rbt_arena *arena = rbt_arena_new();
    rbt_energy_source *runs = arena ? rbt_arena_take(arena, count, sizeof *runs) : NULL;
    bool good = runs || rbt_fail_memory(error, count * sizeof *runs, "names");
    good = good && find_sources(folders, count, arena, runs, error) &&
           rbt_energy_plot_overlay(runs, count, title, target, error);
    if (good) printf("%s\n", target);
    rbt_arena_free(arena);
    return good;
}

int rbt_command_plot(int count, char **words) {
    const char *output = NULL;
    bool steps = false;
    const rbt_option options[] = {{"--output", "-o", "FILE",
                                   "the SVG file to write (default DIR/energy.svg, of several runs plot.svg here)",
                                   .text = &output},
                                  {"--steps", NULL, NULL,
                                   "of a run whose steps are chosen by their error: their length and their error, as "
                                   "DIR/steps.svg",
                                   .flag = &steps}};
    const int option_count = sizeof options / sizeof options[0];
    int folder_count;
    rbt_error error = {0};
    const char **folders = rbt_array_new((size_t)count + 1, sizeof *folders, "the words of the command", &error);
    if (!folders) return rbt_complain(&error);
    int code = rbt_options_read("plot", options, option_count, count, words, folders, &folder_count, 1,
                                count > 0 ? count : 1);
    if (code < 0 && steps && folder_count > 1) {
        fprintf(stderr, "rubato plot: --steps draws one run; %d folders are given\n", folder_count);
        code = 2;
    }
    if (code < 0) {
        bool good = steps               ? plot_steps(folders[0], output, &error)
                    : folder_count == 1 ? plot_one(folders[0], output, &error)
                                        : plot_several(folders, (size_t)folder_count, output, &error);
        code = good ? 0 : rbt_complain(&error);
    }
    free(folders);
    return code;
}
