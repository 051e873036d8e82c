// Scripted motions and the deformations of the start.
#include "math/vec3.h"
#include "model/deform.h"
#include "model/motion.h"
#include "sim/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_near(const double a[3], double x, double y, double z) {
    const double b[3] = {x, y, z};
    for (int i = 0; i < 3; i++) assert_true(fabs(a[i] - b[i]) < 1e-12);
}

static void at(const rbt_motion *motions, size_t count, double t, const double start[3], double p[3]) {
    rbt_motion_group group = {.motion_count = count, .motions = motions, .release = INFINITY};
    rbt_motion_position(&group, start, t, p);
}

static void velocity_runs_in_its_window(void **state) {
    (void)state;
    const rbt_move_velocity v = {{1, 0, -2}, 0.5, 1.5};
    const rbt_motion motion = {RBT_MOVE_VELOCITY, &v};
    const double start[3] = {1, 2, 3};
    double p[3];
    at(&motion, 1, 0.2, start, p);
    assert_near(p, 1, 2, 3);
    at(&motion, 1, 1, start, p);
    assert_near(p, 1.5, 2, 2);
    at(&motion, 1, 9, start, p);
    assert_near(p, 2, 2, 1);
}

static void rotation_turns_right_handed(void **state) {
    (void)state;
    const rbt_move_rotation r = {{0, 0, 1}, {0, 0, 5}, acos(-1.0) / 2, 0, INFINITY, false};
    const rbt_motion motion = {RBT_MOVE_ROTATION, &r};
    const double start[3] = {1, 0, 7};
    double p[3];
    at(&motion, 1, 1, start, p);
    assert_near(p, 0, 1, 7);
}

static void oscillation_starts_where_it_is(void **state) {
    (void)state;
    const rbt_move_oscillation o = {{0, 2, 0}, 0.25, 0.3, 0, INFINITY};
    const rbt_motion motion = {RBT_MOVE_OSCILLATION, &o};
    const double start[3] = {0, 0, 0};
    double p[3];
    at(&motion, 1, 0, start, p);
    assert_near(p, 0, 0, 0);
    at(&motion, 1, 4, start, p);
    assert_near(p, 0, 0, 0);
    at(&motion, 1, 1, start, p);
    assert_near(p, 0, 2 * (cos(0.3) - sin(0.3)), 0);
}

static void keyframes_are_linear_between(void **state) {
    (void)state;
    const double times[] = {1, 2, 4}, offsets[] = {0, 0, 0, 1, 0, 0, 1, 4, 0};
    rbt_move_keyframes k = {{3, times}, {3, offsets}};
    const rbt_motion motion = {RBT_MOVE_KEYFRAMES, &k};
    const double start[3] = {0, 0, 9};
    double p[3];
    at(&motion, 1, 0, start, p);
    assert_near(p, 0, 0, 9);
    at(&motion, 1, 1.5, start, p);
    assert_near(p, 0.5, 0, 9);
    at(&motion, 1, 3, start, p);
    assert_near(p, 1, 2, 9);
    at(&motion, 1, 5, start, p);
    assert_near(p, 1, 4, 9);
}

// First moved, then turned about the origin: the order of the list counts.
static void motions_follow_each_other(void **state) {
    (void)state;
    const rbt_move_velocity v = {{1, 0, 0}, 0, 1};
    const rbt_move_rotation r = {{0, 0, 0}, {0, 0, 1}, acos(-1.0), 1, 2, false};
    const rbt_motion both[] = {{RBT_MOVE_VELOCITY, &v}, {RBT_MOVE_ROTATION, &r}};
    const double start[3] = {1, 0, 0};
    double p[3];
    at(both, 2, 1, start, p);
    assert_near(p, 2, 0, 0);
    at(both, 2, 1.5, start, p);
    assert_near(p, 0, 2, 0);
    at(both, 2, 7, start, p);
    assert_near(p, -2, 0, 0);
}

static const double LOW[3] = {0, -1, -1}, HIGH[3] = {4, 1, 1};

static void deform(rbt_deformation_kind kind, const void *value, double x, double y, double z, double p[3]) {
    rbt_deformation d = {(int)kind, value};
    p[0] = x, p[1] = y, p[2] = z;
    rbt_deform_points(p, 1, &d, LOW, HIGH);
}

