#include "mesh/core/build.h"

#include "math/vec3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

rbt_mesh *rbt_mesh_new(rbt_error *error) { return rbt_array_new(1, sizeof(rbt_mesh), "a mesh", error); }

void rbt_mesh_clear(rbt_mesh *mesh) {
    free(mesh->nodes);
    free(mesh->tets);
    free(mesh->triangles);
    free(mesh->edges);
    for (size_t i = 0; i < mesh->set_count; i++) {
        free(mesh->sets[i].name);
        free(mesh->sets[i].items);
    }
    free(mesh->sets);
    *mesh = (rbt_mesh){0};
}

void rbt_mesh_free(rbt_mesh *mesh) {
    if (!mesh) return;
    rbt_mesh_clear(mesh);
    free(mesh);
}

bool rbt_mesh_allocate(rbt_mesh *mesh, size_t nodes, size_t tets, size_t triangles, size_t edges, rbt_error *error) {
    size_t counts[] = {nodes, tets, triangles, edges};
    const char *names[] = {"nodes", "tets", "triangles", "edges"};
    for (int i = 0; i < 4; i++)
        if (counts[i] > INT32_MAX) return rbt_fail(error, "%zu %s: the limit is %d", counts[i], names[i], INT32_MAX);
    if (!(mesh->nodes = rbt_array_new(nodes, 3 * sizeof(double), "nodes", error))) return false;
    if (!(mesh->tets = rbt_array_new(tets, 4 * sizeof(int32_t), "tets", error))) return false;
    if (!(mesh->triangles = rbt_array_new(triangles, 3 * sizeof(int32_t), "triangles", error))) return false;
    if (!(mesh->edges = rbt_array_new(edges, 2 * sizeof(int32_t), "edges", error))) return false;
    mesh->node_count = nodes;
    mesh->tet_count = tets;
    mesh->triangle_count = triangles;
    mesh->edge_count = edges;
    return true;
}

static rbt_mesh_set *find_set(const rbt_mesh *mesh, const char *name, int kind) {
    for (size_t i = 0; i < mesh->set_count; i++)
        if ((kind < 0 || (int)mesh->sets[i].kind == kind) && strcmp(mesh->sets[i].name, name) == 0)
            return &mesh->sets[i];
    return NULL;
}

const rbt_mesh_set *rbt_mesh_find_set(const rbt_mesh *mesh, const char *name) { return find_set(mesh, name, -1); }

bool rbt_mesh_add_to_set(rbt_mesh *mesh, const char *name, rbt_set_kind kind, const int32_t *items, size_t count,
                         rbt_error *error) {
    rbt_mesh_set *set = find_set(mesh, name, (int)kind);
    if (!set) {
        rbt_mesh_set *grown = realloc(mesh->sets, (mesh->set_count + 1) * sizeof *grown);
        char *copy = strdup(name);
        if (grown) mesh->sets = grown;
        if (!grown || !copy) {
            free(copy);
            return rbt_fail_memory(error, sizeof *grown, "a set");
        }
        set = &mesh->sets[mesh->set_count++];
        *set = (rbt_mesh_set){copy, kind, 0, NULL};
    }
    if (!count) return true;
    // The capacity is the next power of two: growing costs a constant per item without a field for it.
    size_t capacity = 16;
    while (capacity < set->count) capacity *= 2;
    if (!set->items || set->count + count > capacity) {
        while (capacity < set->count + count) capacity *= 2;
        int32_t *grown = realloc(set->items, capacity * sizeof *grown);
        if (!grown) return rbt_fail_memory(error, capacity * sizeof *grown, "the items of a set");
        set->items = grown;
    }
    memcpy(set->items + set->count, items, count * sizeof *items);
    set->count += count;
    return true;
}

