#include "view/exposure.h"

#include "base/memory.h"
#include "math/vec3.h"
#include "view/raster.h"

#include <float.h>
#include <math.h>

enum { GRID = 320 };                         // samples of a light's depth grid along its longer side
static const double KEY_RADIUS = 0.17;       // [rad] of the main light's disc
static const double GOLDEN = 2.39996322973;  // golden angle: spirals that cover evenly

rbt_lights rbt_lights_for(const double right[3]) {
    rbt_lights lights;
    const double left[3] = {-right[0], 0, -right[2]}, to_viewer[3] = {-right[2], 0, right[0]};
    double key[3] = {0, 1.25, 0};
    rbt_add_scaled(key, 0.62, left);
    rbt_add_scaled(key, 0.55, to_viewer);
    rbt_normalize(key, lights.key);
    for (int i = 0; i < RBT_SKY_LIGHTS; i++) {  // even over the hemisphere, a little above the horizon
        double y = 0.08 + 0.92 * (i + 0.5) / RBT_SKY_LIGHTS, r = sqrt(1 - y * y), angle = GOLDEN * i;
        double *to = lights.to[i];
        to[0] = r * cos(angle);
        to[1] = y;
        to[2] = r * sin(angle);
    }
    double side[3], other[3];
    rbt_cross(lights.key, left, side);
    rbt_normalize(side, side);
    rbt_cross(lights.key, side, other);
    for (int i = 0; i < RBT_KEY_LIGHTS; i++) {  // even over the disc
        double r = KEY_RADIUS * sqrt((i + 0.5) / RBT_KEY_LIGHTS), angle = GOLDEN * i, direction[3];
        for (int k = 0; k < 3; k++)
            direction[k] = lights.key[k] + r * cos(angle) * side[k] + r * sin(angle) * other[k];
        rbt_normalize(direction, lights.to[RBT_SKY_LIGHTS + i]);
    }
    return lights;
}

// A light's own axes: u and v across, scaled to samples of the grid, and depth towards the light.
typedef struct light_view {
    double u[3], v[3], to[3];
    double low[2], scale, texel;
    int width, height;
} light_view;

static light_view view_from(const rbt_figure *figure, const double to[3]) {
    light_view view = {.low = {INFINITY, INFINITY}};
    double high[2] = {-INFINITY, -INFINITY};
    const double helper[3] = {fabs(to[0]) < 0.5, fabs(to[0]) >= 0.5, 0};
    rbt_cross(to, helper, view.u);
    rbt_normalize(view.u, view.u);
    rbt_cross(to, view.u, view.v);
    for (int k = 0; k < 3; k++) view.to[k] = to[k];
    for (size_t i = 0; i < figure->vertex_count; i++) {
        const double *p = figure->positions + 3 * i;
        const double at[2] = {rbt_dot(p, view.u), rbt_dot(p, view.v)};
        for (int k = 0; k < 2; k++) {
            view.low[k] = fmin(view.low[k], at[k]);
            high[k] = fmax(high[k], at[k]);
        }
    }
    double longer = fmax(high[0] - view.low[0], high[1] - view.low[1]);
    if (!(longer > 0)) longer = 1;
    view.scale = (GRID - 2) / longer;
    view.texel = 1 / view.scale;
    view.width = (int)fmin(fmax((high[0] - view.low[0]) * view.scale, 0) + 2, GRID);
    view.height = (int)fmin(fmax((high[1] - view.low[1]) * view.scale, 0) + 2, GRID);
    return view;
}

static void to_view(const light_view *view, const double p[3], double at[3]) {
    at[0] = (rbt_dot(p, view->u) - view->low[0]) * view->scale + 1;
    at[1] = (rbt_dot(p, view->v) - view->low[1]) * view->scale + 1;
    at[2] = rbt_dot(p, view->to);
}

static void draw_from(const rbt_figure *figure, const light_view *view, double *points, rbt_depth_grid *grid) {
    grid->width = view->width;
    grid->height = view->height;
    rbt_depth_grid_clear(grid);
    for (size_t i = 0; i < figure->vertex_count; i++) to_view(view, figure->positions + 3 * i, points + 3 * i);
    for (size_t i = 0; i < figure->triangle_count; i++) {
        const int32_t *t = figure->triangles + 3 * i;
        rbt_depth_grid_fill(grid, points + 3 * (size_t)t[0], points + 3 * (size_t)t[1], points + 3 * (size_t)t[2], 0);
    }
}

static bool reaches(const rbt_depth_grid *grid, const light_view *view, const double probe[3],
                    const double normal[3]) {
    double p[3] = {probe[0], probe[1], probe[2]}, at[3];
    rbt_add_scaled(p, rbt_dot(normal, view->to) < 0 ? -1.5 * view->texel : 1.5 * view->texel, normal);
    to_view(view, p, at);
    if (!(at[0] >= 0 && at[1] >= 0 && at[0] < grid->width && at[1] < grid->height)) return true;
    return !(grid->depth[(int)at[1] * grid->width + (int)at[0]] > at[2] + 1.5 * view->texel);
}

bool rbt_exposure(const rbt_figure *figure, const rbt_lights *lights, const double *probes, const double *normals,
                  size_t probe_count, uint64_t *seen, rbt_error *error) {
    for (size_t i = 0; i < probe_count; i++) seen[i] = 0;
    bool enough = true;
#pragma omp parallel
    {
        float *depth = malloc(sizeof(float) * GRID * GRID);
        double *points = rbt_array_new(figure->vertex_count, 3 * sizeof *points, "vertices", NULL);
        uint64_t *mine = rbt_array_new(probe_count, sizeof *mine, "probes", NULL);
        bool ready = depth && points && mine;
#pragma omp for schedule(dynamic) reduction(&& : enough)
        for (int light = 0; light < RBT_LIGHTS; light++) {
            if (!ready) {
                enough = false;
                continue;
            }
            light_view view = view_from(figure, lights->to[light]);
            rbt_depth_grid grid = {.depth = depth};
            draw_from(figure, &view, points, &grid);
            for (size_t i = 0; i < probe_count; i++)
                if (reaches(&grid, &view, probes + 3 * i, normals + 3 * i)) mine[i] |= (uint64_t)1 << light;
        }
        if (ready) {
#pragma omp critical(rbt_exposure_merge)
            for (size_t i = 0; i < probe_count; i++) seen[i] |= mine[i];
        }
        free(depth);
        free(points);
        free(mine);
    }
    return enough || rbt_fail_memory(error, probe_count * sizeof *seen, "the shadows of a picture");
}

double rbt_exposure_to_sky(const rbt_lights *lights, const double normal[3], uint64_t seen) {
    double got = 0, all = 1e-3;
    for (int i = 0; i < RBT_SKY_LIGHTS; i++) {
        double facing = rbt_dot(normal, lights->to[i]);
        if (facing <= 0) continue;
        all += facing;
        if (seen >> i & 1) got += facing;
    }
    return (got + 1e-3) / all;
}

double rbt_exposure_to_key(uint64_t seen) {
    return __builtin_popcountll(seen >> RBT_SKY_LIGHTS) / (double)RBT_KEY_LIGHTS;
}
