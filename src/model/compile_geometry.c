// Meshes of the bodies and the arrays made of them.
#include "mesh/core/build.h"
#include "mesh/core/topology.h"
#include "mesh/core/unit.h"
#include "model/compile.h"
#include "model/deform.h"
#include "model/mesh_load.h"

#include "math/vec3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

// The nodes alone count.
static bool choose_particles(rbt_compiler *c, size_t b) {
    const rbt_body_def *def = &c->scene->bodies.items[b];
    rbt_mesh *mesh = c->uncut[b];
    const char *extra = def->shell ? "shell" : def->springs ? "springs" : def->surface ? "surface" : NULL;
    if (extra) return rbt_compile_fail(c, b, extra, "the body is made of particles; leave \"%s\" out", extra);
    if (def->consistent_mass || def->regions.count)
        return rbt_compile_fail(c, b, def->regions.count ? "regions" : "consistent_mass",
                                "is for bodies with elements, but this one is made of particles");
    mesh->tet_count = mesh->triangle_count = mesh->edge_count = 0;
    c->bodies[b].kind = RBT_PARTICLES;
    c->bodies[b].particles = *def->particles;
    return true;
}

// What the body is made of follows from its mesh; "shell" and "springs" must agree with it.
static bool choose_kind(rbt_compiler *c, size_t b) {
    const rbt_body_def *def = &c->scene->bodies.items[b];
    const rbt_mesh *mesh = c->uncut[b];
    rbt_body *body = &c->bodies[b];
    if (def->particles) return choose_particles(c, b);
    const char *extra = mesh->tet_count        ? (def->shell     ? "shell"
                                                  : def->springs ? "springs"
                                                                 : NULL)
                        : mesh->triangle_count ? (def->springs ? "springs" : NULL)
                                               : (def->shell ? "shell" : NULL);
    if (extra && mesh->tet_count)
        return rbt_compile_fail(c, b, extra, "the mesh has %zu tets and makes a solid; leave \"%s\" out",
                                mesh->tet_count, extra);
    if (extra && mesh->triangle_count)
        return rbt_compile_fail(c, b, extra,
                                "the mesh has %zu triangles and makes a shell; \"springs\" is for meshes of edges, "
                                "shell.membrane = \"springs\" puts a spring along every edge of the triangles",
                                mesh->triangle_count);
    if (extra)
        return rbt_compile_fail(c, b, extra, "the mesh has %zu edges and no triangles to make a shell of",
                                mesh->edge_count);
    if (!mesh->tet_count && mesh->triangle_count && !def->shell)
        return rbt_compile_fail(c, b, "mesh",
                                "has %zu triangles and no tets: give the body a \"shell\" with its thickness to make "
                                "it a sheet, or make a solid of a closed surface with the shape \"surface\"",
                                mesh->triangle_count);
    if (!mesh->tet_count && !mesh->triangle_count && mesh->edge_count && !def->springs)
        return rbt_compile_fail(c, b, "mesh",
                                "has %zu edges and no tets or triangles: give the body \"springs\" with their "
                                "stiffness and the mass of a node",
                                mesh->edge_count);
    if (!mesh->tet_count && !mesh->triangle_count && !mesh->edge_count)
        return rbt_compile_fail(c, b, "mesh", "has %zu nodes but no tets, triangles or edges", mesh->node_count);
    body->kind = mesh->tet_count ? RBT_SOLID : mesh->triangle_count ? RBT_SHELL : RBT_NET;
    if (body->kind != RBT_SOLID && def->consistent_mass)
        return rbt_compile_fail(c, b, "consistent_mass", "is for tets, but the body is made of %ss",
                                rbt_body_element(body));
    if (body->kind == RBT_SHELL) body->shell = *def->shell;
    if (body->kind == RBT_NET) body->springs = *def->springs;
    return true;
}

// Some formats and a mirroring transform number all tets the other way round: then all are renumbered. A single tet
// that disagrees with the others lies inside out and cannot be simulated.
static bool judge_tets(rbt_compiler *c, size_t body) {
    rbt_mesh *mesh = c->uncut[body];
    size_t negative = 0;
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
    return true;
}

static bool judge_triangles(rbt_compiler *c, size_t body) {
    const rbt_mesh *mesh = c->uncut[body];
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *triangle = mesh->triangles + 3 * t;
        double edge[3][3], normal[3], longest = 0;
        for (int a = 0; a < 3; a++) {
            rbt_subtract(mesh->nodes + 3 * (size_t)triangle[(a + 1) % 3], mesh->nodes + 3 * (size_t)triangle[a],
                         edge[a]);
            longest = fmax(longest, rbt_length(edge[a]));
        }
        rbt_cross(edge[0], edge[1], normal);
        if (!(rbt_length(normal) > 1e-9 * longest * longest))
            return rbt_compile_fail(c, body, "mesh",
                                    "triangle %zu has no area (%g m^2 with an edge of %g m); repair the mesh", t,
                                    0.5 * rbt_length(normal), longest);
    }
    return true;
}

