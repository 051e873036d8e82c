// The order of a picture: lights around the view, their reach over the surface and the floor, projection, the
// nearest triangle of every sample, and the shading of each pixel from what its samples see.
//
//   light = albedo (E_sky + E_floor + E_key + E_fill) + gloss + rim
//
// with a hemispheric sky (bright above, the floor's reflection below), a warm main light, a weak one from the camera,
// a soft Blinn highlight and a faint brightening where the surface turns away.
#include "view/picture.h"

#include "base/memory.h"
#include "math/vec3.h"
#include "view/exposure.h"
#include "view/ground.h"
#include "view/raster.h"

#include <math.h>
#include <string.h>

enum { MAP_STEPS = 512, TONES = 8192 };

typedef struct stage {
    const rbt_figure *figure;
    const rbt_look *look;
    const rbt_camera *camera;
    rbt_image *image;
    rbt_lights lights;
    rbt_ground ground;
    double *points;  // (vertex_count x 3) projected
    float *light;    // (vertex_count x 3) share of sky on the front, of sky on the back, of the main light
    rbt_light map[MAP_STEPS];
    uint8_t tone[TONES];  // what is stored for light 0 to 1
    rbt_light plain;
    double reach;  // height over which the floor's closeness darkens [m]
} stage;

rbt_look rbt_look_default(void) {
    return (rbt_look){.high = 1, .plain = {226, 138, 102}, .ground = true, .samples = 4};
}

// Light on the vertices and, behind them in the list of probes, on the floor.
static bool find_light(stage *s, rbt_error *error) {
    const rbt_figure *figure = s->figure;
    const rbt_look *look = s->look;
    int side = look->ground ? rbt_ground_side(s->camera) : 0;
    size_t n = figure->vertex_count, count = n + (size_t)side * (size_t)side;
    double *probes = rbt_array_new(count, 3 * sizeof *probes, "the light on the vertices", error);
    double *normals = probes ? rbt_array_new(count, 3 * sizeof *normals, "the light on the vertices", error) : NULL;
    uint64_t *seen = normals ? rbt_array_new(count, sizeof *seen, "the light on the vertices", error) : NULL;
    bool good = seen && (!look->ground || rbt_ground_new(&s->ground, figure, &s->lights, side, look->ground_height,
                                                         look->box_min, look->box_max, probes + 3 * n, error));
    if (good && n) {
        memcpy(probes, figure->positions, 3 * n * sizeof *probes);
        memcpy(normals, figure->normals, 3 * n * sizeof *normals);
    }
    good = good && rbt_exposure(figure, &s->lights, probes, normals, count, seen, error);
    for (size_t i = 0; good && i < n; i++) {
        const double *normal = normals + 3 * i, back[3] = {-normal[0], -normal[1], -normal[2]};
        s->light[3 * i] = (float)rbt_exposure_to_sky(&s->lights, normal, seen[i]);
        s->light[3 * i + 1] = (float)rbt_exposure_to_sky(&s->lights, back, seen[i]);
        s->light[3 * i + 2] = (float)rbt_exposure_to_key(seen[i]);
    }
    if (good && look->ground) rbt_ground_light(&s->ground, &s->lights, seen + n);
    free(probes);
    free(normals);
    free(seen);
    return good;
}

// A point of a triangle under a place of the picture.
typedef struct spot {
    double position[3], normal[3], weight[3];
    double sky[2], key;
    double edge;  // distance to the nearest edge [pixels]
    double size;  // height of the triangle over its longest edge [pixels]
    bool front;   // seen from the side its normals point to
} spot;

