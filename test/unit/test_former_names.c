// Scenes with former names of keys and choices: read as with the new ones, with a warning.
#include "rubato/scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static rbt_scene_file *parse(const char *json, const char *setting) {
    rbt_error error = {0};
    rbt_scene_file *file = rbt_scene_parse(json, strlen(json), NULL, &setting, setting != NULL, &error);
    if (!file) print_error("%s\n", error.message);
    return file;
}

#define SCENE(more)                                                                                                  \
    "{\"rubato\": 1, \"bodies\": [{\"name\": \"a\", \"mesh\": {\"shape\": {\"bar\": {}}}, "                          \
    "\"material\": {\"young\": 1e5, \"poisson\": 0.3, \"density\": 1000}}]" more "}"

static void expect(const char *json, const char *setting, const char *const *warnings, const char *now) {
    rbt_scene_file *file = parse(json, setting);
    assert_non_null(file);
    int count = 0;
    for (; warnings[count]; count++) assert_string_equal(rbt_scene_warning(file, count), warnings[count]);
    assert_null(rbt_scene_warning(file, count));
    assert_non_null(strstr(rbt_scene_json(file), now));
    rbt_scene_free(file);
}

static void former_names_are_read_with_a_warning(void **state) {
    (void)state;
    expect(SCENE(", \"integrator\": {\"max_cuts\": 2}"), NULL,
           (const char *[]){"the key \"max_cuts\" is called \"max_halvings\" now", NULL}, "\"max_halvings\": 2");
    expect(SCENE(", \"obstacles\": [{\"sphere\": {\"center\": [0, 0, 3], \"radius\": 1, \"stiffness\": 1e5}}]"), NULL,
           (const char *[]){"the key \"center\" is called \"centre\" now", NULL}, "\"centre\"");
    expect(SCENE(", \"integrator\": {\"method\": \"imex\", \"solver\": \"kept\", \"options\": {\"lag\": 0.2}}"), NULL,
           (const char *[]){"the key \"lag\" is called \"rotation_lag\" now",
                            "solver \"kept\" is called \"lagged\" now", NULL},
           "\"rotation_lag\": 0.2");
    expect(SCENE(", \"integrator\": {\"method\": \"imex\", \"solver\": \"reused\"}"), NULL,
           (const char *[]){"solver \"reused\" is called \"cached\" now", NULL}, "\"cached\"");
    expect(SCENE(", \"integrator\": {\"method\": \"async-contact\", \"options\": {\"vague\": false, "
                 "\"most_moments\": 1000000}}"),
           NULL,
           (const char *[]){"the key \"vague\" is called \"slack\" now",
                            "the key \"most_moments\" is called \"max_moments\" now", NULL},
           "\"max_moments\": 1000000");
}

static void former_names_may_stand_in_settings(void **state) {
    (void)state;
    expect(SCENE(""), "integrator.max_cuts=3",
           (const char *[]){"the key \"max_cuts\" is called \"max_halvings\" now", NULL}, "\"max_halvings\": 3");
    expect(SCENE(", \"integrator\": {\"max_cuts\": 2}"), "integrator.max_halvings=3",
           (const char *[]){"the key \"max_cuts\" is called \"max_halvings\" now", NULL}, "\"max_halvings\": 3");
}

static void the_new_name_counts_and_new_scenes_are_not_warned_of(void **state) {
    (void)state;
    expect(SCENE(", \"integrator\": {\"max_cuts\": 2, \"max_halvings\": 5}"), NULL,
           (const char *[]){"the key \"max_cuts\" is called \"max_halvings\" now", NULL}, "\"max_halvings\": 5");
    expect(SCENE(", \"integrator\": {\"max_halvings\": 5}"), NULL, (const char *[]){NULL}, "\"max_halvings\": 5");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(former_names_are_read_with_a_warning),
        cmocka_unit_test(former_names_may_stand_in_settings),
        cmocka_unit_test(the_new_name_counts_and_new_scenes_are_not_warned_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
