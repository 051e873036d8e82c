// Who rubs whom: coefficients of bodies, obstacles and pairs.
#include "model/contact_settings.h"

#include "model/model.h"
#include "scene.h"

#define BODY(name, more)                                                                                             \
    "{'name': '" name "', 'mesh': {'shape': {'cuboid': {'cells': [1, 1, 1]}}}, 'material': {'young': 1e5}" more "}"

static rbt_model *model_of(const char *contact) {
    char json[2048];
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [" BODY("a", ", 'friction': 0.4") ", " BODY(
                 "b", ", 'friction': 0.9, 'gap': 0.02") ", " BODY("c", "") "], 'obstacles': [{'plane': {}}, "
                                                                           "{'plane': {}}], 'contact': %s}",
             contact);
    rbt_scene_file *file = scene_from(json);
    rbt_model *model = rbt_model_compile(rbt_scene_of(file), NULL);
    assert_non_null(model);
    rbt_scene_free(file);
    return model;
}

static double between(const rbt_model *m, int a, int b) {
    double there = rbt_contact_settings_friction(&m->contact, a, b);
    double back = rbt_contact_settings_friction(&m->contact, b, a);
    assert_memory_equal(&there, &back, sizeof there);
    return there;
}

static void sides_have_their_own(void **state) {
    (void)state;
    rbt_model *m = model_of("{'friction': 0.1, 'gap': 0.01}");
    assert_true(fabs(between(m, 0, 1) - sqrt(0.4 * 0.9)) < 1e-15);
    assert_true(between(m, 0, 0) == 0.4 && between(m, 2, 2) == 0.1);
    assert_true(between(m, 0, -1) == 0.4 && between(m, 2, -2) == 0.1);  // obstacles: that of what touches them
    assert_true(rbt_contact_settings_gap(&m->contact, 0) == 0.01 && rbt_contact_settings_gap(&m->contact, 1) == 0.02);
    assert_true(rbt_contact_settings_has_friction(&m->contact));
    rbt_model_free(m);
}

static void the_last_rule_that_fits_counts(void **state) {
    (void)state;
    rbt_model *m =
        model_of("{'friction': 0.1, 'pairs': [{'a': 'a', 'friction': 0.7}, {'a': 'b', 'b': 'a', 'friction': "
                 "0.2}, {'b': 'obstacles[1]', 'friction': 0}]}");
    assert_true(between(m, 0, 1) == 0.2);                              // the second
    assert_true(between(m, 0, 2) == 0.7 && between(m, 0, -1) == 0.7);  // the first: a and anything
    assert_true(between(m, 1, 2) == sqrt(0.9 * 0.1));                  // none
    assert_true(between(m, 0, -2) == 0 && between(m, 1, -2) == 0);     // the third
    assert_true(between(m, 1, -1) == 0.9);
    rbt_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides_have_their_own),
        cmocka_unit_test(the_last_rule_that_fits_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