static void interpolate(const stage *s, int32_t triangle, double x, double y, spot *p) {
    const int32_t *t = s->figure->triangles + 3 * (size_t)triangle;
    const double *q[3];
    for (int k = 0; k < 3; k++) q[k] = s->points + 3 * (size_t)t[k];
    double area = (q[1][0] - q[0][0]) * (q[2][1] - q[0][1]) - (q[1][1] - q[0][1]) * (q[2][0] - q[0][0]), sum = 0;
    p->edge = p->size = INFINITY;
    p->front = area < 0;  // counter-clockwise, as y points down
    for (int k = 0; k < 3; k++) {
        const double *a = q[(k + 1) % 3], *b = q[(k + 2) % 3];
        double flat = area != 0 ? ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / area : 1.0 / 3;
        flat = fmin(fmax(flat, 0), 1);
        double dx = b[0] - a[0], dy = b[1] - a[1], length = sqrt(dx * dx + dy * dy),
               height = length > 0 ? fabs(area) / length : 0;
        p->edge = fmin(p->edge, flat * height);
        p->size = fmin(p->size, height);
        p->weight[k] = flat * q[k][2];  // perspective: what is linear in the picture is value/distance
        sum += p->weight[k];
    }
    for (int i = 0; i < 3; i++) p->position[i] = p->normal[i] = 0;
    p->sky[0] = p->sky[1] = p->key = 0;
    for (int k = 0; k < 3; k++) {
        size_t v = (size_t)t[k];
        double w = p->weight[k] = sum > 0 ? p->weight[k] / sum : 1.0 / 3;
        rbt_add_scaled(p->position, w, s->figure->positions + 3 * v);
        rbt_add_scaled(p->normal, w, s->figure->normals + 3 * v);
        p->sky[0] += w * s->light[3 * v];
        p->sky[1] += w * s->light[3 * v + 1];
        p->key += w * s->light[3 * v + 2];
    }
    rbt_normalize(p->normal, p->normal);
}

static rbt_light albedo_at(const stage *s, int32_t triangle, const spot *p) {
    static const rbt_light stone = {0.42, 0.43, 0.45};
    const rbt_figure *figure = s->figure;
    if ((size_t)triangle >= figure->scenery_begin) return stone;
    if (figure->kind == RBT_FIGURE_PLAIN) return s->plain;
    if (figure->kind == RBT_FIGURE_KINDS) return rbt_light_of(rbt_color_kind(lround(figure->values[triangle])));
    double value = 0;
    if (figure->kind == RBT_FIGURE_ON_TRIANGLES) value = figure->values[triangle];
    else
        for (int k = 0; k < 3; k++)
            value += p->weight[k] * figure->values[figure->triangles[3 * (size_t)triangle + (size_t)k]];
    double t = (value - s->look->low) / (s->look->high - s->look->low);
    if (isnan(t)) return rbt_light_of(rbt_color_map(NAN));
    return s->map[(int)(fmin(fmax(t, 0), 1) * (MAP_STEPS - 1) + 0.5)];
}

static rbt_light shade(const stage *s, int32_t triangle, double x, double y) {
    static const rbt_light sky = {0.40, 0.435, 0.48}, floor = {0.24, 0.23, 0.22}, sun = {0.86, 0.815, 0.75};
    spot p;
    interpolate(s, triangle, x, y, &p);
    // Obstacles may reach into the floor; what lies behind them along the ray is below it too.
    if ((size_t)triangle >= s->figure->scenery_begin && s->look->ground && p.position[1] < s->look->ground_height &&
        s->camera->eye[1] > s->look->ground_height)
        return rbt_ground_color(&s->ground, s->camera, x, y);
    rbt_light albedo = albedo_at(s, triangle, &p);
    double view[3], half[3];
    rbt_subtract(s->camera->eye, p.position, view);
    rbt_normalize(view, view);
    // The triangle's own side decides: near an outline the interpolated normal may already point away.
    if (!p.front)
        for (int i = 0; i < 3; i++) p.normal[i] = -p.normal[i];
    double open = p.front ? p.sky[0] : p.sky[1], facing = fmax(rbt_dot(p.normal, view), 0);
    double up = 0.5 + 0.5 * p.normal[1], above = fmax(p.position[1] - s->look->ground_height, 0);
    double free_below = s->look->ground ? 0.25 + 0.75 * above / (above + s->reach) : 1;
    double key = fmax(rbt_dot(p.normal, s->lights.key), 0) * p.key, fill = 0.10 * facing * (0.4 + 0.6 * open);
    for (int i = 0; i < 3; i++) half[i] = view[i] + s->lights.key[i];
    rbt_normalize(half, half);
    double shine = fmax(rbt_dot(p.normal, half), 0), rim = 1 - facing;
    double gloss = p.key * (0.10 * pow(shine, 48) + 0.05 * pow(shine, 10)) + 0.07 * rim * rim * rim * rim * open;
    double above_share = up * open, below_share = (1 - up) * free_below;
    rbt_light light = {albedo.r * (sky.r * above_share + floor.r * below_share + sun.r * key + fill) + gloss,
                       albedo.g * (sky.g * above_share + floor.g * below_share + sun.g * key + fill) + gloss,
                       albedo.b * (sky.b * above_share + floor.b * below_share + sun.b * key + fill) + gloss};
    if (s->look->edges && (size_t)triangle < s->figure->scenery_begin) {
        // Thin lines, one pixel wide, vanishing where the triangles are too small to carry them.
        double room = fmin(fmax((p.size - 3) / 9, 0), 1), line = 0.55 * room * fmin(fmax(1.05 - p.edge, 0), 1);
        light = (rbt_light){light.r * (1 - line), light.g * (1 - line), light.b * (1 - line)};
    }
    return light;
}

