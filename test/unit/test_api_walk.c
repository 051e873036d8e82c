// Every function of the public library with NULL, wrong sizes and in the wrong order: an error or nothing, never a
// crash. A function that the headers declare and this file does not call fails the last test; so does a struct that
// test/data/abi.txt does not know.
#include "base/file.h"
#include "base/text.h"
#include "every_method.h"
#include "rubato/view.h"

#include <ctype.h>
#include <glob.h>
#include <math.h>
#include <unistd.h>

static rbt_error error;

static void refused(bool good) {
    assert_false(good);
    assert_true(error.message[0] != '\0');
    error = (rbt_error){0};
}

static void errors_versions_names(void **state) {
    (void)state;
    char text[8] = "?";
    assert_string_equal(rbt_error_text(NULL, text, sizeof text), "");
    assert_null(rbt_error_text(&error, NULL, 0));
    assert_non_null(rbt_version().text);
    assert_int_equal(rbt_method_find(NULL), -1);
    assert_int_equal(rbt_material_find(NULL), -1);
    assert_int_equal(rbt_solver_find(0, NULL), -1);
    assert_int_equal(rbt_solver_find(99, "newton"), -1);
    assert_null(rbt_method_name(-1));
    assert_null(rbt_material_name(99));
    assert_null(rbt_solver_name(99, 0));
    assert_null(rbt_solver_name(0, -1));
    assert_string_equal(rbt_outcome_name((rbt_outcome)99), "unknown");
    assert_string_equal(rbt_outcome_name(RBT_BLOCKED), "blocked by contact");
    assert_null(rbt_statistic_at(-1));
    assert_int_equal(rbt_statistic_find(NULL), -1);
    assert_true(rbt_statistic_count() <= RBT_MAX_STATISTICS);
    assert_true(rbt_report_statistic(NULL, 0) == 0);
    rbt_step_report report = {0};
    assert_true(rbt_report_statistic(&report, 99) == 0 && rbt_report_statistic(&report, -1) == 0);
}

static void defaults_carry_cookies(void **state) {
    (void)state;
    assert_true(rbt_scene_default().cookie && rbt_body_default().cookie);
    assert_true(rbt_obstacle_mesh_default().transform.scale[0] == 1 && rbt_sequence_default().rate == 25);
    assert_true(isnan(rbt_contact_default().thickness) && isnan(rbt_contact_default().slip_speed));
    assert_true(rbt_contact_default().friction == 0 && rbt_contact_default().gap == 0);
    assert_true(rbt_implicit_options_default().cookie && rbt_siere_options_default().cookie);
    assert_true(rbt_semi_implicit_options_default().cookie);
    assert_true(rbt_energy_euler_options_default().solver.cookie);
    assert_true(rbt_ere_options_default().cookie && rbt_imex_options_default().cookie);
    assert_true(rbt_multirate_options_default().cookie && rbt_async_contact_options_default().cookie);
    assert_true(isinf(rbt_drive_default().duration));
}

static void meshes(void **state) {
    (void)state;
    rbt_mesh_report report;
    rbt_mesh empty = {0}, wrong = {.node_count = 3};
    rbt_mesh_free(NULL);
    refused(rbt_mesh_read(NULL, &error));
    refused(rbt_mesh_read("no such file.msh", &error));
    refused(rbt_mesh_generate(NULL, NULL, &error));
    refused(rbt_mesh_generate("bar", "nonsense", &error));
    assert_null(rbt_mesh_generate("nothing", NULL, NULL));
    refused(rbt_mesh_write(NULL, "x.msh", false, &error));
    refused(rbt_mesh_write(&empty, NULL, false, &error));
    refused(rbt_mesh_write(&wrong, "x.msh", false, &error));
    refused(rbt_mesh_diagnose(NULL, &report, &error));
    refused(rbt_mesh_diagnose(&empty, NULL, &error));
    refused(rbt_mesh_diagnose(&wrong, &report, &error));
    assert_true(rbt_mesh_diagnose(&empty, &report, &error));
}

