// Meshes: reading, writing, generating and judging them.
//
// A mesh is plain data. Lengths are metres once a reader's unit factor has been applied; indices count from 0.
#ifndef RUBATO_MESH_H
#define RUBATO_MESH_H

#include "rubato/error.h"
#include "rubato/list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rbt_set_kind { RBT_SET_NODES, RBT_SET_TETS, RBT_SET_TRIANGLES } rbt_set_kind;

// A named group of nodes or elements, as physical groups, regions and references of the file formats give them.
typedef struct rbt_mesh_set {
    char *name;
    rbt_set_kind kind;
    size_t count;
    int32_t *items;  // (count) ascending, each once
} rbt_mesh_set;

// Of a mesh that a function here returns every array is allocated with malloc and owned by the mesh. A program may
// also fill one itself, with arrays of its own, for rbt_mesh_def.mesh, rbt_mesh_write and rbt_mesh_diagnose.
typedef struct rbt_mesh {
    size_t node_count;
    double *nodes;  // (node_count x 3) [m]
    size_t tet_count;
    int32_t *tets;  // (tet_count x 4) det(x1-x0, x2-x0, x3-x0) > 0 for a good one; readers keep the file's order
    size_t triangle_count;
    int32_t *triangles;  // (triangle_count x 3) what the file lists; the surface of the tets is derived, not stored
    size_t edge_count;
    int32_t *edges;  // (edge_count x 2)
    size_t set_count;
    rbt_mesh_set *sets;
    char format[64];  // what was found, as "gmsh 4.1 binary"
} rbt_mesh;

// The format follows from the name's ending and, where that leaves it open, from the first bytes.
// TetGen: either of x.node and x.ele names the pair; a .node alone is a cloud of points.
// The caller frees the mesh; NULL with an error that names file and place.
rbt_mesh *rbt_mesh_read(const char *path, rbt_error *error);
void rbt_mesh_free(rbt_mesh *mesh);  // NULL: nothing

// By the ending: .msh (gmsh 4.1), .vtk (legacy), .obj (triangles, or the surface of the tets).
// `ascii`: text instead of binary where the format has both. The file is complete or not there. false with an error
// if it cannot be written, or if the mesh has arrays at NULL or indices that name nothing.
bool rbt_mesh_write(const rbt_mesh *mesh, const char *path, bool ascii, rbt_error *error);

// A shape by name with parameters as JSON text, as the scene key "shape" has them: rbt_mesh_generate("bar",
// "{\"cells\": [20, 4, 4]}", &error); NULL: defaults. `rubato mesh --list` and docs/scene.md tell names, parameters and
// limits. The caller frees the mesh; NULL with an error if there is no such shape, a parameter is wrong or memory
// lacks.
rbt_mesh *rbt_mesh_generate(const char *shape, const char *parameters, rbt_error *error);

#define RBT_HISTOGRAM_BINS 10

// What can be said about a mesh before anything moves. Element numbers are -1 where there is none.
typedef struct rbt_mesh_report {
    double box_min[3], box_max[3];  // [m]
    double volume;                  // of the tets [m^3]; inverted ones count negative
    double area;                    // of the surface [m^2]
    size_t component_count;         // connected parts of the tets (or of the triangles, if there are no tets)
    size_t inverted_count, degenerate_count, duplicate_count, isolated_count;
    int64_t first_inverted, first_degenerate, first_duplicate, first_isolated;
    size_t not_finite_count;  // nodes with a coordinate that is not a number
    int64_t first_not_finite;
    size_t surface_triangle_count;     // derived from the tets, or the file's triangles if there are no tets
    size_t non_manifold_edge_count;    // surface edges with more than two triangles
    size_t open_edge_count;            // surface edges with one triangle
    double quality_min, quality_mean;  // 6 sqrt(2) V / l_rms^3: 1 regular, 0 flat
    int64_t worst_tet;
    size_t quality_histogram[RBT_HISTOGRAM_BINS];  // equal bins over 0..1
} rbt_mesh_report;

// Fills the report; false with an error if memory lacks, or if the mesh has arrays at NULL or indices that name
// nothing.
bool rbt_mesh_diagnose(const rbt_mesh *mesh, rbt_mesh_report *report, rbt_error *error);

#ifdef __cplusplus
}
#endif
#endif
