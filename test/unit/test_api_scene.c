// What a program describes in C is what a scene file describes: meshes from memory, shapes, options of methods,
// versions.
#include "scene.h"

#include <math.h>

static const char *const BAR = "{\"size\": [1, 0.2, 0.2], \"cells\": [6, 2, 2]}";

static rbt_selection LEFT;
static const rbt_select_box LEFT_BOX = {{0, 0, 0}, {0.01, 1, 1}, true};

// A bar that hangs on its left end
static rbt_body_def bar_of(const rbt_mesh *mesh) {
    rbt_body_def bar = rbt_body_default();
    LEFT = (rbt_selection){RBT_SELECT_BOX, &LEFT_BOX};
    bar.name = "bar";
    bar.mesh.mesh = mesh;
    bar.fixed.count = 1;
    bar.fixed.items = &LEFT;
    return bar;
}

static rbt_scene scene_of(const rbt_body_def *body, const rbt_force *force) {
    rbt_scene scene = rbt_scene_default();
    scene.bodies.count = 1;
    scene.bodies.items = body;
    scene.forces.count = 1;
    scene.forces.items = force;
    scene.integrator.method = rbt_method_find("semi-implicit");
    scene.time.step = 0.01;
    return scene;
}

static const rbt_force_gravity DOWN = {{0, -9.81, 0}};
static const rbt_force GRAVITY = {RBT_FORCE_GRAVITY, &DOWN};

static void assert_says(const rbt_error *error, const char *part) {
    if (!strstr(error->message, part)) fail_msg("\"%s\" is not in \"%s\"", part, error->message);
}

// {RBT_SELECT_SET, "left"}: the value is the name itself, and is only borrowed.
static void a_set_is_selected_by_its_name(void **state) {
    (void)state;
    rbt_mesh *mesh = rbt_mesh_generate("bar", BAR, NULL);
    assert_non_null(mesh);
    rbt_body_def bar = bar_of(mesh);
    rbt_scene scene = scene_of(&bar, &GRAVITY);
    rbt_error error;
    rbt_sim *by_box = rbt_sim_create(&scene, &error);
    char name[] = "left";
    LEFT = (rbt_selection){RBT_SELECT_SET, name};
    rbt_sim *by_name = rbt_sim_create(&scene, &error);
    memset(name, 'x', sizeof name - 1);
    assert_true(by_box && by_name);
    advance(by_box, 3);
    advance(by_name, 3);
    assert_memory_equal(rbt_sim_positions(by_box), rbt_sim_positions(by_name), 24 * rbt_sim_node_count(by_box));
    rbt_sim_free(by_box);
    rbt_sim_free(by_name);
    assert_null(rbt_sim_create(&scene, &error));
    assert_says(&error, "\"xxxx\"");
    LEFT = (rbt_selection){RBT_SELECT_SET, ""};
    assert_null(rbt_sim_create(&scene, &error));
    assert_says(&error, "must not be empty");
    LEFT = (rbt_selection){RBT_SELECT_SET, NULL};
    assert_null(rbt_sim_create(&scene, &error));
    assert_says(&error, "the set points nowhere");
    rbt_mesh_free(mesh);
}

static void a_mesh_in_memory_is_as_good_as_a_file(void **state) {
    (void)state;
    rbt_mesh *mesh = rbt_mesh_generate("bar", BAR, NULL);
    assert_non_null(mesh);
    rbt_body_def bar = bar_of(mesh);
    rbt_scene scene = scene_of(&bar, &GRAVITY);
    rbt_error error;
    rbt_sim *one = rbt_sim_create(&scene, &error);
    rbt_mesh_free(mesh);  // it was only borrowed
    assert_non_null(one);
    rbt_sim *other =
        sim_from("{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'bar': {'size': [1, 0.2, 0.2], "
                 "'cells': [6, 2, 2]}}}, 'fixed': [{'box': {'min': [0, 0, 0], 'max': [0.01, 1, 1], "
                 "'relative': true}}]}], 'forces': [{'gravity': {'acceleration': [0, -9.81, 0]}}]}");
    advance(one, 3);
    advance(other, 3);
    assert_int_equal(rbt_sim_node_count(one), rbt_sim_node_count(other));
    assert_memory_equal(rbt_sim_positions(one), rbt_sim_positions(other), 24 * rbt_sim_node_count(one));
    rbt_sim_free(one);
    rbt_sim_free(other);
}

static void refuse(rbt_mesh *mesh, const char *sentence) {
    rbt_body_def bar = bar_of(mesh);
    rbt_scene scene = scene_of(&bar, &GRAVITY);
    rbt_error error = {0};
    assert_null(rbt_sim_create(&scene, &error));
    assert_says(&error, sentence);
}

