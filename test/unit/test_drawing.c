// What pictures are made of: the rasteriser against areas known exactly, the camera, light, letters and sheets.
#include "view/exposure.h"
#include "view/label.h"
#include "view/legend.h"
#include "view/picture.h"
#include "view/raster.h"
#include "view/sheet.h"
#include "view/ticks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

// ---- Rasteriser

typedef struct tally {
    int width, samples;
    int *covered;    // samples of each pixel
    int32_t *owner;  // of each pixel's first sample
} tally;

static void tally_pixel(void *context, int x, int y, const int32_t *owners) {
    tally *t = context;
    int at = y * t->width + x;
    t->owner[at] = owners[0];
    t->covered[at] = 0;
    for (int i = 0; i < t->samples * t->samples; i++) t->covered[at] += owners[i] >= 0;
}

static double area_of(const double *points, const int32_t *triangles, size_t count, int side, int samples,
                      int32_t *middle) {
    int *covered = calloc((size_t)(side * side), sizeof *covered);
    int32_t *owner = calloc((size_t)(side * side), sizeof *owner);
    tally t = {side, samples, covered, owner};
    rbt_raster raster = {side, side, samples, points, triangles, count};
    rbt_error error;
    assert_true(rbt_raster_run(&raster, tally_pixel, &t, &error));
    double sum = 0;
    for (int i = 0; i < side * side; i++) sum += covered[i];
    if (middle) *middle = owner[side / 2 * side + side / 2];
    free(covered);
    free(owner);
    return sum / (samples * samples);
}

static void triangle_covers_its_area(void **state) {
    (void)state;
    const double points[] = {10.3, 20.7, 1, 150.9, 40.2, 1, 70.5, 171.4, 1};
    const int32_t forwards[] = {0, 1, 2}, backwards[] = {0, 2, 1};
    double exact = 0.5 * fabs((150.9 - 10.3) * (171.4 - 20.7) - (40.2 - 20.7) * (70.5 - 10.3));
    assert_true(fabs(area_of(points, forwards, 1, 200, 4, NULL) - exact) < 0.001 * exact);
    assert_true(area_of(points, forwards, 1, 200, 2, NULL) == area_of(points, backwards, 1, 200, 2, NULL));
}

static void disc_covers_its_area(void **state) {
    (void)state;
    enum { N = 256 };
    double points[3 * (N + 1)] = {100, 100, 1};
    int32_t triangles[3 * N];
    for (int i = 0; i < N; i++) {
        points[3 * i + 3] = 100 + 80 * cos(2 * M_PI * i / N);
        points[3 * i + 4] = 100 + 80 * sin(2 * M_PI * i / N);
        points[3 * i + 5] = 1;
        triangles[3 * i] = 0;
        triangles[3 * i + 1] = i + 1;
        triangles[3 * i + 2] = (i + 1) % N + 1;
    }
    double area = area_of(points, triangles, N, 200, 4, NULL);
    assert_true(fabs(area - M_PI * 80 * 80) < 0.001 * M_PI * 80 * 80);
}

// Triangles that tile a square cover every sample once: the parts add up to the whole, with no gap between them.
static void neighbours_leave_no_gap(void **state) {
    (void)state;
    enum { N = 12 };
    double points[3 * (N + 1) * (N + 1)], sum = 0;
    int32_t triangles[6 * N * N];
    for (int j = 0; j <= N; j++)
        for (int i = 0; i <= N; i++) {
            double *p = points + 3 * (j * (N + 1) + i);
            bool inside = i > 0 && j > 0 && i < N && j < N;
            p[0] = 10 * i + 4 + (inside ? uniform(-3, 3) : 0);
            p[1] = 10 * j + 4 + (inside ? uniform(-3, 3) : 0);
            p[2] = 1;
        }
    for (int c = 0; c < N * N; c++) {
        int a = c / N * (N + 1) + c % N, quad[6] = {a, a + 1, a + N + 2, a, a + N + 2, a + N + 1};
        for (int k = 0; k < 6; k++) triangles[6 * c + k] = quad[k];
    }
    for (int i = 0; i < 2 * N * N; i++) sum += area_of(points, triangles + 3 * i, 1, 128, 2, NULL);
    assert_true(area_of(points, triangles, 2 * N * N, 128, 2, NULL) == 120 * 120);
    assert_true(sum == 120 * 120);
}

