// Mesh file formats: the table of readers and writers, and what they share.
//
// A reader gets the whole file in memory and fills an empty mesh; on failure it returns false with the error filled
// and rbt_mesh_read frees what it had allocated. Counts come from the file and are never trusted: they are checked
// against the bytes that are left before anything is allocated, and against INT32_MAX nodes and elements.
#ifndef RBT_MESH_IO_FORMAT_H
#define RBT_MESH_IO_FORMAT_H

#include "base/file.h"
#include "base/scan.h"
#include "rubato/mesh.h"

typedef struct rbt_mesh_format {
    const char *name;      // "gmsh", "MEDIT", …
    const char *endings;   // ".msh", ".node .ele"
    const char *magic[2];  // first bytes that give the format away whatever the ending says; NULL: none
    bool (*read)(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error);
    bool (*write)(const rbt_mesh *mesh, FILE *stream, bool ascii, rbt_error *error);  // NULL: read only
} rbt_mesh_format;

extern const rbt_mesh_format RBT_MESH_FORMATS[];
extern const int RBT_MESH_FORMAT_COUNT;

// What rbt_mesh_read does once format and bytes are known: reads, then checks what callers may rely on (at least one
// node, finite coordinates, every index in range, sets ascending). NULL on failure.
rbt_mesh *rbt_mesh_read_bytes(const rbt_mesh_format *format, const char *path, const rbt_bytes *bytes,
                              rbt_error *error);
bool rbt_mesh_check_read(rbt_mesh *mesh, const char *path, rbt_error *error);  // the checks alone

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

// Both halves of a TetGen mesh; `elements` NULL: points only.
bool rbt_read_tetgen_pair(const char *node_path, const rbt_bytes *nodes, const char *element_path,
                          const rbt_bytes *elements, rbt_mesh *mesh, rbt_error *error);

bool rbt_write_gmsh(const rbt_mesh *mesh, FILE *stream, bool ascii, rbt_error *error);
bool rbt_write_vtk(const rbt_mesh *mesh, FILE *stream, bool ascii, rbt_error *error);
bool rbt_write_obj(const rbt_mesh *mesh, FILE *stream, bool ascii, rbt_error *error);

#endif
