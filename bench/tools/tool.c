#include "tool.h"

#include "base/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *value_of(int count, char **words, int *at, const char *usage) {
    if (*at + 1 < count) return words[++*at];
    fprintf(stderr, "%s needs a value\nusage: %s\n", words[*at], usage);
    exit(2);
}

static void read_probe(rbt_tool_words *w, const char *text, const char *usage) {
    double *p = w->probes[w->probe_count++];
    if (sscanf(text, "%lf,%lf,%lf", &p[0], &p[1], &p[2]) == 3) return;
    fprintf(stderr, "--probe needs x,y,z and found %s\nusage: %s\n", text, usage);
    exit(2);
}

rbt_tool_words rbt_tool_read(int count, char **words, const char *usage) {
    rbt_tool_words w = {.steps = 1, .threads = 2, .repeats = 5, .budget = INFINITY};
    for (int i = 1; i < count; i++) {
        const char *word = words[i];
        if (strcmp(word, "--set") == 0 && w.setting_count < RBT_TOOL_SETTINGS)
            w.settings[w.setting_count++] = value_of(count, words, &i, usage);
        else if (strcmp(word, "--steps") == 0) w.steps = atoi(value_of(count, words, &i, usage));
        else if (strcmp(word, "--threads") == 0) w.threads = atoi(value_of(count, words, &i, usage));
        else if (strcmp(word, "--repeats") == 0) w.repeats = atoi(value_of(count, words, &i, usage));
        else if (strcmp(word, "--budget") == 0) w.budget = atof(value_of(count, words, &i, usage));
        else if (strcmp(word, "--load") == 0) w.load = value_of(count, words, &i, usage);
        else if (strcmp(word, "--save") == 0) w.save = value_of(count, words, &i, usage);
        else if (strcmp(word, "--probe") == 0 && w.probe_count < RBT_TOOL_PROBES)
            read_probe(&w, value_of(count, words, &i, usage), usage);
        else if (strcmp(word, "--energies") == 0) w.energies = true;
        else if (strcmp(word, "--contacts") == 0) w.contacts = true;
        else if (strcmp(word, "--trace") == 0) w.trace = true;
        else if (strcmp(word, "--fill") == 0) w.fill = true;
        else if (strcmp(word, "--warp") == 0) w.warp = true;
        else if (word[0] != '-' && !w.scene) w.scene = word;
        else {
            fprintf(stderr, "%s is one word too many\nusage: %s\n", word, usage);
            exit(2);
        }
    }
    if (w.scene && w.steps >= 0 && w.threads > 0 && w.repeats > 0) return w;
    fprintf(stderr, "usage: %s\n", usage);
    exit(2);
}

double rbt_tool_processor_seconds(const rbt_tool_words *words) {
    struct timespec t;
    clock_gettime(words->threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void rbt_tool_fail(const rbt_error *error) {
    char text[2048];
    fprintf(stderr, "%s\n", rbt_error_text(error, text, sizeof text));
    exit(1);
}

rbt_sim *rbt_tool_sim(const rbt_tool_words *w) {
    rbt_error error = {0};
    rbt_threads_set(w->threads);
    rbt_scene_file *file = rbt_scene_read(w->scene, w->settings, w->setting_count, &error);
    rbt_sim *sim = file ? rbt_sim_create(rbt_scene_of(file), &error) : NULL;
    if (!sim) rbt_tool_fail(&error);
    rbt_scene_free(file);
    return sim;
}

void rbt_tool_print(json_t *object) {
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9));
    if (!text) {
        fprintf(stderr, "the result does not fit in memory\n");
        exit(1);
    }
    puts(text);
    free(text);
    json_decref(object);
}
