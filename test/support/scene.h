// A small bar made by a program, for tests of compile and stepping.
#ifndef TEST_SUPPORT_SCENE_H
#define TEST_SUPPORT_SCENE_H

#include "mesh/generate/generate.h"
#include "rubato/rubato.h"
#include "step/core/method.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Parses JSON with single quotes for double ones, which reads better inside C; fails the test if it is wrong. Tests
// that name no method are not about methods: theirs is semi-implicit, so that the same happens in every run. Those
// about the choice name "auto".
static inline rbt_scene_file *scene_from(const char *json) {
    char *text = strdup(json), message[2048];
    for (char *c = text; *c; c++)
        if (*c == '\'') *c = '"';
    rbt_error error;
    const char *plain = "integrator.method=semi-implicit";
    rbt_scene_file *file =
        rbt_scene_parse(text, strlen(text), "test.json", &plain, strstr(text, "\"method\"") ? 0 : 1, &error);
    if (!file) print_error("%s\n", rbt_error_text(&error, message, sizeof message));
    assert_non_null(file);
    free(text);
    return file;
}

static inline rbt_sim *sim_from(const char *json) {
    rbt_scene_file *file = scene_from(json);
    rbt_error error;
    char message[2048];
    rbt_sim *sim = rbt_sim_create(rbt_scene_of(file), &error);
    if (!sim) print_error("%s\n", rbt_error_text(&error, message, sizeof message));
    assert_non_null(sim);
    rbt_scene_free(file);
    return sim;
}

static inline void advance(rbt_sim *sim, int frames) {
    rbt_step_report report;
    for (int i = 0; i < frames; i++)
        if (!rbt_sim_advance_frame(sim, &report))
            fail_msg("%s in %s: %s", rbt_outcome_name(report.outcome), report.stage, report.hint);
}

// The sentence, or a part of it, with which a simulation of the scene is refused
static inline void refuses(const char *json, const char *sentence) {
    rbt_scene_file *file = scene_from(json);
    rbt_error error = {0};
    assert_null(rbt_sim_create(rbt_scene_of(file), &error));
    if (!strstr(error.message, sentence)) fail_msg("%s", error.message);
    rbt_scene_free(file);
}

#endif