static void pictures(void **state) {
    (void)state;
    rbt_view_options options = rbt_view_default();
    rbt_view_report report;
    refused(rbt_view_draw(NULL, "x.png", &options, &report, &error));
    refused(rbt_view_draw("no such folder", NULL, &options, &report, &error));
    refused(rbt_view_draw("no such folder", "x.png", &options, NULL, &error));
    refused(rbt_view_draw("no such folder", "x.png", NULL, NULL, &error));
    options.color = options.direction = "nonsense";
    refused(rbt_view_draw("no such folder", "x.png", &options, &report, &error));
    rbt_view_image image;
    options.color = "nonsense";
    refused(rbt_view_paint("no such folder", &options, &image, &error));
    options = rbt_view_default();
    refused(rbt_view_paint(NULL, &options, &image, &error));
    refused(rbt_view_paint("no such folder", &options, NULL, &error));
    refused(rbt_view_paint("no such folder", &options, &image, &error));
    refused(rbt_view_paint_sim(NULL, &options, &image, &error));
    options.animate = true;
    refused(rbt_view_paint("no such folder", &options, &image, &error));
    rbt_view_image_free(NULL);
    refused(rbt_view_plot(NULL, "x.svg", &error));
    refused(rbt_view_plot("no such folder", NULL, &error));
    assert_false(rbt_view_plot("no such folder", "x.svg", NULL));
}

static void scenes(void **state) {
    (void)state;
    const char *settings[1] = {NULL};
    rbt_scene zero = {0}, scene = rbt_scene_default();
    refused(rbt_scene_read(NULL, NULL, 0, &error));
    refused(rbt_scene_read("no such file.json", NULL, 0, &error));
    refused(rbt_scene_parse(NULL, 0, NULL, NULL, 0, &error));
    refused(rbt_scene_parse("{}", 2, NULL, NULL, 3, &error));
    refused(rbt_scene_parse("{}", 2, NULL, settings, 1, &error));
    refused(rbt_scene_parse("{}", 2, NULL, NULL, 0, &error));
    assert_null(rbt_scene_of(NULL));
    assert_null(rbt_scene_json(NULL));
    assert_null(rbt_scene_warning(NULL, 0));
    rbt_scene_free(NULL);
    refused(rbt_scene_check(NULL, &error));
    refused(rbt_scene_check(&zero, &error));
    refused(rbt_scene_check(&scene, &error));  // no bodies
    refused(rbt_sim_create(NULL, &error));
    refused(rbt_sim_create(&zero, &error));
    assert_null(rbt_sim_create(&scene, NULL));
}

static bool never(const rbt_sim *sim, int64_t frame, void *context) {
    (void)sim, (void)frame, (void)context;
    fail_msg("called back without a simulation");
    return false;
}

