// Cylinder, torus and rope: a disc moved along a line, a circle, a helix.
#include "mesh/core/build.h"
#include "mesh/generate/shapes.h"
#include "mesh/generate/sweep.h"

#include <math.h>

#define RINGS(type, number)                                                                                          \
    {                                                                                                                \
        "rings", RBT_INT, offsetof(type, rings),                                                                     \
            .fallback = {number}, .min = 1, .max = 1000,                                                             \
            .doc = "Rings of triangles across the radius; n rings make 18 n^2 tets a cell."                          \
    }
#define CELLS(type, number)                                                                                          \
    {                                                                                                                \
        "cells", RBT_INT, offsetof(type, cells), .fallback = {number}, .min = 1, .max = 1000000,                     \
                                                 .doc = "Cells along the length."                                    \
    }

static const rbt_field CYLINDER_FIELDS[] = {
    {"radius", RBT_REAL, offsetof(rbt_cylinder_shape, radius), .fallback = {0.5}, RBT_SIZE_LIMITS, .doc = "Radius."},
    {"length", RBT_REAL, offsetof(rbt_cylinder_shape, length), .fallback = {2}, RBT_SIZE_LIMITS,
     .doc = "Length along x; the middle is the origin."},
    RINGS(rbt_cylinder_shape, 4),
    CELLS(rbt_cylinder_shape, 16)};
const rbt_record RBT_CYLINDER_PARAMETERS = {"cylinder shape",
                                            "A solid cylinder; its ends are the node sets left and right.",
                                            sizeof(rbt_cylinder_shape), RBT_FIELDS(CYLINDER_FIELDS)};

static const rbt_field TORUS_FIELDS[] = {
    {"ring_radius", RBT_REAL, offsetof(rbt_torus_shape, ring_radius), .fallback = {0.5}, RBT_SIZE_LIMITS,
     .doc = "Radius of the circle around the y axis that the tube follows."},
    {"tube_radius", RBT_REAL, offsetof(rbt_torus_shape, tube_radius), .fallback = {0.2}, RBT_SIZE_LIMITS,
     .doc = "Radius of the tube; below the ring's radius."},
    RINGS(rbt_torus_shape, 4),
    {"cells", RBT_INT, offsetof(rbt_torus_shape, cells), .fallback = {56}, .min = 3, .max = 1000000,
     .doc = "Cells around the ring."}};
const rbt_record RBT_TORUS_PARAMETERS = {"torus shape", "A solid ring lying in the plane y = 0.",
                                         sizeof(rbt_torus_shape), RBT_FIELDS(TORUS_FIELDS)};

static const rbt_field ROPE_COIL_FIELDS[] = {
    {"rope_radius", RBT_REAL, offsetof(rbt_rope_coil_shape, rope_radius), .fallback = {0.01}, RBT_SIZE_LIMITS,
     .doc = "Radius of the rope."},
    {"coil_radius", RBT_REAL, offsetof(rbt_rope_coil_shape, coil_radius), .fallback = {0.06}, RBT_SIZE_LIMITS,
     .doc = "Radius of the helix around the y axis that the rope's middle follows; above the rope's radius."},
    {"pitch", RBT_REAL, offsetof(rbt_rope_coil_shape, pitch), .fallback = {0.025}, RBT_SIZE_LIMITS,
     .doc = "Rise of one turn; turns that must not touch need more than twice the rope's radius."},
    {"turns", RBT_REAL, offsetof(rbt_rope_coil_shape, turns), .fallback = {9}, .flags = RBT_ABOVE, .min = 0,
     .max = 10000, .doc = "Number of turns."},
    RINGS(rbt_rope_coil_shape, 2),
    CELLS(rbt_rope_coil_shape, 657)};
const rbt_record RBT_ROPE_COIL_PARAMETERS = {"rope-coil shape",
                                             "A rope wound into a helix; its ends are the node sets lower and upper.",
                                             sizeof(rbt_rope_coil_shape), RBT_FIELDS(ROPE_COIL_FIELDS)};

