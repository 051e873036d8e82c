// The inside of a closed surface from a file.
#include "mesh/shapes.h"
#include "mesh/stuffing.h"
#include "mesh/surface_distance.h"

#include <math.h>

static const rbt_field SURFACE_FIELDS[] = {
    {"file", RBT_TEXT, offsetof(rbt_surface_shape, file), .flags = RBT_REQUIRED | RBT_NOT_EMPTY | RBT_FILE,
     .doc = "A closed surface: OBJ, STL or PLY."},
    {"scale", RBT_REAL, offsetof(rbt_surface_shape, scale), .fallback = {1}, RBT_SIZE_LIMITS,
     .doc = "Length of the file's unit, 0.001 for millimetres."},
    {"cell", RBT_REAL, offsetof(rbt_surface_shape, cell), .fallback = {NAN}, .flags = RBT_ABOVE | RBT_AUTO, .min = 0,
     .max = 1e6, .unit = "m", .doc = "Side of the lattice's cubes; auto: a fortieth of the longest side."},
    {"largest_only", RBT_BOOL, offsetof(rbt_surface_shape, largest_only), .fallback = {1},
     .doc = "Drop all connected parts of the result but the largest."}};
const rbt_record RBT_SURFACE_PARAMETERS = {
    "surface shape", "A closed surface from a file, filled with tets; sharp edges are rounded at the size of a cell.",
    sizeof(rbt_surface_shape), RBT_FIELDS(SURFACE_FIELDS)};

rbt_mesh *rbt_make_surface(const void *parameters, rbt_error *error) {
    const rbt_surface_shape *p = parameters;
    if (!p->file || !p->file[0]) {
        rbt_fail(error, "surface: no file is given; name a closed OBJ, STL or PLY surface");
        return NULL;
    }
    rbt_mesh *triangles = rbt_mesh_read(p->file, error);
    if (!triangles) return NULL;
    for (size_t i = 0; i < 3 * triangles->node_count; i++) triangles->nodes[i] *= p->scale;
    rbt_closed_surface *surface = rbt_closed_surface_new(triangles, p->file, error);
    rbt_mesh_free(triangles);
    if (!surface) return NULL;
    rbt_distance body = {rbt_surface_distance, surface, rbt_closed_surface_box(surface)};
    double longest = 0;
    for (int k = 0; k < 3; k++) longest = fmax(longest, body.box.max[k] - body.box.min[k]);
    rbt_mesh *mesh = rbt_stuff(&body, isnan(p->cell) ? longest / 40 : p->cell, p->largest_only, error);
    rbt_closed_surface_free(surface);
    return mesh;
}