static void without_a_simulation(void **state) {
    (void)state;
    rbt_step_report report;
    double three[3] = {0};
    rbt_drive drive = rbt_drive_default();
    rbt_sim_free(NULL);
    rbt_sim_set_stop(NULL, NULL);
    refused(rbt_sim_clone(NULL, &error));
    refused(rbt_sim_set_threads(NULL, 1, &error));
    assert_true(!rbt_sim_step(NULL, &report) && report.outcome == RBT_REFUSED);
    assert_true(!rbt_sim_advance_frame(NULL, &report) && report.outcome == RBT_REFUSED);
    assert_true(!rbt_sim_advance_to(NULL, 1, &report) && report.outcome == RBT_REFUSED);
    assert_true(!rbt_sim_run(NULL, never, NULL, &report) && report.outcome == RBT_REFUSED);
    assert_false(rbt_sim_step(NULL, NULL));
    assert_true(rbt_sim_time(NULL) == 0 && rbt_sim_step_length(NULL) == 0 && rbt_sim_frame_interval(NULL) == 0);
    assert_true(rbt_sim_topology(NULL) == 0 && !rbt_sim_note(NULL, 0) && !rbt_sim_rest_positions(NULL));
    assert_true(!rbt_sim_selection_name(NULL, 0, 0) && !rbt_sim_driven_nodes(NULL, 0, NULL, 0));
    assert_true(rbt_sim_frame(NULL) == 0 && rbt_sim_frame_count(NULL) == 0);
    assert_true(!rbt_sim_node_count(NULL) && !rbt_sim_tet_count(NULL) && !rbt_sim_triangle_count(NULL) &&
                !rbt_sim_edge_count(NULL));
    assert_true(!rbt_sim_positions(NULL) && !rbt_sim_velocities(NULL) && !rbt_sim_tets(NULL) &&
                !rbt_sim_triangles(NULL) && !rbt_sim_edges(NULL));
    assert_true(rbt_sim_energies(NULL).total == 0);
    refused(rbt_sim_set_positions(NULL, 0, 1, three, &error));
    refused(rbt_sim_set_velocities(NULL, 0, 1, three, &error));
    refused(rbt_sim_save(NULL, &error));
    refused(rbt_sim_save_to(NULL, NULL, &error));
    refused(rbt_sim_restore(NULL, NULL, &error));
    refused(rbt_sim_set_forces(NULL, 0, 1, three, &error));
    assert_null(rbt_sim_forces(NULL));
    assert_true(!rbt_sim_driven_count(NULL) && !rbt_sim_driven_name(NULL, 0) && rbt_sim_driven_find(NULL, "x") == -1);
    refused(rbt_sim_drag(NULL, 0, "x", three, 1, &error));
    rbt_event_material change = rbt_event_material_default();
    refused(rbt_sim_set_material(NULL, &change, &error));
    refused(rbt_sim_drive(NULL, 0, &drive, &error));
    refused(rbt_sim_drive_to(NULL, 0, three, 1, &error));
    assert_true(!rbt_sim_obstacle_count(NULL));
    refused(rbt_sim_drive_obstacle(NULL, 0, &drive, &error));
    refused(rbt_sim_drive_obstacle_to(NULL, 0, three, 1, &error));
}

static void questions_without_a_simulation(void **state) {
    (void)state;
    rbt_body_info info;
    const int32_t *nodes;
    size_t count;
    double three[3];
    assert_true(!rbt_sim_body_count(NULL) && rbt_sim_body_find(NULL, "x") == -1);
    refused(rbt_sim_body(NULL, 0, &info, &error));
    refused(rbt_sim_selection(NULL, 0, "x", &nodes, &count, &error));
    assert_true(!rbt_sim_masses(NULL) && !rbt_sim_constrained(NULL, NULL));
    refused(rbt_sim_reactions(NULL, three, &error));
    refused(rbt_sim_contact_forces(NULL, three, &error));
    assert_true(!rbt_sim_contacts(NULL, NULL, 0));
    assert_true(!rbt_sim_stage_count(NULL) && !rbt_sim_stage_name(NULL, 0) && rbt_sim_stage_seconds(NULL, 0) == 0);
    assert_true(rbt_sim_statistic(NULL, 0) == 0 && !rbt_sim_method(NULL));
    rbt_probe_reading reading;
    assert_true(!rbt_sim_probe_count(NULL) && !rbt_sim_probe_name(NULL, 0) && rbt_sim_probe_find(NULL, "x") == -1);
    refused(rbt_sim_probe(NULL, 0, &reading, &error));
    refused(rbt_sim_probes(NULL, &reading, &error));
}

