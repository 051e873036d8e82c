// Comparing methods: how they are written, medians, runs in processes of their own however those end, and what is
// measured from them.
#include "base/file.h"
#include "base/spread.h"
#include "step/core/method.h"
#include "study/compare.h"

#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[256];

static int make_folder(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/rubato_compare_XXXXXX", base ? base : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

static int remove_folder(void **state) {
    (void)state;
    return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *path_of(const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

// ---- Medians

static void assert_spread(rbt_spread s, double median, double min, double max) {
    assert_true(s.median == median && s.min == min && s.max == max);
}

static void median_and_range(void **state) {
    (void)state;
    assert_spread(rbt_spread_of((double[]){3, 1, 2}, 3), 2, 1, 3);
    assert_spread(rbt_spread_of((double[]){4, 1, 8, 2}, 4), 3, 1, 8);
    assert_spread(rbt_spread_of((double[]){5, 5, 100, 5, 4}, 5), 5, 4, 100);
    assert_spread(rbt_spread_of((double[]){0.1}, 1), 0.1, 0.1, 0.1);
    rbt_spread none = rbt_spread_of(NULL, 0);
    assert_true(isnan(none.median) && isnan(none.min) && isnan(none.max));
}

// ---- Methods as they are written

static void specs_are_read(void **state) {
    (void)state;
    rbt_error error = {0};
    rbt_method_spec s;
    assert_true(rbt_method_spec_parse("symplectic-euler", &s, &error));
    assert_string_equal(s.name, "symplectic-euler");
    assert_int_equal(s.method, rbt_method_find("symplectic-euler"));
    assert_true(s.solver == -1 && s.step == 0);
    assert_true(rbt_method_spec_parse("semi-implicit:cholesky@2.5e-3", &s, &error));
    assert_string_equal(s.name, "semi-implicit:cholesky@2.5e-3");
    assert_int_equal(s.method, rbt_method_find("semi-implicit"));
    assert_true(s.solver == 0 && s.step == 2.5e-3);

    rbt_method_spec finer;
    assert_true(rbt_method_spec_at_step(&s, s.step / 8, &finer, &error));
    assert_string_equal(finer.name, "semi-implicit:cholesky@0.0003125");
    assert_true(finer.method == s.method && finer.solver == 0 && finer.step == 2.5e-3 / 8);
}

// Every method with every solver of the table can be written.
static void every_method_can_be_written(void **state) {
    (void)state;
    rbt_error error = {0};
    rbt_method_spec s, *all;
    size_t count;
    assert_true(rbt_method_specs_all(&all, &count, &error));
    for (int i = 0; rbt_method_at(i); i++) {
        const rbt_method *m = rbt_method_at(i);
        assert_true((size_t)i < count);
        assert_string_equal(all[i].name, m->name);
        for (int k = 0; m->solvers && m->solvers(k); k++) {
            char text[128];
            snprintf(text, sizeof text, "%s:%s", m->name, m->solvers(k));
            assert_true(rbt_method_spec_parse(text, &s, &error));
            assert_true(s.method == i && s.solver == k);
        }
    }
    free(all);
}

static void lists_are_read(void **state) {
    (void)state;
    rbt_error error = {0};
    rbt_method_spec *specs;
    size_t count;
    assert_true(
        rbt_method_specs_parse("semi-implicit, semi-implicit@0.001,symplectic-euler ", &specs, &count, &error));
    assert_int_equal(count, 3);
    assert_string_equal(specs[1].name, "semi-implicit@0.001");
    assert_string_equal(specs[2].name, "symplectic-euler");
    free(specs);
}

static void broken_specs_get_their_sentence(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"semi-implict", "unknown method \"semi-implict\"; did you mean \"semi-implicit\"?"},
        {"semi-implicit,symplectic_euler", "unknown method \"symplectic_euler\"; did you mean \"symplectic-euler\"?"},
        {"semi-implicit:cholesk", "method \"semi-implicit\" has no solver \"cholesk\"; did you mean \"cholesky\"?"},
        {"symplectic-euler:newton",
         "method \"symplectic-euler\" has no solver \"newton\"; there is nothing to choose from here"},
        {"semi-implicit@0", "semi-implicit: the step behind @ must be a number of seconds above 0, found \"0\""},
        {"semi-implicit@-1e-3",
         "semi-implicit: the step behind @ must be a number of seconds above 0, found \"-1e-3\""},
        {"semi-implicit@", "semi-implicit: the step behind @ must be a number of seconds above 0, found \"\""},
        {"semi-implicit@inf", "semi-implicit: the step behind @ must be a number of seconds above 0, found \"inf\""},
        {"semi-implicit@1ms", "semi-implicit: the step behind @ must be a number of seconds above 0, found \"1ms\""},
        {"", "a method is missing; write method, method:solver or method@step"},
        {"semi-implicit,,", "a method is missing; write method, method:solver or method@step"},
        {"semi-implicit,semi-implicit@1,semi-implicit", "the method \"semi-implicit\" is listed twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rbt_error error = {0};
        rbt_method_spec *specs;
        size_t count;
        assert_false(rbt_method_specs_parse(cases[i].text, &specs, &count, &error));
        assert_null(specs);
        assert_string_equal(error.message, cases[i].sentence);
    }
    char long_text[400];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    rbt_error error = {0};
    rbt_method_spec s;
    assert_false(rbt_method_spec_parse(long_text, &s, &error));
    assert_non_null(strstr(error.message, "is longer than 127 letters"));
}

// ---- Runs in processes of their own

static const char SCENE[] =
    "{\"rubato\": 1, \"bodies\": [{\"name\": \"bar\","
    " \"mesh\": {\"shape\": {\"cuboid\": {\"size\": [0.4, 0.1, 0.1], \"cells\": [4, 1, 1]}}},"
    " \"deform\": [{\"stretch\": {\"axis\": [1, 0, 0], \"factor\": 1.3}}]}],"
    " \"time\": {\"step\": 0.001, \"frame\": 0.01, \"end\": 0.05}, \"output\": {\"vtu\": false},"
    " \"integrator\": {\"method\": \"semi-implicit\", \"solver\": \"cholesky\", \"options\": {}}}";

static rbt_scene_file *scene_with(const char *const *settings, size_t count) {
    rbt_error error = {0};
    rbt_scene_file *scene = rbt_scene_parse(SCENE, strlen(SCENE), "bar.json", settings, count, &error);
    if (!scene) fail_msg("%s", error.message);
    return scene;
}

static rbt_trial run(const rbt_scene_file *scene, const char *name,
                     void (*heard)(const rbt_trial *trial, pid_t process, void *listener), void *listener) {
    rbt_error error = {0};
    rbt_trial trial;
    rbt_trial_def def = {.scene = scene, .folder = path_of(name), .frames = -1, .heard = heard, .listener = listener};
    if (!rbt_trial_run(&def, &trial, &error)) fail_msg("%s", error.message);
    return trial;
}

static void count_frames(const rbt_trial *trial, pid_t process, void *listener) {
    int *count = listener;
    assert_true(process > 0);
    assert_int_equal(trial->frame_count, ++*count);
}

static void trial_finishes(void **state) {
    (void)state;
    rbt_scene_file *scene = scene_with(NULL, 0);
    int heard = 0;
    rbt_trial trial = run(scene, "finished", count_frames, &heard);
    assert_int_equal(trial.end, RBT_TRIAL_FINISHED);
    assert_string_equal(trial.reason, "");
    assert_int_equal(trial.frame_count, 6);
    assert_int_equal(heard, 6);
    assert_int_equal(trial.last_frame, 5);
    assert_int_equal(trial.steps, 50);
    assert_int_equal(trial.halved_steps, 0);
    assert_true(trial.step == 0.001 && trial.t == 5 * 0.01 && trial.frames[3].t == 3 * 0.01);
    assert_true(trial.frames[0].energies.elastic > 0 && trial.frames[0].energies.kinetic == 0);
    assert_true(trial.step_seconds > 0 && trial.setup_seconds > 0);
    assert_true(trial.peak_memory > 1e5 && trial.peak_memory < 1e11);
    rbt_trial_free(&trial);
    rbt_scene_free(scene);
}

static void failed_step_is_an_outcome(void **state) {
    (void)state;
    static const char *const settings[] = {"bodies[0].velocity={\"linear\": [1e30, 0, 0]}", "time.step=10",
                                           "time.frame=10", "time.end=20"};
    rbt_scene_file *scene = scene_with(settings, sizeof settings / sizeof settings[0]);
    rbt_trial trial = run(scene, "failed", NULL, NULL);
    assert_int_equal(trial.end, RBT_TRIAL_STEP_FAILED);
    assert_string_equal(trial.stage, "update");
    assert_non_null(strstr(trial.reason, "not finite in stage \"update\", body \"bar\", tet "));
    assert_non_null(strstr(trial.reason, ", after 14 halvings; "));
    assert_int_equal(trial.frame_count, 1);
    assert_int_equal(trial.halved_steps, 1);
    assert_true(trial.t == 0);
    rbt_trial_free(&trial);
    rbt_scene_free(scene);
}

static void failing_world_is_an_outcome(void **state) {
    (void)state;
    static const char *const settings[] = {"bodies[0].mesh={\"file\": \"no-such.msh\"}"};
    rbt_scene_file *scene = scene_with(settings, 1);
    rbt_trial trial = run(scene, "world", NULL, NULL);
    assert_int_equal(trial.end, RBT_TRIAL_WORLD_FAILED);
    assert_string_equal(trial.reason, "no-such.msh: cannot open the file: No such file or directory");
    assert_int_equal(trial.frame_count, 0);
    rbt_trial_free(&trial);
    rbt_scene_free(scene);
}

static void kill_after_two(const rbt_trial *trial, pid_t process, void *listener) {
    (void)listener;
    if (trial->frame_count == 3) kill(process, SIGKILL);
}

// Long enough that it cannot be over when the signal comes
static void crash_is_an_outcome(void **state) {
    (void)state;
    static const char *const settings[] = {"time.end=1000"};
    rbt_scene_file *scene = scene_with(settings, 1);
    rbt_trial trial = run(scene, "crashed", kill_after_two, NULL);
    assert_int_equal(trial.end, RBT_TRIAL_CRASHED);
    assert_string_equal(trial.reason, "the process was ended by signal 9 (Killed)");
    assert_true(trial.frame_count >= 3 && trial.frame_count < 100000);
    assert_true(trial.t >= 2 * 0.01);
    rbt_trial_free(&trial);
    rbt_scene_free(scene);
}

// ---- What is measured

static void drift_is_measured_by_the_yardstick(void **state) {
    (void)state;
    rbt_trial_frame calm[] = {{0, {.kinetic = 0, .elastic = 4, .gravity = 100, .total = 104}},
                              {1, {.kinetic = 2, .elastic = 2, .gravity = 100, .total = 103, .momentum = {3, 4, 0}}},
                              {2, {.kinetic = 1, .elastic = 3, .gravity = 100, .total = 104.5}}};
    rbt_trial_frame wild[] = {{0, {.elastic = 4, .total = 104}},
                              {1, {.kinetic = 4000, .total = 4104, .angular_momentum = {0, -2, 0}}}};
    double rates[] = {3, 1, 2};
    rbt_contender contenders[] = {
        {.trial = {.end = RBT_TRIAL_STEP_FAILED, .frame_count = 2, .frames = wild}, .rates = rates, .run_count = 0},
        {.trial = {.end = RBT_TRIAL_FINISHED, .frame_count = 3, .frames = calm}, .rates = rates, .run_count = 3}};
    rbt_comparison all = {.count = 2, .contenders = contenders};
    rbt_error error = {0};
    assert_true(rbt_comparison_measure(&all, &error));
    assert_ptr_equal(all.yardstick, &contenders[1]);
    assert_true(all.energy_scale == 4);
    assert_true(contenders[1].energy_end == 0.5 / 4 && contenders[1].energy_max == -1.0 / 4);
    assert_true(contenders[1].momentum_max == 5 && contenders[1].angular_max == 0);
    assert_spread(contenders[1].rate, 2, 1, 3);
    assert_true(rates[0] == 3);
    assert_true(contenders[0].energy_max == 1000 && contenders[0].angular_max == 2);
    assert_true(isnan(contenders[0].rate.median));
    assert_true(isnan(contenders[1].distance_end) && isnan(contenders[1].distance_max));
    assert_int_equal(rbt_contenders_finished(contenders, 2), 1);
    for (int i = 0; i < 2; i++) free(contenders[i].distance);
    free(all.reference.distance);
}

// The scene with these settings, as a method would run it
static rbt_scene_file *exchanged(const char *method, const char *const *settings, size_t count) {
    rbt_error error = {0};
    rbt_method_spec spec;
    rbt_setting_list list = {0};
    rbt_scene_file *scene = scene_with(settings, count);
    assert_true(rbt_method_spec_parse(method, &spec, &error));
    for (size_t i = 0; i < count; i++) assert_true(rbt_setting_add_text(&list, settings[i], &error));
    assert_true(rbt_method_spec_settings(&spec, rbt_scene_of(scene), &list, &error));
    rbt_scene_free(scene);
    scene = scene_with((const char *const *)list.items, list.count);
    rbt_setting_list_free(&list);
    return scene;
}

// Contact of the scene and contact of a method replace each other, with their friction; what only one of them can say
// stays where it is, to be refused.
static void contact_goes_over(void **state) {
    (void)state;
    const char *const scenes[][3] = {
        {"integrator={\"method\": \"backward-euler\"}", "contact={\"friction\": 0.3}", "time.end=0.05"},
        {"integrator={\"method\": \"async-contact\", \"options\": {\"friction\": 0.3}}", "time.end=0.05",
         "time.step=0.001"}};
    for (int own = 0; own < 2; own++) {
        rbt_scene_file *events = exchanged("async-contact", scenes[own], 3),
                       *steps = exchanged("bdf2", scenes[own], 3),
                       *none = exchanged("symplectic-euler", scenes[1], 3);
        const rbt_async_contact_options *options = rbt_scene_of(events)->integrator.options;
        assert_true(!rbt_scene_of(events)->contact && options && options->friction == 0.3);
        assert_true(rbt_scene_of(steps)->contact && rbt_scene_of(steps)->contact->friction == 0.3);
        assert_true(!rbt_scene_of(none)->contact);
        rbt_scene_free(events), rbt_scene_free(steps), rbt_scene_free(none);
    }
    const char *const only_steps[][2] = {
        {"integrator={\"method\": \"backward-euler\"}", "contact={\"gap\": 0.001}"},
        {"integrator={\"method\": \"backward-euler\"}",
         "contact={\"pairs\": [{\"a\": \"bar\", \"b\": \"bar\", \"friction\": 1}]}"}};
    for (int i = 0; i < 2; i++) {
        rbt_scene_file *kept = exchanged("async-contact", only_steps[i], 2);
        assert_non_null(rbt_scene_of(kept)->contact);
        rbt_scene_free(kept);
    }
}

static void distances_come_from_the_runs(void **state) {
    (void)state;
    char scene_path[512], results[512];
    snprintf(scene_path, sizeof scene_path, "%s", path_of("bar.json"));
    snprintf(results, sizeof results, "%s", path_of("compared"));
    rbt_error error = {0};
    assert_true(rbt_file_write(scene_path, SCENE, strlen(SCENE), &error));
    rbt_method_spec *specs, reference;
    size_t count;
    assert_true(rbt_method_specs_parse("semi-implicit,semi-implicit:cholesky@0.0005,symplectic-euler@0.0001", &specs,
                                       &count, &error));
    assert_true(rbt_method_spec_parse("semi-implicit@0.001", &reference, &error));
    rbt_compare_options options = {.scene_path = scene_path,
                                   .folder = results,
                                   .spec_count = count,
                                   .specs = specs,
                                   .reference = &reference,
                                   .rounds = {.repeat = 2, .repeat_below = INFINITY, .frames = 3}};
    rbt_comparison *all = rbt_compare(&options, &error);
    if (!all) fail_msg("%s", error.message);
    const rbt_contender *c = all->contenders;
    assert_int_equal(rbt_contenders_finished(c, 3), 3);
    for (size_t i = 0; i < 3; i++) assert_int_equal(c[i].run_count, 2);
    assert_true(c[0].distance_end == 0 && c[0].distance_max == 0);  // the same run gives the same bits
    assert_true(c[1].distance_end > 0 && c[1].distance_end < 0.1);
    assert_true(c[1].distance_max >= c[1].distance_end && c[1].distance[0] == 0);
    assert_true(c[2].distance_end > 0 && c[2].distance_end < 0.1);
    assert_true(strcmp(c[1].folder + strlen(results), "/semi-implicit-cholesky@0.0005") == 0);
    assert_int_equal(c[2].trial.steps, 300);
    rbt_comparison_free(all);
    // All runs take more than no time at all, and are made once.
    options.rounds.repeat_below = 0;
    all = rbt_compare(&options, &error);
    if (!all) fail_msg("%s", error.message);
    for (size_t i = 0; i < 3; i++) assert_int_equal(all->contenders[i].run_count, 1);
    rbt_comparison_free(all);
    free(specs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_and_range),
        cmocka_unit_test(specs_are_read),
        cmocka_unit_test(every_method_can_be_written),
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(broken_specs_get_their_sentence),
        cmocka_unit_test(trial_finishes),
        cmocka_unit_test(failed_step_is_an_outcome),
        cmocka_unit_test(failing_world_is_an_outcome),
        cmocka_unit_test(crash_is_an_outcome),
        cmocka_unit_test(drift_is_measured_by_the_yardstick),
        cmocka_unit_test(contact_goes_over),
        cmocka_unit_test(distances_come_from_the_runs),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
