// Reading an obstacle that is a mesh, and all frames of its sequence (model/obstacle_geometry.h).
#include "base/file.h"
#include "base/memory.h"
#include "math/vec3.h"
#include "mesh/core/topology.h"
#include "mesh/core/unit.h"
#include "mesh/io/read_pc2.h"
#include "model/deform.h"
#include "model/mesh_load.h"
#include "model/obstacle_geometry.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct loader {
    const rbt_obstacle_mesh *def;
    size_t number;
    const char *folder, *file;
    rbt_mesh *mesh;      // in its own unit
    int32_t *triangles;  // (triangle_count x 3) of the mesh's nodes
    size_t triangle_count;
    int32_t *own;  // (nodes of the mesh) number in the obstacle, -1: it has no triangle
    size_t node_count;
    double *x;  // (nodes of the mesh x 3) of the frame in work
    double unit;
    rbt_fit fit;
    rbt_obstacle_geometry *geometry;
    rbt_error *error;
} loader;

static bool fail_in(const loader *l, const char *member, const char *format, ...) RBT_PRINTF(3, 4);
static bool fail_in(const loader *l, const char *member, const char *format, ...) {
    char text[700], path[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(path, sizeof path, "obstacles[%zu].mesh.%s", l->number, member);
    return rbt_fail_path(l->error, l->file, path, "%s", text);
}

// ---- The surface

// Numbers its nodes in the order of the mesh.
static bool number_nodes(loader *l) {
    size_t n = l->mesh->node_count;
    if (!(l->own = rbt_array_new(n, sizeof *l->own, "an obstacle", l->error))) return false;
    for (size_t i = 0; i < n; i++) l->own[i] = -1;
    for (size_t i = 0; i < 3 * l->triangle_count; i++) l->own[l->triangles[i]] = 0;
    for (size_t i = 0; i < n; i++)
        if (l->own[i] == 0) l->own[i] = (int32_t)l->node_count++;
    return true;
}

static bool make_surface(loader *l) {
    const rbt_mesh *mesh = l->mesh;
    if (mesh->tet_count) {
        if (!rbt_boundary(mesh->tets, mesh->tet_count, mesh->node_count, &l->triangles, NULL, &l->triangle_count,
                          l->error))
            return false;
    } else {
        l->triangle_count = mesh->triangle_count;
        if (!(l->triangles = rbt_array_new(mesh->triangle_count, 3 * sizeof(int32_t), "an obstacle", l->error)))
            return false;
        if (mesh->triangle_count) memcpy(l->triangles, mesh->triangles, 3 * mesh->triangle_count * sizeof(int32_t));
    }
    if (!l->triangle_count)
        return fail_in(l, "mesh", "has %zu nodes but no tets or triangles that a surface could be made of",
                       mesh->node_count);
    return number_nodes(l);
}

static bool count_open_edges(loader *l) {
    size_t sides = 3 * l->triangle_count;
    uint32_t *first = rbt_array_new(sides, sizeof *first, "an obstacle", l->error);
    uint32_t *count = rbt_array_new(sides, sizeof *count, "an obstacle", l->error);
    bool good = first && count &&
                rbt_match_sides(l->geometry->triangles, l->triangle_count, &RBT_EDGES_OF_TRIANGLES, l->node_count,
                                first, l->error);
    for (size_t i = 0; good && i < sides; i++)
        if (first[i] != RBT_NO_SIDE) count[first[i]]++;
    for (size_t i = 0; good && i < sides; i++) l->geometry->open_edges += count[i] == 1;
    free(first);
    free(count);
    return good;
}

// ---- Frames

static bool judge_triangles(const loader *l, const double *x, const char *what) {
    for (size_t t = 0; t < l->triangle_count; t++) {
        const int32_t *corner = l->geometry->triangles + 3 * t;
        double edge[3][3], normal[3], longest = 0;
        for (int a = 0; a < 3; a++) {
            rbt_subtract(x + 3 * (size_t)corner[(a + 1) % 3], x + 3 * (size_t)corner[a], edge[a]);
            longest = fmax(longest, rbt_length(edge[a]));
        }
        if (!isfinite(longest * longest))
            return fail_in(l, l->def->sequence ? "sequence" : "mesh",
                           "triangle %zu%s has an edge of %g m, too long for its area to be a number; check unit and "
                           "scale",
                           t, what, longest);
        rbt_cross(edge[0], edge[1], normal);
        if (!(rbt_length(normal) > 1e-9 * longest * longest))
            return fail_in(l, l->def->sequence ? "sequence" : "mesh",
                           "triangle %zu%s has no area (%g m^2 with an edge of %g m); repair the mesh", t, what,
                           0.5 * rbt_length(normal), longest);
    }
    return true;
}

// Takes l->x over as frame k of the obstacle; `what` names it in messages.
static bool add_frame(loader *l, size_t k, const char *what) {
    size_t n = l->mesh->node_count;
    double *to = l->geometry->frames + 3 * k * l->node_count;
    for (size_t i = 0; i < 3 * n; i++)
        if (!isfinite(l->x[i]))
            return fail_in(l, l->def->sequence ? "sequence" : "mesh",
                           "node %zu%s has a coordinate that is not a number", i / 3, what);
    rbt_place_points(l->x, n, l->unit, &l->def->transform, &l->fit);
    for (size_t i = 0; i < n; i++) {
        if (l->own[i] < 0) continue;
        const double *p = l->x + 3 * i;
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
            return fail_in(l, "transform", "node %zu%s has a coordinate that is not a number", i, what);
        memcpy(to + 3 * (size_t)l->own[i], p, 3 * sizeof *p);
    }
    return judge_triangles(l, to, what);
}

static bool make_geometry(loader *l, size_t frames) {
    if (l->node_count > RBT_MAX_SEQUENCE_POSITIONS / frames)
        return fail_in(l, "sequence", "%zu frames of %zu nodes: the limit is %d positions of all frames together",
                       frames, l->node_count, RBT_MAX_SEQUENCE_POSITIONS);
    l->geometry = rbt_obstacle_geometry_new(l->node_count, l->triangle_count, frames, l->error);
    if (!l->geometry) return false;
    for (size_t i = 0; i < 3 * l->triangle_count; i++) l->geometry->triangles[i] = l->own[l->triangles[i]];
    return count_open_edges(l);
}

static bool take_memory(loader *l) {
    const rbt_sequence_def *s = l->def->sequence;
    size_t numbers = 3 * l->mesh->node_count;
    char what[32];
    if (!make_geometry(l, s->frame_count)) return false;
    for (size_t k = 0; k < s->frame_count; k++) {
        snprintf(what, sizeof what, " in frame %zu", k);
        memcpy(l->x, s->positions + k * numbers, numbers * sizeof *l->x);
        if (!add_frame(l, k, what)) return false;
    }
    return true;
}

static bool take_cache(loader *l, const char *path, const rbt_bytes *bytes) {
    const rbt_sequence_def *s = l->def->sequence;
    rbt_point_cache cache;
    char what[32];
    if (!rbt_read_pc2(path, bytes, &cache, l->error)) return false;
    if (cache.point_count != l->mesh->node_count)
        return rbt_fail_at(l->error, path, 0, 0,
                           "has %zu points in every frame, but the mesh of obstacles[%zu] has %zu nodes",
                           cache.point_count, l->number, l->mesh->node_count);
    size_t first = (size_t)s->first, last = s->last < 0 ? cache.sample_count - 1 : (size_t)s->last;
    if (last >= cache.sample_count || first > last)
        return rbt_fail_at(l->error, path, 0, 0,
                           "has frames 0 to %zu, but obstacles[%zu] is to take frames %zu to %zu",
                           cache.sample_count - 1, l->number, first, last);
    if (!make_geometry(l, last - first + 1)) return false;
    for (size_t k = first; k <= last; k++) {
        snprintf(what, sizeof what, " in frame %zu", k);
        if (!rbt_point_cache_sample(&cache, path, k, l->x, l->error) || !add_frame(l, k - first, what)) return false;
    }
    return true;
}

// The file's nodes, if it has those of the mesh; of triangles the same.
static bool take_nodes(loader *l, const char *path, size_t number, const rbt_mesh *frame) {
    const rbt_mesh *mesh = l->mesh;
    if (frame->node_count != mesh->node_count)
        return rbt_fail_at(l->error, path, 0, 0, "frame %zu has %zu nodes, but the mesh of obstacles[%zu] has %zu",
                           number, frame->node_count, l->number, mesh->node_count);
    if (!mesh->tet_count && frame->triangle_count != mesh->triangle_count)
        return rbt_fail_at(l->error, path, 0, 0,
                           "frame %zu has %zu triangles, but the mesh of obstacles[%zu] has %zu", number,
                           frame->triangle_count, l->number, mesh->triangle_count);
    for (size_t i = 0; !mesh->tet_count && i < 3 * mesh->triangle_count; i++)
        if (frame->triangles[i] != mesh->triangles[i])
            return rbt_fail_at(
                l->error, path, 0, 0,
                "triangle %zu of frame %zu has other nodes than that of the mesh of obstacles[%zu]: all "
                "frames must have the same triangles in the same order",
                i / 3, number, l->number);
    memcpy(l->x, frame->nodes, 3 * mesh->node_count * sizeof *l->x);
    return true;
}

static bool take_file(loader *l, size_t k) {
    const rbt_sequence_def *s = l->def->sequence;
    const char *marks = strchr(s->file, '#');
    size_t digits = strspn(marks, "#"), number = (size_t)s->first + k, size = strlen(s->file) + 24;
    char *name = rbt_array_new(size, 1, "a file name", l->error), what[32];
    if (!name) return false;
    snprintf(name, size, "%.*s%0*zu%s", (int)(marks - s->file), s->file, (int)digits, number, marks + digits);
    char *path = rbt_path_join(l->folder, name);
    rbt_mesh *frame = path ? rbt_mesh_read(path, l->error) : NULL;
    if (!path) rbt_fail_memory(l->error, size, "a file name");
    snprintf(what, sizeof what, " in frame %zu", number);
    bool good = frame && take_nodes(l, path, number, frame) && add_frame(l, k, what);
    rbt_mesh_free(frame);
    free(path);
    free(name);
    return good;
}

static bool take_sequence(loader *l) {
    const rbt_sequence_def *s = l->def->sequence;
    if (s->positions) return take_memory(l);
    if (strchr(s->file, '#')) {
        size_t frames = (size_t)(s->last - s->first) + 1;
        bool good = make_geometry(l, frames);
        for (size_t k = 0; good && k < frames; k++) good = take_file(l, k);
        return good;
    }
    rbt_bytes bytes = {0};
    char *path = rbt_path_join(l->folder, s->file);
    if (!path) rbt_fail_memory(l->error, strlen(s->file), "a file name");
    bool good = path && rbt_file_read(path, &bytes, l->error) && take_cache(l, path, &bytes);
    free(bytes.data);
    free(path);
    return good;
}

static bool take_all(loader *l) {
    if (l->def->mesh.unit && !rbt_unit_factor(l->def->mesh.unit, &l->unit))
        return fail_in(l, "mesh.unit", "no unit \"%s\"", l->def->mesh.unit);
    if (!(l->mesh = rbt_mesh_load(&l->def->mesh, l->folder, l->error))) {
        if (l->error && !l->error->file[0])  // nothing says yet which mesh it is
            snprintf(l->error->path, sizeof l->error->path, "obstacles[%zu].mesh.mesh", l->number);
        return false;
    }
    if (!make_surface(l)) return false;
    l->fit = rbt_fit_measure(l->mesh->nodes, l->mesh->node_count, l->unit, &l->def->transform);
    if (!(l->x = rbt_array_new(l->mesh->node_count, 3 * sizeof *l->x, "an obstacle", l->error))) return false;
    if (l->def->sequence) return take_sequence(l);
    memcpy(l->x, l->mesh->nodes, 3 * l->mesh->node_count * sizeof *l->x);
    return make_geometry(l, 1) && add_frame(l, 0, "");
}

rbt_obstacle_geometry *rbt_obstacle_geometry_load(const rbt_obstacle_mesh *def, size_t number, const char *folder,
                                                  const char *file, rbt_error *error) {
    loader l = {.def = def, .number = number, .folder = folder, .file = file, .unit = 1, .error = error};
    bool good = take_all(&l);
    if (good && def->sequence) {
        l.geometry->rate = def->sequence->rate;
        l.geometry->from = def->sequence->from;
        l.geometry->loop = def->sequence->loop;
    }
    if (!good) rbt_obstacle_geometry_free(l.geometry);
    rbt_mesh_free(l.mesh);
    free(l.triangles);
    free(l.own);
    free(l.x);
    return good ? l.geometry : NULL;
}
