#include "serve/drawn.h"

#include "base/memory.h"
#include "mesh/core/topology.h"
#include "model/fingerprint.h"

#include <string.h>

uint64_t rbt_drawn_id(const rbt_drawn_source *s) {
    const uint64_t counts[] = {s->node_count, s->tet_count, s->triangle_count, s->edge_count, s->cell_count};
    uint64_t h = rbt_hash(7, counts, sizeof counts);
    h = rbt_hash(h, s->tets, 4 * s->tet_count * sizeof *s->tets);
    h = rbt_hash(h, s->triangles, 3 * s->triangle_count * sizeof *s->triangles);
    h = rbt_hash(h, s->edges, 2 * s->edge_count * sizeof *s->edges);
    h = rbt_hash(h, s->body, s->cell_count * sizeof *s->body);
    return rbt_hash(h, s->region, s->cell_count * sizeof *s->region);
}

void rbt_drawn_free(rbt_drawn *shape) {
    if (!shape) return;
    free(shape->node);
    free(shape->rest);
    free(shape->triangles);
    free(shape->element);
    free(shape->body);
    free(shape->region);
    free(shape->edges);
    free(shape->edge_body);
    free(shape->points);
    free(shape->point_body);
    free(shape);
}

static void *numbers(size_t count, rbt_error *error) {
    return rbt_array_new(count, sizeof(int32_t), "what is drawn", error);
}

static void mark(const int32_t *corners, size_t count, unsigned char bit, unsigned char *used) {
    for (size_t i = 0; i < count; i++) used[corners[i]] |= bit;
}

enum { DRAWN = 1, IN_CELL = 2 };

// Everything in numbers of the mesh; the particles are the nodes that no cell has.
static bool list_cells(rbt_drawn *shape, const rbt_drawn_source *s, unsigned char *used, rbt_error *error) {
    int32_t *hull = NULL, *owner = NULL;
    size_t hull_count = 0;
    if (!rbt_boundary(s->tets, s->tet_count, s->node_count, &hull, &owner, &hull_count, error)) return false;
    size_t triangles = hull_count + s->triangle_count, listed = s->tet_count + s->triangle_count + s->edge_count;
    size_t points = s->cell_count > listed ? s->cell_count - listed : 0;
    bool good = (shape->triangles = numbers(3 * triangles, error)) && (shape->element = numbers(triangles, error)) &&
                (shape->body = numbers(triangles, error)) && (shape->region = numbers(triangles, error)) &&
                (shape->edges = numbers(2 * s->edge_count, error)) &&
                (shape->edge_body = numbers(s->edge_count, error)) && (shape->points = numbers(points, error)) &&
                (shape->point_body = numbers(points, error));
    if (good) {
        if (hull_count) memcpy(shape->triangles, hull, 3 * hull_count * sizeof *hull);
        if (hull_count) memcpy(shape->element, owner, hull_count * sizeof *owner);
        if (s->triangle_count)
            memcpy(shape->triangles + 3 * hull_count, s->triangles, 3 * s->triangle_count * sizeof *s->triangles);
        for (size_t i = 0; i < s->triangle_count; i++) shape->element[hull_count + i] = (int32_t)(s->tet_count + i);
        for (size_t i = 0; i < triangles; i++) {
            shape->body[i] = s->body[shape->element[i]];
            shape->region[i] = s->region[shape->element[i]];
        }
        if (s->edge_count) memcpy(shape->edges, s->edges, 2 * s->edge_count * sizeof *s->edges);
        for (size_t i = 0; i < s->edge_count; i++)
            shape->edge_body[i] = s->body[s->tet_count + s->triangle_count + i];
        shape->triangle_count = triangles;
        shape->edge_count = s->edge_count;
        mark(s->tets, 4 * s->tet_count, IN_CELL, used);
        mark(shape->triangles, 3 * triangles, DRAWN | IN_CELL, used);
        mark(s->edges, 2 * s->edge_count, DRAWN | IN_CELL, used);
        for (size_t n = 0; n < s->node_count && shape->point_count < points; n++) {
            if (used[n]) continue;
            used[n] = DRAWN;
            shape->point_body[shape->point_count] = s->body[listed + shape->point_count];
            shape->points[shape->point_count++] = (int32_t)n;
        }
    }
    free(hull);
    free(owner);
    return good;
}

static void renumber(int32_t *corners, size_t count, const int32_t *place) {
    for (size_t i = 0; i < count; i++) corners[i] = place[corners[i]];
}

// From numbers of the mesh to those of drawn nodes
static bool drop_hidden(rbt_drawn *shape, const rbt_drawn_source *s, const unsigned char *used, rbt_error *error) {
    int32_t *place = numbers(s->node_count, error);
    if (!place) return false;
    for (size_t n = 0; n < s->node_count; n++)
        if (used[n] & DRAWN) place[n] = (int32_t)shape->node_count++;
    bool good = (shape->node = numbers(shape->node_count, error)) &&
                (shape->rest = rbt_array_new(shape->node_count, 3 * sizeof(double), "what is drawn", error));
    for (size_t n = 0; good && n < s->node_count; n++) {
        if (!(used[n] & DRAWN)) continue;
        shape->node[place[n]] = (int32_t)n;
        memcpy(shape->rest + 3 * place[n], s->rest + 3 * n, 3 * sizeof(double));
    }
    if (good) {
        renumber(shape->triangles, 3 * shape->triangle_count, place);
        renumber(shape->edges, 2 * shape->edge_count, place);
        renumber(shape->points, shape->point_count, place);
    }
    free(place);
    return good;
}

