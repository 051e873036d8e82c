// The table of shapes that `rubato mesh` and scenes can generate.
#ifndef RBT_MESH_GENERATE_GENERATE_H
#define RBT_MESH_GENERATE_GENERATE_H

#include "base/record.h"
#include "mesh/generate/shape_parameters.h"
#include "rubato/mesh.h"

typedef struct rbt_shape {
    const char *name;
    const char *doc;
    const rbt_record *parameters;
    rbt_mesh *(*generate)(const void *parameters, rbt_error *error);
} rbt_shape;

const rbt_shape *rbt_shape_at(int i);  // NULL past the end
const char *rbt_shape_name(int i);     // NULL past the end
int rbt_shape_find(const char *name);  // -1 if there is none

// A mesh of the shape with this name; parameters: the struct of its table, NULL: defaults.
rbt_mesh *rbt_shape_generate(const char *name, const void *parameters, rbt_error *error);

// The shapes as alternatives of rbt_mesh_def.shape; `which` is the index into the table above.
extern const rbt_variants RBT_SHAPE_VARIANTS;

// What the shape "surface" will make of its file.
typedef struct rbt_surface_plan {
    size_t triangle_count;
    double cell;  // side of the lattice's cubes [m], as given or chosen
    double tets;  // about so many; where parts are thinner than a cell, fewer
} rbt_surface_plan;
bool rbt_surface_plan_make(const rbt_surface_shape *shape, rbt_surface_plan *plan, rbt_error *error);

#endif
