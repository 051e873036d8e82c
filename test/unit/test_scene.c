// Scenes from JSON: every feature lands in its member, defaults, settings, places of files, checks of scenes made by
// programs. The sentences of broken scenes are in test_broken_scenes.c.
#include "base/file.h"
#include "mesh/core/unit.h"
#include "mesh/generate/generate.h"
#include "rubato/scene.h"
#include "step/core/method.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static rbt_scene_file *parse_with(const char *json, const char *const *settings, size_t count) {
    rbt_error error = {0};
    rbt_scene_file *file = rbt_scene_parse(json, strlen(json), "t.json", settings, count, &error);
    if (!file) {
        char text[2048];
        fail_msg("%s", rbt_error_text(&error, text, sizeof text));
    }
    return file;
}

static rbt_scene_file *parse(const char *json) { return parse_with(json, NULL, 0); }

static void assert_vector(const double v[3], double x, double y, double z) {
    assert_true(v[0] == x && v[1] == y && v[2] == z);
}

#define SMALL "{\"rubato\": 1, \"bodies\": [{\"name\": \"bar\", \"mesh\": {\"file\": \"bar.msh\"}}]}"

static void smallest_scene_has_defaults(void **state) {
    (void)state;
    rbt_scene_file *file = parse(SMALL);
    const rbt_scene *s = rbt_scene_of(file);
    rbt_scene d = rbt_scene_default();
    assert_int_equal(s->version, 1);
    assert_null(s->about);
    assert_int_equal(s->bodies.count, 1);
    assert_int_equal(s->forces.count, 0);
    assert_int_equal(s->obstacles.count, 0);
    assert_memory_equal(&s->time, &d.time, sizeof d.time);
    assert_int_equal(s->integrator.method, d.integrator.method);
    assert_int_equal(s->integrator.solver, 0);
    assert_null(s->integrator.options);
    assert_int_equal(s->integrator.max_halvings, d.integrator.max_halvings);
    assert_memory_equal(&s->output, &d.output, sizeof d.output);
    assert_string_equal(s->file, "t.json");
    assert_null(s->folder);

    rbt_body_def b = rbt_body_default();
    const rbt_body_def *body = &s->bodies.items[0];
    assert_string_equal(body->name, "bar");
    assert_string_equal(body->mesh.file, "bar.msh");
    assert_string_equal(body->mesh.unit, "m");
    assert_int_equal(body->mesh.shape.which, -1);
    assert_memory_equal(&body->transform, &b.transform, sizeof b.transform);
    assert_memory_equal(&body->material, &b.material, sizeof b.material);
    assert_memory_equal(&body->damping, &b.damping, sizeof b.damping);
    assert_null(body->surface);
    rbt_scene_free(file);
}

static void defaults_are_as_documented(void **state) {
    (void)state;
    rbt_scene s = rbt_scene_default();
    rbt_body_def b = rbt_body_default();
    assert_true(s.version == 1 && isnan(s.time.step) && s.time.end == 4 && s.time.frame == 0.04);
    assert_true(s.integrator.method == -1 && s.integrator.max_halvings == 14);
    assert_true(s.output.vtu && !s.output.obj && !s.output.pc2 && !s.output.usda && !s.output.compress);
    assert_true(!s.output.single_precision && s.output.checkpoint_every == 1 && s.output.checkpoint_keep == 0);
    assert_null(s.output.folder);
    assert_true(b.material.model == 0 && b.material.young == 1e5 && b.material.poisson == 0.4);
    assert_true(b.material.density == 1000 && b.damping.mass == 0 && b.damping.stiffness == 0);
    assert_vector(b.transform.scale, 1, 1, 1);
    assert_vector(b.transform.axis, 0, 1, 0);
    assert_vector(b.transform.translate, 0, 0, 0);
    assert_true(b.mesh.shape.which == -1 && !b.mesh.file && !b.surface && !b.name);
}

