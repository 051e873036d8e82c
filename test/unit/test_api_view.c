// Pictures in memory: of a simulation as it is now, and of files.
#include "every_method.h"
#include "rubato/view.h"
#include "sampled.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH = SAMPLED(96, 48), HEIGHT = SAMPLED(64, 32) };

static rbt_view_options small(const char *color) {
    rbt_view_options options = rbt_view_default();
    options.width = WIDTH;
    options.height = HEIGHT;
    options.color = color;
    return options;
}

static rbt_view_image paint(const rbt_sim *sim, const char *color) {
    rbt_error error = {0};
    rbt_view_options options = small(color);
    rbt_view_image image;
    must(rbt_view_paint_sim(sim, &options, &image, &error), &error);
    assert_true(image.width == WIDTH && image.height == HEIGHT);
    return image;
}

static bool same(const rbt_view_image *a, const rbt_view_image *b) {
    return memcmp(a->pixels, b->pixels, (size_t)(3 * a->width * a->height)) == 0;
}

static void painting_changes_nothing(const method_case *c) {
    rbt_sim *one = method_sim(c), *other = method_sim(c);
    for (int i = 0; i < SAMPLED(3, 2); i++) {
        rbt_view_image a = paint(one, "stress");
        if (i == 0) {
            rbt_view_image b = paint(one, "stress");
            assert_true(same(&a, &b));
            rbt_view_image_free(&b);
        }
        rbt_view_image_free(&a);
        assert_null(a.pixels);
        steps(one, 2);
        steps(other, 2);
    }
    assert_same_motion(one, other, c->name);
    rbt_sim_free(one);
    rbt_sim_free(other);
}

static void every_method_is_painted(void **state) {
    (void)state;
    for_every_method(painting_changes_nothing);
}

static void every_colour_of_every_body(void **state) {
    (void)state;
    static const char *const colors[] = {"plain", "displacement", "velocity", "stress", "region", "body", "quality"};
    rbt_sim *sim = sim_from(
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'bar': {'size': [1, 0.2, 0.2], 'cells': [5, 1, "
        "1]}}}}, {'name': 'sheet', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, 'cells_along': 2, "
        "'cells_across': 2}}}, 'shell': {'thickness': 0.01}, 'transform': {'translate': [0, 1, 0]}}]}");
    for (size_t i = 0; i < sizeof colors / sizeof colors[0]; i++) {
        rbt_view_image image = paint(sim, colors[i]);
        int darkest = 255, brightest = 0;
        for (int k = 0; k < 3 * WIDTH * HEIGHT; k++) {
            darkest = image.pixels[k] < darkest ? image.pixels[k] : darkest;
            brightest = image.pixels[k] > brightest ? image.pixels[k] : brightest;
        }
        assert_true(brightest - darkest > 50);
        rbt_view_image_free(&image);
    }
    rbt_sim_free(sim);
}

#define BALL_AND_OBSTACLES                                                                                           \
    "{'rubato': 1, 'bodies': [{'name': 'ball', 'mesh': {'shape': {'ball': {'radius': 0.1, 'layers': 2}}}}], "        \
    "'obstacles': [{'sphere': {'centre': [0.4, 0, 0], 'radius': 0.1}}, {'plane': {'point': [0, -1, 0]}}], "          \
    "'contact': {}, 'time': {'step': 0.01, 'frame': 0.05}, 'integrator': {'method': 'backward-euler'}}"

// A caller who moves them is seen to.
static void obstacles_are_where_they_are(void **state) {
    (void)state;
    rbt_error error = {0};
    rbt_drive drive = rbt_drive_default();
    drive.velocity[1] = 4;
    for (size_t obstacle = 0; obstacle < 2; obstacle++) {
        rbt_sim *one = sim_from(BALL_AND_OBSTACLES), *other = sim_from(BALL_AND_OBSTACLES);
        rbt_view_image before = paint(one, "plain"), start = paint(other, "plain");
        assert_true(same(&before, &start));
        must(rbt_sim_drive_obstacle(one, obstacle, &drive, &error), &error);
        steps(one, 2);
        steps(other, 2);
        rbt_view_image moved = paint(one, "plain"), still = paint(other, "plain");
        assert_false(same(&moved, &still));
        rbt_view_image *all[] = {&before, &start, &moved, &still};
        for (int i = 0; i < 4; i++) rbt_view_image_free(all[i]);
        rbt_sim_free(one);
        rbt_sim_free(other);
    }
}

static void files_are_painted(void **state) {
    (void)state;
    char path[] = "/tmp/rubato_paint_XXXXXX.msh";
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    rbt_error error = {0};
    rbt_mesh *mesh = rbt_mesh_generate("ball", NULL, &error);
    must(mesh && rbt_mesh_write(mesh, path, false, &error), &error);
    rbt_view_options options = small("quality");
    rbt_view_image image;
    must(rbt_view_paint(path, &options, &image, &error), &error);
    assert_true(image.width == WIDTH && image.height == HEIGHT && image.pixels[0] > 0);
    rbt_view_image_free(&image);
    unlink(path);
    rbt_mesh_free(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_is_painted),
        cmocka_unit_test(every_colour_of_every_body),
        cmocka_unit_test(obstacles_are_where_they_are),
        cmocka_unit_test(files_are_painted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
