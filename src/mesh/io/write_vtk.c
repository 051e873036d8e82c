// Legacy VTK 3.0, an unstructured grid as text or big-endian binary: every reader of VTK files knows it.
//
// Kept: nodes as doubles, tets, triangles and edges as cells in this order, and the tet sets if they partition the
// tets, as the integer cell array "region": sets named "region <n>" keep their numbers (and come back by their names),
// others are numbered 0, 1, … in their order. Cells that are not tets get -1. Node and triangle sets are not kept.
#include "mesh/core/build.h"
#include "mesh/io/format.h"
#include "mesh/io/number.h"

#include <string.h>

// Number in "region <n>", if the name is exactly that.
static bool region_number(const char *name, int32_t *number) {
    char again[40];
    int32_t n;
    if (sscanf(name, "region %9d", &n) != 1) return false;
    snprintf(again, sizeof again, "region %d", n);
    *number = n;
    return strcmp(again, name) == 0;
}

// One number per cell, or NULL with *partition false if some tet is in no set or in two.
static int32_t *make_regions(const rbt_mesh *mesh, size_t cell_count, bool *partition, rbt_error *error) {
    *partition = mesh->tet_count > 0;
    int32_t *region = rbt_array_new(cell_count, sizeof *region, "regions", error);
    unsigned char *seen = rbt_array_new(mesh->tet_count, 1, "regions", error);
    if (!region || !seen) {
        free(region);
        free(seen);
        return NULL;
    }
    bool numbered = true;
    int32_t number, ordinal = 0;
    for (size_t i = 0; i < mesh->set_count; i++)
        if (mesh->sets[i].kind == RBT_SET_TETS) numbered &= region_number(mesh->sets[i].name, &number);
    for (size_t i = 0; i < cell_count; i++) region[i] = -1;
    size_t covered = 0;
    for (size_t i = 0; i < mesh->set_count; i++) {
        const rbt_mesh_set *set = &mesh->sets[i];
        if (set->kind != RBT_SET_TETS) continue;
        number = ordinal++;
        if (numbered) region_number(set->name, &number);
        for (size_t k = 0; k < set->count; k++) {
            *partition &= !seen[set->items[k]];
            seen[set->items[k]] = 1;
            region[set->items[k]] = number;
        }
        covered += set->count;
    }
    *partition &= covered == mesh->tet_count;
    free(seen);
    return region;
}

static void write_cells(FILE *stream, bool ascii, const int32_t *cells, size_t count, int corners) {
    for (size_t i = 0; i < count; i++, cells += corners) {
        int32_t row[5] = {corners};
        memcpy(row + 1, cells, (size_t)corners * sizeof *cells);
        if (!ascii) {
            rbt_put_ints_big_endian(stream, row, (size_t)corners + 1);
            continue;
        }
        for (int c = 0; c <= corners; c++) fprintf(stream, c ? " %d" : "%d", row[c]);
        fputc('\n', stream);
    }
}

static void write_same(FILE *stream, bool ascii, int32_t value, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (ascii) fprintf(stream, "%d\n", value);
        else rbt_put_ints_big_endian(stream, &value, 1);
    }
}

bool rbt_write_vtk(const rbt_mesh *mesh, FILE *stream, bool ascii, rbt_error *error) {
    size_t cell_count = mesh->tet_count + mesh->triangle_count + mesh->edge_count;
    size_t number_count = 5 * mesh->tet_count + 4 * mesh->triangle_count + 3 * mesh->edge_count;
    bool partition;
    int32_t *region = make_regions(mesh, cell_count, &partition, error);
    if (!region) return false;
    fprintf(stream, "# vtk DataFile Version 3.0\nrubato mesh\n%s\nDATASET UNSTRUCTURED_GRID\nPOINTS %zu double\n",
            ascii ? "ASCII" : "BINARY", mesh->node_count);
    if (ascii) rbt_print_reals(stream, "", mesh->nodes, mesh->node_count, 3);
    else rbt_put_reals_big_endian(stream, mesh->nodes, 3 * mesh->node_count);
    fprintf(stream, "\nCELLS %zu %zu\n", cell_count, number_count);
    write_cells(stream, ascii, mesh->tets, mesh->tet_count, 4);
    write_cells(stream, ascii, mesh->triangles, mesh->triangle_count, 3);
    write_cells(stream, ascii, mesh->edges, mesh->edge_count, 2);
    fprintf(stream, "\nCELL_TYPES %zu\n", cell_count);
    write_same(stream, ascii, 10, mesh->tet_count);
    write_same(stream, ascii, 5, mesh->triangle_count);
    write_same(stream, ascii, 3, mesh->edge_count);
    if (partition) {
        fprintf(stream, "\nCELL_DATA %zu\nSCALARS region int 1\nLOOKUP_TABLE default\n", cell_count);
        if (!ascii) rbt_put_ints_big_endian(stream, region, cell_count);
        for (size_t i = 0; ascii && i < cell_count; i++) fprintf(stream, "%d\n", region[i]);
    }
    if (!ascii) fputc('\n', stream);
    free(region);
    return true;  // errors of the stream are found when the file is committed
}