static const char BODY[] =
    "{\"rubato\": 1, \"about\": \"all of it\", \"$schema\": \"x.json\", \"bodies\": [{"
    "\"name\": \"b\", \"mesh\": {\"shape\": {\"bar\": {}}},"
    "\"transform\": {\"scale\": 2, \"axis\": [1, 0, 0], \"degrees\": 90, \"translate\": [1, 2, 3]},"
    "\"material\": {\"model\": \"stable-neo-hookean\", \"young\": 2e6, \"poisson\": -0.25, \"density\": 900},"
    "\"regions\": [{\"name\": \"bone\", \"where\": \"core\", \"material\": {\"young\": 1e9}}],"
    "\"selections\": [{\"name\": \"left\", \"where\": {\"box\": {\"min\": [0, 0, 0], \"max\": [0, 1, 1], "
    "\"relative\": true}}}],"
    "\"damping\": {\"mass\": 0.5, \"stiffness\": 0.001},"
    "\"fixed\": [\"left\", {\"sphere\": {\"centre\": [1, 2, 3], \"radius\": 4}},"
    " {\"plane\": {\"point\": [0, 1, 0], \"normal\": [0, 2, 0]}}, {\"set\": \"top\"}, {\"nodes\": [7, 3, 2]},"
    " {\"nearest\": {\"point\": [5, 6, 7], \"count\": 8}}, {\"all\": [\"a\", {\"not\": \"b\"}]}, {\"any\": [\"c\"]}],"
    "\"driven\": [{\"where\": \"right\", \"release\": 2.5, \"motions\": ["
    " {\"velocity\": {\"velocity\": [1, 0, 0], \"from\": 1, \"until\": 2}},"
    " {\"rotation\": {\"point\": [0, 1, 0], \"axis\": [0, 0, 1], \"rate\": 3, \"until\": 4}},"
    " {\"oscillation\": {\"amplitude\": [0, 0.5, 0], \"frequency\": 2, \"phase\": 1.5, \"from\": 0.5, "
    "\"until\": \"never\"}},"
    " {\"keyframes\": {\"times\": [0, 1, 3], \"offsets\": [[0, 0, 0], [1, 2, 3], [4, 5, 6]]}}]},"
    " {\"where\": \"r2\"}],"
    "\"deform\": [{\"stretch\": {\"axis\": [1, 0, 0], \"factor\": 1.5, \"keep_volume\": true}},"
    " {\"twist\": {\"axis\": [0, 1, 0], \"degrees\": 180}},"
    " {\"bend\": {\"axis\": [1, 0, 0], \"towards\": [0, 0, 1], \"degrees\": 45}}, {\"scale\": {\"factors\": -1}}],"
    "\"velocity\": {\"linear\": [1, 2, 3], \"angular\": [4, 5, 6]},"
    "\"surface\": {\"file\": \"skin.obj\", \"unit\": \"mm\"}}]}";

static void body_goes_into_its_members(void **state) {
    (void)state;
    rbt_scene_file *file = parse(BODY);
    assert_string_equal(rbt_scene_of(file)->about, "all of it");
    const rbt_body_def *b = &rbt_scene_of(file)->bodies.items[0];
    assert_null(b->mesh.file);
    assert_int_equal(b->mesh.shape.which, rbt_shape_find("bar"));
    assert_non_null(b->mesh.shape.value);
    assert_vector(b->transform.scale, 2, 2, 2);
    assert_vector(b->transform.axis, 1, 0, 0);
    assert_vector(b->transform.translate, 1, 2, 3);
    assert_true(b->transform.degrees == 90);
    assert_true(b->material.young == 2e6 && b->material.poisson == -0.25 && b->material.density == 900);
    assert_int_equal(b->material.model, rbt_material_find("stable-neo-hookean"));
    assert_int_equal(b->regions.count, 1);
    assert_string_equal(b->regions.items[0].name, "bone");
    assert_int_equal(b->regions.items[0].where.which, RBT_SELECT_SET);
    assert_string_equal(b->regions.items[0].where.value, "core");
    assert_true(b->regions.items[0].material.young == 1e9 && b->regions.items[0].material.poisson == 0.4);
    assert_int_equal(b->selections.count, 1);
    assert_string_equal(b->selections.items[0].name, "left");
    const rbt_select_box *box = b->selections.items[0].where.value;
    assert_vector(box->max, 0, 1, 1);
    assert_true(box->relative);
    assert_true(b->damping.mass == 0.5 && b->damping.stiffness == 0.001);
    assert_vector(b->velocity.linear, 1, 2, 3);
    assert_vector(b->velocity.angular, 4, 5, 6);
    assert_string_equal(b->surface->file, "skin.obj");
    assert_string_equal(b->surface->unit, "mm");
    rbt_scene_free(file);
}

