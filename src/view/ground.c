#include "view/ground.h"

#include "base/memory.h"
#include "math/vec3.h"
#include "view/ticks.h"

#include <math.h>

static const double DARKEST_SKY = 0.50, DARKEST_KEY = 0.36;  // how much of the floor's light each shadow can take
static const double LINE = 0.075;                            // how much a grid line darkens

// Where the shadows can fall: the box of the figure carried down along the rays of the main light, and a margin of its
// height, in which the sky's shadow fades.
static void patch_of(const rbt_figure *figure, const rbt_lights *lights, double height, double low[2],
                     double high[2]) {
    low[0] = low[1] = INFINITY;
    high[0] = high[1] = -INFINITY;
    double tallest = 0;
    for (size_t i = 0; i < figure->vertex_count; i++) {
        const double *p = figure->positions + 3 * i;
        if (!isfinite(p[0] + p[1] + p[2])) continue;
        double above = fmax(p[1] - height, 0);
        tallest = fmax(tallest, above);
        for (int k = 0; k < 2; k++) {
            double at = p[2 * k], shadow = at - lights->key[2 * k] / lights->key[1] * above;
            low[k] = fmin(low[k], fmin(at, shadow));
            high[k] = fmax(high[k], fmax(at, shadow));
        }
    }
    if (!(low[0] <= high[0])) low[0] = low[1] = high[0] = high[1] = 0;
    double margin = 0.8 * tallest + 0.1 * fmax(high[0] - low[0], high[1] - low[1]) + 1e-6;
    for (int k = 0; k < 2; k++) {
        low[k] -= margin;
        high[k] += margin;
    }
}

// Box filters along x and z, twice: nearly a Gaussian, and it hides that the lights are counted.
static void blur(float *values, int side) {
    enum { REACH = 2 };
    float row[RBT_GROUND_SIDE_MAX];
    for (int pass = 0; pass < 4; pass++) {
        size_t n = (size_t)side, along = pass % 2 ? n : 1, across = pass % 2 ? 1 : n;
        for (size_t j = 0; j < n; j++) {
            float *line = values + j * across;
            for (int i = 0; i < side; i++) {
                float sum = 0;
                for (int k = i - REACH; k <= i + REACH; k++)
                    sum += line[(size_t)(k < 0 ? 0 : k >= side ? side - 1 : k) * along];
                row[i] = sum / (2 * REACH + 1);
            }
            for (size_t i = 0; i < n; i++) line[i * along] = row[i];
        }
    }
}

void rbt_ground_light(rbt_ground *ground, const rbt_lights *lights, const uint64_t *seen) {
    const double up[3] = {0, 1, 0};
    size_t count = (size_t)ground->side * (size_t)ground->side;
    for (size_t i = 0; i < count; i++) {
        ground->sky[i] = (float)rbt_exposure_to_sky(lights, up, seen[i]);
        ground->key[i] = (float)rbt_exposure_to_key(seen[i]);
    }
    blur(ground->sky, ground->side);
    blur(ground->sky, ground->side);
    blur(ground->key, ground->side);
}

int rbt_ground_side(const rbt_camera *camera) {
    int longer = camera->width > camera->height ? camera->width : camera->height, side = longer / 3;
    return side < RBT_GROUND_SIDE_MIN ? RBT_GROUND_SIDE_MIN : side > RBT_GROUND_SIDE_MAX ? RBT_GROUND_SIDE_MAX : side;
}

bool rbt_ground_new(rbt_ground *ground, const rbt_figure *figure, const rbt_lights *lights, int side, double height,
                    const double low[3], const double high[3], double *probes, rbt_error *error) {
    *ground = (rbt_ground){.height = height, .side = side};
    size_t n = (size_t)side;
    double patch_high[2], size[3];
    patch_of(figure, lights, height, ground->low, patch_high);
    ground->step = fmax(patch_high[0] - ground->low[0], patch_high[1] - ground->low[1]) / (side - 1);
    rbt_subtract(high, low, size);
    ground->centre[0] = 0.5 * (low[0] + high[0]);
    ground->centre[1] = 0.5 * (low[2] + high[2]);
    ground->size = fmax(rbt_length(size), 1e-9);
    ground->spacing = rbt_tick_step(ground->size, 6);
    ground->sky = rbt_array_new(n * n, sizeof(float), "the ground", error);
    ground->key = ground->sky ? rbt_array_new(n * n, sizeof(float), "the ground", error) : NULL;
    if (!ground->key) {
        rbt_ground_free(ground);
        return false;
    }
    for (size_t i = 0; i < n * n; i++) {
        probes[3 * i] = ground->low[0] + (double)(i % n) * ground->step;
        probes[3 * i + 1] = height;
        probes[3 * i + 2] = ground->low[1] + (double)(i / n) * ground->step;
    }
    return true;
}