static bool judge_edges(rbt_compiler *c, size_t body) {
    const rbt_mesh *mesh = c->uncut[body];
    for (size_t e = 0; e < mesh->edge_count; e++) {
        double along[3];
        rbt_subtract(mesh->nodes + 3 * (size_t)mesh->edges[2 * e + 1], mesh->nodes + 3 * (size_t)mesh->edges[2 * e],
                     along);
        if (!(rbt_length(along) > 0))
            return rbt_compile_fail(c, body, "mesh", "edge %zu has no length; repair the mesh", e);
    }
    return true;
}

static bool judge(rbt_compiler *c, size_t body) {
    const rbt_mesh *mesh = c->uncut[body];
    rbt_body_kind kind = c->bodies[body].kind;
    if (kind == RBT_PARTICLES) return true;
    if (kind == RBT_SOLID   ? !judge_tets(c, body)
        : kind == RBT_SHELL ? !judge_triangles(c, body)
                            : !judge_edges(c, body))
        return false;
    const int32_t *elements = kind == RBT_SOLID ? mesh->tets : kind == RBT_SHELL ? mesh->triangles : mesh->edges;
    size_t corners = kind == RBT_SOLID   ? 4 * mesh->tet_count
                     : kind == RBT_SHELL ? 3 * mesh->triangle_count
                                         : 2 * mesh->edge_count;
    size_t nodes_used = 0;
    unsigned char *used = calloc(mesh->node_count, 1);
    if (!used) return rbt_fail_memory(c->error, mesh->node_count, "a mesh");
    for (size_t i = 0; i < corners; i++) used[elements[i]] = 1;
    for (size_t i = 0; i < mesh->node_count; i++) nodes_used += used[i];
    free(used);
    if (nodes_used < mesh->node_count)
        return rbt_compile_warn(c, "body \"%s\": %zu nodes belong to no %s; they stay where they are",
                                c->bodies[body].name, mesh->node_count - nodes_used,
                                rbt_body_element(&c->bodies[body]));
    return true;
}

static bool place_mesh(rbt_compiler *c, size_t b) {
    const rbt_body_def *def = &c->scene->bodies.items[b];
    double unit = 1;
    if (def->mesh.unit && !rbt_unit_factor(def->mesh.unit, &unit))
        return rbt_compile_fail(c, b, "mesh.unit", "no unit \"%s\"", def->mesh.unit);
    rbt_mesh *mesh = c->uncut[b] = rbt_mesh_load(&def->mesh, c->scene->folder, c->error);
    if (!mesh) return false;
    c->sources->fits[b] = rbt_fit_measure(mesh->nodes, mesh->node_count, unit, &def->transform);
    rbt_place_points(mesh->nodes, mesh->node_count, unit, &def->transform, &c->sources->fits[b]);
    for (size_t i = 0; i < 3 * mesh->node_count; i++)
        if (!isfinite(mesh->nodes[i]))
            return rbt_compile_fail(c, b, "transform", "node %zu has a coordinate that is not a number", i / 3);
    return true;
}

// What cuts have left of a mesh
static rbt_mesh *dissected(rbt_compiler *c, size_t b) {
    const rbt_dissection *cut = rbt_compile_dissection(c, b);
    bool solid = cut->kind == &RBT_FACES_OF_TETS;
    rbt_mesh *mesh = rbt_mesh_new(c->error);
    if (mesh && rbt_mesh_allocate(mesh, cut->node_count, solid ? cut->element_count : 0,
                                  solid ? 0 : cut->element_count, 0, c->error)) {
        rbt_dissection_place(cut, c->uncut[b]->nodes, mesh->nodes);
        memcpy(solid ? mesh->tets : mesh->triangles, cut->elements,
               cut->element_count * (size_t)cut->kind->element_corners * sizeof *cut->elements);
        return mesh;
    }
    rbt_mesh_free(mesh);
    return NULL;
}

bool rbt_compile_meshes(rbt_compiler *c) {
    for (size_t b = 0; b < c->scene->bodies.count; b++) {
        c->bodies[b].name = rbt_arena_text(c->arena, c->scene->bodies.items[b].name);
        if ((!c->uncut[b] && !place_mesh(c, b)) || !choose_kind(c, b) || !judge(c, b)) return false;
        c->meshes[b] = rbt_compile_dissection(c, b) ? dissected(c, b) : c->uncut[b];
        if (!c->meshes[b]) return false;
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
        // fewer than 4 a tet if one has a corner twice, which is refused later
        memcpy(items, rows.items, rows.start[m->node_count] * sizeof *items);
        m->tet_start = start;
        m->node_tets = items;
    }
    rbt_rows_free(&rows);
    return ok;
}