static void states_without_content(void **state) {
    (void)state;
    method_case c = {.method = "siere"};
    rbt_sim *sim = method_sim(&c);
    rbt_state_free(NULL);
    assert_true(rbt_state_time(NULL) == 0 && !rbt_state_node_count(NULL));
    assert_true(!rbt_state_positions(NULL) && !rbt_state_velocities(NULL));
    refused(rbt_state_write(NULL, "x.rbt", &error));
    refused(rbt_state_read(NULL, &error));
    refused(rbt_state_read("no such file.rbt", &error));
    refused(rbt_sim_save_to(sim, NULL, &error));
    refused(rbt_sim_restore(sim, NULL, &error));
    rbt_state empty = {0};
    refused(rbt_sim_restore(sim, &empty, &error));
    refused(rbt_state_write(&empty, "x.rbt", &error));
    rbt_state *saved = rbt_sim_save(sim, &error);
    void *bytes;
    size_t size;
    refused(rbt_state_pack(NULL, &bytes, &size, &error));
    refused(rbt_state_pack(&empty, &bytes, &size, &error));
    refused(rbt_state_pack(saved, NULL, &size, &error));
    refused(rbt_state_pack(saved, &bytes, NULL, &error));
    refused(rbt_state_unpack(NULL, 0, &error));
    refused(rbt_state_unpack("no state", 8, &error));
    refused(rbt_state_write(saved, NULL, &error));
    refused(rbt_state_write(saved, "/no/such/folder/x.rbt", &error));
    saved->step = 99;  // no state of this scene
    refused(rbt_sim_restore(sim, saved, &error));
    rbt_state_free(saved);
    rbt_sim_free(sim);
}

static void wrong_arguments(const method_case *c) {
    rbt_sim *sim = method_sim(c), *same = method_sim(c);
    size_t nodes = rbt_sim_node_count(sim), count;
    double three[3] = {0}, nan[3] = {NAN, 0, 0};
    const int32_t *list;
    rbt_body_info info;
    rbt_drive drive = rbt_drive_default();
    refused(rbt_sim_set_positions(sim, nodes, 1, three, &error));
    refused(rbt_sim_set_positions(sim, 0, SIZE_MAX, three, &error));
    refused(rbt_sim_set_positions(sim, 0, 1, NULL, &error));
    refused(rbt_sim_set_velocities(sim, 0, 1, nan, &error));
    refused(rbt_sim_set_forces(sim, 1, nodes, three, &error));
    refused(rbt_sim_set_forces(sim, 0, 1, nan, &error));
    refused(rbt_sim_drag(sim, 99, "x", three, 1, &error));
    refused(rbt_sim_drag(sim, 0, NULL, three, 1, &error));
    refused(rbt_sim_drag(sim, 0, "left", NULL, 1, &error));
    refused(rbt_sim_set_material(sim, NULL, &error));
    refused(rbt_sim_drive(sim, 99, &drive, &error));
    refused(rbt_sim_drive(sim, 0, NULL, &error));
    refused(rbt_sim_drive_to(sim, 0, NULL, 1, &error));
    refused(rbt_sim_drive_to(sim, 0, three, -1, &error));
    refused(rbt_sim_drive_obstacle(sim, 0, &drive, &error));
    refused(rbt_sim_drive_obstacle_to(sim, 0, three, 1, &error));
    refused(rbt_sim_set_threads(sim, -5, &error));
    refused(rbt_sim_body(sim, 99, &info, &error));
    refused(rbt_sim_body(sim, 0, NULL, &error));
    refused(rbt_sim_selection(sim, 0, NULL, &list, &count, &error));
    refused(rbt_sim_selection(sim, 0, "middle", NULL, &count, &error));
    refused(rbt_sim_selection(sim, 0, "nothing", &list, &count, &error));
    refused(rbt_sim_reactions(sim, NULL, &error));
    refused(rbt_sim_contact_forces(sim, NULL, &error));
    rbt_probe_reading reading;
    refused(rbt_sim_probe(sim, 99, &reading, &error));
    refused(rbt_sim_probes(sim, NULL, &error));
    assert_true(rbt_sim_contacts(sim, NULL, 100) == rbt_sim_contacts(sim, NULL, 0));
    assert_null(rbt_sim_stage_name(sim, 99));
    assert_null(rbt_sim_driven_name(sim, 99));
    assert_null(rbt_sim_selection_name(sim, 0, 99));
    assert_null(rbt_sim_selection_name(sim, 99, 0));
    assert_null(rbt_sim_note(sim, 99));
    assert_int_equal(rbt_sim_driven_nodes(sim, 99, NULL, 100), 0);
    assert_true(rbt_sim_driven_nodes(sim, 0, NULL, 100) == rbt_sim_driven_nodes(sim, 0, NULL, 0));
    assert_int_equal(rbt_sim_driven_find(sim, NULL), -1);
    assert_int_equal(rbt_sim_body_find(sim, NULL), -1);
    // Nothing of all this has changed anything.
    advance(sim, 1);
    advance(same, 1);
    assert_same_motion(sim, same, c->name);
    rbt_sim_free(sim);
    rbt_sim_free(same);
}

