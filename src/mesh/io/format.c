#include "mesh/io/format.h"

#include "base/text.h"
#include "mesh/core/build.h"

#include <math.h>
#include <string.h>
#include <strings.h>

const rbt_mesh_format RBT_MESH_FORMATS[] = {
    {"gmsh", ".msh", {"$MeshFormat", "$NOD"}, rbt_read_gmsh, rbt_write_gmsh},
    {"MEDIT", ".mesh .meshb", {"MeshVersionFormatted"}, rbt_read_medit, NULL},
    {"TetGen", ".node .ele", {NULL}, rbt_read_tetgen, NULL},
    {"Vega", ".veg", {"# Vega mesh file", "*VERTICES"}, rbt_read_veg, NULL},
    {"VTK", ".vtk", {"# vtk DataFile"}, rbt_read_vtk, rbt_write_vtk},
    {"VTU", ".vtu", {"<?xml", "<VTKFile"}, rbt_read_vtu, NULL},
    {"OBJ", ".obj", {NULL}, rbt_read_obj, rbt_write_obj},
    {"STL", ".stl", {NULL}, rbt_read_stl, NULL},
    {"PLY", ".ply", {"ply\n", "ply\r"}, rbt_read_ply, NULL},
};
const int RBT_MESH_FORMAT_COUNT = sizeof RBT_MESH_FORMATS / sizeof RBT_MESH_FORMATS[0];

// The part of the file name from its last dot on, or "" if it has none.
static const char *ending_of(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return dot ? dot : "";
}

static const rbt_mesh_format *format_by_ending(const char *path) {
    const char *ending = ending_of(path);
    size_t n = strlen(ending);
    for (int i = 0; n && i < RBT_MESH_FORMAT_COUNT; i++)
        for (const char *known = RBT_MESH_FORMATS[i].endings; *known; known += strspn(known, " ")) {
            size_t length = strcspn(known, " ");
            if (length == n && strncasecmp(known, ending, n) == 0) return &RBT_MESH_FORMATS[i];
            known += length;
        }
    return NULL;
}

static const rbt_mesh_format *format_by_magic(const rbt_bytes *bytes) {
    const char *start = bytes->data + strspn(bytes->data, " \t\r\n");
    for (int i = 0; i < RBT_MESH_FORMAT_COUNT; i++)
        for (int k = 0; k < 2; k++) {
            const char *magic = RBT_MESH_FORMATS[i].magic[k];
            if (magic && strncmp(start, magic, strlen(magic)) == 0) return &RBT_MESH_FORMATS[i];
        }
    return NULL;
}

static bool fail_ending(const char *path, bool to_write, rbt_error *error) {
    rbt_text known = {0};
    for (int i = 0; i < RBT_MESH_FORMAT_COUNT; i++)
        if (!to_write || RBT_MESH_FORMATS[i].write)
            rbt_text_add(&known, "%s%s", known.size ? " " : "", RBT_MESH_FORMATS[i].endings);
    rbt_fail_at(error, path, 0, 0, "the ending \"%s\" is not one of the mesh formats that can be %s: %s",
                ending_of(path), to_write ? "written" : "read", known.text ? known.text : "");
    rbt_text_free(&known);
    return false;
}

bool rbt_mesh_check_read(rbt_mesh *mesh, const char *path, rbt_error *error) {
    if (!mesh->node_count) return rbt_fail_at(error, path, 0, 0, "the mesh is empty: it has no nodes");
    for (size_t i = 0; i < mesh->node_count; i++) {
        const double *x = mesh->nodes + 3 * i;
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
            return rbt_fail_at(error, path, 0, 0,
                               "node %zu (counted from 0) is at (%g, %g, %g): every coordinate must be finite", i,
                               x[0], x[1], x[2]);
    }
    // Arrays that stayed empty are made, so that nobody has to ask for NULL.
    if (!mesh->tets && !(mesh->tets = rbt_array_new(0, 4 * sizeof(int32_t), "tets", error))) return false;
    if (!mesh->triangles && !(mesh->triangles = rbt_array_new(0, 3 * sizeof(int32_t), "triangles", error)))
        return false;
    if (!mesh->edges && !(mesh->edges = rbt_array_new(0, 2 * sizeof(int32_t), "edges", error))) return false;
    return rbt_mesh_finish_sets(mesh, error) && rbt_mesh_check_indices(mesh, path, error);
}

rbt_mesh *rbt_mesh_read_bytes(const rbt_mesh_format *format, const char *path, const rbt_bytes *bytes,
                              rbt_error *error) {
    rbt_mesh *mesh = rbt_mesh_new(error);
    if (!mesh) return NULL;
    if (format->read(path, bytes, mesh, error) && rbt_mesh_check_read(mesh, path, error)) return mesh;
    if (error && !error->file[0]) snprintf(error->file, sizeof error->file, "%s", path);
    rbt_mesh_free(mesh);
    return NULL;
}

rbt_mesh *rbt_mesh_read(const char *path, rbt_error *error) {
    rbt_bytes bytes;
    if (!path) rbt_fail(error, "there is no file name: the pointer is NULL");
    if (!path || !rbt_file_read(path, &bytes, error)) return NULL;
    const rbt_mesh_format *format = format_by_magic(&bytes);
    if (!format) format = format_by_ending(path);
    rbt_mesh *mesh = NULL;
    if (format) mesh = rbt_mesh_read_bytes(format, path, &bytes, error);
    else fail_ending(path, false, error);
    free(bytes.data);
    return mesh;
}

bool rbt_mesh_write(const rbt_mesh *mesh, const char *path, bool ascii, rbt_error *error) {
    if (!path) return rbt_fail(error, "there is no file name: the pointer is NULL");
    if (!rbt_mesh_is_whole(mesh, "the mesh", error)) return false;
    const rbt_mesh_format *format = format_by_ending(path);
    if (!format || !format->write) return fail_ending(path, true, error);
    rbt_new_file file;
    if (!rbt_new_file_open(&file, path, error)) return false;
    if (format->write(mesh, file.stream, ascii, error)) return rbt_new_file_commit(&file, error);
    rbt_new_file_abandon(&file);
    if (error && !error->file[0]) snprintf(error->file, sizeof error->file, "%s", path);
    return false;
}
