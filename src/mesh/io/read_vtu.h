// VTU files with their fields, as the renderer needs them.
#ifndef RBT_MESH_IO_READ_VTU_H
#define RBT_MESH_IO_READ_VTU_H

#include "base/file.h"
#include "rubato/mesh.h"

// One value (or vector) per node or per cell. Cells are in the order of the mesh whatever the order in the file:
// first all tets, then all triangles, edges and single vertices.
typedef struct rbt_mesh_field {
    char *name;
    bool on_cells;
    size_t components;
    double *values;  // (nodes or cells x components)
} rbt_mesh_field;

typedef struct rbt_fields {
    size_t count;
    rbt_mesh_field *items;  // point fields and cell fields in the order of the file
    size_t cell_count;      // tets, triangles, edges and vertices together
    bool has_time;
    double time;            // [s] FieldData TimeValue
    bool single_precision;  // the points, or some of them, are 32-bit numbers
} rbt_fields;

// Fills an empty mesh and fields; on failure both are left empty. Arrays of text are left out.
bool rbt_vtu_read_fields(const char *path, rbt_mesh *mesh, rbt_fields *fields, rbt_error *error);
bool rbt_vtu_read_fields_bytes(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_fields *fields,
                               rbt_error *error);  // the same with the file in memory; `path` for messages
void rbt_fields_free(rbt_fields *fields);
const rbt_mesh_field *rbt_fields_find(const rbt_fields *fields, const char *name, bool on_cells);  // NULL if absent

#endif
