// Embedded render surfaces.
//
// A body that has been cut shows its embedded surface cut too: the embedded surface's triangles are split where the
// faces go through them that cuts have opened (as elements are by the cut itself, mesh/cut/cut.h), parted there, and
// every vertex is carried by a tet on its own side. The opened faces become part of the embedded, so that the body is
// closed again. Vertices in no tet are moved to theirs while that is found out; and the opened faces reach out a
// little along the hull's normals, for triangles that span a hollow.
#include "base/file.h"
#include "math/vec3.h"
#include "mesh/core/unit.h"
#include "model/compile.h"

#include <string.h>

static const double ASIDE =
    0.3;  // how far from a vertex on the cut towards the middle of a triangle a tet is looked for

typedef struct hull {  // of a body that has been cut
    size_t count;
    int32_t *faces;        // (count x 3) nodes of the cut mesh, outwards
    int32_t *tets;         // (count) behind them
    unsigned char *flesh;  // (count) 1: a cut has opened it
    size_t flesh_count;
} hull;

// Whether a face of a part belonged to the hull of the uncut mesh: then it lies in one side of the old tet, and that
// was bare.
static bool was_bare(const rbt_dissection *cut, const int32_t *old_tet, unsigned bare, const int32_t *face) {
    unsigned corners = 0;
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < 4; i++) {
            int32_t node = cut->support[4 * (size_t)face[k] + i];
            for (unsigned a = 0; node >= 0 && a < 4; a++)
                if (old_tet[a] == node) corners |= 1u << a;
        }
    for (unsigned f = 0; f < 4; f++)
        if (bare >> f & 1 && !(corners >> f & 1)) return true;
    return false;
}

// bare (tets of the uncut mesh): bit a: the side opposite to corner a belongs to the hull.
static bool find_bare(const rbt_mesh *uncut, unsigned char *bare, rbt_error *error) {
    int32_t *faces, *owner;
    size_t count;
    if (!rbt_boundary(uncut->tets, uncut->tet_count, uncut->node_count, &faces, &owner, &count, error)) return false;
    for (size_t i = 0; i < count; i++)
        for (int a = 0; a < 4; a++) {
            int32_t node = uncut->tets[4 * (size_t)owner[i] + (size_t)a];
            if (node != faces[3 * i] && node != faces[3 * i + 1] && node != faces[3 * i + 2])
                bare[owner[i]] |= (unsigned char)(1u << a);
        }
    free(faces);
    free(owner);
    return true;
}

static bool find_hull(const rbt_dissection *cut, const rbt_mesh *uncut, hull *h, rbt_error *error) {
    unsigned char *bare = rbt_array_new(uncut->tet_count, 1, "the hull of a body", error);
    bool good =
        bare && find_bare(uncut, bare, error) &&
        rbt_boundary(cut->elements, cut->element_count, cut->node_count, &h->faces, &h->tets, &h->count, error) &&
        (h->flesh = rbt_array_new(h->count, 1, "the hull of a body", error));
    for (size_t i = 0; good && i < h->count; i++) {
        int32_t old = cut->origin[h->tets[i]];
        h->flesh[i] = !was_bare(cut, uncut->tets + 4 * (size_t)old, bare[old], h->faces + 3 * i);
        h->flesh_count += h->flesh[i];
    }
    free(bare);
    return good;
}

static void hull_free(hull *h) {
    free(h->faces);
    free(h->tets);
    free(h->flesh);
}

// ---- Normals of the uncut hull, the same for all doubles of a node

static int compare_places(const void *a, const void *b) { return memcmp(a, b, 3 * sizeof(double)); }

typedef struct place {
    double x[3];
    int32_t node;
} place;