static void selections_go_into_their_members(void **state) {
    (void)state;
    rbt_scene_file *file = parse(BODY);
    const rbt_body_def *b = &rbt_scene_of(file)->bodies.items[0];
    static const int kinds[] = {RBT_SELECT_SET,   RBT_SELECT_SPHERE,  RBT_SELECT_PLANE, RBT_SELECT_SET,
                                RBT_SELECT_NODES, RBT_SELECT_NEAREST, RBT_SELECT_ALL,   RBT_SELECT_ANY};
    assert_int_equal(b->fixed.count, 8);
    for (int i = 0; i < 8; i++) assert_int_equal(b->fixed.items[i].which, kinds[i]);
    const rbt_select_sphere *sphere = b->fixed.items[1].value;
    assert_vector(sphere->centre, 1, 2, 3);
    assert_true(sphere->radius == 4);
    const rbt_select_plane *plane = b->fixed.items[2].value;
    assert_vector(plane->point, 0, 1, 0);
    assert_vector(plane->normal, 0, 2, 0);
    assert_string_equal(b->fixed.items[3].value, "top");
    const RBT_LIST(int) *nodes = b->fixed.items[4].value;
    assert_int_equal(nodes->count, 3);
    assert_true(nodes->items[0] == 7 && nodes->items[1] == 3 && nodes->items[2] == 2);
    const rbt_select_nearest *nearest = b->fixed.items[5].value;
    assert_vector(nearest->point, 5, 6, 7);
    assert_int_equal(nearest->count, 8);
    const RBT_LIST(rbt_selection) *all = b->fixed.items[6].value;
    assert_int_equal(all->count, 2);
    assert_int_equal(all->items[1].which, RBT_SELECT_NOT);
    const rbt_selection *inner = all->items[1].value;
    assert_string_equal(inner->value, "b");
    rbt_scene_free(file);
}

static void motions_and_deformations_go_into_their_members(void **state) {
    (void)state;
    rbt_scene_file *file = parse(BODY);
    const rbt_body_def *b = &rbt_scene_of(file)->bodies.items[0];
    assert_int_equal(b->driven.count, 2);
    assert_true(b->driven.items[0].release == 2.5 && b->driven.items[1].release == INFINITY);
    assert_int_equal(b->driven.items[1].motions.count, 0);
    const rbt_motion *m = b->driven.items[0].motions.items;
    assert_int_equal(b->driven.items[0].motions.count, 4);
    for (int i = 0; i < 4; i++) assert_int_equal(m[i].which, i);
    const rbt_move_velocity *velocity = m[0].value;
    assert_vector(velocity->velocity, 1, 0, 0);
    assert_true(velocity->from == 1 && velocity->until == 2);
    const rbt_move_rotation *rotation = m[1].value;
    assert_vector(rotation->point, 0, 1, 0);
    assert_vector(rotation->axis, 0, 0, 1);
    assert_true(rotation->rate == 3 && rotation->from == 0 && rotation->until == 4);
    const rbt_move_oscillation *oscillation = m[2].value;
    assert_vector(oscillation->amplitude, 0, 0.5, 0);
    assert_true(oscillation->frequency == 2 && oscillation->phase == 1.5 && oscillation->from == 0.5);
    assert_true(oscillation->until == INFINITY);
    const rbt_move_keyframes *keyframes = m[3].value;
    assert_int_equal(keyframes->times.count, 3);
    assert_int_equal(keyframes->offsets.count, 3);
    assert_true(keyframes->times.items[2] == 3);
    assert_vector(keyframes->offsets.items + 6, 4, 5, 6);

    const rbt_deformation *d = b->deform.items;
    assert_int_equal(b->deform.count, 4);
    for (int i = 0; i < 4; i++) assert_int_equal(d[i].which, i);
    const rbt_deform_stretch *stretch = d[0].value;
    assert_vector(stretch->axis, 1, 0, 0);
    assert_true(stretch->factor == 1.5 && stretch->keep_volume);
    const rbt_deform_twist *twist = d[1].value;
    assert_vector(twist->axis, 0, 1, 0);
    assert_true(twist->degrees == 180);
    const rbt_deform_bend *bend = d[2].value;
    assert_vector(bend->towards, 0, 0, 1);
    assert_true(bend->degrees == 45);
    assert_vector(((const rbt_deform_scale *)d[3].value)->factors, -1, -1, -1);
    rbt_scene_free(file);
}

