#include "mesh/io/vtk_cells.h"

#include "mesh/io/grow.h"

#include <stdio.h>
#include <string.h>

enum { VERTEX = 1, LINE = 3, TRIANGLE = 5, TET = 10 };

// The names of vtkCellType.h, for messages only.
static const char *type_name(int64_t type) {
    static const char *const names[] = {
        [0] = "empty",
        [1] = "vertex",
        [2] = "poly-vertex",
        [3] = "line",
        [4] = "poly-line",
        [5] = "triangle",
        [6] = "triangle strip",
        [7] = "polygon",
        [8] = "pixel",
        [9] = "quad",
        [10] = "tet",
        [11] = "voxel",
        [12] = "hexahedron",
        [13] = "wedge",
        [14] = "pyramid",
        [15] = "pentagonal prism",
        [16] = "hexagonal prism",
        [21] = "quadratic edge",
        [22] = "quadratic triangle",
        [23] = "quadratic quad",
        [24] = "quadratic tet",
        [25] = "quadratic hexahedron",
        [26] = "quadratic wedge",
        [27] = "quadratic pyramid",
        [41] = "convex point set",
        [42] = "polyhedron",
        [68] = "Lagrange curve",
        [69] = "Lagrange triangle",
        [70] = "Lagrange quad",
        [71] = "Lagrange tet",
        [72] = "Lagrange hexahedron",
        [73] = "Lagrange wedge",
        [74] = "Lagrange pyramid",
    };
    bool known = type >= 0 && type < (int64_t)(sizeof names / sizeof *names) && names[type];
    return known ? names[type] : "unknown";
}

void rbt_vtk_cells_free(rbt_vtk_cells *cells) {
    free(cells->types);
    free(cells->offsets);
    free(cells->corners);
    free(cells->region);
    *cells = (rbt_vtk_cells){0};
}

bool rbt_vtk_offsets_check(const int64_t *offsets, size_t count, size_t corner_count, const char *file,
                           rbt_error *error) {
    if (offsets[0] != 0) return rbt_fail_at(error, file, 0, 0, "the first offset is %ld, not 0", (long)offsets[0]);
    for (size_t i = 0; i < count; i++)
        if (offsets[i + 1] < offsets[i])
            return rbt_fail_at(error, file, 0, 0,
                               "the offsets of the cells must ascend, but cell %zu ends at %ld and starts at %ld", i,
                               (long)offsets[i + 1], (long)offsets[i]);
    if ((uint64_t)offsets[count] != corner_count)
        return rbt_fail_at(error, file, 0, 0, "the cells end at offset %ld, but the connectivity has %zu entries",
                           (long)offsets[count], corner_count);
    return true;
}

static int corners_of(int64_t type) {
    return type == TET ? 4 : type == TRIANGLE ? 3 : type == LINE ? 2 : type == VERTEX ? 1 : 0;
}

static bool check_types(const rbt_vtk_cells *cells, const char *file, rbt_error *error) {
    for (size_t i = 0; i < cells->count; i++) {
        int64_t type = cells->types[i];
        int corners = corners_of(type);
        if (!corners) {
            size_t same = 0;
            for (size_t k = i; k < cells->count; k++) same += cells->types[k] == type;
            return rbt_fail_at(error, file, 0, 0,
                               "%zu %s of type %ld (%s), the first is cell %zu: only vertex, line, triangle and tet "
                               "cells are read, convert the others before",
                               same, same == 1 ? "cell is" : "cells are", (long)type, type_name(type), i);
        }
        int64_t found = cells->offsets[i + 1] - cells->offsets[i];
        if (found != corners)
            return rbt_fail_at(error, file, 0, 0, "cell %zu is a %s with %ld corners instead of %d", i,
                               type_name(type), (long)found, corners);
    }
    return true;
}

