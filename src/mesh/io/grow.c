#include "mesh/io/grow.h"

#include <string.h>

static bool reserve(void **items, size_t *capacity, size_t need, size_t size, const char *what, rbt_error *error) {
    if (need > INT32_MAX) return rbt_fail(error, "%zu %s: the limit is %d", need, what, INT32_MAX);
    return rbt_array_reserve(items, capacity, need, size, what, error);
}

bool rbt_grow_node(rbt_growing *g, const double x[3], rbt_error *error) {
    rbt_mesh *m = g->mesh;
    void *nodes = m->nodes;
    if (!reserve(&nodes, &g->node_capacity, m->node_count + 1, 3 * sizeof(double), "nodes", error)) return false;
    m->nodes = nodes;
    memcpy(m->nodes + 3 * m->node_count++, x, 3 * sizeof *x);
    return true;
}

static bool set_corner(const rbt_growing *g, int64_t index, int32_t *corner, rbt_error *error) {
    if (index < 0 || index >= INT32_MAX)
        return rbt_fail_at(error, g->file, 0, 0, "a corner has the node number %ld, possible are 0 to %d",
                           (long)index, INT32_MAX - 1);
    *corner = (int32_t)index;
    return true;
}

bool rbt_grow_edge(rbt_growing *g, int64_t a, int64_t b, rbt_error *error) {
    rbt_mesh *m = g->mesh;
    void *edges = m->edges;
    if (!reserve(&edges, &g->edge_capacity, m->edge_count + 1, 2 * sizeof(int32_t), "edges", error)) return false;
    m->edges = edges;
    int32_t *edge = m->edges + 2 * m->edge_count;
    if (!set_corner(g, a, edge, error) || !set_corner(g, b, edge + 1, error)) return false;
    m->edge_count++;
    return true;
}

bool rbt_grow_polygon(rbt_growing *g, const int64_t *corners, size_t count, rbt_error *error) {
    rbt_mesh *m = g->mesh;
    void *triangles = m->triangles;
    if (!reserve(&triangles, &g->triangle_capacity, m->triangle_count + count - 2, 3 * sizeof(int32_t), "triangles",
                 error))
        return false;
    m->triangles = triangles;
    for (size_t i = 1; i + 1 < count; i++) {
        int32_t *triangle = m->triangles + 3 * m->triangle_count;
        if (!set_corner(g, corners[0], triangle, error) || !set_corner(g, corners[i], triangle + 1, error) ||
            !set_corner(g, corners[i + 1], triangle + 2, error))
            return false;
        m->triangle_count++;
    }
    return true;
}

bool rbt_mesh_append_set(rbt_mesh *mesh, const char *name, rbt_set_kind kind, const int32_t *items, size_t count,
                         size_t *capacity, rbt_error *error) {
    void *sets = mesh->sets;
    if (!rbt_array_reserve(&sets, capacity, mesh->set_count + 1, sizeof *mesh->sets, "sets", error)) return false;
    mesh->sets = sets;
    size_t room = 16;  // the next power of two, as rbt_mesh_add_to_set expects
    while (room < count) room *= 2;
    int32_t *copy = rbt_array_new(room, sizeof *copy, "the items of a set", error);
    char *text = strdup(name);
    if (!copy || !text) {
        free(copy);
        free(text);
        return rbt_fail_memory(error, room * sizeof *copy, "a set");
    }
    if (count) memcpy(copy, items, count * sizeof *copy);
    mesh->sets[mesh->set_count++] = (rbt_mesh_set){text, kind, count, copy};
    return true;
}