// The samples of a pixel that see the same triangle are shaded once, in their common middle, which lies in it too.
static void draw_pixel(void *context, int x, int y, const int32_t *owners) {
    stage *s = context;
    int n = s->look->samples, total = n * n;
    uint64_t done = 0;
    rbt_light sum = {0, 0, 0};
    for (int first = 0; first < total; first++) {
        if (done >> first & 1) continue;
        int count = 0;
        double px = 0, py = 0;
        for (int i = first; i < total; i++) {
            if (owners[i] != owners[first]) continue;
            done |= (uint64_t)1 << i;
            count++;
            px += i % n + 0.5;
            py += (int)(i / n) + 0.5;
        }
        px = x + px / (count * n);
        py = y + py / (count * n);
        rbt_light light;
        if (owners[first] >= 0) light = shade(s, owners[first], px, py);
        else if (s->look->ground) light = rbt_ground_color(&s->ground, s->camera, x + 0.5, y + 0.5);
        else light = rbt_background(s->camera, x + 0.5, y + 0.5);
        // Averaging what can be shown, not the light, keeps edges of bright spots smooth.
        sum.r += count * fmin(fmax(light.r, 0), 1);
        sum.g += count * fmin(fmax(light.g, 0), 1);
        sum.b += count * fmin(fmax(light.b, 0), 1);
    }
    double scale = (TONES - 1.0) / total;
    s->image->pixels[(size_t)y * (size_t)s->image->width + (size_t)x] =
        (rbt_rgb){s->tone[(int)(scale * sum.r + 0.5)], s->tone[(int)(scale * sum.g + 0.5)],
                  s->tone[(int)(scale * sum.b + 0.5)]};
}

static bool prepare(stage *s, rbt_error *error) {
    const rbt_figure *figure = s->figure;
    size_t n = figure->vertex_count;
    s->lights = rbt_lights_for(s->camera->right);
    s->plain = rbt_light_of(s->look->plain);
    for (int i = 0; i < MAP_STEPS; i++) s->map[i] = rbt_light_of(rbt_color_map(i / (MAP_STEPS - 1.0)));
    for (int i = 0; i < TONES; i++) s->tone[i] = rbt_rgb_of((rbt_light){i / (TONES - 1.0), 0, 0}).r;
    double size[3];
    rbt_subtract(s->look->box_max, s->look->box_min, size);
    s->reach = 0.06 * rbt_length(size) + 1e-12;
    s->points = rbt_array_new(n, 3 * sizeof *s->points, "projected vertices", error);
    s->light = s->points ? rbt_array_new(n, 3 * sizeof *s->light, "the light on the vertices", error) : NULL;
    if (!s->light || !find_light(s, error)) return false;
    for (size_t i = 0; i < n; i++) rbt_camera_project(s->camera, figure->positions + 3 * i, s->points + 3 * i);
    return true;
}

bool rbt_picture_draw(const rbt_figure *figure, const rbt_look *look, const rbt_camera *camera, rbt_image *image,
                      rbt_error *error) {
    stage s = {.figure = figure, .look = look, .camera = camera, .image = image};
    const rbt_raster raster = {.width = camera->width,
                               .height = camera->height,
                               .samples = look->samples,
                               .triangles = figure->triangles,
                               .triangle_count = figure->triangle_count};
    bool good = prepare(&s, error);
    if (good) {
        rbt_raster ready = raster;
        ready.points = s.points;
        good = rbt_raster_run(&ready, draw_pixel, &s, error);
    }
    rbt_ground_free(&s.ground);
    free(s.points);
    free(s.light);
    return good;
}