void rbt_ground_free(rbt_ground *ground) {
    free(ground->sky);
    free(ground->key);
    *ground = (rbt_ground){0};
}

// Bilinear; full light outside of the patch, reached smoothly at its border.
static double light_at(const rbt_ground *ground, const float *values, double x, double z) {
    double u = (x - ground->low[0]) / ground->step, v = (z - ground->low[1]) / ground->step;
    int n = ground->side, last = n - 1;
    if (!(u >= 0 && v >= 0 && u < last && v < last)) return 1;
    int i = (int)u, j = (int)v;
    double fu = u - i, fv = v - j;
    const float *at = values + (size_t)j * (size_t)n + (size_t)i;
    double value = (1 - fv) * ((1 - fu) * at[0] + fu * at[1]) + fv * ((1 - fu) * at[n] + fu * at[n + 1]);
    double border = fmin(fmin(u, last - u), fmin(v, last - v)) / (0.12 * last);
    return border < 1 ? 1 + (value - 1) * border * border * (3 - 2 * border) : value;
}

rbt_light rbt_background(const rbt_camera *camera, double x, double y) {
    static const rbt_light top = {0.760, 0.800, 0.850}, middle = {0.905, 0.920, 0.935},
                           bottom = {0.800, 0.815, 0.835};
    double t = y / camera->height, s = (x / camera->width - 0.5);
    double f = t < 0.55 ? t / 0.55 : (1 - t) / 0.45;
    f = fmin(fmax(f, 0), 1);
    f = f * f * (3 - 2 * f);
    const rbt_light *edge = t < 0.55 ? &top : &bottom;
    double dim = 1 - 0.16 * s * s;
    return (rbt_light){dim * (edge->r + f * (middle.r - edge->r)), dim * (edge->g + f * (middle.g - edge->g)),
                       dim * (edge->b + f * (middle.b - edge->b))};
}

// The ground point behind a place of the picture; false if there is none.
static bool hit(const rbt_ground *ground, const rbt_camera *camera, double x, double y, double at[2]) {
    double ray[3];
    rbt_camera_ray(camera, x, y, ray);
    double above = camera->eye[1] - ground->height;
    if (!(above > 0) || !(ray[1] < -1e-9)) return false;
    double t = above / -ray[1];
    at[0] = camera->eye[0] + t * ray[0];
    at[1] = camera->eye[2] + t * ray[2];
    return true;
}

// Coverage of the lines at multiples of the spacing, one pixel being `width` wide there.
static double line_cover(double at, double spacing, double width) {
    double d = fabs(at / spacing - round(at / spacing)) * spacing / width;
    double fade = fmin(fmax(spacing / width / 10 - 0.4, 0), 1);  // too dense to be drawn
    return fade * fmin(fmax(1.0 - d, 0), 1);
}

rbt_light rbt_ground_color(const rbt_ground *ground, const rbt_camera *camera, double x, double y) {
    rbt_light color = rbt_background(camera, x, y);
    double at[2], side[2], down[2];
    if (!hit(ground, camera, x, y, at) || !hit(ground, camera, x + 1, y, side) ||
        !hit(ground, camera, x, y + 1, down))
        return color;
    double far = hypot(at[0] - ground->centre[0], at[1] - ground->centre[1]) / ground->size;
    double near = fmin(fmax(1.9 - far, 0) / 1.5, 1);
    near = near * near * (3 - 2 * near);
    double sky = light_at(ground, ground->sky, at[0], at[1]), key = light_at(ground, ground->key, at[0], at[1]);
    double lines = 0;
    for (int k = 0; k < 2; k++) {
        double a = side[k] - at[k], b = down[k] - at[k], width = fmax(sqrt(a * a + b * b), 1e-12);
        lines = fmax(lines, line_cover(at[k], ground->spacing, width));
    }
    double shade = 1 - DARKEST_SKY * (1 - sky) - DARKEST_KEY * (1 - key), line = 1 - LINE * near * lines;
    // Shadows are a little bluer than the floor, as under a sky; the floor itself is a little brighter than around.
    double lift = 1 + 0.05 * near;
    return (rbt_light){color.r * lift * line * shade, color.g * lift * line * (shade + 0.02 * (1 - shade)),
                       color.b * lift * line * (shade + 0.07 * (1 - shade))};
}
