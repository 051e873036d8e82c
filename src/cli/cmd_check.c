// `rubato check`: reads scenes, checks them and looks for the mesh files they name, without running anything. Scenes in which nothing may
// meet are also made ready to run, since only then it is known whether anything does.
#include "base/file.h"
#include "cli/command.h"
#include "mesh/generate.h"
#include "rubato/scene.h"
#include "rubato/sim.h"
#include "step/method.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool check_file(const rbt_scene *scene, const char *folder, const char *name, size_t body, const char *key,
                       rbt_error *error) {
    char *path = rbt_path_join(folder, name);
    if (!path) return rbt_fail_memory(error, strlen(name), "a file name");
    bool ok = access(path, R_OK) == 0;
    if (!ok) {
        char place[128];
        int reason = errno;
        snprintf(place, sizeof place, "bodies[%zu].%s", body, key);
        rbt_fail_path(error, scene->file, place, "cannot read \"%s\": %s", path, strerror(reason));
    }
    free(path);
    return ok;
}

// Files that a generated shape reads; their names have the scene's folder in them already.
static bool check_shape(const rbt_scene *scene, size_t body, rbt_error *error) {
    const rbt_variant *shape = &scene->bodies.items[body].mesh.shape;
    const rbt_shape *known = rbt_shape_at(shape->which);
    for (int i = 0; known && i < known->parameters->field_count; i++) {
        const rbt_field *f = &known->parameters->fields[i];
        const char *const *name = (const void *)((const char *)shape->value + f->offset);
        char key[96];
        snprintf(key, sizeof key, "mesh.shape.%s.%s", known->name, f->name);
        if ((f->flags & RBT_FILE) && *name && !check_file(scene, NULL, *name, body, key, error)) return false;
    }
    return true;
}

static bool check_files(const rbt_scene *scene, rbt_error *error) {
    for (size_t i = 0; i < scene->bodies.count; i++) {
        const rbt_body_def *body = &scene->bodies.items[i];
        if (body->mesh.file && !check_file(scene, scene->folder, body->mesh.file, i, "mesh.file", error))
            return false;
        if (body->surface && !check_file(scene, scene->folder, body->surface->file, i, "surface.file", error))
            return false;
        if (!check_shape(scene, i, error)) return false;
    }
    return true;
}

// Methods with contact of their own refuse starts and scripts by which things would meet.
static bool check_contact(const rbt_scene *scene, rbt_error *error) {
    const rbt_method *method = rbt_method_at(scene->integrator.method);
    if (!method || !method->own_contact) return true;
    rbt_sim *sim = rbt_sim_create(scene, error);
    bool ok = sim != NULL;
    rbt_sim_free(sim);
    return ok;
}

static bool check_scene(const char *path, const rbt_word_list *settings) {
    rbt_error error = {0};
    rbt_scene_file *file = rbt_scene_read(path, settings->words, (size_t)settings->count, &error);
    bool ok = file && check_files(rbt_scene_of(file), &error) && check_contact(rbt_scene_of(file), &error);
    if (ok) {
        const rbt_scene *scene = rbt_scene_of(file);
        printf("%s: fine: %zu %s, %s, %.0f frames\n", path, scene->bodies.count,
               scene->bodies.count == 1 ? "body" : "bodies", rbt_method_name(scene->integrator.method),
               floor(scene->time.end / scene->time.frame + 1e-9));
    } else {
        rbt_complain(&error);
    }
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