// normals (node_count x 3): sums of the areas of faces that no cut has made
static bool hull_normals(const hull *h, const rbt_mesh *mesh, double *normals, rbt_error *error) {
    place *places = rbt_array_new(mesh->node_count, sizeof *places, "the hull of a body", error);
    if (!places) return false;
    for (size_t i = 0; i < h->count; i++) {
        double u[3], v[3], n[3];
        const int32_t *face = h->faces + 3 * i;
        if (h->flesh[i]) continue;
        rbt_subtract(mesh->nodes + 3 * (size_t)face[1], mesh->nodes + 3 * (size_t)face[0], u);
        rbt_subtract(mesh->nodes + 3 * (size_t)face[2], mesh->nodes + 3 * (size_t)face[0], v);
        rbt_cross(u, v, n);
        for (int k = 0; k < 3; k++) rbt_add_scaled(normals + 3 * (size_t)face[k], 1, n);
    }
    for (size_t n = 0; n < mesh->node_count; n++) {
        memcpy(places[n].x, mesh->nodes + 3 * n, sizeof places[n].x);
        places[n].node = (int32_t)n;
    }
    qsort(places, mesh->node_count, sizeof *places, compare_places);
    for (size_t i = 0, end; i < mesh->node_count; i = end) {
        double sum[3] = {0};
        for (end = i; end < mesh->node_count && compare_places(&places[i], &places[end]) == 0; end++)
            rbt_add_scaled(sum, 1, normals + 3 * (size_t)places[end].node);
        for (size_t k = i; k < end; k++) memcpy(normals + 3 * (size_t)places[k].node, sum, sizeof sum);
    }
    free(places);
    return true;
}

// ---- The opened faces as a surface that cuts the embedded surface

typedef struct ribbon {
    size_t count, capacity;
    double *corners;  // (count x 9)
    rbt_error *error;
} ribbon;

static bool add_triangle(ribbon *r, const double *a, const double *b, const double *c) {
    if (!rbt_array_reserve((void **)&r->corners, &r->capacity, r->count + 1, 9 * sizeof *r->corners,
                           "the embedded surface of a cut", r->error))
        return false;
    const double *x[3] = {a, b, c};
    for (size_t k = 0; k < 3; k++) memcpy(r->corners + 9 * r->count + 3 * k, x[k], 3 * sizeof *r->corners);
    r->count++;
    return true;
}

// From an edge of the hull outwards, and as far inwards
static bool add_strip(ribbon *r, const rbt_mesh *mesh, const double *normals, int32_t p, int32_t q, double reach) {
    double far[2][3], n[3];
    const int32_t ends[2] = {p, q};
    for (int i = 0; i < 2; i++) {
        rbt_normalize(normals + 3 * (size_t)ends[i], n);
        memcpy(far[i], mesh->nodes + 3 * (size_t)ends[i], sizeof far[i]);
        rbt_add_scaled(far[i], reach, n);
    }
    const double *a = mesh->nodes + 3 * (size_t)p, *b = mesh->nodes + 3 * (size_t)q;
    return add_triangle(r, a, b, far[0]) && add_triangle(r, b, far[1], far[0]);
}

