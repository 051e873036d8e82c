// What a frame's VTU files show: the fields of all elements and of the render surface.
#include "out/vtu.h"

#include <limits.h>
#include <string.h>

// ---- The cells: tets, then triangles of shells, then edges

static size_t cells_of_kind(const rbt_model *model, rbt_body_kind kind) {
    size_t count = 0;
    for (size_t b = 0; b < model->body_count; b++)
        if (model->bodies[b].kind == kind) count += rbt_body_element_count(&model->bodies[b]);
    return count;
}

static int32_t first_region(const rbt_model *model, size_t body) {
    for (size_t r = 0; r < model->region_count; r++)
        if ((size_t)model->regions[r].body == body) return (int32_t)r;
    return 0;
}

// Appends the elements of one body; *corner counts what is in frame->cells so far.
static void add_body(rbt_vtu_frame *frame, const rbt_model *model, size_t b, size_t *cell, size_t *corner) {
    const rbt_body *body = &model->bodies[b];
    static const struct {
        size_t corners;
        unsigned char type;
    } kinds[RBT_BODY_KINDS] = {{4, RBT_VTU_TET}, {3, RBT_VTU_TRIANGLE}, {2, RBT_VTU_LINE}, {1, RBT_VTU_VERTEX}};
    size_t begin = body->kind == RBT_SOLID   ? body->tet_begin
                   : body->kind == RBT_SHELL ? body->triangle_begin
                                             : body->edge_begin;
    const int32_t *elements = body->kind == RBT_SOLID   ? model->tets
                              : body->kind == RBT_SHELL ? model->triangles
                                                        : model->edges;
    const int32_t *regions = body->kind == RBT_SOLID   ? model->tet_region
                             : body->kind == RBT_SHELL ? model->triangle_region
                                                       : NULL;
    size_t corners = kinds[body->kind].corners, count = rbt_body_element_count(body);
    int32_t region = regions ? 0 : first_region(model, b);
    if (body->kind == RBT_PARTICLES)
        for (size_t i = 0; i < count; i++) frame->cells[*corner + i] = (int32_t)(body->node_begin + i);
    else memcpy(frame->cells + *corner, elements + corners * begin, count * corners * sizeof *frame->cells);
    for (size_t i = 0; i < count; i++, ++*cell) {
        *corner += corners;
        frame->ends[*cell] = (int32_t)*corner;
        frame->types[*cell] = kinds[body->kind].type;
        frame->region[*cell] = regions ? regions[begin + i] : region;
        frame->body[*cell] = (int32_t)b;
    }
}

static bool list_cells(rbt_vtu_frame *frame, const rbt_model *model, rbt_error *error) {
    size_t tets = cells_of_kind(model, RBT_SOLID), triangles = cells_of_kind(model, RBT_SHELL);
    size_t edges = cells_of_kind(model, RBT_NET), points = cells_of_kind(model, RBT_PARTICLES);
    size_t corners = 4 * tets + 3 * triangles + 2 * edges + points;
    frame->cell_count = tets + triangles + edges + points;
    if (corners > INT32_MAX)
        return rbt_fail(error,
                        "%zu corners of elements are more than the %d that a VTU file with 32-bit offsets can hold",
                        corners, INT32_MAX);
    frame->cells = rbt_array_new(corners, sizeof *frame->cells, "cells", error);
    frame->ends = rbt_array_new(frame->cell_count, sizeof *frame->ends, "cells", error);
    frame->types = rbt_array_new(frame->cell_count, sizeof *frame->types, "cells", error);
    frame->region = rbt_array_new(frame->cell_count, sizeof *frame->region, "region numbers", error);
    frame->body = rbt_array_new(frame->cell_count, sizeof *frame->body, "body numbers", error);
    frame->stress = rbt_array_new(frame->cell_count, sizeof *frame->stress, "stresses", error);
    frame->triangle_stress = rbt_array_new(triangles ? model->triangle_count : 0, sizeof(double), "stresses", error);
    if (!frame->cells || !frame->ends || !frame->types || !frame->region || !frame->body || !frame->stress ||
        !frame->triangle_stress)
        return false;
    size_t cell = 0, corner = 0;
    for (int kind = 0; kind < RBT_BODY_KINDS; kind++)
        for (size_t b = 0; b < model->body_count; b++)
            if ((int)model->bodies[b].kind == kind) add_body(frame, model, b, &cell, &corner);
    return true;
}

// Tets come first and in the model's order; then the triangles of shells. Edges keep their 0.
void rbt_vtu_frame_stress(rbt_vtu_frame *frame, const rbt_model *model, const double *x) {
    rbt_model_von_mises(model, x, frame->stress);
    double *to = frame->stress + model->tet_count;
    bool evaluated = false;
    for (size_t b = 0; b < model->body_count; b++) {
        const rbt_body *body = &model->bodies[b];
        if (body->kind != RBT_SHELL || !rbt_body_element_count(body)) continue;  // a rank may have none of it
        if (!evaluated) rbt_model_shell_von_mises(model, x, frame->triangle_stress);
        evaluated = true;
        size_t count = rbt_body_element_count(body);
        memcpy(to, frame->triangle_stress + body->triangle_begin, count * sizeof *to);
        to += count;
    }
}

