// `rubato check`: makes scenes ready to run, as run does, and runs nothing. Only then it is known whether their meshes
// can be read, what their selections hold and whether the method can do what they ask for; what run would refuse is
// refused here, in the same words.
#include "cli/command.h"
#include "sim/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool check_scene(const char *path, const rbt_word_list *settings) {
    rbt_error error = {0};
    rbt_scene_file *file = rbt_scene_read(path, settings->words, (size_t)settings->count, &error);
    if (file) rbt_print_estimates(rbt_scene_of(file));
    rbt_sim *sim = file ? rbt_sim_create(rbt_scene_of(file), &error) : NULL;
    char text[320];
    rbt_print_scene_warnings(file);
    for (size_t i = 0; sim && i < sim->model->warning_count; i++)
        fprintf(stderr, "rubato: note: %s\n", sim->model->warnings[i]);
    if (sim && rbt_run_foreseen(sim, text)) fprintf(stderr, "rubato: warning: %s\n", text);
    if (sim) {
        const rbt_scene *scene = rbt_scene_of(file);
        printf("%s: fine: %zu %s, %s, %.0f frames\n", path, scene->bodies.count,
               scene->bodies.count == 1 ? "body" : "bodies",
               scene->integrator.method < 0 ? "a method to be chosen" : rbt_method_name(scene->integrator.method),
               floor(scene->time.end / scene->time.frame + 1e-9));
    } else {
        rbt_complain(&error);
    }
    bool ok = sim != NULL;
    rbt_sim_free(sim);
    rbt_scene_free(file);
    return ok;
}

int rbt_command_check(int count, char **words) {
    rbt_word_list settings = {0};
    const rbt_option options[] = {
        {.name = "--set",
         .value = "PATH=VALUE",
         .doc = "change a value of the scenes; may be given again",
         .list = &settings},
    };
    const char **scenes = calloc((size_t)count + 1, sizeof *scenes);
    int scene_count = 0;
    rbt_error error = {0};
    if (!scenes) {
        rbt_fail_memory(&error, (size_t)count * sizeof *scenes, "the words of the command");
        return rbt_complain(&error);
    }
    int code = rbt_options_read("check", options, 1, count, words, scenes, &scene_count, 1, count > 0 ? count : 1);
    if (code < 0) {
        code = 0;
        for (int i = 0; i < scene_count; i++)
            if (!check_scene(scenes[i], &settings)) code = 1;
    }
    free(scenes);
    return code;
}
