// Solids made by moving a triangulated section along a path: the prisms between its places, cut into tets.
#ifndef RBT_MESH_GENERATE_SWEEP_H
#define RBT_MESH_GENERATE_SWEEP_H

#include "rubato/mesh.h"

typedef struct rbt_section {
    size_t point_count, triangle_count;
    double *points;      // (point_count x 2) u, v
    int32_t *triangles;  // (triangle_count x 3) counter-clockwise
} rbt_section;

// A disc of radius 1 in rings of 6, 12, 18, … points around the centre: triangles of nearly equal sides.
bool rbt_section_disc(rbt_section *section, int rings, rbt_error *error);
// The square [-1, 1]^2 in nu x nv cells, all with parallel diagonals: the same if turned by half a circle.
bool rbt_section_grid(rbt_section *section, int nu, int nv, rbt_error *error);
void rbt_section_free(rbt_section *section);

// Where the point (u, v) of the section is after `step` of the path's steps.
typedef void (*rbt_sweep_place)(const void *path, double u, double v, int step, double x[3]);

typedef struct rbt_sweep {
    rbt_sweep_place place;
    const void *path;
    int steps;
    bool closed;             // the last step ends at the first section,
    const int32_t *arrival;  // (point_count) whose points its points meet; NULL: the same ones
} rbt_sweep;

// Whether a section of so many triangles may be moved so far; asked before a large section is made.
bool rbt_sweep_check(double triangles, int steps, rbt_error *error);

// Node step * point_count + i is point i of the section. Tets of one step, three to a triangle, stand together.
// u, v and the direction of the path must be right-handed.
rbt_mesh *rbt_sweep_section(const rbt_section *section, const rbt_sweep *sweep, rbt_error *error);

// A prism (0 1 2 below, 3 4 5 above, 0 1 2 counter-clockwise from above) as three tets. Every side's diagonal starts
// at the side's lowest node, so that two prisms agree on the side between them, whoever they are.
void rbt_split_prism(const int32_t prism[6], int32_t tets[12]);

#endif