static const char WORLD[] =
    "{\"rubato\": 1, \"bodies\": [{\"name\": \"bar\", \"mesh\": {\"file\": \"bar.msh\", \"unit\": \"in\"}}],"
    "\"forces\": [{\"gravity\": {}}, {\"gravity\": {\"acceleration\": [0, 0, -1.62]}},"
    " {\"pull\": {\"body\": \"bar\", \"where\": \"tip\", \"force\": [1, 2, 3], \"from\": 1, \"until\": 2}},"
    " {\"pulse\": {\"where\": \"tip\", \"peak\": [4, 5, 6], \"from\": 3, \"duration\": 0.25}},"
    " {\"wind\": {\"velocity\": [7, 8, 9], \"air_density\": 1.1, \"gust\": 0.5, \"gust_frequency\": 2, \"from\": 1, "
    "\"until\": 5}}],"
    "\"obstacles\": [{\"plane\": {}}, {\"sphere\": {\"centre\": [1, 2, 3], \"radius\": 0.5, \"stiffness\": 10}},"
    " {\"box\": {\"min\": [0, 0, 0], \"max\": [1, 2, 3]}},"
    " {\"capsule\": {\"a\": [0, 0, 0], \"b\": [0, 1, 0], \"radius\": 0.25}}],"
    "\"time\": {\"step\": 0.002, \"end\": 3, \"frame\": 0.1},"
    "\"integrator\": {\"method\": \"symplectic-euler\", \"max_halvings\": 3.0},"
    "\"output\": {\"folder\": \"there\", \"vtu\": false, \"obj\": true, \"pc2\": true, \"usda\": true, "
    "\"compress\": true, \"single_precision\": true, \"checkpoint_every\": 5, \"checkpoint_keep\": 2}}";

static void world_goes_into_its_members(void **state) {
    (void)state;
    rbt_scene_file *file = parse(WORLD);
    const rbt_scene *s = rbt_scene_of(file);
    assert_string_equal(s->bodies.items[0].mesh.unit, "in");
    static const int forces[] = {RBT_FORCE_GRAVITY, RBT_FORCE_GRAVITY, RBT_FORCE_PULL, RBT_FORCE_PULSE,
                                 RBT_FORCE_WIND};
    assert_int_equal(s->forces.count, 5);
    for (int i = 0; i < 5; i++) assert_int_equal(s->forces.items[i].which, forces[i]);
    assert_vector(((const rbt_force_gravity *)s->forces.items[0].value)->acceleration, 0, -9.80665, 0);
    assert_vector(((const rbt_force_gravity *)s->forces.items[1].value)->acceleration, 0, 0, -1.62);
    const rbt_force_pull *pull = s->forces.items[2].value;
    assert_string_equal(pull->body, "bar");
    assert_string_equal(pull->where.value, "tip");
    assert_vector(pull->force, 1, 2, 3);
    assert_true(pull->from == 1 && pull->until == 2);
    const rbt_force_pulse *pulse = s->forces.items[3].value;
    assert_null(pulse->body);
    assert_vector(pulse->peak, 4, 5, 6);
    assert_true(pulse->from == 3 && pulse->duration == 0.25);
    const rbt_force_wind *wind = s->forces.items[4].value;
    assert_vector(wind->velocity, 7, 8, 9);
    assert_true(wind->air_density == 1.1 && wind->gust == 0.5 && wind->gust_frequency == 2);
    assert_true(wind->from == 1 && wind->until == 5 && !wind->body);

    assert_int_equal(s->obstacles.count, 4);
    for (int i = 0; i < 4; i++) assert_int_equal(s->obstacles.items[i].which, i);
    const rbt_obstacle_plane *plane = s->obstacles.items[0].value;
    assert_vector(plane->normal, 0, 1, 0);
    assert_true(plane->stiffness == 1e6);
    const rbt_obstacle_sphere *sphere = s->obstacles.items[1].value;
    assert_vector(sphere->centre, 1, 2, 3);
    assert_true(sphere->radius == 0.5 && sphere->stiffness == 10);
    assert_vector(((const rbt_obstacle_box *)s->obstacles.items[2].value)->max, 1, 2, 3);
    const rbt_obstacle_capsule *capsule = s->obstacles.items[3].value;
    assert_vector(capsule->b, 0, 1, 0);
    assert_true(capsule->radius == 0.25);

    assert_true(s->time.step == 0.002 && s->time.end == 3 && s->time.frame == 0.1);
    assert_string_equal(rbt_method_name(s->integrator.method), "symplectic-euler");
    assert_int_equal(s->integrator.max_halvings, 3);
    const rbt_output_def *o = &s->output;
    assert_string_equal(o->folder, "there");
    assert_true(!o->vtu && o->obj && o->pc2 && o->usda && o->compress && o->single_precision);
    assert_true(o->checkpoint_every == 5 && o->checkpoint_keep == 2);
    rbt_scene_free(file);
}