static void wrong_arguments_change_nothing(void **state) {
    (void)state;
    for_every_method(wrong_arguments);
}

// ---- Completeness

// The text of a file, comments left out
static char *code_of(const char *path) {
    rbt_bytes bytes;
    assert_true(rbt_file_read(path, &bytes, NULL));
    char *text = calloc(bytes.size + 1, 1);
    size_t n = 0;
    for (size_t i = 0; i < bytes.size; i++) {
        if (bytes.data[i] == '/' && i + 1 < bytes.size && bytes.data[i + 1] == '/')
            while (i < bytes.size && bytes.data[i] != '\n') i++;
        if (i < bytes.size) text[n++] = bytes.data[i];
    }
    free(bytes.data);
    return text;
}

// Calls `found` for every word rbt_… of a text that `end` follows.
static int for_words(const char *text, char end, void (*found)(const char *word, void *context), void *context) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, "rbt_"));) {
        char word[80] = "";
        size_t n = 0;
        bool inside = at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
        while (n < sizeof word - 1 && (isalnum((unsigned char)at[n]) || at[n] == '_')) word[n] = at[n], n++;
        if (!inside && at[n] == end) {
            found(word, context);
            count++;
        }
        at += n ? n : 1;
    }
    return count;
}

static void must_be_called(const char *word, void *context) {
    char call[96];
    snprintf(call, sizeof call, "%s(", word);
    if (!strstr(context, call)) fail_msg("%s is public, but this file does not call it", word);
}

static void every_function_is_walked(void **state) {
    (void)state;
    char *own = code_of(RBT_SOURCE_DIR "/test/unit/test_api_walk.c");
    glob_t headers;
    int functions = 0;
    assert_int_equal(glob(RBT_SOURCE_DIR "/include/rubato/*.h", 0, NULL, &headers), 0);
    for (size_t i = 0; i < headers.gl_pathc; i++) {
        char *text = code_of(headers.gl_pathv[i]);
        functions += for_words(text, '(', must_be_called, own);
        free(text);
    }
    assert_true(functions > 80);
    globfree(&headers);
    free(own);
}