// The opened faces and, where they meet the old hull, strips along its normals of the length `reach`
static bool flesh_surface(const hull *h, const rbt_mesh *mesh, double reach, rbt_cut_surface *surface,
                          rbt_error *error) {
    ribbon r = {.error = error};
    uint32_t *first = rbt_array_new(h->count, 3 * sizeof *first, "the embedded surface of a cut", error);
    unsigned char *at_hull = rbt_array_new(h->count, 3, "the embedded surface of a cut", error);
    double *normals = rbt_array_new(mesh->node_count, 3 * sizeof *normals, "the embedded surface of a cut", error);
    bool good = first && at_hull && normals && hull_normals(h, mesh, normals, error) &&
                rbt_match_sides(h->faces, h->count, &RBT_EDGES_OF_TRIANGLES, mesh->node_count, first, error);
    for (size_t i = 0; good && i < 3 * h->count; i++)
        if (!h->flesh[i / 3] && first[i] != RBT_NO_SIDE) at_hull[first[i]] = 1;
    for (size_t i = 0; good && i < h->count; i++) {
        const int32_t *face = h->faces + 3 * i;
        if (!h->flesh[i]) continue;
        good = add_triangle(&r, mesh->nodes + 3 * (size_t)face[0], mesh->nodes + 3 * (size_t)face[1],
                            mesh->nodes + 3 * (size_t)face[2]);
        for (size_t k = 0; good && reach > 0 && k < 3; k++)
            if (first[3 * i + k] != RBT_NO_SIDE && at_hull[first[3 * i + k]])
                good = add_strip(&r, mesh, normals, face[k], face[(k + 1) % 3], reach);
    }
    int32_t *triangles =
        good ? rbt_array_new(r.count, 3 * sizeof *triangles, "the embedded surface of a cut", error) : NULL;
    for (size_t i = 0; triangles && i < 3 * r.count; i++) triangles[i] = (int32_t)i;
    good = triangles && rbt_cut_surface_init(surface, r.corners, 3 * r.count, triangles, r.count, NULL, error);
    free(first);
    free(at_hull);
    free(normals);
    free(triangles);
    free(r.corners);
    return good;
}

// ---- The embedded surface

static void weights_in(const double *X, const int32_t *tet, const double *p, double w[4]) {
    const double *x[4];
    for (int a = 0; a < 4; a++) x[a] = X + 3 * (size_t)tet[a];
    double whole = rbt_tet_volume(x[0], x[1], x[2], x[3]);
    w[1] = rbt_tet_volume(x[0], p, x[2], x[3]) / whole;
    w[2] = rbt_tet_volume(x[0], x[1], p, x[3]) / whole;
    w[3] = rbt_tet_volume(x[0], x[1], x[2], p) / whole;
    w[0] = 1 - w[1] - w[2] - w[3];
}

// Places of vertices for the cut: those in no tet move into theirs.
static void move_inside(const rbt_embedding *embedding, const rbt_mesh *uncut, double *places) {
    for (size_t i = 0; i < embedding->vertex_count; i++) {
        const double *w = embedding->weights + 4 * i;
        const int32_t *tet = uncut->tets + 4 * (size_t)embedding->tet[i];
        double sum = 0, inside[3] = {0};
        for (int a = 0; a < 4; a++) sum += fmax(w[a], 0);
        for (int a = 0; a < 4; a++) rbt_add_scaled(inside, fmax(w[a], 0) / sum, uncut->nodes + 3 * (size_t)tet[a]);
        memcpy(places + 3 * i, inside, sizeof inside);
    }
}

// Vertices on the cut are carried by the tet that is found a little aside, within the largest of their own triangles.
// `places`: moved inside; `really`: where they are.
static bool embed_parts(const rbt_cut_result *r, const double *places, const double *really, const rbt_mesh *mesh,
                        rbt_embedding *embedding, rbt_error *error) {
    double *aside = rbt_array_new(r->node_count, 3 * sizeof *aside, "the embedded surface of a cut", error);
    double *largest = rbt_array_new(r->node_count, sizeof *largest, "the embedded surface of a cut", error);
    bool good = aside && largest;
    if (good) memcpy(aside, places, 3 * r->node_count * sizeof *aside);
    for (size_t t = 0; good && t < r->element_count; t++) {
        const int32_t *corner = r->elements + 3 * t;
        const double *x[3] = {places + 3 * (size_t)corner[0], places + 3 * (size_t)corner[1],
                              places + 3 * (size_t)corner[2]};
        double u[3], v[3], n[3];
        rbt_subtract(x[1], x[0], u);
        rbt_subtract(x[2], x[0], v);
        rbt_cross(u, v, n);
        for (size_t k = 0; k < 3; k++) {
            if (!r->on[corner[k]] || !(rbt_dot(n, n) > largest[corner[k]])) continue;
            largest[corner[k]] = rbt_dot(n, n);
            for (size_t a = 0; a < 3; a++)
                aside[3 * (size_t)corner[k] + a] = x[k][a] + ASIDE * ((x[0][a] + x[1][a] + x[2][a]) / 3 - x[k][a]);
        }
    }
    good = good && rbt_embed(mesh->nodes, mesh->node_count, mesh->tets, mesh->tet_count, aside, r->node_count,
                             embedding, error);
    for (size_t i = 0; good && i < r->node_count; i++)
        weights_in(mesh->nodes, mesh->tets + 4 * (size_t)embedding->tet[i], really + 3 * i,
                   embedding->weights + 4 * i);
    free(aside);
    free(largest);
    return good;
}