// Hulls of solids, in the order of their tets and hence of the bodies, and the triangles of shells between them
static bool build_surface(rbt_compiler *c) {
    rbt_model *m = c->model;
    int32_t *hull = NULL, *triangles;
    double *area;
    size_t hull_count, count = 0, taken = 0;
    if (!rbt_boundary(m->tets, m->tet_count, m->node_count, &hull, NULL, &hull_count, c->error)) return false;
    m->triangle_count = hull_count;
    for (size_t b = 0; b < m->body_count; b++)
        if (c->bodies[b].kind == RBT_SHELL) m->triangle_count += c->meshes[b]->triangle_count;
    bool ok = m->triangle_count <= INT32_MAX / 3 ||
              rbt_fail_path(c->error, c->scene->file, "bodies", "%zu surface triangles: the limit is %d",
                            m->triangle_count, INT32_MAX / 3);
    ok = ok && RBT_TAKE(c, triangles, 3 * m->triangle_count) && RBT_TAKE(c, area, m->node_count);
    for (size_t b = 0; ok && b < m->body_count; b++) {
        rbt_body *body = &c->bodies[b];
        const rbt_mesh *mesh = c->meshes[b];
        body->triangle_begin = count;
        for (size_t i = 0; body->kind == RBT_SHELL && i < 3 * mesh->triangle_count; i++)
            triangles[3 * count + i] = mesh->triangles[i] + (int32_t)body->node_begin;
        if (body->kind == RBT_SHELL) count += mesh->triangle_count;
        for (; taken < hull_count && (size_t)m->node_body[hull[3 * taken]] == b; taken++, count++)
            memcpy(triangles + 3 * count, hull + 3 * taken, 3 * sizeof *hull);
        body->triangle_end = count;
    }
    for (size_t t = 0; ok && t < count; t++) {
        const double *p = m->X + 3 * (size_t)triangles[3 * t];
        double u[3], v[3], n[3];
        rbt_subtract(m->X + 3 * (size_t)triangles[3 * t + 1], p, u);
        rbt_subtract(m->X + 3 * (size_t)triangles[3 * t + 2], p, v);
        rbt_cross(u, v, n);
        for (size_t a = 0; a < 3; a++) area[triangles[3 * t + a]] += rbt_length(n) / 6;
    }
    free(hull);
    if (!ok) return false;
    m->triangles = triangles;
    m->node_area = area;
    return true;
}

bool rbt_compile_geometry(rbt_compiler *c) {
    rbt_model *m = c->model;
    for (size_t b = 0; b < m->body_count; b++) {
        c->bodies[b].node_begin = m->node_count;
        c->bodies[b].tet_begin = m->tet_count;
        c->bodies[b].edge_begin = m->edge_count;
        m->node_count += c->meshes[b]->node_count;
        m->tet_count += c->meshes[b]->tet_count;
        if (c->bodies[b].kind == RBT_NET) m->edge_count += c->meshes[b]->edge_count;
        c->bodies[b].node_end = m->node_count;
        c->bodies[b].tet_end = m->tet_count;
        c->bodies[b].edge_end = m->edge_count;
    }
    if (m->node_count > INT32_MAX / 3 || m->tet_count > INT32_MAX / 4 || m->edge_count > INT32_MAX / 2)
        return rbt_fail_path(c->error, c->scene->file, "bodies",
                             "%zu nodes, %zu tets and %zu edges: the limits are %d, %d and %d", m->node_count,
                             m->tet_count, m->edge_count, INT32_MAX / 3, INT32_MAX / 4, INT32_MAX / 2);
    double *X;
    int32_t *tets, *edges, *node_body;
    if (!RBT_TAKE(c, X, 3 * m->node_count) || !RBT_TAKE(c, tets, 4 * m->tet_count) ||
        !RBT_TAKE(c, edges, 2 * m->edge_count) || !RBT_TAKE(c, node_body, m->node_count))
        return false;
    for (size_t b = 0; b < m->body_count; b++) {
        rbt_body *body = &c->bodies[b];
        const rbt_mesh *mesh = c->meshes[b];
        memcpy(X + 3 * body->node_begin, mesh->nodes, 3 * mesh->node_count * sizeof *X);
        for (size_t i = 0; i < 4 * mesh->tet_count; i++)
            tets[4 * body->tet_begin + i] = mesh->tets[i] + (int32_t)body->node_begin;
        for (size_t i = 0; i < 2 * (body->edge_end - body->edge_begin); i++)
            edges[2 * body->edge_begin + i] = mesh->edges[i] + (int32_t)body->node_begin;
        for (int k = 0; k < 3; k++) body->box_min[k] = INFINITY, body->box_max[k] = -INFINITY;
        for (size_t i = 0; i < mesh->node_count; i++) node_body[body->node_begin + i] = (int32_t)b;
        for (size_t i = 0; i < 3 * c->uncut[b]->node_count; i++) {  // where a body is cut does not change its box
            body->box_min[i % 3] = fmin(body->box_min[i % 3], c->uncut[b]->nodes[i]);
            body->box_max[i % 3] = fmax(body->box_max[i % 3], c->uncut[b]->nodes[i]);
        }
    }
    m->X = X;
    m->tets = tets;
    m->edges = edges;
    m->node_body = node_body;
    return build_surface(c) && build_node_tets(c);
}
