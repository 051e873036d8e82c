// Cells as VTK stores them (types, offsets, connectivity), shared by the legacy and the XML reader.
#ifndef RBT_MESH_IO_VTK_CELLS_H
#define RBT_MESH_IO_VTK_CELLS_H

#include "rubato/mesh.h"

// Owned arrays; the corners of cell i are corners[offsets[i]] .. corners[offsets[i + 1] - 1].
typedef struct rbt_vtk_cells {
    size_t count;
    int64_t *types;    // (count)
    int64_t *offsets;  // (count + 1) from 0 to corner_count
    size_t corner_count;
    int64_t *corners;  // (corner_count)
    int64_t *region;   // (count) label of each cell, or NULL
} rbt_vtk_cells;

void rbt_vtk_cells_free(rbt_vtk_cells *cells);

// Offsets ascending from 0 to corner_count.
bool rbt_vtk_offsets_check(const int64_t *offsets, size_t count, size_t corner_count, const char *file,
                           rbt_error *error);

// Appends tets, triangles and lines to the mesh, whose nodes are there and elements are not, and makes the tet sets
// "region <label>". Vertex cells say nothing that the nodes do not. Other types are refused by name and count.
bool rbt_vtk_cells_to_mesh(const rbt_vtk_cells *cells, rbt_mesh *mesh, const char *file, rbt_error *error);

// Place of each cell in the order tets, triangles, lines, vertices; the cells must have passed the function above.
bool rbt_vtk_cell_places(const rbt_vtk_cells *cells, size_t **places, rbt_error *error);

// Which cell arrays hold regions: "region" before "CellEntityIds" before "material"; 0 is best, -1 no region.
int rbt_vtk_region_rank(const char *name, size_t length);

#endif