static void settings_change_and_add_values(void **state) {
    (void)state;
    static const char *const settings[] = {
        "time.end=0.5",
        "about=say \"what\" = it is",
        "output.folder=2024",
        "integrator.method=symplectic-euler",
        "bodies[0].material.young=3e6",
        "bodies[0].transform.translate[1]=2",
        "bodies[0].name=\"rod\"",
        "forces[0]={\"gravity\": {}}",
        "forces[0].gravity.acceleration[2]=-1",
        "forces[1].pull={\"where\": \"everything\", \"force\": [1, 0, 0]}",
        "bodies[0].fixed[0]=left",
        "bodies[0].driven[0].where.nodes=[4]",
        "bodies[0].driven[0].where.nodes[1]=5",
        "bodies[0].driven[0].release=never",
    };
    rbt_scene_file *file = parse_with(SMALL, settings, sizeof settings / sizeof settings[0]);
    const rbt_scene *s = rbt_scene_of(file);
    assert_true(s->time.end == 0.5 && s->time.step == 0.01);
    assert_string_equal(s->about, "say \"what\" = it is");
    assert_string_equal(s->output.folder, "2024");
    assert_string_equal(rbt_method_name(s->integrator.method), "symplectic-euler");
    assert_true(s->bodies.items[0].material.young == 3e6);
    assert_vector(s->bodies.items[0].transform.translate, 0, 2, 0);
    assert_string_equal(s->bodies.items[0].name, "rod");
    assert_int_equal(s->forces.count, 2);
    assert_vector(((const rbt_force_gravity *)s->forces.items[0].value)->acceleration, 0, -9.80665, -1);
    assert_int_equal(s->forces.items[1].which, RBT_FORCE_PULL);
    assert_string_equal(s->bodies.items[0].fixed.items[0].value, "left");
    const RBT_LIST(int) *nodes = s->bodies.items[0].driven.items[0].where.value;
    assert_int_equal(nodes->count, 2);
    assert_int_equal(nodes->items[1], 5);
    rbt_scene_free(file);
}

static void null_takes_a_key_out(void **state) {
    (void)state;
    static const char *const settings[] = {"integrator.solver=cholesky",
                                           "integrator.solver=null",
                                           "integrator.options={\"nonsense\": 1}",
                                           "integrator.options=null",
                                           "time.step=7",
                                           "time.step=null",
                                           "about=null",
                                           "forces=null",
                                           "integrator.method=symplectic-euler"};
    rbt_scene_file *file = parse_with(SMALL, settings, sizeof settings / sizeof settings[0]);
    const rbt_scene *s = rbt_scene_of(file);
    assert_true(s->time.step == 0.01);  // of a scene that names a method and no step
    assert_null(s->about);
    assert_null(s->integrator.options);
    assert_int_equal(s->integrator.method, rbt_method_find("symplectic-euler"));
    assert_null(strstr(rbt_scene_json(file), "null"));
    assert_null(strstr(rbt_scene_json(file), "solver"));
    rbt_scene_free(file);

    rbt_error error = {0};
    static const char *const item[] = {"bodies[0]=null"}, *const name[] = {"bodies[0].name=null"};
    assert_null(rbt_scene_parse(SMALL, strlen(SMALL), "t.json", item, 1, &error));
    assert_string_equal(error.message, "an object is needed, found null");
    assert_null(rbt_scene_parse(SMALL, strlen(SMALL), "t.json", name, 1, &error));
}