static void deformations_keep_the_centre(void **state) {
    (void)state;
    double p[3];
    const rbt_deform_stretch stretch = {{1, 0, 0}, 4, true};
    deform(RBT_DEFORM_STRETCH, &stretch, 4, 1, 0, p);
    assert_near(p, 10, 0.5, 0);
    const rbt_deform_twist twist = {{1, 0, 0}, 180};
    deform(RBT_DEFORM_TWIST, &twist, 4, 1, 0, p);
    assert_near(p, 4, 0, 1);
    deform(RBT_DEFORM_TWIST, &twist, 0, 1, 0, p);
    assert_near(p, 0, 0, -1);
    const rbt_deform_scale scale = {{2, 1, 3}};
    deform(RBT_DEFORM_SCALE, &scale, 4, 1, 1, p);
    assert_near(p, 6, 1, 3);
    // A bar of length 4 bent to half a circle of radius 4 / pi, its ends at equal height.
    const rbt_deform_bend bend = {{1, 0, 0}, {0, 1, 0}, 180};
    double radius = 4 / acos(-1.0);
    deform(RBT_DEFORM_BEND, &bend, 4, 0, 0.5, p);
    assert_near(p, 2 + radius, radius, 0.5);
    deform(RBT_DEFORM_BEND, &bend, 2, 0.25, 0, p);
    assert_near(p, 2, 0.25, 0);
}

static void placing_scales_turns_and_moves(void **state) {
    (void)state;
    rbt_transform_def t = {{1, 2, 1}, {0, 0, 1}, 90, {10, 0, 0}, 0};
    double p[3] = {1000, 500, 0};
    rbt_fit fit = rbt_fit_measure(p, 1, 1e-3, &t);
    rbt_place_points(p, 1, 1e-3, &t, &fit);
    assert_near(p, 9, 1, 0);
}

// The quarter turn makes y the longest edge: 2000 mm become 0.5 m, the box begins at the origin and is then shifted.
static void placing_fits_what_was_turned(void **state) {
    (void)state;
    rbt_transform_def t = {{1, 1, 1}, {0, 0, 1}, 90, {10, 0, 0}, 0.5};
    double p[9] = {-1000, 0, 0, 1000, 500, 0, 0, 0, 100}, skin[3] = {0, 0.25, 0};
    rbt_fit fit = rbt_fit_measure(p, 3, 1e-3, &t);
    rbt_place_points(p, 3, 1e-3, &t, &fit);
    assert_near(p, 10.125, 0, 0);
    assert_near(p + 3, 10, 0.5, 0);
    assert_near(p + 6, 10.125, 0.25, 0.025);
    // A surface in another unit goes where its body went.
    rbt_place_points(skin, 1, 1, &t, &fit);
    assert_near(skin, 10.0625, 0.25, 0);
}

// A bar of 4 m in the file is 1 m long; its end turns about the line through the centre of its box.
static void scenes_fit_bodies_and_turn_them_about_their_centre(void **state) {
    (void)state;
    const char json[] =
        "{\"rubato\": 1, \"bodies\": [{\"name\": \"bar\", \"mesh\": {\"shape\": {\"bar\": {\"size\": [4, 1, 2], "
        "\"cells\": "
        "[4, 2, 2]}}}, \"transform\": {\"fit\": 1}, \"driven\": [{\"where\": \"left\", \"motions\": [{\"rotation\": "
        "{\"point\": [0.5, 0.5, 0.5], \"relative\": true, \"axis\": [1, 0, 0], \"rate\": 1}}]}]}], \"integrator\": "
        "{\"method\": \"semi-implicit\"}}";
    rbt_error error;
    rbt_scene_file *file = rbt_scene_parse(json, sizeof json - 1, "fit", NULL, 0, &error);
    assert_non_null(file);
    rbt_sim *sim = rbt_sim_create(rbt_scene_of(file), &error);
    assert_non_null(sim);
    const rbt_body *body = &sim->model->bodies[0];
    assert_near(body->box_min, 0, 0, 0);
    assert_near(body->box_max, 1, 0.25, 0.5);
    const rbt_motions *motions = &sim->model->motions;
    assert_int_equal(motions->node_count, 9);
    const double corner[3] = {0, 0, 0};
    double p[3];
    rbt_motion_position(&motions->groups[0], corner, acos(-1.0), p);
    assert_near(p, 0, 0.25, 0.5);
    rbt_sim_free(sim);
    rbt_scene_free(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocity_runs_in_its_window),
        cmocka_unit_test(rotation_turns_right_handed),
        cmocka_unit_test(oscillation_starts_where_it_is),
        cmocka_unit_test(keyframes_are_linear_between),
        cmocka_unit_test(motions_follow_each_other),
        cmocka_unit_test(deformations_keep_the_centre),
        cmocka_unit_test(placing_scales_turns_and_moves),
        cmocka_unit_test(placing_fits_what_was_turned),
        cmocka_unit_test(scenes_fit_bodies_and_turn_them_about_their_centre),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