// Sizes of public structs: a program that was compiled with other ones must not run with this library of the same
// version.
// clang-format off
#define STRUCTS(X) \
    X(rbt_async_contact_options) X(rbt_body_def) X(rbt_body_info) X(rbt_body_integrator_def) \
    X(rbt_contact_def) X(rbt_contact_pair_def) X(rbt_contact_point) X(rbt_cut_blade) X(rbt_cut_def) \
    X(rbt_cut_file) X(rbt_cut_plane) X(rbt_cut_rectangle) \
    X(rbt_damping_def) X(rbt_deform_bend) X(rbt_deform_scale) \
    X(rbt_deform_stretch) X(rbt_deform_twist) X(rbt_drive) \
    X(rbt_driven_def) X(rbt_energies) X(rbt_energy_euler_options) X(rbt_ere_options) \
    X(rbt_error) X(rbt_event_def) X(rbt_event_drag) \
    X(rbt_event_drive) X(rbt_event_force) X(rbt_event_material) \
    X(rbt_force_drag) X(rbt_force_gravity) X(rbt_force_pull) \
    X(rbt_force_pulse) X(rbt_force_wind) X(rbt_goal_def) X(rbt_imex_options) \
    X(rbt_implicit_options) X(rbt_integrator_def) X(rbt_material_def) \
    X(rbt_mesh) X(rbt_mesh_def) X(rbt_mesh_report) \
    X(rbt_mesh_set) X(rbt_move_keyframes) X(rbt_move_oscillation) \
    X(rbt_move_rotation) X(rbt_move_velocity) X(rbt_multirate_options) \
    X(rbt_named_selection) X(rbt_obstacle_box) X(rbt_obstacle_capsule) \
    X(rbt_obstacle_mesh) X(rbt_obstacle_plane) X(rbt_obstacle_sphere) X(rbt_output_def) \
    X(rbt_particles_def) X(rbt_probe_def) X(rbt_probe_reading) \
    X(rbt_region_def) X(rbt_scene) X(rbt_select_box) \
    X(rbt_select_nearest) X(rbt_select_plane) X(rbt_select_sphere) X(rbt_semi_implicit_options) X(rbt_sequence_def) \
    X(rbt_shell_def) X(rbt_siere_options) X(rbt_slivers_def) \
    X(rbt_springs_def) X(rbt_statistic_info) X(rbt_step_report) \
    X(rbt_surface_def) X(rbt_tempo_def) X(rbt_time_def) \
    X(rbt_transform_def) X(rbt_variant) X(rbt_velocity_def) \
    X(rbt_version_info) X(rbt_view_image) X(rbt_view_options) X(rbt_view_report)
// clang-format on

#define SIZE(type) {#type, sizeof(type)},
static const struct {
    const char *name;
    size_t size;
} SIZES[] = {STRUCTS(SIZE)};

// `} rbt_name;` closes a struct or an enum, and an enum is an int.
static void must_be_sized(const char *word, void *context) {
    const char *text = context;
    char open[96];
    snprintf(open, sizeof open, "struct %s {", word);
    bool is_struct = strstr(text, open);
    for (size_t i = 0; is_struct && i < sizeof SIZES / sizeof SIZES[0]; i++)
        if (strcmp(SIZES[i].name, word) == 0) return;
    if (is_struct) fail_msg("the size of %s is not looked at", word);
}

static void sizes_are_those_of_the_table(void **state) {
    (void)state;
    rbt_text now = {0};
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++)
        rbt_text_add(&now, "%s %zu\n", SIZES[i].name, SIZES[i].size);
    rbt_bytes table;
    assert_true(rbt_file_read(RBT_SOURCE_DIR "/test/data/abi.txt", &table, NULL));
    bool same = table.size == now.size && memcmp(table.data, now.text, now.size) == 0;
    for (size_t i = 0; !same && i < sizeof SIZES / sizeof SIZES[0]; i++)
        fprintf(stderr, "%s %zu\n", SIZES[i].name, SIZES[i].size);
    if (!same)
        fail_msg(
            "public structs have other sizes than test/data/abi.txt says; if that is meant, the table becomes what "
            "stands above, and docs/building.md tells what the version becomes");
    free(table.data);
    rbt_text_free(&now);
    glob_t headers;
    assert_int_equal(glob(RBT_SOURCE_DIR "/include/rubato/*.h", 0, NULL, &headers), 0);
    for (size_t i = 0; i < headers.gl_pathc; i++) {
        char *text = code_of(headers.gl_pathv[i]);
        for_words(text, ';', must_be_sized, text);
        free(text);
    }
    globfree(&headers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_versions_names),
        cmocka_unit_test(defaults_carry_cookies),
        cmocka_unit_test(meshes),
        cmocka_unit_test(scenes),
        cmocka_unit_test(pictures),
        cmocka_unit_test(without_a_simulation),
        cmocka_unit_test(questions_without_a_simulation),
        cmocka_unit_test(states_without_content),
        cmocka_unit_test(wrong_arguments_change_nothing),
        cmocka_unit_test(every_function_is_walked),
        cmocka_unit_test(sizes_are_those_of_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
