#include "model/cut_shape.h"

#include "base/file.h"
#include "base/memory.h"
#include "math/vec3.h"
#include "mesh/core/unit.h"

#include <string.h>

rbt_mesh *rbt_cut_shape_read(const rbt_cut_file *def, const char *folder, const char *scene_file, const char *path,
                             rbt_error *error) {
    double unit = 1;
    if (def->unit && !rbt_unit_factor(def->unit, &unit)) {
        rbt_fail_path(error, scene_file, path, "no unit \"%s\"", def->unit);
        return NULL;
    }
    char *file = rbt_path_join(folder, def->file);
    rbt_mesh *mesh = file ? rbt_mesh_read(file, error) : NULL;
    free(file);
    if (!mesh) return NULL;
    bool good = mesh->triangle_count > 0 ||
                rbt_fail_path(error, scene_file, path, "\"%s\" has no triangles to cut along", def->file);
    for (size_t i = 0; good && i < 3 * mesh->node_count; i++) {
        mesh->nodes[i] *= unit;
        good = isfinite(mesh->nodes[i]) ||
               rbt_fail_path(error, scene_file, path, "node %zu of \"%s\" has a coordinate that is not a number",
                             i / 3, def->file);
    }
    if (good) return mesh;
    rbt_mesh_free(mesh);
    return NULL;
}

static void longest_axis(const double low[3], const double high[3], double axis[3]) {
    int longest = 0;
    for (int k = 1; k < 3; k++)
        if (high[k] - low[k] > high[longest] - low[longest]) longest = k;
    for (int k = 0; k < 3; k++) axis[k] = k == longest;
}

static bool is_zero(const double v[3]) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

// Two triangles between point + (-1 or 1) u + (-1 or 1) v with these values of progress at -u and u
static bool square(const double point[3], const double u[3], const double v[3], double at_first, double at_last,
                   rbt_cut_surface *surface, rbt_error *error) {
    double x[4][3];
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) x[i][k] = point[k] + (i < 2 ? -1 : 1) * u[k] + (i % 2 ? 1 : -1) * v[k];
    const int32_t triangles[] = {0, 1, 2, 1, 3, 2};
    const double progress[] = {at_first, at_first, at_last, at_last};
    return rbt_cut_surface_init(surface, &x[0][0], 4, triangles, 2, progress, error);
}

// As much of the plane as the body can meet
static bool plane(const rbt_cut_plane *def, const double low[3], const double high[3], const double here_low[3],
                  const double here_high[3], rbt_cut_surface *surface, rbt_error *error) {
    double normal[3], towards[3], across[3], centre[3], point[3], diagonal[3];
    rbt_normalize(def->normal, normal);
    rbt_subtract(here_high, here_low, diagonal);
    for (int k = 0; k < 3; k++) {
        point[k] = def->relative ? low[k] + def->point[k] * (high[k] - low[k]) : def->point[k];
        centre[k] = 0.5 * (here_low[k] + here_high[k]);
    }
    if (is_zero(def->towards)) longest_axis(here_low, here_high, towards);
    else rbt_normalize(def->towards, towards);
    rbt_add_scaled(towards, -rbt_dot(towards, normal), normal);
    if (rbt_length(towards) < 1e-6) {  // the strokes would leave the plane: any way in it
        for (int k = 0; k < 3; k++) towards[k] = fabs(normal[k]) < 0.6;
        rbt_add_scaled(towards, -rbt_dot(towards, normal), normal);
    }
    rbt_normalize(towards, towards);
    rbt_cross(normal, towards, across);
    rbt_subtract(centre, point, centre);
    rbt_add_scaled(centre, -rbt_dot(centre, normal), normal);
    rbt_add_scaled(centre, 1, point);
    double size = rbt_length(diagonal), half = 0;
    for (int k = 0; k < 3; k++) half += 0.5 * fabs(towards[k]) * diagonal[k];
    for (int k = 0; k < 3; k++) towards[k] *= size, across[k] *= size;
    double reach = half > 0 ? 0.5 * size / half : 0.5;
    return square(centre, towards, across, 0.5 - reach, 0.5 + reach, surface, error);
}