rbt_drawn *rbt_drawn_new(const rbt_drawn_source *source, rbt_error *error) {
    rbt_drawn *shape = rbt_array_new(1, sizeof *shape, "what is drawn", error);
    unsigned char *used = shape ? rbt_array_new(source->node_count, 1, "what is drawn", error) : NULL;
    bool good = used && list_cells(shape, source, used, error) && drop_hidden(shape, source, used, error);
    free(used);
    if (!good) {
        rbt_drawn_free(shape);
        return NULL;
    }
    shape->id = rbt_drawn_id(source);
    shape->mesh_node_count = source->node_count;
    return shape;
}

bool rbt_drawn_means(const rbt_drawn_source *s, const double *values, double *at_node, rbt_error *error) {
    int32_t *count = numbers(s->node_count, error);
    if (!count) return false;
    memset(at_node, 0, s->node_count * sizeof *at_node);
    for (size_t i = 0; i < s->tet_count + s->triangle_count; i++) {
        bool tet = i < s->tet_count;
        const int32_t *corners = tet ? s->tets + 4 * i : s->triangles + 3 * (i - s->tet_count);
        for (int k = 0; k < (tet ? 4 : 3); k++) {
            at_node[corners[k]] += values[i];
            count[corners[k]]++;
        }
    }
    for (size_t n = 0; n < s->node_count; n++)
        if (count[n]) at_node[n] /= count[n];
    free(count);
    return true;
}

static void add_numbers(rbt_message *message, const int32_t *values, size_t count) {
    rbt_message_add(message, values, count * sizeof *values);
}

rbt_message *rbt_drawn_message(const rbt_drawn *shape, const rbt_scenery *scenery, uint32_t run, uint32_t frame,
                               rbt_error *error) {
    const rbt_scenery nothing = {0};
    const rbt_scenery *around = scenery ? scenery : &nothing;
    rbt_message *m = rbt_message_new(false, error);
    if (!m) return NULL;
    const rbt_message_head head = {RBT_MESSAGE_SHAPE, run, frame, 0, shape->id};
    const uint32_t counts[] = {(uint32_t)shape->node_count,  (uint32_t)shape->triangle_count,
                               (uint32_t)shape->edge_count,  (uint32_t)shape->point_count,
                               (uint32_t)around->node_count, (uint32_t)around->triangle_count,
                               (uint32_t)around->has_floor,  0};
    rbt_message_add_head(m, &head);
    rbt_message_add(m, counts, sizeof counts);
    rbt_message_add(m, &around->floor, sizeof around->floor);
    add_numbers(m, shape->node, shape->node_count);
    rbt_message_add_floats(m, shape->rest, 3 * shape->node_count);
    add_numbers(m, shape->triangles, 3 * shape->triangle_count);
    add_numbers(m, shape->element, shape->triangle_count);
    add_numbers(m, shape->body, shape->triangle_count);
    add_numbers(m, shape->region, shape->triangle_count);
    add_numbers(m, shape->edges, 2 * shape->edge_count);
    add_numbers(m, shape->edge_body, shape->edge_count);
    add_numbers(m, shape->points, shape->point_count);
    add_numbers(m, shape->point_body, shape->point_count);
    rbt_message_add_floats(m, around->nodes, 3 * around->node_count);
    add_numbers(m, around->triangles, 3 * around->triangle_count);
    return rbt_message_done(m, error);
}

// Rows of `width` values of the drawn nodes
static void add_drawn(rbt_message *m, const rbt_drawn *shape, const double *values, size_t width) {
    unsigned char *room = rbt_message_room(m, shape->node_count * width * sizeof(float));
    for (size_t i = 0; room && i < shape->node_count; i++)
        for (size_t k = 0; k < width; k++, room += sizeof(float)) {
            float value = (float)values[width * (size_t)shape->node[i] + k];
            memcpy(room, &value, sizeof value);
        }
}

rbt_message *rbt_drawn_frame_message(const rbt_drawn *shape, const rbt_shown_frame *f, rbt_error *error) {
    rbt_message *m = rbt_message_new(false, error);
    if (!m) return NULL;
    uint32_t fields = 0;
    for (int k = 0; k < RBT_SHOWN_FIELDS; k++)
        if (f->fields[k]) fields |= 1u << k;
    const rbt_message_head head = {RBT_MESSAGE_FRAME, f->run, f->frame, f->time, shape->id};
    size_t around = f->scenery ? f->scenery->node_count : 0;
    const uint32_t counts[] = {(uint32_t)shape->node_count, fields, (uint32_t)around, f->live};
    rbt_message_add_head(m, &head);
    rbt_message_add(m, counts, sizeof counts);
    rbt_message_add(m, &f->sequence, sizeof f->sequence);
    add_drawn(m, shape, f->x, 3);
    for (int k = 0; k < RBT_SHOWN_FIELDS; k++)
        if (f->fields[k]) add_drawn(m, shape, f->fields[k], 1);
    if (around) rbt_message_add_floats(m, f->scenery->nodes, 3 * around);
    return rbt_message_done(m, error);
}