// ---- Frames

bool rbt_vtu_frame_init(rbt_vtu_frame *frame, const rbt_model *model, const rbt_surface *surface, rbt_error *error) {
    size_t point = 3 * sizeof(double), vertices = surface ? surface->vertex_count : 0;
    size_t triangles = surface ? surface->triangle_count : 0;
    *frame = (rbt_vtu_frame){
        .displacement = rbt_array_new(model->node_count, point, "displacements", error),
        .vertices = rbt_array_new(vertices, point, "surface positions", error),
        .vertex_shift = rbt_array_new(vertices, point, "surface displacements", error),
        .vertex_velocity = rbt_array_new(vertices, point, "surface velocities", error),
        .body_of_triangle = rbt_array_new(triangles, sizeof(int32_t), "body numbers", error),
    };
    if (!frame->displacement || !frame->vertices || !frame->vertex_shift || !frame->vertex_velocity ||
        !frame->body_of_triangle || !list_cells(frame, model, error)) {
        rbt_vtu_frame_free(frame);
        return false;
    }
    for (size_t b = 0; surface && b < model->body_count; b++)
        for (size_t t = surface->parts[b].triangle_begin; t < surface->parts[b].triangle_end; t++)
            frame->body_of_triangle[t] = (int32_t)b;
    return true;
}

void rbt_vtu_frame_free(rbt_vtu_frame *frame) {
    free(frame->displacement);
    free(frame->cells);
    free(frame->ends);
    free(frame->types);
    free(frame->region);
    free(frame->body);
    free(frame->stress);
    free(frame->triangle_stress);
    free(frame->vertices);
    free(frame->vertex_shift);
    free(frame->vertex_velocity);
    free(frame->body_of_triangle);
    *frame = (rbt_vtu_frame){0};
}

void rbt_vtu_frame_evaluate(rbt_vtu_frame *frame, const rbt_model *model, const rbt_state *state) {
    const double *x = frame->shown ? frame->shown : state->x;
    for (size_t i = 0; i < 3 * model->node_count; i++) frame->displacement[i] = x[i] - model->X[i];
    rbt_vtu_frame_stress(frame, model, state->x);
}

bool rbt_vtu_write_elements(const char *path, rbt_vtu_frame *frame, const rbt_model *model, const rbt_state *state,
                            rbt_vtu_options options, rbt_error *error) {
    rbt_vtu_frame_evaluate(frame, model, state);
    rbt_vtu_field points[4] = {{"displacement", 3, frame->displacement, NULL}, {"velocity", 3, state->v, NULL}};
    size_t point_fields = 2;
    if (frame->contact) points[point_fields++] = (rbt_vtu_field){"contact_force", 3, frame->contact, NULL};
    if (frame->labels) points[point_fields++] = (rbt_vtu_field){frame->label_name, 1, NULL, frame->labels};
    const rbt_vtu_field cells[] = {
        {"region", 1, NULL, frame->region}, {"body", 1, NULL, frame->body}, {"von_mises", 1, frame->stress, NULL}};
    rbt_vtu_grid grid = {.time = state->t,
                         .point_count = model->node_count,
                         .cell_count = frame->cell_count,
                         .points = frame->shown ? frame->shown : state->x,
                         .cells = frame->cells,
                         .ends = frame->ends,
                         .types = frame->types,
                         .point_field_count = point_fields,
                         .cell_field_count = 3,
                         .point_fields = points,
                         .cell_fields = cells};
    return rbt_vtu_write(path, &grid, options, error);
}

// Vertices are linear in the nodes, so displacements and velocities are carried over like positions.
bool rbt_vtu_write_surface(const char *path, rbt_vtu_frame *frame, const rbt_surface *surface, const rbt_state *state,
                           rbt_vtu_options options, rbt_error *error) {
    const rbt_model *model = surface->model;
    const double *x = frame->shown ? frame->shown : state->x;
    for (size_t i = 0; i < 3 * model->node_count; i++) frame->displacement[i] = x[i] - model->X[i];
    rbt_surface_evaluate(surface, x, frame->vertices);
    rbt_surface_evaluate(surface, frame->displacement, frame->vertex_shift);
    rbt_surface_evaluate(surface, state->v, frame->vertex_velocity);
    const rbt_vtu_field points[] = {{"displacement", 3, frame->vertex_shift, NULL},
                                    {"velocity", 3, frame->vertex_velocity, NULL}};
    const rbt_vtu_field cells[] = {{"body", 1, NULL, frame->body_of_triangle}};
    rbt_vtu_grid grid = {.time = state->t,
                         .point_count = surface->vertex_count,
                         .cell_count = surface->triangle_count,
                         .points = frame->vertices,
                         .cells = surface->triangles,
                         .corners = 3,
                         .cell_type = RBT_VTU_TRIANGLE,
                         .point_field_count = 2,
                         .cell_field_count = 1,
                         .point_fields = points,
                         .cell_fields = cells};
    return rbt_vtu_write(path, &grid, options, error);
}