static bool rectangle(const rbt_cut_rectangle *def, const double low[3], const double high[3],
                      rbt_cut_surface *surface, rbt_error *error) {
    double middle[3], along[3], across[3];
    for (int k = 0; k < 3; k++) {
        double scale = def->relative ? high[k] - low[k] : 1, start = def->relative ? low[k] : 0;
        along[k] = 0.5 * scale * def->along[k];
        across[k] = 0.5 * scale * def->across[k];
        middle[k] = start + scale * def->corner[k] + along[k] + across[k];
    }
    return square(middle, along, across, 0, 1, surface, error);
}

static bool blade(const rbt_cut_blade *def, rbt_cut_surface *surface, rbt_error *error) {
    size_t count = def->points.count;
    double *x = rbt_array_new(2 * count, 3 * sizeof *x, "the surface of a cut", error);
    double *progress = rbt_array_new(2 * count, sizeof *progress, "the surface of a cut", error), way = 0;
    int32_t *triangles = rbt_array_new(2 * count, 3 * sizeof *triangles, "the surface of a cut", error);
    bool good = x && progress && triangles;
    for (size_t i = 0; good && i < count; i++) {
        const double *p = def->points.items + 3 * i;
        if (i) {
            double step[3];
            rbt_subtract(p, p - 3, step);
            way += rbt_length(step);
            int32_t a = (int32_t)(2 * i - 2), corners[6] = {a, a + 1, a + 2, a + 1, a + 3, a + 2};
            memcpy(triangles + 6 * (i - 1), corners, sizeof corners);
        }
        memcpy(x + 6 * i, p, 3 * sizeof *x);
        for (int k = 0; k < 3; k++) x[6 * i + 3 + (size_t)k] = p[k] + def->blade[k];
        progress[2 * i] = progress[2 * i + 1] = way;
    }
    for (size_t i = 0; good && way > 0 && i < 2 * count; i++) progress[i] /= way;
    good = good && rbt_cut_surface_init(surface, x, 2 * count, triangles, 2 * (count - 1), progress, error);
    free(x);
    free(progress);
    free(triangles);
    return good;
}

static bool from_file(const rbt_cut_file *def, const rbt_mesh *mesh, rbt_cut_surface *surface, rbt_error *error) {
    rbt_box box = rbt_box_empty();
    double towards[3], first = INFINITY, last = -INFINITY;
    for (size_t n = 0; n < mesh->node_count; n++) rbt_box_include(&box, mesh->nodes + 3 * n, 0);
    if (is_zero(def->towards)) longest_axis(box.min, box.max, towards);
    else rbt_normalize(def->towards, towards);
    double *progress = rbt_array_new(mesh->node_count, sizeof *progress, "the surface of a cut", error);
    if (!progress) return false;
    for (size_t n = 0; n < mesh->node_count; n++) {
        progress[n] = rbt_dot(towards, mesh->nodes + 3 * n);
        first = fmin(first, progress[n]);
        last = fmax(last, progress[n]);
    }
    for (size_t n = 0; n < mesh->node_count; n++)
        progress[n] = last > first ? (progress[n] - first) / (last - first) : 0;
    bool good = rbt_cut_surface_init(surface, mesh->nodes, mesh->node_count, mesh->triangles, mesh->triangle_count,
                                     progress, error);
    free(progress);
    return good;
}

bool rbt_cut_shape(const rbt_cut_def *def, const rbt_mesh *triangles, const double low[3], const double high[3],
                   const double here_low[3], const double here_high[3], rbt_cut_surface *surface, rbt_error *error) {
    switch ((rbt_cut_surface_kind)def->surface.which) {
    case RBT_CUT_PLANE: return plane(def->surface.value, low, high, here_low, here_high, surface, error);
    case RBT_CUT_RECTANGLE: return rectangle(def->surface.value, low, high, surface, error);
    case RBT_CUT_BLADE: return blade(def->surface.value, surface, error);
    case RBT_CUT_FILE: return from_file(def->surface.value, triangles, surface, error);
    case RBT_CUT_KINDS: break;
    }
    return rbt_fail(error, "there is no surface of a cut number %d", def->surface.which);
}
