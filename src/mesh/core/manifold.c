// Works in passes until nothing is found: taking tets away can only make the mesh smaller, so it ends.
#include "mesh/core/manifold.h"

#include "base/memory.h"
#include "mesh/core/topology.h"

#include <string.h>

// Takes away the marked tets, then the nodes that have none left.
static bool remove_tets(rbt_mesh *mesh, const unsigned char *gone, rbt_error *error) {
    int32_t *number = rbt_array_new(mesh->node_count, sizeof *number, "nodes", error);
    if (!number) return false;
    size_t kept = 0, nodes = 0;
    for (size_t t = 0; t < mesh->tet_count; t++) {
        if (gone[t]) continue;
        memmove(mesh->tets + 4 * kept, mesh->tets + 4 * t, 4 * sizeof *mesh->tets);
        for (int k = 0; k < 4; k++) number[mesh->tets[4 * kept + (size_t)k]] = 1;
        kept++;
    }
    for (size_t i = 0; i < mesh->node_count; i++) {
        if (!number[i]) continue;
        memmove(mesh->nodes + 3 * nodes, mesh->nodes + 3 * i, 3 * sizeof *mesh->nodes);
        number[i] = (int32_t)nodes++;
    }
    for (size_t i = 0; i < 4 * kept; i++) mesh->tets[i] = number[mesh->tets[i]];
    mesh->tet_count = kept;
    mesh->node_count = nodes;
    free(number);
    return true;
}

static bool keep_largest(rbt_mesh *mesh, rbt_error *error) {
    int32_t *part = rbt_array_new(mesh->node_count, sizeof *part, "connected parts", error);
    size_t part_count = 0;
    if (!part || !rbt_components(mesh->tets, mesh->tet_count, 4, mesh->node_count, part, &part_count, error)) {
        free(part);
        return false;
    }
    size_t *size = rbt_array_new(part_count, sizeof *size, "connected parts", error), largest = 0;
    unsigned char *gone = size ? rbt_array_new(mesh->tet_count, 1, "connected parts", error) : NULL;
    bool made = gone != NULL;
    if (made) {
        for (size_t t = 0; t < mesh->tet_count; t++) size[part[mesh->tets[4 * t]]]++;
        for (size_t i = 1; i < part_count; i++)
            if (size[i] > size[largest]) largest = i;
        for (size_t t = 0; t < mesh->tet_count; t++) gone[t] = (size_t)part[mesh->tets[4 * t]] != largest;
        made = part_count == 1 || remove_tets(mesh, gone, error);
    }
    free(gone);
    free(size);
    free(part);
    return made;
}

static bool has_node(const int32_t *tet, int32_t node) {
    return tet[0] == node || tet[1] == node || tet[2] == node || tet[3] == node;
}

// Number of nodes two tets share.
static int shared(const int32_t *a, const int32_t *b) {
    int count = 0;
    for (int k = 0; k < 4; k++) count += has_node(b, a[k]);
    return count;
}

enum { FAN = 512 };  // tets around an edge or a node; a lattice has at most a few dozen

// Groups the tets of list[] that hang together by faces: group[i] is the lowest place in the list of i's group.
static void group_by_faces(const int32_t *tets, const int32_t *list, int count, int group[FAN]) {
    for (int i = 0; i < count; i++) group[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < count; i++)
            for (int j = i + 1; j < count; j++) {
                if (group[i] == group[j] || shared(tets + 4 * list[i], tets + 4 * list[j]) < 3) continue;
                int low = group[i] < group[j] ? group[i] : group[j];
                group[i] = group[j] = low;
                changed = true;
            }
    }
}

// Marks the smaller wedges of tets around an edge that has more than one.
static void mark_wedges(const rbt_mesh *mesh, const rbt_rows *around, int32_t a, int32_t b, unsigned char *gone) {
    int32_t list[FAN] = {0};
    int group[FAN], size[FAN] = {0}, count = 0, largest = 0;
    for (size_t r = around->start[a]; r < around->start[a + 1] && count < FAN; r++)
        if (has_node(mesh->tets + 4 * around->items[r], b)) list[count++] = around->items[r];
    group_by_faces(mesh->tets, list, count, group);
    for (int i = 0; i < count; i++) size[group[i]]++;
    for (int i = 0; i < count; i++)
        if (size[i] > size[largest]) largest = i;
    for (int i = 0; i < count; i++)
        if (group[i] != largest) gone[list[i]] = 1;
}