static void the_nearest_wins(void **state) {
    (void)state;
    // The third component is 1/distance: the second triangle is nearer, the third has the same depth but comes later.
    const double points[] = {0, 0, 0.5, 64, 0, 0.5, 0, 64, 0.5, 0,  0, 0.8, 64, 0,  0.8, 0, 64, 0.8,
                             0, 0, 0.8, 64, 0, 0.8, 0, 64, 0.8, 64, 0, 2,   64, 64, 2,   0, 64, -1};
    const int32_t triangles[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    int32_t middle;
    area_of(points, triangles, 3, 60, 2, &middle);
    assert_int_equal(middle, 1);
    area_of(points, triangles, 1, 60, 2, &middle);
    assert_int_equal(middle, 0);
    // Behind the eye, not finite, far out: not drawn and not harmful.
    assert_true(area_of(points + 27, triangles, 1, 60, 2, NULL) == 0);
    const double odd[] = {0, 0, 1, NAN, 5, 1, 5, 9, 1, 0, 0, 1, 1e300, 5, 1, 5, 9, 1};
    assert_true(area_of(odd, triangles, 2, 60, 2, NULL) == 0);
}

// ---- Camera

static void camera_looks_along_its_view(void **state) {
    (void)state;
    rbt_direction view;
    rbt_error error;
    assert_true(rbt_view_parse("0,0", &view, &error));
    rbt_camera camera = rbt_camera_new(view, 400, 300);
    for (int k = 0; k < 3; k++) assert_true(fabs(camera.forward[k] + (k == 2)) < 1e-15);
    assert_true(fabs(camera.right[0] - 1) < 1e-15 && fabs(camera.up[1] - 1) < 1e-15);
    camera.eye[0] = camera.eye[1] = 0;
    camera.eye[2] = 10;
    double image[3], ray[3];
    rbt_camera_project(&camera, (double[]){1, 2, 5}, image);
    assert_true(fabs(image[0] - (200 + camera.focal / 5)) < 1e-9);
    assert_true(fabs(image[1] - (150 - camera.focal * 2 / 5)) < 1e-9);
    assert_true(fabs(image[2] - 0.2) < 1e-15);
    rbt_camera_ray(&camera, image[0], image[1], ray);
    assert_true(fabs(ray[0] * 5 - 1) < 1e-12 && fabs(ray[1] * 5 - 2) < 1e-12 && fabs(ray[2] + 1) < 1e-12);
    assert_true(rbt_view_parse("top", &view, &error));
    camera = rbt_camera_new(view, 400, 300);
    assert_true(fabs(camera.forward[1] + 1) < 1e-12 && fabs(camera.up[2] + 1) < 1e-12);
    assert_false(rbt_view_parse("frnt", &view, &error));
    assert_string_equal(
        error.message,
        "no view \"frnt\", did you mean front?; give a name (hero, front, back, side, left, top, bottom, "
        "iso, low) or yaw,pitch in degrees with a pitch of -90 to 90");
    assert_false(rbt_view_parse("10,91", &view, &error));
}

// Every point is in the picture, and one comes as near to its border as the margin allows.
static void fit_shows_everything(void **state) {
    (void)state;
    double points[3 * 100];
    for (int i = 0; i < 300; i++) points[i] = uniform(-1, 4);
    for (int v = 0; rbt_view_name(v); v++) {
        rbt_direction view;
        rbt_error error;
        assert_true(rbt_view_parse(rbt_view_name(v), &view, &error));
        rbt_camera camera = rbt_camera_new(view, 320, 240);
        rbt_camera_fit fit = rbt_camera_fit_begin();
        rbt_camera_fit_add(&fit, &camera, points, 60);
        rbt_camera_fit_add(&fit, &camera, points + 180, 40);
        rbt_camera_fit_finish(&fit, 1, &camera);
        double most = 0;
        for (int i = 0; i < 100; i++) {
            double image[3];
            rbt_camera_project(&camera, points + 3 * i, image);
            assert_true(image[2] > 0);
            most = fmax(most, fmax(fabs(image[0] - 160) / 160, fabs(image[1] - 120) / 120));
        }
        assert_true(most <= 0.8 + 1e-9 && most > 0.79);
    }
}

// ---- Surface and light

static void creases_split_vertices(void **state) {
    (void)state;
    // Four triangles of a roof along the z axis whose sides meet at 90 degrees.
    const double roof[] = {-1, 0, 0, 0, 1, 0, 1, 0, 0, -1, 0, 1, 0, 1, 1, 1, 0, 1};
    const int32_t triangles[] = {0, 3, 1, 1, 3, 4, 1, 4, 2, 2, 4, 5};
    rbt_figure figure;
    rbt_error error;
    assert_true(rbt_figure_build(&figure, roof, 6, triangles, 4, 60, &error));
    assert_int_equal(figure.vertex_count, 8);
    for (size_t i = 0; i < figure.vertex_count; i++)
        assert_true(fabs(fabs(figure.normals[3 * i]) - M_SQRT1_2) < 1e-12);
    rbt_figure_free(&figure);
    assert_true(rbt_figure_build(&figure, roof, 6, triangles, 4, 120, &error));
    assert_int_equal(figure.vertex_count, 6);
    for (size_t i = 0; i < figure.vertex_count; i++)
        if (figure.node[i] == 1 || figure.node[i] == 4) assert_true(fabs(figure.normals[3 * i]) < 0.4);
    rbt_figure_free(&figure);
}

static void light_is_blocked_by_what_is_above(void **state) {
    (void)state;
    // A square lid of side 2 at height 1; one probe below its middle, one far away, one above.
    const double nodes[] = {-1, 1, -1, 1, 1, -1, 1, 1, 1, -1, 1, 1};
    const int32_t triangles[] = {0, 2, 1, 0, 3, 2};
    const double probes[] = {0, 0.8, 0, 50, 0, 0, 0, 3, 0}, normals[9] = {0}, up[] = {0, 1, 0};
    rbt_figure figure;
    rbt_error error;
    uint64_t seen[3];
    assert_true(rbt_figure_build(&figure, nodes, 4, triangles, 2, 60, &error));
    rbt_lights lights = rbt_lights_for((double[]){1, 0, 0});
    assert_true(rbt_exposure(&figure, &lights, probes, normals, 3, seen, &error));
    assert_true(rbt_exposure_to_key(seen[0]) == 0 && rbt_exposure_to_sky(&lights, up, seen[0]) < 0.2);
    assert_true(rbt_exposure_to_key(seen[1]) == 1 && rbt_exposure_to_sky(&lights, up, seen[1]) > 0.999);
    assert_true(rbt_exposure_to_key(seen[2]) == 1);
    rbt_figure_free(&figure);
}

// ---- Letters, legends, sheets

static void text_leaves_ink(void **state) {
    (void)state;
    rbt_image image;
    rbt_error error;
    assert_true(rbt_image_new(&image, 400, 40, &error));
    rbt_image_fill(&image, (rbt_rgb){255, 255, 255});
    rbt_label_draw(&image, 10, 30, 14, "t = 0.25 s", (rbt_rgb){0, 0, 0});
    double width = rbt_label_width(14, "t = 0.25 s"), rightmost = 0, ink = 0;
    for (int y = 0; y < 40; y++)
        for (int x = 0; x < 400; x++) {
            double dark = 255 - image.pixels[y * 400 + x].r;
            ink += dark / 255;
            if (dark > 128) rightmost = fmax(rightmost, x);
            if (y < 14 || y > 30) assert_int_equal(dark, 0);
        }
    assert_true(ink > 100 && rightmost > 10 + width - 8 && rightmost < 10 + width);
    rbt_label_draw(&image, -30, 5, 14, "clipped \xff", (rbt_rgb){0, 0, 0});
    assert_true(rbt_label_width(14, "111") == rbt_label_width(14, "888"));
    rbt_image_free(&image);
}

static void legends_run_over_round_numbers(void **state) {
    (void)state;
    double low = 0, high = 1.38;
    rbt_legend_round(&low, &high);
    assert_true(low == 0 && fabs(high - 1.5) < 1e-12);
    rbt_ticks ticks = rbt_ticks_linear(low, high, 4);
    assert_true(ticks.at[0] == 0 && fabs(ticks.at[ticks.count - 1] - 1.5) < 1e-12);
    low = high = 0;
    rbt_legend_round(&low, &high);
    assert_true(high > low);
    char unit[16];
    assert_true(rbt_unit_scale("Pa", 4000, unit, sizeof unit) == 1e-3);
    assert_string_equal(unit, "kPa");
    assert_true(rbt_unit_scale("m", 1.5, unit, sizeof unit) == 1);
    assert_string_equal(unit, "m");
}

static void sheets_refuse_to_be_huge(void **state) {
    (void)state;
    rbt_picture_sheet sheet;
    rbt_error error;
    assert_true(rbt_picture_sheet_new(&sheet, 6, 0, 48, 36, 0, &error));
    assert_int_equal(sheet.columns, 3);
    rbt_picture_sheet_free(&sheet);
    assert_false(rbt_picture_sheet_new(&sheet, 100, 1, 480, 360, 0, &error));
    assert_string_equal(
        error.message,
        "a sheet of 100 frames in 1 columns would have 492 x 36606 pixels, the limit is 16384 a side; try "
        "a larger --every, a smaller --size or other --columns");
    rbt_image image;
    assert_false(rbt_image_new(&image, 0, 5, &error));
    assert_string_equal(error.message, "a picture of 0 x 5 pixels cannot be made: each side must be 1 to 16384");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangle_covers_its_area),
        cmocka_unit_test(disc_covers_its_area),
        cmocka_unit_test(neighbours_leave_no_gap),
        cmocka_unit_test(the_nearest_wins),
        cmocka_unit_test(camera_looks_along_its_view),
        cmocka_unit_test(fit_shows_everything),
        cmocka_unit_test(creases_split_vertices),
        cmocka_unit_test(light_is_blocked_by_what_is_above),
        cmocka_unit_test(text_leaves_ink),
        cmocka_unit_test(legends_run_over_round_numbers),
        cmocka_unit_test(sheets_refuse_to_be_huge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
