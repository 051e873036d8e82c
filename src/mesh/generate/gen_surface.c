// The inside of a closed surface from a file.
//
// Left to itself the lattice is as fine as the surface: its cubes have the length of the surface's mean edge, at most
// a tenth of the longest and half of the shortest side of its box (surfaces of few large triangles), and at least what
// keeps the tets to about TETS_MOST.
#include "math/vec3.h"
#include "mesh/generate/generate.h"
#include "mesh/generate/shapes.h"
#include "mesh/generate/stuffing.h"
#include "mesh/query/surface_distance.h"

#include <math.h>

static const rbt_field SURFACE_FIELDS[] = {
    {"file", RBT_TEXT, offsetof(rbt_surface_shape, file), .flags = RBT_REQUIRED | RBT_NOT_EMPTY | RBT_FILE,
     .doc = "A closed surface: OBJ, STL or PLY."},
    {"scale", RBT_REAL, offsetof(rbt_surface_shape, scale), .fallback = {1}, RBT_SIZE_LIMITS,
     .doc = "Length of the file's unit, 0.001 for millimetres."},
    {"cell", RBT_REAL, offsetof(rbt_surface_shape, cell), .fallback = {NAN}, .flags = RBT_ABOVE | RBT_AUTO, .min = 0,
     .max = 1e6, .unit = "m",
     .doc = "Side of the lattice's cubes; auto: the mean edge of the surface, at most a tenth of its longest "
            "and half of its shortest side, and at least what makes about 100,000 tets."},
    {"largest_only", RBT_BOOL, offsetof(rbt_surface_shape, largest_only), .fallback = {1},
     .doc = "Drop all connected parts of the result but the largest."}};
const rbt_record RBT_SURFACE_PARAMETERS = {
    "surface shape", "A closed surface from a file, filled with tets; sharp edges are rounded at the size of a cell.",
    sizeof(rbt_surface_shape), RBT_FIELDS(SURFACE_FIELDS)};

static const double TETS_MOST = 1e5;

typedef struct extent {         // of a closed surface
    double volume, area, edge;  // edge: the mean length
} extent;

static extent measure(const rbt_mesh *m) {
    extent e = {0};
    for (size_t t = 0; t < m->triangle_count; t++) {
        double u[3], v[3], w[3], normal[3], origin[3] = {0};
        const double *p[3];
        for (int k = 0; k < 3; k++) p[k] = m->nodes + 3 * (size_t)m->triangles[3 * t + (size_t)k];
        rbt_subtract(p[1], p[0], u);
        rbt_subtract(p[2], p[0], v);
        rbt_subtract(p[2], p[1], w);
        rbt_cross(u, v, normal);
        e.area += 0.5 * rbt_length(normal);
        e.volume += rbt_tet_volume(origin, p[0], p[1], p[2]);
        e.edge += rbt_length(u) + rbt_length(v) + rbt_length(w);
    }
    if (m->triangle_count) e.edge /= 3 * (double)m->triangle_count;
    e.volume = fabs(e.volume);
    return e;
}

// A cube of the body-centred lattice is twelve tets; where the surface passes there are about two more for a square of
// a cube's side.
static double tets_of(const extent *e, double cell) {
    return 12 * e->volume / (cell * cell * cell) + 2 * e->area / (cell * cell);
}

static double choose_cell(const extent *e, const rbt_box *box) {
    double longest = 0, shortest = INFINITY;
    for (int k = 0; k < 3; k++) {
        longest = fmax(longest, box->max[k] - box->min[k]);
        shortest = fmin(shortest, box->max[k] - box->min[k]);
    }
    double cell = fmin(longest / 10, shortest / 2);
    if (e->edge > 0) cell = fmin(cell, e->edge);
    double low = cell, high = longest;
    if (!(tets_of(e, cell) > TETS_MOST)) return cell;
    for (int k = 0; k < 60; k++) {  // tets_of falls as cells grow
        double middle = 0.5 * (low + high);
        if (tets_of(e, middle) > TETS_MOST) low = middle;
        else high = middle;
    }
    return high;
}

// The triangles of the file, in metres, and what is to be made of them
static rbt_mesh *plan(const rbt_surface_shape *p, rbt_surface_plan *plan, rbt_closed_surface **surface,
                      rbt_error *error) {
    if (!p->file || !p->file[0]) {
        rbt_fail(error, "surface: no file is given; name a closed OBJ, STL or PLY surface");
        return NULL;
    }
    rbt_mesh *triangles = rbt_mesh_read(p->file, error);
    if (!triangles) return NULL;
    for (size_t i = 0; i < 3 * triangles->node_count; i++) triangles->nodes[i] *= p->scale;
    if (!(*surface = rbt_closed_surface_new(triangles, p->file, error))) {
        rbt_mesh_free(triangles);
        return NULL;
    }
    rbt_box box = rbt_closed_surface_box(*surface);
    extent e = measure(triangles);
    plan->triangle_count = triangles->triangle_count;
    plan->cell = isnan(p->cell) ? choose_cell(&e, &box) : p->cell;
    plan->tets = tets_of(&e, plan->cell);
    return triangles;
}

bool rbt_surface_plan_make(const rbt_surface_shape *p, rbt_surface_plan *made, rbt_error *error) {
    rbt_closed_surface *surface;
    rbt_mesh *triangles = plan(p, made, &surface, error);
    if (!triangles) return false;
    rbt_closed_surface_free(surface);
    rbt_mesh_free(triangles);
    return true;
}

rbt_mesh *rbt_make_surface(const void *parameters, rbt_error *error) {
    const rbt_surface_shape *p = parameters;
    rbt_closed_surface *surface;
    rbt_surface_plan made;
    rbt_mesh *triangles = plan(p, &made, &surface, error);
    if (!triangles) return NULL;
    rbt_mesh_free(triangles);
    rbt_distance body = {rbt_surface_distance, surface, rbt_closed_surface_box(surface)};
    rbt_mesh *mesh = rbt_stuff(&body, made.cell, p->largest_only, error);
    rbt_closed_surface_free(surface);
    return mesh;
}