// Sweeps a disc of `rings` and names the nodes at its two ends.
static rbt_mesh *sweep_disc(int rings, const rbt_sweep *sweep, const char *first_end, const char *last_end,
                            rbt_error *error) {
    rbt_section disc;
    if (!rbt_sweep_check(6.0 * rings * rings, sweep->steps, error)) return NULL;
    if (!rbt_section_disc(&disc, rings, error)) return NULL;
    rbt_mesh *mesh = rbt_sweep_section(&disc, sweep, error);
    bool made = mesh != NULL;
    for (size_t i = 0; i < disc.point_count && made && first_end; i++) {
        int32_t first = (int32_t)i, last = (int32_t)(mesh->node_count - disc.point_count + i);
        made = rbt_mesh_add_to_set(mesh, first_end, RBT_SET_NODES, &first, 1, error) &&
               rbt_mesh_add_to_set(mesh, last_end, RBT_SET_NODES, &last, 1, error);
    }
    rbt_section_free(&disc);
    if (made) return mesh;
    rbt_mesh_free(mesh);
    return NULL;
}

static void place_on_line(const void *path, double u, double v, int step, double x[3]) {
    const rbt_cylinder_shape *p = path;
    x[0] = p->length * ((double)step / p->cells - 0.5);
    x[1] = p->radius * u;
    x[2] = p->radius * v;
}

rbt_mesh *rbt_make_cylinder(const void *parameters, rbt_error *error) {
    const rbt_cylinder_shape *p = parameters;
    return sweep_disc(p->rings, &(rbt_sweep){place_on_line, p, p->cells, false, NULL}, "left", "right", error);
}

// The section's u points away from the y axis and v upwards, so the path runs from x towards z.
static void place_on_circle(const void *path, double u, double v, int step, double x[3]) {
    const rbt_torus_shape *p = path;
    double angle = 2 * M_PI * step / p->cells, away = p->ring_radius + p->tube_radius * u;
    x[0] = away * cos(angle);
    x[1] = p->tube_radius * v;
    x[2] = away * sin(angle);
}

rbt_mesh *rbt_make_torus(const void *parameters, rbt_error *error) {
    const rbt_torus_shape *p = parameters;
    if (p->tube_radius >= p->ring_radius) {
        rbt_fail(error, "tube_radius %g m is not below ring_radius %g m: the ring would run into itself",
                 p->tube_radius, p->ring_radius);
        return NULL;
    }
    return sweep_disc(p->rings, &(rbt_sweep){place_on_circle, p, p->cells, true, NULL}, NULL, NULL, error);
}

// The section stands across the helix: u away from the axis, v across the climbing tangent.
static void place_on_helix(const void *path, double u, double v, int step, double x[3]) {
    const rbt_rope_coil_shape *p = path;
    double part = (double)step / p->cells, angle = 2 * M_PI * p->turns * part;
    double around = 2 * M_PI * p->coil_radius, length = hypot(around, p->pitch);
    double rise = p->pitch / length, run = around / length, away = p->coil_radius + p->rope_radius * u;
    double along = -p->rope_radius * v * rise;  // against the direction of travel (-sin, ., cos)
    x[0] = away * cos(angle) - along * sin(angle);
    x[1] = p->pitch * p->turns * (part - 0.5) + p->rope_radius * v * run;
    x[2] = away * sin(angle) + along * cos(angle);
}

rbt_mesh *rbt_make_rope_coil(const void *parameters, rbt_error *error) {
    const rbt_rope_coil_shape *p = parameters;
    if (p->rope_radius >= p->coil_radius) {
        rbt_fail(error, "rope_radius %g m is not below coil_radius %g m: the rope would run into itself",
                 p->rope_radius, p->coil_radius);
        return NULL;
    }
    if (p->turns > 1 && p->pitch < 2 * p->rope_radius) {
        rbt_fail(error, "pitch %g m is less than the rope's diameter %g m: its turns would run into each other",
                 p->pitch, 2 * p->rope_radius);
        return NULL;
    }
    return sweep_disc(p->rings, &(rbt_sweep){place_on_helix, p, p->cells, false, NULL}, "lower", "upper", error);
}
