// The values of a sweep: how they are split, which combinations they make, and what is refused.
#include "study/sweep_axes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_values(const char *setting, const char *const *values, size_t count) {
    rbt_error error = {0};
    rbt_sweep_axes axes = {0};
    if (!rbt_sweep_axes_add(&axes, setting, &error)) fail_msg("%s: %s", setting, error.message);
    assert_int_equal(axes.count, 1);
    assert_int_equal(axes.items[0].count, count);
    for (size_t i = 0; i < count; i++) assert_string_equal(axes.items[0].values[i], values[i]);
    rbt_sweep_axes_free(&axes);
}

#define ASSERT_VALUES(setting, ...)                                                                                  \
    assert_values(setting, (const char *const[]){__VA_ARGS__},                                                       \
                  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void commas_split(void **state) {
    (void)state;
    ASSERT_VALUES("time.step=0.01", "0.01");
    ASSERT_VALUES("time.step=0.01,0.005,1e-3", "0.01", "0.005", "1e-3");
    ASSERT_VALUES("time.step= 0.01 , 0.005 ", "0.01", "0.005");
    ASSERT_VALUES("a.b=x=1,y=2", "x=1", "y=2");  // only the first = ends the path
}

static void brackets_and_quotes_are_kept_whole(void **state) {
    (void)state;
    ASSERT_VALUES("a=[1,2,3],[4,5,6]", "[1,2,3]", "[4,5,6]");
    ASSERT_VALUES("a={\"x\": [1, {\"y\": 2}], \"z\": 3},null", "{\"x\": [1, {\"y\": 2}], \"z\": 3}", "null");
    ASSERT_VALUES("a=\"one, two\",three", "\"one, two\"", "three");
    ASSERT_VALUES("a=\"[\",\"}\",\",\"", "\"[\"", "\"}\"", "\",\"");
    ASSERT_VALUES("a=\"he said \\\"a,b\\\"\",c", "\"he said \\\"a,b\\\"\"", "c");
    ASSERT_VALUES("a=\"\\\\\",c", "\"\\\\\"", "c");
}

static void broken_values_get_their_sentence(void **state) {
    (void)state;
    static const struct {
        const char *setting, *sentence;
    } cases[] = {
        {"time.step", "\"time.step\" is not of the form path=a,b,c, as time.step=0.01,0.005"},
        {"=1,2", "\"=1,2\" is not of the form path=a,b,c, as time.step=0.01,0.005"},
        {"", "\"\" is not of the form path=a,b,c, as time.step=0.01,0.005"},
        {"time.step=", "time.step: a value is missing; write time.step=a,b,c"},
        {"time.step=1,,2", "time.step: a value is missing; write time.step=a,b,c"},
        {"time.step=1, ", "time.step: a value is missing; write time.step=a,b,c"},
        {"time.step=1,2,1", "time.step: the value \"1\" is listed twice"},
        {"a=[1,2", "a: brackets or quotes do not match in \"[1,2\""},
        {"a=1,2]", "a: brackets or quotes do not match in \"2]\""},
        {"a=1,\"b", "a: brackets or quotes do not match in \"\"b\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rbt_error error = {0};
        rbt_sweep_axes axes = {0};
        assert_false(rbt_sweep_axes_add(&axes, cases[i].setting, &error));
        assert_string_equal(error.message, cases[i].sentence);
        rbt_sweep_axes_free(&axes);
    }
}

static rbt_sweep_axes axes_of(const char *methods, const char *const *settings, size_t count) {
    rbt_error error = {0};
    rbt_sweep_axes axes = {0};
    if (methods && !rbt_sweep_axes_add_methods(&axes, methods, &error)) fail_msg("%s", error.message);
    for (size_t i = 0; i < count; i++)
        if (!rbt_sweep_axes_add(&axes, settings[i], &error)) fail_msg("%s", error.message);
    return axes;
}

static void assert_name(const rbt_sweep_axes *axes, size_t run, size_t without, const char *name) {
    rbt_text text = {0};
    rbt_sweep_axes_add_name(axes, run, without, &text);
    assert_string_equal(text.text ? text.text : "", name);
    rbt_text_free(&text);
}

// Every combination once, the last axis fastest; single values are set, but not shown.
static void product_has_every_combination(void **state) {
    (void)state;
    static const char *const settings[] = {"bodies[0].material.young=1e4,1e5,1e6", "bodies[0].material.poisson=0.3",
                                           "time.step=0.01,0.005"};
    rbt_error error = {0};
    rbt_sweep_axes axes = axes_of("semi-implicit,backward-euler:newton", settings, 3);
    size_t runs;
    assert_true(rbt_sweep_axes_finish(&axes, &runs, &error));
    assert_int_equal(runs, 12);
    int seen[2][3][2] = {0};
    for (size_t run = 0; run < runs; run++) {
        assert_int_equal(rbt_sweep_axes_index(&axes, 2, run), 0);
        seen[rbt_sweep_axes_index(&axes, 0, run)][rbt_sweep_axes_index(&axes, 1, run)]
            [rbt_sweep_axes_index(&axes, 3, run)]++;
        for (size_t axis = 0; axis < 4; axis++) {
            size_t next = run + rbt_sweep_axes_stride(&axes, axis), index = rbt_sweep_axes_index(&axes, axis, run);
            if (index + 1 == axes.items[axis].count) continue;
            for (size_t k = 0; k < 4; k++)
                assert_int_equal(rbt_sweep_axes_index(&axes, k, next),
                                 k == axis ? index + 1 : rbt_sweep_axes_index(&axes, k, run));
        }
    }
    for (int i = 0; i < 12; i++) assert_int_equal(((int *)seen)[i], 1);
    assert_name(&axes, 0, axes.count, "semi-implicit young=1e4 step=0.01");
    assert_name(&axes, 1, axes.count, "semi-implicit young=1e4 step=0.005");
    assert_name(&axes, 11, axes.count, "backward-euler:newton young=1e6 step=0.005");
    assert_name(&axes, 11, 3, "backward-euler:newton young=1e6");
    assert_true(rbt_sweep_axes_shown(&axes, 0) && rbt_sweep_axes_shown(&axes, 1) && !rbt_sweep_axes_shown(&axes, 2));
    assert_true(axes.items[0].numerical && !axes.items[1].numerical && axes.items[3].numerical);
    rbt_sweep_axes_free(&axes);
}

static void names_are_short_where_they_can_be(void **state) {
    (void)state;
    static const char *const settings[] = {"bodies[0].material.young=1,2", "bodies[1].material.young=1,2",
                                           "forces[0]=null,{}"};
    rbt_error error = {0};
    rbt_sweep_axes axes = axes_of(NULL, settings, 3);
    size_t runs;
    assert_true(rbt_sweep_axes_finish(&axes, &runs, &error));
    assert_name(&axes, 7, axes.count, "bodies[0].material.young=2 bodies[1].material.young=2 forces[0]={}");
    rbt_sweep_axes_free(&axes);
    axes = axes_of(NULL, (const char *const[]){"time.step=0.01", "time.end=1"}, 2);
    assert_true(rbt_sweep_axes_finish(&axes, &runs, &error));
    assert_int_equal(runs, 1);
    assert_name(&axes, 0, axes.count, "step=0.01 end=1");
    rbt_sweep_axes_free(&axes);
}

static void numbers_are_told_from_words(void **state) {
    (void)state;
    static const char *const settings[] = {"a=1,-2.5e3", "b=1,two", "c=3", "d=1,inf", "e=[1],[2]"};
    rbt_sweep_axes axes = axes_of(NULL, settings, 5);
    double number;
    assert_true(rbt_sweep_axis_number(&axes.items[0], 1, &number) && number == -2.5e3);
    assert_true(rbt_sweep_axis_number(&axes.items[2], 0, &number) && number == 3);
    assert_false(rbt_sweep_axis_number(&axes.items[1], 1, &number));
    assert_true(rbt_sweep_axis_numeric(&axes.items[0]));
    for (int i = 1; i < 5; i++) assert_false(rbt_sweep_axis_numeric(&axes.items[i]));
    rbt_sweep_axes_free(&axes);
}

static void assert_refused(const char *methods, const char *const *settings, size_t count, const char *sentence) {
    rbt_error error = {0};
    rbt_sweep_axes axes = axes_of(methods, settings, count);
    size_t runs;
    assert_false(rbt_sweep_axes_finish(&axes, &runs, &error));
    assert_string_equal(error.message, sentence);
    rbt_sweep_axes_free(&axes);
}

static void what_cannot_be_set_together_is_refused(void **state) {
    (void)state;
    assert_refused("semi-implicit@0.01", (const char *const[]){"time.step=1,2"}, 1,
                   "time.step is set, and the method semi-implicit@0.01 has its own; leave one of them out");
    assert_refused(
        "semi-implicit,semi-implicit:cholesky", (const char *const[]){"integrator.solver=cholesky"}, 1,
        "integrator.solver is set, and the method semi-implicit:cholesky has its own; leave one of them out");
    assert_refused("semi-implicit", (const char *const[]){"integrator.method=bdf2"}, 1,
                   "integrator.method is set, and methods are listed; leave one of them out");
    rbt_error error = {0};
    rbt_sweep_axes axes = axes_of(NULL, (const char *const[]){"time.step=1"}, 1);
    assert_false(rbt_sweep_axes_add(&axes, "time.step=2", &error));
    assert_string_equal(error.message, "time.step is set twice; write all its values behind one =, with commas");
    rbt_sweep_axes_free(&axes);
}

static void too_many_runs_are_refused(void **state) {
    (void)state;
    char many[3][200] = {"a=", "b=", "c="};
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < 11; i++)
            snprintf(many[axis] + strlen(many[axis]), sizeof many[axis] - strlen(many[axis]), "%s%d", i ? "," : "",
                     i);
    const char *const settings[] = {many[0], many[1], many[2]};
    assert_refused(NULL, settings, 3, "these values make 1331 runs, more than the limit of 1000; give fewer values");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_split),
        cmocka_unit_test(brackets_and_quotes_are_kept_whole),
        cmocka_unit_test(broken_values_get_their_sentence),
        cmocka_unit_test(product_has_every_combination),
        cmocka_unit_test(names_are_short_where_they_can_be),
        cmocka_unit_test(numbers_are_told_from_words),
        cmocka_unit_test(what_cannot_be_set_together_is_refused),
        cmocka_unit_test(too_many_runs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
