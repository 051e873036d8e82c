// Mesh file formats: the table of readers and writers, and what they share.
//
// A reader gets the whole file in memory and fills an empty mesh; on failure it returns false with the error filled
// and rbt_mesh_read frees what it had allocated. Counts come from the file and are never trusted: they are checked
// against the bytes that are left before anything is allocated, and against INT32_MAX nodes and elements.
#ifndef RBT_MESH_FORMAT_H
#define RBT_MESH_FORMAT_H

#include "base/file.h"
#include "base/scan.h"
#include "rubato/mesh.h"

typedef struct rbt_mesh_format {
    const char *name;     // "gmsh", "MEDIT", …
    const char *endings;  // ".msh", ".node .ele"
    bool (*read)(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error);
    bool (*write)(const rbt_mesh *mesh, FILE *stream, bool ascii, rbt_error *error);  // NULL: read only
} rbt_mesh_format;

extern const rbt_mesh_format RBT_MESH_FORMATS[];
extern const int RBT_MESH_FORMAT_COUNT;

// One per format; `path` is for messages and, with TetGen, to find the other half of the pair.
bool rbt_read_gmsh(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error);
bool rbt_read_medit(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error);
bool rbt_read_tetgen(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error);
bool rbt_read_veg(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error);
bool rbt_read_vtk(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error);
bool rbt_read_vtu(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error);
bool rbt_read_obj(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error);
bool rbt_read_stl(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error);
bool rbt_read_ply(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error);

bool rbt_write_gmsh(const rbt_mesh *mesh, FILE *stream, bool ascii, rbt_error *error);
bool rbt_write_vtk(const rbt_mesh *mesh, FILE *stream, bool ascii, rbt_error *error);
bool rbt_write_obj(const rbt_mesh *mesh, FILE *stream, bool ascii, rbt_error *error);

#endif
