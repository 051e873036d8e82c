// Meshes of the bodies and the arrays made of them.
#include "mesh/build.h"
#include "mesh/generate.h"
#include "mesh/topology.h"
#include "mesh/unit.h"
#include "model/compile.h"
#include "model/deform.h"

#include "base/file.h"
#include "math/vec3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static rbt_mesh *load_mesh(rbt_compiler *c, const rbt_mesh_def *def) {
    if (!def->file) return rbt_mesh_generate(rbt_shape_name(def->shape.which), def->shape.value, c->error);
    char *path = rbt_path_join(c->scene->folder, def->file);
    rbt_mesh *mesh = path ? rbt_mesh_read(path, c->error) : NULL;
    free(path);
    return mesh;
}

static double tet_volume(const double *X, const int32_t *t) {
    return rbt_tet_volume(X + 3 * (size_t)t[0], X + 3 * (size_t)t[1], X + 3 * (size_t)t[2], X + 3 * (size_t)t[3]);
}

static void flip_all(rbt_mesh *mesh) {
    for (size_t t = 0; t < mesh->tet_count; t++) {
        int32_t swap = mesh->tets[4 * t + 2];
        mesh->tets[4 * t + 2] = mesh->tets[4 * t + 3];
        mesh->tets[4 * t + 3] = swap;
    }
}

// Some formats and a mirroring transform number all tets the other way round: then all are renumbered. A single tet
// that disagrees with the others lies inside out and cannot be simulated.
static bool judge(rbt_compiler *c, size_t body) {
    rbt_mesh *mesh = c->meshes[body];
    size_t negative = 0, nodes_used = 0;
    for (size_t t = 0; t < mesh->tet_count; t++) negative += tet_volume(mesh->nodes, mesh->tets + 4 * t) < 0;
    if (2 * negative > mesh->tet_count) flip_all(mesh);
    size_t inverted = 2 * negative > mesh->tet_count ? mesh->tet_count - negative : negative;
    for (size_t t = 0; t < mesh->tet_count; t++) {
        const int32_t *tet = mesh->tets + 4 * t;
        double volume = tet_volume(mesh->nodes, tet), longest = 0, edge[3];
        for (int a = 1; a < 4; a++) {
            rbt_subtract(mesh->nodes + 3 * (size_t)tet[a], mesh->nodes + 3 * (size_t)tet[0], edge);
            longest = fmax(longest, rbt_length(edge));
        }
        if (volume < 0)
            return rbt_compile_fail(c, body, "mesh",
                                    "tet %zu lies inside out (volume %g m^3), as do %zu of %zu; repair the mesh", t,
                                    volume, inverted, mesh->tet_count);
        if (!(volume > 1e-14 * longest * longest * longest))
            return rbt_compile_fail(c, body, "mesh",
                                    "tet %zu is flat (volume %g m^3 with an edge of %g m); repair the mesh", t,
                                    volume, longest);
    }
    unsigned char *used = calloc(mesh->node_count, 1);
    if (!used) return rbt_fail_memory(c->error, mesh->node_count, "a mesh");
    for (size_t i = 0; i < 4 * mesh->tet_count; i++) used[mesh->tets[i]] = 1;
    for (size_t i = 0; i < mesh->node_count; i++) nodes_used += used[i];
    free(used);
    if (nodes_used < mesh->node_count)
        return rbt_compile_warn(c, "body \"%s\": %zu nodes belong to no tet; they stay where they are",
                                c->bodies[body].name, mesh->node_count - nodes_used);
    return true;
}

bool rbt_compile_meshes(rbt_compiler *c) {
    for (size_t b = 0; b < c->scene->bodies.count; b++) {
        const rbt_body_def *def = &c->scene->bodies.items[b];
        c->bodies[b].name = rbt_arena_text(c->arena, def->name);
        double unit = 1;
        if (def->mesh.unit && !rbt_unit_factor(def->mesh.unit, &unit))
            return rbt_compile_fail(c, b, "mesh.unit", "no unit \"%s\"", def->mesh.unit);
        rbt_mesh *mesh = c->meshes[b] = load_mesh(c, &def->mesh);
        if (!mesh) return false;
        if (!mesh->tet_count)
            return rbt_compile_fail(
                c, b, "mesh",
                "has %zu triangles and no tets, but a solid needs tets; the shape \"surface\" makes them "
                "from a closed surface",
                mesh->triangle_count);
        rbt_place_points(mesh->nodes, mesh->node_count, unit, &def->transform);
        for (size_t i = 0; i < 3 * mesh->node_count; i++)
            if (!isfinite(mesh->nodes[i]))
                return rbt_compile_fail(c, b, "transform", "node %zu has a coordinate that is not a number", i / 3);
        if (!judge(c, b)) return false;
    }
    return true;
}

static bool build_node_tets(rbt_compiler *c) {
    rbt_model *m = c->model;
    rbt_rows rows;
    size_t *start;
    int32_t *items;
    if (!rbt_elements_of_nodes(m->tets, m->tet_count, 4, m->node_count, &rows, c->error)) return false;
    bool ok = RBT_TAKE(c, start, m->node_count + 1) && RBT_TAKE(c, items, 4 * m->tet_count);
    if (ok) {
        memcpy(start, rows.start, (m->node_count + 1) * sizeof *start);
        memcpy(items, rows.items, 4 * m->tet_count * sizeof *items);
        m->tet_start = start;
        m->node_tets = items;
    }
    rbt_rows_free(&rows);
    return ok;
}

