#include "view/live.h"

#include "base/memory.h"
#include "mesh/core/build.h"
#include "out/surface.h"
#include "out/vtu.h"

#include <string.h>

enum { MAX_FIELDS = 5 };

static void *copy_of(const void *data, size_t count, size_t size, rbt_error *error) {
    void *copy = rbt_array_new(count, size, "a picture", error);
    if (copy && count) memcpy(copy, data, count * size);
    return copy;
}

// Takes over the values, which may be missing; false: memory lacks.
static bool add_field(rbt_fields *fields, const char *name, bool on_cells, size_t components, double *values,
                      rbt_error *error) {
    rbt_mesh_field *field = &fields->items[fields->count++];
    *field = (rbt_mesh_field){values ? strdup(name) : NULL, on_cells, components, values};
    return field->name || (values && rbt_fail_memory(error, strlen(name), "a name"));
}

static bool add_numbers(rbt_fields *fields, const char *name, const int32_t *numbers, size_t count,
                        rbt_error *error) {
    double *values = rbt_array_new(count, sizeof *values, "a picture", error);
    for (size_t i = 0; values && i < count; i++) values[i] = numbers[i];
    return add_field(fields, name, true, 1, values, error);
}

static bool begin(const rbt_sim *sim, rbt_mesh *mesh, rbt_fields *fields, rbt_error *error) {
    *mesh = (rbt_mesh){0};
    *fields = (rbt_fields){.has_time = true, .time = sim->state.t};
    return (fields->items = rbt_array_new(MAX_FIELDS, sizeof *fields->items, "a picture", error)) != NULL;
}

static bool end(bool good, rbt_mesh *mesh, rbt_fields *fields) {
    if (good) return true;
    rbt_mesh_clear(mesh);
    rbt_fields_free(fields);
    return false;
}

static size_t count_type(const rbt_vtu_frame *frame, unsigned char type) {
    size_t count = 0;
    for (size_t i = 0; i < frame->cell_count; i++) count += frame->types[i] == type;
    return count;
}

// The cells of a frame are tets, triangles of shells, edges and particles, in this order.
static bool copy_elements(const rbt_vtu_frame *frame, const rbt_sim *sim, rbt_mesh *mesh, rbt_error *error) {
    mesh->node_count = sim->model->node_count;
    mesh->tet_count = count_type(frame, RBT_VTU_TET);
    mesh->triangle_count = count_type(frame, RBT_VTU_TRIANGLE);
    mesh->edge_count = count_type(frame, RBT_VTU_LINE);
    const int32_t *triangles = frame->cells + 4 * mesh->tet_count, *edges = triangles + 3 * mesh->triangle_count;
    mesh->nodes = copy_of(sim->state.x, mesh->node_count, 3 * sizeof *mesh->nodes, error);
    mesh->tets = copy_of(frame->cells, mesh->tet_count, 4 * sizeof(int32_t), error);
    mesh->triangles = copy_of(triangles, mesh->triangle_count, 3 * sizeof(int32_t), error);
    mesh->edges = copy_of(edges, mesh->edge_count, 2 * sizeof(int32_t), error);
    return mesh->nodes && mesh->tets && mesh->triangles && mesh->edges;
}

bool rbt_live_elements(const rbt_sim *sim, rbt_mesh *mesh, rbt_fields *fields, rbt_error *error) {
    const rbt_model *m = sim->model;
    size_t nodes = m->node_count;
    rbt_vtu_frame frame;
    if (!begin(sim, mesh, fields, error)) return false;
    if (!rbt_vtu_frame_init(&frame, m, NULL, error)) return end(false, mesh, fields);
    rbt_vtu_frame_evaluate(&frame, m, &sim->state);
    size_t cells = fields->cell_count = frame.cell_count;
    bool good =
        copy_elements(&frame, sim, mesh, error) &&
        add_field(fields, "displacement", false, 3, copy_of(frame.displacement, nodes, 3 * sizeof(double), error),
                  error) &&
        add_field(fields, "velocity", false, 3, copy_of(sim->state.v, nodes, 3 * sizeof(double), error), error) &&
        add_field(fields, "von_mises", true, 1, copy_of(frame.stress, cells, sizeof(double), error), error) &&
        add_numbers(fields, "region", frame.region, cells, error) &&
        add_numbers(fields, "body", frame.body, cells, error);
    rbt_vtu_frame_free(&frame);
    return end(good, mesh, fields);
}

// A vector field on nodes, at the vertices of the surface
static double *carried(const rbt_surface *surface, const double *nodal, rbt_error *error) {
    double *vertices = rbt_array_new(surface->vertex_count, 3 * sizeof *vertices, "a picture", error);
    if (vertices) rbt_surface_evaluate(surface, nodal, vertices);
    return vertices;
}

static bool copy_surface(const rbt_surface *surface, const rbt_sim *sim, rbt_mesh *mesh, rbt_fields *fields,
                         rbt_error *error) {
    const rbt_model *m = sim->model;
    double *shift = rbt_array_new(m->node_count, 3 * sizeof *shift, "a picture", error);
    double *body = rbt_array_new(surface->triangle_count, sizeof *body, "a picture", error);
    if (!shift || !body) {
        free(shift);
        free(body);
        return false;
    }
    for (size_t i = 0; i < 3 * m->node_count; i++) shift[i] = sim->state.x[i] - m->X[i];
    for (size_t b = 0; b < surface->part_count; b++)
        for (size_t t = surface->parts[b].triangle_begin; t < surface->parts[b].triangle_end; t++)
            body[t] = (double)b;
    mesh->node_count = surface->vertex_count;
    mesh->triangle_count = fields->cell_count = surface->triangle_count;
    mesh->nodes = carried(surface, sim->state.x, error);
    mesh->triangles = copy_of(surface->triangles, surface->triangle_count, 3 * sizeof(int32_t), error);
    bool good = add_field(fields, "body", true, 1, body, error) && mesh->nodes && mesh->triangles &&
                add_field(fields, "displacement", false, 3, carried(surface, shift, error), error) &&
                add_field(fields, "velocity", false, 3, carried(surface, sim->state.v, error), error);
    free(shift);
    return good;
}

bool rbt_live_surface(const rbt_sim *sim, rbt_mesh *mesh, rbt_fields *fields, rbt_error *error) {
    rbt_surface surface;
    if (!begin(sim, mesh, fields, error)) return false;
    if (!rbt_surface_build(&surface, sim->model, error)) return end(false, mesh, fields);
    bool good = !surface.has_embedded || copy_surface(&surface, sim, mesh, fields, error);
    rbt_surface_free(&surface);
    return end(good, mesh, fields);
}