static void settings_are_applied_in_order(void **state) {
    (void)state;
    static const char *const settings[] = {"time.step=1", "time.step=0.5"};
    rbt_scene_file *file = parse_with(SMALL, settings, 2);
    assert_true(rbt_scene_of(file)->time.step == 0.5);
    rbt_scene_free(file);
}

static void file_and_folder_are_remembered(void **state) {
    (void)state;
    const char *temporary = getenv("TMPDIR");
    char folder[256], path[300];
    snprintf(folder, sizeof folder, "%s/rubato-XXXXXX", temporary ? temporary : "/tmp");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/s.json", folder);
    rbt_error error = {0};
    const char with_mark[] = "\xef\xbb\xbf" SMALL "\n";
    assert_true(rbt_file_write(path, with_mark, strlen(with_mark), &error));
    rbt_scene_file *file = rbt_scene_read(path, NULL, 0, &error);
    assert_non_null(file);
    assert_string_equal(rbt_scene_of(file)->file, path);
    assert_string_equal(rbt_scene_of(file)->folder, folder);
    rbt_scene_free(file);
    unlink(path);
    rmdir(folder);
    assert_null(rbt_scene_read(path, NULL, 0, &error));
    assert_string_equal(error.file, path);

    file = rbt_scene_parse(SMALL, strlen(SMALL), "/s.json", NULL, 0, &error);
    assert_string_equal(rbt_scene_of(file)->folder, "/");
    rbt_scene_free(file);
    file = rbt_scene_parse(SMALL, strlen(SMALL), NULL, NULL, 0, NULL);
    assert_null(rbt_scene_of(file)->file);
    rbt_scene_free(file);
    rbt_scene_free(NULL);
}