// Appends the opened faces: a vertex for every corner's node, carried by that node alone.
static bool add_flesh(rbt_compiler *c, const hull *h, const rbt_mesh *mesh, const rbt_cut_result *r,
                      rbt_embedded_surface *embedded) {
    rbt_embedding *e = &embedded->embedding;
    size_t vertices = e->vertex_count;
    int32_t *number = rbt_array_new(mesh->node_count, sizeof *number, "the embedded surface of a cut", c->error),
            *triangles;
    size_t tet_capacity = vertices, weight_capacity = vertices;
    if (!number) return false;
    bool ok = RBT_TAKE(c, triangles, 3 * (r->element_count + h->flesh_count)) &&
              rbt_array_reserve((void **)&e->tet, &tet_capacity, vertices + 3 * h->flesh_count, sizeof *e->tet,
                                "the embedded surface of a cut", c->error) &&
              rbt_array_reserve((void **)&e->weights, &weight_capacity, vertices + 3 * h->flesh_count,
                                4 * sizeof *e->weights, "the embedded surface of a cut", c->error);
    if (ok) memcpy(triangles, r->elements, 3 * r->element_count * sizeof *triangles);
    for (size_t i = 0, at = 3 * r->element_count; ok && i < 3 * h->count; i++) {
        int32_t node = h->faces[i], tet = h->tets[i / 3];
        if (!h->flesh[i / 3]) continue;
        if (!number[node]) {
            number[node] = (int32_t)++vertices;
            e->tet[vertices - 1] = tet;
            for (size_t a = 0; a < 4; a++)
                e->weights[4 * (vertices - 1) + a] = mesh->tets[4 * (size_t)tet + a] == node;
        }
        triangles[at++] = number[node] - 1;
    }
    if (ok) {
        e->vertex_count = vertices;
        embedded->triangles = triangles;
        embedded->triangle_count = r->element_count + h->flesh_count;
    }
    free(number);
    return ok;
}

// The embedded surface of a body that has been cut, tets counted from the body's first; embedded->embedding is that
// in the uncut mesh
static bool cut_embedded(rbt_compiler *c, size_t b, const rbt_mesh *surface, rbt_embedded_surface *embedded) {
    const rbt_dissection *cut = rbt_compile_dissection(c, b);
    // Where both sides of cuts with a width coincide: the surface is parted there, and follows its tets from then on.
    rbt_mesh closed = *c->meshes[b], *mesh = &closed;
    if (!(closed.nodes = rbt_array_new(closed.node_count, 3 * sizeof *closed.nodes, "positions", c->error)))
        return false;
    rbt_dissection_carry(cut, c->uncut[b]->nodes, 3, closed.nodes);
    hull h = {0};
    rbt_cut_surface blade = {0};
    rbt_cut_result r = {0};
    double *inside =
        rbt_array_new(surface->node_count, 3 * sizeof *inside, "the embedded surface of a cut", c->error);
    rbt_cut_mesh sheet = {
        &RBT_EDGES_OF_TRIANGLES, surface->node_count, surface->triangle_count, inside, surface->triangles, NULL};
    if (inside) move_inside(&embedded->embedding, c->uncut[b], inside);
    double reach = 2 * embedded->embedding.farthest;
    rbt_embedding_free(&embedded->embedding);
    bool ok = inside && find_hull(cut, c->uncut[b], &h, c->error) &&
              flesh_surface(&h, mesh, reach, &blade, c->error) &&
              rbt_cut(&sheet, &blade, &(rbt_cut_range){-INFINITY, INFINITY, 1e-6, 0}, &r, c->error);
    double *places =
        ok ? rbt_array_new(r.node_count, 6 * sizeof *places, "the embedded surface of a cut", c->error) : NULL;
    if (places) {
        double *really = places + 3 * r.node_count;
        rbt_cut_carry(&r, inside, 3, places);
        rbt_cut_carry(&r, surface->nodes, 3, really);
        ok = embed_parts(&r, places, really, mesh, &embedded->embedding, c->error) &&
             add_flesh(c, &h, mesh, &r, embedded);
    }
    ok = ok && places;
    free(places);
    free(inside);
    rbt_cut_result_free(&r);
    rbt_cut_surface_free(&blade);
    hull_free(&h);
    free(closed.nodes);
    return ok;
}