static bool copy_cells(const rbt_vtk_cells *cells, int64_t type, size_t count, size_t node_count, int32_t **elements,
                       const char *file, rbt_error *error) {
    int corners = corners_of(type);
    int32_t *to = *elements = rbt_array_new(count, (size_t)corners * sizeof *to, type_name(type), error);
    if (!to) return false;
    for (size_t i = 0; i < cells->count; i++) {
        if (cells->types[i] != type) continue;
        const int64_t *from = cells->corners + cells->offsets[i];
        for (int c = 0; c < corners; c++) {
            if (from[c] < 0 || (uint64_t)from[c] >= node_count)
                return rbt_fail_at(error, file, 0, 0,
                                   "cell %zu (%s) names node %ld, but there are %zu nodes (0 to %ld)", i,
                                   type_name(type), (long)from[c], node_count, (long)node_count - 1);
            *to++ = (int32_t)from[c];
        }
    }
    return true;
}

typedef struct labelled {
    int64_t label;
    int32_t tet;
} labelled;

static int compare_labelled(const void *a, const void *b) {
    const labelled *x = a, *y = b;
    if (x->label != y->label) return x->label < y->label ? -1 : 1;
    return (x->tet > y->tet) - (x->tet < y->tet);
}

static bool make_region_sets(const rbt_vtk_cells *cells, rbt_mesh *mesh, rbt_error *error) {
    size_t n = mesh->tet_count, capacity = mesh->set_count;
    labelled *tets = rbt_array_new(n, sizeof *tets, "regions", error);
    int32_t *items = rbt_array_new(n, sizeof *items, "regions", error);
    bool good = tets && items, sorted = true;
    for (size_t i = 0, t = 0; good && i < cells->count; i++) {
        if (cells->types[i] != TET) continue;
        tets[t] = (labelled){cells->region[i], (int32_t)t};
        sorted &= t == 0 || tets[t - 1].label <= tets[t].label;
        t++;
    }
    if (good && !sorted) qsort(tets, n, sizeof *tets, compare_labelled);
    for (size_t first = 0, next; good && first < n; first = next) {
        for (next = first; next < n && tets[next].label == tets[first].label; next++) items[next] = tets[next].tet;
        char name[40];
        snprintf(name, sizeof name, "region %lld", (long long)tets[first].label);
        good = rbt_mesh_append_set(mesh, name, RBT_SET_TETS, items + first, next - first, &capacity, error);
    }
    free(tets);
    free(items);
    return good;
}

bool rbt_vtk_cells_to_mesh(const rbt_vtk_cells *cells, rbt_mesh *mesh, const char *file, rbt_error *error) {
    if (cells->count > INT32_MAX) return rbt_fail(error, "%zu cells: the limit is %d", cells->count, INT32_MAX);
    if (!check_types(cells, file, error)) return false;
    size_t counts[TET + 1] = {0};
    for (size_t i = 0; i < cells->count; i++) counts[cells->types[i]]++;
    int32_t *vertices = NULL;
    bool good = copy_cells(cells, TET, counts[TET], mesh->node_count, &mesh->tets, file, error) &&
                copy_cells(cells, TRIANGLE, counts[TRIANGLE], mesh->node_count, &mesh->triangles, file, error) &&
                copy_cells(cells, LINE, counts[LINE], mesh->node_count, &mesh->edges, file, error) &&
                copy_cells(cells, VERTEX, counts[VERTEX], mesh->node_count, &vertices, file, error);
    free(vertices);
    if (!good) return false;
    mesh->tet_count = counts[TET];
    mesh->triangle_count = counts[TRIANGLE];
    mesh->edge_count = counts[LINE];
    return !cells->region || make_region_sets(cells, mesh, error);
}

bool rbt_vtk_cell_places(const rbt_vtk_cells *cells, size_t **places, rbt_error *error) {
    static const int order[] = {TET, TRIANGLE, LINE, VERTEX};
    *places = rbt_array_new(cells->count, sizeof **places, "the order of cells", error);
    if (!*places) return false;
    size_t next = 0;
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (size_t i = 0; i < cells->count; i++)
            if (cells->types[i] == order[k]) (*places)[i] = next++;
    return true;
}

int rbt_vtk_region_rank(const char *name, size_t length) {
    static const char *const names[] = {"region", "CellEntityIds", "material"};
    for (int i = 0; i < 3; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) return i;
    return -1;
}