// A shape's file starts at the scene's folder, unless it starts at the root.
static void files_of_shapes_start_at_the_folder(void **state) {
    (void)state;
    static const char *const names[][3] = {{"a/b/s.json", "x.obj", "a/b/x.obj"},
                                           {"a/b/s.json", "/x.obj", "/x.obj"},
                                           {"s.json", "x.obj", "x.obj"},
                                           {NULL, "x.obj", "x.obj"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char json[256];
        snprintf(json, sizeof json,
                 "{\"rubato\": 1, \"bodies\": [{\"name\": \"a\", \"mesh\": {\"shape\": {\"surface\": {\"file\": "
                 "\"%s\"}}}}]}",
                 names[i][1]);
        rbt_scene_file *file = rbt_scene_parse(json, strlen(json), names[i][0], NULL, 0, NULL);
        assert_non_null(file);
        const rbt_variant *shape = &rbt_scene_of(file)->bodies.items[0].mesh.shape;
        const rbt_field *f = rbt_record_field(rbt_shape_at(shape->which)->parameters, "file");
        assert_string_equal(*(const char *const *)(const void *)((const char *)shape->value + f->offset),
                            names[i][2]);
        rbt_scene_free(file);
    }
}

// ---- Scenes made by programs

static const char *complaint(const rbt_scene *scene) {
    static char text[2048];
    rbt_error error = {0};
    assert_false(rbt_scene_check(scene, &error));
    return rbt_error_text(&error, text, sizeof text);
}

static void scenes_of_programs_are_checked(void **state) {
    (void)state;
    rbt_scene scene = rbt_scene_default();
    assert_string_equal(complaint(&scene), "bodies: needs at least one item");
    rbt_body_def body = rbt_body_default();
    scene.bodies.items = &body;
    scene.bodies.count = 1;
    assert_string_equal(complaint(&scene), "bodies[0]: the key \"name\" is missing");
    body.name = "bar";
    assert_string_equal(complaint(&scene),
                        "bodies[0].mesh: exactly one of \"file\" and \"shape\" is needed, found none");
    body.mesh.file = "bar.msh";
    assert_true(rbt_scene_check(&scene, NULL));

    scene.bodies.items = NULL;
    assert_string_equal(complaint(&scene), "bodies: has 1 items that point nowhere");
    scene.bodies.items = &body;
    scene.version = 0;
    assert_string_equal(complaint(&scene), "rubato: must be exactly 1, found 0");
    scene.version = 1;
    body.material.young = NAN;
    assert_string_equal(complaint(&scene), "bodies[0].material.young: must be a finite number, found nan");
    body.material.young = 1;
    body.material.model = 1000;
    assert_non_null(strstr(complaint(&scene), "bodies[0].material.model: there are "));
    body.material.model = 0;
    scene.integrator.solver = 1000;
    assert_non_null(strstr(complaint(&scene), "integrator.solver: there are "));
    scene.integrator.solver = 0;
    body.transform.scale[2] = INFINITY;
    assert_string_equal(complaint(&scene), "bodies[0].transform.scale[2]: must be a finite number, found inf");
    body.transform.scale[2] = 1;
    scene.file = "made.json";
    scene.time.step = 0;
    assert_string_equal(complaint(&scene), "made.json: time.step: must be above 0 s, found 0");
}

static void variants_of_programs_are_checked(void **state) {
    (void)state;
    rbt_scene scene = rbt_scene_default();
    rbt_body_def body = rbt_body_default();
    body.name = "bar";
    body.mesh.file = "bar.msh";
    scene.bodies.items = &body;
    scene.bodies.count = 1;
    rbt_selection where = {-1, NULL};
    body.fixed.items = &where;
    body.fixed.count = 1;
    assert_string_equal(complaint(&scene), "bodies[0].fixed[0]: is missing");
    where.which = RBT_SELECT_KINDS;
    assert_string_equal(complaint(&scene), "bodies[0].fixed[0]: there is no selection number 9");
    where.which = RBT_SELECT_SPHERE;
    assert_string_equal(complaint(&scene), "bodies[0].fixed[0]: the sphere points nowhere");
    rbt_select_sphere sphere = {{0, 0, 0}, -1};
    where.value = &sphere;
    assert_string_equal(complaint(&scene), "bodies[0].fixed[0].sphere.radius: must be above 0 m, found -1");
    // A selection that contains itself must not be followed for ever.
    where = (rbt_selection){RBT_SELECT_NOT, &where};
    assert_non_null(strstr(complaint(&scene), "nested too deeply: at most 40 levels are allowed"));
    rbt_driven_def driven = {.where = {-1, NULL}, .release = 1};
    body.fixed.count = 0;
    body.driven.items = &driven;
    body.driven.count = 1;
    assert_string_equal(complaint(&scene), "bodies[0].driven[0]: the key \"where\" is missing");
}

static void units_have_factors(void **state) {
    (void)state;
    double metres;
    for (int i = 0; rbt_unit_name(i); i++) assert_true(rbt_unit_factor(rbt_unit_name(i), &metres) && metres > 0);
    assert_true(rbt_unit_factor("mm", &metres) && metres == 0.001);
    assert_true(rbt_unit_factor("in", &metres) && metres == 0.0254);
    assert_false(rbt_unit_factor("parsec", &metres));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smallest_scene_has_defaults),
        cmocka_unit_test(defaults_are_as_documented),
        cmocka_unit_test(body_goes_into_its_members),
        cmocka_unit_test(selections_go_into_their_members),
        cmocka_unit_test(motions_and_deformations_go_into_their_members),
        cmocka_unit_test(world_goes_into_its_members),
        cmocka_unit_test(settings_change_and_add_values),
        cmocka_unit_test(settings_are_applied_in_order),
        cmocka_unit_test(null_takes_a_key_out),
        cmocka_unit_test(file_and_folder_are_remembered),
        cmocka_unit_test(files_of_shapes_start_at_the_folder),
        cmocka_unit_test(scenes_of_programs_are_checked),
        cmocka_unit_test(variants_of_programs_are_checked),
        cmocka_unit_test(units_have_factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