static bool plain_embedded(rbt_compiler *c, const rbt_mesh *surface, rbt_embedded_surface *embedded) {
    int32_t *triangles;
    if (!RBT_TAKE(c, triangles, 3 * surface->triangle_count)) return false;
    memcpy(triangles, surface->triangles, 3 * surface->triangle_count * sizeof *triangles);
    embedded->triangles = triangles;
    embedded->triangle_count = surface->triangle_count;
    return true;
}

// Tells if the surface does not seem to belong to the body.
static bool judge_embedded(rbt_compiler *c, const rbt_body *body, double farthest) {
    double diagonal[3];
    rbt_subtract(body->box_max, body->box_min, diagonal);
    return farthest <= 0.1 * rbt_length(diagonal) ||
           rbt_compile_warn(c,
                            "body \"%s\": a vertex of its surface is %g m outside the tets; do unit and place agree?",
                            body->name, farthest);
}

static bool compile_embedded(rbt_compiler *c, size_t b, const rbt_surface_def *def) {
    rbt_body *body = &c->bodies[b];
    const rbt_mesh *uncut = c->uncut[b];
    double unit = 1;
    if (def->unit && !rbt_unit_factor(def->unit, &unit))
        return rbt_compile_fail(c, b, "surface.unit", "no unit \"%s\"", def->unit);
    char *path = rbt_path_join(c->scene->folder, def->file);
    rbt_mesh *surface = path ? rbt_mesh_read(path, c->error) : NULL;
    free(path);
    if (!surface) return false;
    bool ok = surface->triangle_count > 0 || rbt_compile_fail(c, b, "surface", "\"%s\" has no triangles", def->file);
    if (ok)
        rbt_place_points(surface->nodes, surface->node_count, unit, &c->scene->bodies.items[b].transform,
                         &c->sources->fits[b]);
    rbt_embedded_surface *embedded = &body->embedded;
    ok = ok && rbt_embed(uncut->nodes, uncut->node_count, uncut->tets, uncut->tet_count, surface->nodes,
                         surface->node_count, &embedded->embedding, c->error);
    ok = ok && judge_embedded(c, body, embedded->embedding.farthest);
    if (ok && rbt_compile_dissection(c, b)) ok = cut_embedded(c, b, surface, embedded);
    else ok = ok && plain_embedded(c, surface, embedded);
    for (size_t i = 0; ok && i < embedded->embedding.vertex_count; i++)
        embedded->embedding.tet[i] += (int32_t)body->tet_begin;
    rbt_mesh_free(surface);
    return ok;
}

bool rbt_compile_embedded(rbt_compiler *c) {
    for (size_t b = 0; b < c->model->body_count; b++) {
        const rbt_body_def *def = &c->scene->bodies.items[b];
        if (!def->surface) continue;
        if (c->bodies[b].kind != RBT_SOLID)
            return rbt_compile_fail(c, b, "surface",
                                    "tets carry a finer surface, but this body has none; leave \"surface\" out");
        if (!compile_embedded(c, b, def->surface)) return false;
    }
    return true;
}