static int compare_items(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

bool rbt_mesh_finish_sets(rbt_mesh *mesh, rbt_error *error) {
    (void)error;
    for (size_t i = 0; i < mesh->set_count; i++) {
        rbt_mesh_set *set = &mesh->sets[i];
        bool ascending = true;
        for (size_t k = 1; k < set->count; k++) ascending &= set->items[k - 1] < set->items[k];
        if (ascending) continue;
        qsort(set->items, set->count, sizeof *set->items, compare_items);
        size_t kept = 1;
        for (size_t k = 1; k < set->count; k++)
            if (set->items[k] != set->items[kept - 1]) set->items[kept++] = set->items[k];
        set->count = kept;
    }
    return true;
}

static bool check_elements(const char *what, const int32_t *elements, size_t count, int corners, size_t node_count,
                           const char *file, rbt_error *error) {
    for (size_t i = 0; i < count * (size_t)corners; i++)
        if (elements[i] < 0 || (size_t)elements[i] >= node_count)
            return rbt_fail_at(error, file, 0, 0, "%s %zu names node %d, but there are %zu nodes (0 to %ld)", what,
                               i / (size_t)corners, elements[i], node_count, (long)node_count - 1);
    return true;
}

bool rbt_mesh_check_indices(const rbt_mesh *mesh, const char *file, rbt_error *error) {
    if (!check_elements("tet", mesh->tets, mesh->tet_count, 4, mesh->node_count, file, error)) return false;
    if (!check_elements("triangle", mesh->triangles, mesh->triangle_count, 3, mesh->node_count, file, error))
        return false;
    if (!check_elements("edge", mesh->edges, mesh->edge_count, 2, mesh->node_count, file, error)) return false;
    const size_t limit[] = {mesh->node_count, mesh->tet_count, mesh->triangle_count};
    const char *kind[] = {"nodes", "tets", "triangles"};
    for (size_t i = 0; i < mesh->set_count; i++) {
        const rbt_mesh_set *set = &mesh->sets[i];
        for (size_t k = 0; k < set->count; k++)
            if (set->items[k] < 0 || (size_t)set->items[k] >= limit[set->kind])
                return rbt_fail_at(error, file, 0, 0, "set \"%s\" names item %d, but there are %zu %s", set->name,
                                   set->items[k], limit[set->kind], kind[set->kind]);
    }
    return true;
}

// ---- Meshes of others

static bool has_arrays(const rbt_mesh *mesh, const char *name, rbt_error *error) {
    const size_t counts[] = {mesh->node_count, mesh->tet_count, mesh->triangle_count, mesh->edge_count,
                             mesh->set_count};
    const void *arrays[] = {mesh->nodes, mesh->tets, mesh->triangles, mesh->edges, mesh->sets};
    const char *what[] = {"nodes", "tets", "triangles", "edges", "sets"};
    for (int i = 0; i < 5; i++) {
        if (counts[i] > INT32_MAX)
            return rbt_fail(error, "%s has %zu %s: the limit is %d", name, counts[i], what[i], INT32_MAX);
        if (counts[i] && !arrays[i]) return rbt_fail(error, "%s has %zu %s at NULL", name, counts[i], what[i]);
    }
    for (size_t i = 0; i < mesh->set_count; i++) {
        const rbt_mesh_set *set = &mesh->sets[i];
        if (!set->name || !set->name[0]) return rbt_fail(error, "set %zu of %s has no name", i, name);
        if ((int)set->kind < RBT_SET_NODES || set->kind > RBT_SET_TRIANGLES)
            return rbt_fail(error, "set \"%s\" of %s has the kind %d: the last one is %d", set->name, name,
                            (int)set->kind, RBT_SET_TRIANGLES);
        if (set->count && !set->items)
            return rbt_fail(error, "set \"%s\" of %s has %zu items at NULL", set->name, name, set->count);
    }
    return true;
}

bool rbt_mesh_is_whole(const rbt_mesh *mesh, const char *name, rbt_error *error) {
    if (!mesh) return rbt_fail(error, "%s is NULL", name);
    return has_arrays(mesh, name, error) && rbt_mesh_check_indices(mesh, NULL, error);
}

static void copy_array(void *to, const void *from, size_t bytes) {
    if (bytes) memcpy(to, from, bytes);
}

rbt_mesh *rbt_mesh_copy(const rbt_mesh *mesh, const char *name, rbt_error *error) {
    if (!rbt_mesh_is_whole(mesh, name, error)) return NULL;
    for (size_t i = 0; i < 3 * mesh->node_count; i++)
        if (!isfinite(mesh->nodes[i])) {
            rbt_fail(error, "node %zu of %s has the coordinate %g; all must be finite", i / 3, name, mesh->nodes[i]);
            return NULL;
        }
    rbt_mesh *copy = rbt_mesh_new(error);
    bool good = copy && rbt_mesh_allocate(copy, mesh->node_count, mesh->tet_count, mesh->triangle_count,
                                          mesh->edge_count, error);
    if (good) {
        copy_array(copy->nodes, mesh->nodes, 3 * mesh->node_count * sizeof *mesh->nodes);
        copy_array(copy->tets, mesh->tets, 4 * mesh->tet_count * sizeof *mesh->tets);
        copy_array(copy->triangles, mesh->triangles, 3 * mesh->triangle_count * sizeof *mesh->triangles);
        copy_array(copy->edges, mesh->edges, 2 * mesh->edge_count * sizeof *mesh->edges);
        snprintf(copy->format, sizeof copy->format, "memory");
    }
    for (size_t i = 0; good && i < mesh->set_count; i++) {
        const rbt_mesh_set *set = &mesh->sets[i];
        good = rbt_mesh_add_to_set(copy, set->name, set->kind, set->items, set->count, error);
    }
    if (good && rbt_mesh_finish_sets(copy, error)) return copy;
    rbt_mesh_free(copy);
    return NULL;
}

void rbt_tet_orient(const double *nodes, int32_t tet[4]) {
    double along[3][3], normal[3];
    for (int k = 0; k < 3; k++) rbt_subtract(nodes + 3 * (size_t)tet[k + 1], nodes + 3 * (size_t)tet[0], along[k]);
    rbt_cross(along[0], along[1], normal);
    if (rbt_dot(normal, along[2]) > 0) return;
    int32_t last = tet[3];
    tet[3] = tet[2];
    tet[2] = last;
}