// One pass over the surface edges; *found: how many had more than two triangles.
static bool separate_edges(rbt_mesh *mesh, size_t *found, rbt_error *error) {
    int32_t *triangles = NULL;
    size_t count = 0;
    uint32_t *first = NULL;
    unsigned char *uses = NULL, *gone = NULL;
    rbt_rows around = {0};
    *found = 0;
    bool made = rbt_boundary(mesh->tets, mesh->tet_count, mesh->node_count, &triangles, NULL, &count, error) &&
                (first = rbt_array_new(count, 3 * sizeof *first, "surface edges", error)) &&
                (uses = rbt_array_new(count, 3, "surface edges", error)) &&
                rbt_match_sides(triangles, count, &RBT_EDGES_OF_TRIANGLES, mesh->node_count, first, error);
    for (size_t i = 0; i < 3 * count && made; i++)
        if (first[i] != RBT_NO_SIDE && ++uses[first[i]] == 3) ++*found;
    if (made && *found) {
        made = rbt_elements_of_nodes(mesh->tets, mesh->tet_count, 4, mesh->node_count, &around, error) &&
               (gone = rbt_array_new(mesh->tet_count, 1, "tets", error));
        for (size_t i = 0; i < 3 * count && made; i++) {
            if (uses[i] < 3) continue;
            const int *corner = RBT_EDGES_OF_TRIANGLES.corner[i % 3];
            const int32_t *triangle = triangles + i / 3 * 3;
            mark_wedges(mesh, &around, triangle[corner[0]], triangle[corner[1]], gone);
        }
        made = made && remove_tets(mesh, gone, error);
    }
    rbt_rows_free(&around);
    free(gone);
    free(uses);
    free(first);
    free(triangles);
    return made;
}

// Whether the surface triangles of list[] around node v, two at each of its edges, form more than one ring.
static bool has_two_rings(const int32_t *triangles, const int32_t *list, int count, int32_t v) {
    unsigned char reached[FAN] = {1};
    int ring = 1;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < count; i++) {
            if (!reached[i]) continue;
            for (int j = 0; j < count; j++) {
                const int32_t *a = triangles + 3 * list[i], *b = triangles + 3 * list[j];
                for (int k = 0; k < 9 && !reached[j]; k++)
                    if (a[k / 3] == b[k % 3] && a[k / 3] != v) {
                        reached[j] = 1;
                        ring++;
                        changed = true;
                    }
            }
        }
    }
    return ring < count;
}

// Gives every group of tets around node v but the first a node of its own; returns the number of groups, 0 if memory
// is lacking.
static int split_node(rbt_mesh *mesh, const int32_t *list, int count, int32_t v, size_t *capacity, rbt_error *error) {
    int group[FAN], groups = 1;
    group_by_faces(mesh->tets, list, count, group);
    for (int g = 1; g < count; g++) {
        if (group[g] != g) continue;
        groups++;
        if (!rbt_array_reserve((void **)&mesh->nodes, capacity, mesh->node_count + 1, 3 * sizeof *mesh->nodes,
                               "nodes", error))
            return 0;
        memcpy(mesh->nodes + 3 * mesh->node_count, mesh->nodes + 3 * v, 3 * sizeof *mesh->nodes);
        for (int i = g; i < count; i++)
            for (int k = 0; k < 4 && group[i] == g; k++)
                if (mesh->tets[4 * list[i] + k] == v) mesh->tets[4 * list[i] + k] = (int32_t)mesh->node_count;
        mesh->node_count++;
    }
    return groups;
}

// Doubles the nodes where two parts of the body touch, and takes away the tets around a node where two hollows touch.
static bool separate_nodes(rbt_mesh *mesh, size_t *removed, rbt_error *error) {
    rbt_rows tets_at = {0}, triangles_at = {0};
    int32_t *triangles = NULL;
    unsigned char *gone = NULL;
    size_t count = 0, before = mesh->node_count, capacity = before;
    *removed = 0;
    bool made = rbt_boundary(mesh->tets, mesh->tet_count, before, &triangles, NULL, &count, error) &&
                rbt_elements_of_nodes(triangles, count, 3, before, &triangles_at, error) &&
                rbt_elements_of_nodes(mesh->tets, mesh->tet_count, 4, before, &tets_at, error) &&
                (gone = rbt_array_new(mesh->tet_count, 1, "tets", error));
    for (size_t v = 0; v < before && made; v++) {
        const int32_t *fan = triangles_at.items + triangles_at.start[v], *list = tets_at.items + tets_at.start[v];
        size_t fan_size = triangles_at.start[v + 1] - triangles_at.start[v];
        size_t tets_here = tets_at.start[v + 1] - tets_at.start[v];
        if (fan_size < 6 || fan_size > FAN || tets_here > FAN) continue;  // two rings have at least six triangles
        if (!has_two_rings(triangles, fan, (int)fan_size, (int32_t)v)) continue;
        int groups = split_node(mesh, list, (int)tets_here, (int32_t)v, &capacity, error);
        made = groups > 0;
        for (size_t i = 0; i < tets_here && groups == 1; i++) gone[list[i]] = 1;
        *removed += groups == 1;
    }
    if (made && *removed) made = remove_tets(mesh, gone, error);
    free(gone);
    free(triangles);
    rbt_rows_free(&tets_at);
    rbt_rows_free(&triangles_at);
    return made;
}

bool rbt_mesh_make_manifold(rbt_mesh *mesh, bool largest_only, rbt_error *error) {
    for (size_t removed = 1; removed;) {
        for (size_t edges = 1; edges;)
            if (!separate_edges(mesh, &edges, error)) return false;
        if (!separate_nodes(mesh, &removed, error)) return false;
    }
    return !largest_only || keep_largest(mesh, error);
}