static bool build_surface(rbt_compiler *c) {
    rbt_model *m = c->model;
    int32_t *hull = NULL, *triangles;
    double *area;
    size_t count;
    if (!rbt_boundary(m->tets, m->tet_count, m->node_count, &hull, NULL, &count, c->error)) return false;
    bool ok = RBT_TAKE(c, triangles, 3 * count) && RBT_TAKE(c, area, m->node_count);
    if (ok) {
        memcpy(triangles, hull, 3 * count * sizeof *hull);
        for (size_t t = 0; t < count; t++) {
            const double *p = m->X + 3 * (size_t)hull[3 * t];
            double u[3], v[3], n[3];
            rbt_subtract(m->X + 3 * (size_t)hull[3 * t + 1], p, u);
            rbt_subtract(m->X + 3 * (size_t)hull[3 * t + 2], p, v);
            rbt_cross(u, v, n);
            for (size_t a = 0; a < 3; a++) area[hull[3 * t + a]] += rbt_length(n) / 6;
        }
        for (size_t t = 0, b = 0; b < m->body_count; b++) {  // ordered by tet, hence by body
            c->bodies[b].triangle_begin = t;
            while (t < count && (size_t)m->node_body[hull[3 * t]] == b) t++;
            c->bodies[b].triangle_end = t;
        }
        m->triangles = triangles;
        m->triangle_count = count;
        m->node_area = area;
    }
    free(hull);
    return ok;
}

bool rbt_compile_geometry(rbt_compiler *c) {
    rbt_model *m = c->model;
    for (size_t b = 0; b < m->body_count; b++) {
        c->bodies[b].node_begin = m->node_count;
        c->bodies[b].tet_begin = m->tet_count;
        m->node_count += c->meshes[b]->node_count;
        m->tet_count += c->meshes[b]->tet_count;
        c->bodies[b].node_end = m->node_count;
        c->bodies[b].tet_end = m->tet_count;
    }
    if (m->node_count > INT32_MAX / 3 || m->tet_count > INT32_MAX / 4)
        return rbt_fail_path(c->error, c->scene->file, "bodies", "%zu nodes and %zu tets: the limits are %d and %d",
                             m->node_count, m->tet_count, INT32_MAX / 3, INT32_MAX / 4);
    double *X;
    int32_t *tets, *node_body;
    if (!RBT_TAKE(c, X, 3 * m->node_count) || !RBT_TAKE(c, tets, 4 * m->tet_count) ||
        !RBT_TAKE(c, node_body, m->node_count))
        return false;
    for (size_t b = 0; b < m->body_count; b++) {
        rbt_body *body = &c->bodies[b];
        const rbt_mesh *mesh = c->meshes[b];
        memcpy(X + 3 * body->node_begin, mesh->nodes, 3 * mesh->node_count * sizeof *X);
        for (size_t i = 0; i < 4 * mesh->tet_count; i++)
            tets[4 * body->tet_begin + i] = mesh->tets[i] + (int32_t)body->node_begin;
        for (int k = 0; k < 3; k++) body->box_min[k] = INFINITY, body->box_max[k] = -INFINITY;
        for (size_t i = 0; i < mesh->node_count; i++) {
            node_body[body->node_begin + i] = (int32_t)b;
            for (int k = 0; k < 3; k++) {
                body->box_min[k] = fmin(body->box_min[k], mesh->nodes[3 * i + (size_t)k]);
                body->box_max[k] = fmax(body->box_max[k], mesh->nodes[3 * i + (size_t)k]);
            }
        }
    }
    m->X = X;
    m->tets = tets;
    m->node_body = node_body;
    return build_surface(c) && build_node_tets(c);
}

bool rbt_compile_skins(rbt_compiler *c) {
    rbt_model *m = c->model;
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body_def *def = &c->scene->bodies.items[b];
        rbt_body *body = &c->bodies[b];
        if (!def->surface) continue;
        double unit = 1;
        if (def->surface->unit && !rbt_unit_factor(def->surface->unit, &unit))
            return rbt_compile_fail(c, b, "surface.unit", "no unit \"%s\"", def->surface->unit);
        char *path = rbt_path_join(c->scene->folder, def->surface->file);
        rbt_mesh *surface = path ? rbt_mesh_read(path, c->error) : NULL;
        free(path);
        if (!surface) return false;
        int32_t *triangles;
        bool ok = surface->triangle_count > 0 ||
                  rbt_compile_fail(c, b, "surface", "\"%s\" has no triangles", def->surface->file);
        if (ok) rbt_place_points(surface->nodes, surface->node_count, unit, &def->transform);
        ok = ok && rbt_embed(m->X, m->node_count, m->tets + 4 * body->tet_begin, body->tet_end - body->tet_begin,
                             surface->nodes, surface->node_count, &body->skin.embedding, c->error);
        ok = ok && RBT_TAKE(c, triangles, 3 * surface->triangle_count);
        if (ok) {
            memcpy(triangles, surface->triangles, 3 * surface->triangle_count * sizeof *triangles);
            body->skin.triangles = triangles;
            body->skin.triangle_count = surface->triangle_count;
            rbt_embedding *e = &body->skin.embedding;
            for (size_t i = 0; i < e->vertex_count; i++) e->tet[i] += (int32_t)body->tet_begin;
            double diagonal[3];
            rbt_subtract(body->box_max, body->box_min, diagonal);
            if (e->farthest > 0.1 * rbt_length(diagonal))
                ok = rbt_compile_warn(
                    c, "body \"%s\": a vertex of its surface is %g m outside the tets; do unit and place agree?",
                    body->name, e->farthest);
        }
        rbt_mesh_free(surface);
        if (!ok) return false;
    }
    return true;
}