static void a_wrong_mesh_is_refused(void **state) {
    (void)state;
    rbt_mesh *mesh = rbt_mesh_generate("bar", BAR, NULL);
    double x = mesh->nodes[4];
    int32_t corner = mesh->tets[5];
    mesh->nodes[4] = NAN;
    refuse(mesh, "node 1 of the mesh in memory has the coordinate");
    mesh->nodes[4] = x;
    mesh->tets[5] = (int32_t)mesh->node_count;
    refuse(mesh, "tet 1 names node 63");
    mesh->tets[5] = -1;
    refuse(mesh, "tet 1 names node -1");
    mesh->tets[5] = corner;
    int32_t *tets = mesh->tets;
    mesh->tets = NULL;
    refuse(mesh, "tets at NULL");
    mesh->tets = tets;
    rbt_mesh_report report;
    rbt_error error;
    mesh->tets[5] = 1000;
    assert_false(rbt_mesh_diagnose(mesh, &report, &error));
    assert_false(rbt_mesh_write(mesh, "never.vtk", true, &error));
    rbt_mesh_free(mesh);
}

static void a_mesh_beside_a_file_is_refused(void **state) {
    (void)state;
    rbt_mesh *mesh = rbt_mesh_generate("bar", BAR, NULL);
    rbt_body_def bar = bar_of(mesh);
    bar.mesh.file = "bar.msh";
    rbt_scene scene = scene_of(&bar, &GRAVITY);
    rbt_error error = {0};
    assert_false(rbt_scene_check(&scene, &error));
    assert_says(&error, "a mesh in memory is given");
    rbt_mesh_free(mesh);
}

static void structs_without_their_cookie_are_refused(void **state) {
    (void)state;
    rbt_mesh *mesh = rbt_mesh_generate("bar", BAR, NULL);
    rbt_body_def bar = bar_of(mesh);
    rbt_scene scene = scene_of(&bar, &GRAVITY), empty = {.version = 1};
    rbt_error error = {0};
    assert_null(rbt_sim_create(&empty, &error));
    assert_says(&error, "struct \"scene\"");
    bar.cookie = 0;
    assert_null(rbt_sim_create(&scene, &error));
    assert_says(&error, "struct \"body\"");
    bar.cookie = rbt_body_default().cookie;
    // The options of another method
    rbt_ere_options options = rbt_ere_options_default();
    scene.integrator.method = rbt_method_find("siere");
    scene.integrator.options = &options;
    assert_null(rbt_sim_create(&scene, &error));
    assert_says(&error, "struct \"siere options\"");
    rbt_mesh_free(mesh);
}

