#include "out/surface.h"

#include <limits.h>
#include <string.h>

static bool has_embedded(const rbt_body *body) { return body->embedded.triangles && body->embedded.embedding.tet; }

// Numbers the nodes that the body's hull uses; `number` holds -1 for the others. Returns how many there are.
static size_t number_hull(const rbt_model *model, const rbt_body *body, int32_t first, int32_t *number) {
    for (size_t i = 3 * body->triangle_begin; i < 3 * body->triangle_end; i++) number[model->triangles[i]] = 0;
    size_t count = 0;
    for (size_t n = body->node_begin; n < body->node_end; n++)
        if (number[n] == 0) number[n] = first + (int32_t)count++;
    return count;
}

// The ranges of all parts and, in `number`, the vertex of every hull node.
static bool lay_out(rbt_surface *s, int32_t *number, rbt_error *error) {
    for (size_t n = 0; n < s->model->node_count; n++) number[n] = -1;
    for (size_t b = 0; b < s->part_count; b++) {
        const rbt_body *body = &s->model->bodies[b];
        rbt_surface_part *part = &s->parts[b];
        *part = (rbt_surface_part){.name = body->name,
                                   .is_embedded = has_embedded(body),
                                   .vertex_begin = s->vertex_count,
                                   .triangle_begin = s->triangle_count};
        if (part->is_embedded) {
            s->has_embedded = true;
            s->vertex_count += body->embedded.embedding.vertex_count;
            s->triangle_count += body->embedded.triangle_count;
        } else {
            s->vertex_count += number_hull(s->model, body, (int32_t)s->vertex_count, number);
            s->triangle_count += body->triangle_end - body->triangle_begin;
        }
        part->vertex_end = s->vertex_count;
        part->triangle_end = s->triangle_count;
        if (s->vertex_count > INT32_MAX || s->triangle_count > INT32_MAX / 3)
            return rbt_fail(error,
                            "the render surface has %zu vertices and %zu triangles up to body %s, but at most %d "
                            "vertices and %d triangles can be written; use coarser surfaces",
                            s->vertex_count, s->triangle_count, body->name, INT32_MAX, INT32_MAX / 3);
    }
    return true;
}

static void connect(rbt_surface *s, const int32_t *number) {
    for (size_t b = 0; b < s->part_count; b++) {
        const rbt_surface_part *part = &s->parts[b];
        const rbt_body *body = &s->model->bodies[b];
        int32_t *to = s->triangles + 3 * part->triangle_begin;
        size_t corners = 3 * (part->triangle_end - part->triangle_begin);
        if (part->is_embedded) {
            for (size_t i = 0; i < corners; i++) to[i] = body->embedded.triangles[i] + (int32_t)part->vertex_begin;
            for (size_t v = part->vertex_begin; v < part->vertex_end; v++) s->node[v] = -1;
        } else {
            const int32_t *from = s->model->triangles + 3 * body->triangle_begin;
            for (size_t i = 0; i < corners; i++) to[i] = number[from[i]];
            for (size_t n = body->node_begin; n < body->node_end; n++)
                if (number[n] >= 0) s->node[number[n]] = (int32_t)n;
        }
    }
}

bool rbt_surface_build(rbt_surface *surface, const rbt_model *model, rbt_error *error) {
    *surface = (rbt_surface){.model = model, .part_count = model->body_count};
    int32_t *number = rbt_array_new(model->node_count, sizeof *number, "the numbers of surface vertices", error);
    surface->parts = rbt_array_new(model->body_count, sizeof *surface->parts, "the parts of the surface", error);
    bool good = number && surface->parts && lay_out(surface, number, error);
    if (good) {
        surface->triangles = rbt_array_new(surface->triangle_count, 3 * sizeof(int32_t), "surface triangles", error);
        surface->node = rbt_array_new(surface->vertex_count, sizeof(int32_t), "surface vertices", error);
        good = surface->triangles && surface->node;
    }
    if (good) connect(surface, number);
    else rbt_surface_free(surface);
    free(number);
    return good;
}

void rbt_surface_free(rbt_surface *surface) {
    free(surface->parts);
    free(surface->triangles);
    free(surface->node);
    *surface = (rbt_surface){0};
}

void rbt_surface_evaluate(const rbt_surface *surface, const double *nodal, double *vertices) {
    for (size_t b = 0; b < surface->part_count; b++) {
        const rbt_surface_part *part = &surface->parts[b];
        if (part->is_embedded) {
            rbt_embedding_apply(&surface->model->bodies[b].embedded.embedding, surface->model->tets, nodal,
                                vertices + 3 * part->vertex_begin);
            continue;
        }
        for (size_t v = part->vertex_begin; v < part->vertex_end; v++)
            memcpy(vertices + 3 * v, nodal + 3 * (size_t)surface->node[v], 3 * sizeof *vertices);
    }
}
