// What a frame's VTU files show: the fields of the tets and of the render surface.
#include "out/vtu.h"

bool rbt_vtu_frame_init(rbt_vtu_frame *frame, const rbt_model *model, const rbt_surface *surface, rbt_error *error) {
    size_t point = 3 * sizeof(double), vertices = surface ? surface->vertex_count : 0;
    size_t triangles = surface ? surface->triangle_count : 0;
    *frame = (rbt_vtu_frame){
        .displacement = rbt_array_new(model->node_count, point, "displacements", error),
        .stress = rbt_array_new(model->tet_count, sizeof(double), "stresses", error),
        .body_of_tet = rbt_array_new(model->tet_count, sizeof(int32_t), "body numbers", error),
        .vertices = rbt_array_new(vertices, point, "surface positions", error),
        .vertex_shift = rbt_array_new(vertices, point, "surface displacements", error),
        .vertex_velocity = rbt_array_new(vertices, point, "surface velocities", error),
        .body_of_triangle = rbt_array_new(triangles, sizeof(int32_t), "body numbers", error),
    };
    if (!frame->displacement || !frame->stress || !frame->body_of_tet || !frame->vertices || !frame->vertex_shift ||
        !frame->vertex_velocity || !frame->body_of_triangle) {
        rbt_vtu_frame_free(frame);
        return false;
    }
    for (size_t b = 0; b < model->body_count; b++) {
        for (size_t t = model->bodies[b].tet_begin; t < model->bodies[b].tet_end; t++)
            frame->body_of_tet[t] = (int32_t)b;
        if (!surface) continue;
        for (size_t t = surface->parts[b].triangle_begin; t < surface->parts[b].triangle_end; t++)
            frame->body_of_triangle[t] = (int32_t)b;
    }
    return true;
}

void rbt_vtu_frame_free(rbt_vtu_frame *frame) {
    free(frame->displacement);
    free(frame->stress);
    free(frame->body_of_tet);
    free(frame->vertices);
    free(frame->vertex_shift);
    free(frame->vertex_velocity);
    free(frame->body_of_triangle);
    *frame = (rbt_vtu_frame){0};
}

bool rbt_vtu_write_tets(const char *path, rbt_vtu_frame *frame, const rbt_model *model, const rbt_state *state,
                        rbt_vtu_options options, rbt_error *error) {
    for (size_t i = 0; i < 3 * model->node_count; i++) frame->displacement[i] = state->x[i] - model->X[i];
    rbt_model_von_mises(model, state->x, frame->stress);
    const rbt_vtu_field points[] = {{"displacement", 3, frame->displacement, NULL}, {"velocity", 3, state->v, NULL}};
    const rbt_vtu_field cells[] = {{"region", 1, NULL, model->tet_region},
                                   {"body", 1, NULL, frame->body_of_tet},
                                   {"von_mises", 1, frame->stress, NULL}};
    rbt_vtu_grid grid = {.time = state->t,
                         .point_count = model->node_count,
                         .cell_count = model->tet_count,
                         .points = state->x,
                         .cells = model->tets,
                         .corners = 4,
                         .cell_type = RBT_VTU_TET,
                         .point_field_count = 2,
                         .cell_field_count = 3,
                         .point_fields = points,
                         .cell_fields = cells};
    return rbt_vtu_write(path, &grid, options, error);
}

// Vertices are linear in the nodes, so displacements and velocities are carried over like positions.
bool rbt_vtu_write_surface(const char *path, rbt_vtu_frame *frame, const rbt_surface *surface, const rbt_state *state,
                           rbt_vtu_options options, rbt_error *error) {
    const rbt_model *model = surface->model;
    for (size_t i = 0; i < 3 * model->node_count; i++) frame->displacement[i] = state->x[i] - model->X[i];
    rbt_surface_evaluate(surface, state->x, frame->vertices);
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