// The same bits as by the keys of a scene
static void assert_same_as(const rbt_scene *scene, const char *integrator) {
    char json[1024];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'bar': {'size': [1, 0.2, 0.2], 'cells': [6, 2, "
        "2]}}}, 'fixed': [{'box': {'min': [0, 0, 0], 'max': [0.01, 1, 1], 'relative': true}}]}], 'forces': "
        "[{'gravity': {'acceleration': [0, -9.81, 0]}}], 'integrator': %s, 'time': {'step': %.17g}}",
        integrator, scene->time.step);
    rbt_error error = {0};
    rbt_sim *one = rbt_sim_create(scene, &error), *other = sim_from(json);
    if (!one) fail_msg("%s", error.message);
    advance(one, 2);
    advance(other, 2);
    assert_memory_equal(rbt_sim_positions(one), rbt_sim_positions(other), 24 * rbt_sim_node_count(one));
    rbt_sim_free(one);
    rbt_sim_free(other);
}

static void options_of_every_method_are_in_reach(void **state) {
    (void)state;
    rbt_mesh *mesh = rbt_mesh_generate("bar", BAR, NULL);
    rbt_body_def bar = bar_of(mesh);
    rbt_scene scene = scene_of(&bar, &GRAVITY);
    rbt_siere_options siere = rbt_siere_options_default();
    siere.modes = 2;
    scene.integrator.method = rbt_method_find("siere");
    scene.integrator.options = &siere;
    assert_same_as(&scene, "{'method': 'siere', 'options': {'modes': 2}}");
    rbt_implicit_options implicit = rbt_implicit_options_default();
    implicit.tolerance = 1e-6;
    scene.integrator.method = rbt_method_find("bdf2");
    scene.integrator.solver = rbt_solver_find(scene.integrator.method, "dot");
    scene.integrator.options = &implicit;
    assert_int_equal(scene.integrator.solver, 1);
    assert_same_as(&scene, "{'method': 'bdf2', 'solver': 'dot', 'options': {'tolerance': 1e-6}}");
    rbt_ere_options ere = rbt_ere_options_default();
    ere.tolerance = 1e-3;
    scene.integrator = (rbt_integrator_def){.method = rbt_method_find("ere"), .options = &ere, .max_halvings = 8};
    assert_same_as(&scene, "{'method': 'ere', 'options': {'tolerance': 1e-3}}");
    rbt_multirate_options multirate = rbt_multirate_options_default();
    multirate.interpolation = 1;
    scene.integrator = (rbt_integrator_def){.method = rbt_method_find("multirate-euler"), .options = &multirate};
    scene.integrator.max_halvings = 8;
    assert_same_as(&scene, "{'method': 'multirate-euler', 'options': {'interpolation': 'end'}}");
    rbt_imex_options imex = rbt_imex_options_default();
    imex.certify = false;
    scene.integrator = (rbt_integrator_def){.method = rbt_method_find("imex"), .options = &imex, .max_halvings = 8};
    scene.time.step = 1e-3;
    assert_same_as(&scene, "{'method': 'imex', 'options': {'certify': false}}");
    rbt_async_contact_options async = rbt_async_contact_options_default();
    async.restitution = 0.5;
    scene.integrator = (rbt_integrator_def){.method = rbt_method_find("async-contact"), .options = &async};
    assert_same_as(&scene, "{'method': 'async-contact', 'options': {'restitution': 0.5}}");
    rbt_mesh_free(mesh);
}

// Every method that has options has a public struct for them, with a cookie.
static void every_table_of_options_has_a_cookie(void **state) {
    (void)state;
    int with_options = 0;
    for (int i = 0; rbt_method_at(i); i++) {
        const rbt_record *options = rbt_method_at(i)->options;
        if (!options) continue;
        with_options++;
        assert_true(options->cookie);
    }
    assert_int_equal(with_options, 10);
    rbt_async_contact_options async = rbt_async_contact_options_default();
    rbt_multirate_options multirate = rbt_multirate_options_default();
    assert_true(async.cookie && multirate.cookie && async.cookie != multirate.cookie);
}

static void shapes_take_json(void **state) {
    (void)state;
    rbt_error error = {0};
    rbt_mesh *mesh = rbt_mesh_generate("ball", "{\"layers\": 2}", &error);
    assert_non_null(mesh);
    rbt_mesh_free(mesh);
    mesh = rbt_mesh_generate("ball", NULL, &error);
    assert_non_null(mesh);
    rbt_mesh_free(mesh);
    assert_null(rbt_mesh_generate("balll", NULL, &error));
    assert_says(&error, "did you mean \"ball\"");
    assert_null(rbt_mesh_generate("ball", "{\"layers\": 0}", &error));
    assert_null(rbt_mesh_generate("ball", "{\"laiers\": 2}", &error));
    assert_says(&error, "laiers");
    assert_null(rbt_mesh_generate("ball", "{\"layers\": ", &error));
    assert_says(&error, "not valid JSON");
    assert_null(rbt_mesh_generate("ball", "[]", &error));
    assert_null(rbt_mesh_generate(NULL, NULL, &error));
}

static void names_and_numbers_agree(void **state) {
    (void)state;
    rbt_version_info version = rbt_version();
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", version.major, version.minor, version.patch);
    assert_string_equal(text, version.text);
    assert_string_equal(RBT_VERSION, version.text);
    for (int i = 0; rbt_method_name(i); i++) {
        assert_int_equal(rbt_method_find(rbt_method_name(i)), i);
        for (int k = 0; rbt_solver_name(i, k); k++) assert_int_equal(rbt_solver_find(i, rbt_solver_name(i, k)), k);
    }
    for (int i = 0; rbt_material_name(i); i++) assert_int_equal(rbt_material_find(rbt_material_name(i)), i);
    assert_int_equal(rbt_solver_find(-1, "newton"), -1);
    assert_int_equal(rbt_solver_find(rbt_method_find("symplectic-euler"), "newton"), -1);
    assert_null(rbt_solver_name(rbt_method_find("bdf2"), 100));
    assert_int_equal(rbt_method_find(NULL), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mesh_in_memory_is_as_good_as_a_file),
        cmocka_unit_test(a_set_is_selected_by_its_name),
        cmocka_unit_test(a_wrong_mesh_is_refused),
        cmocka_unit_test(a_mesh_beside_a_file_is_refused),
        cmocka_unit_test(structs_without_their_cookie_are_refused),
        cmocka_unit_test(options_of_every_method_are_in_reach),
        cmocka_unit_test(every_table_of_options_has_a_cookie),
        cmocka_unit_test(shapes_take_json),
        cmocka_unit_test(names_and_numbers_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
