// The surface that a cut follows: triangles with a progress on their vertices, which says when the blade is there.
//
// Surfaces are moved by a millionth of a millionth of their size in a direction that no mesh is aligned with, so that
// edges which pass exactly through an edge or a vertex of the surface, or planes through nodes, are no special cases.
#ifndef RBT_MESH_CUT_CUT_SURFACE_H
#define RBT_MESH_CUT_CUT_SURFACE_H

#include "mesh/query/box_tree.h"

typedef struct rbt_cut_surface {
    size_t vertex_count, triangle_count;
    double *vertices;    // (vertex_count x 3)
    int32_t *triangles;  // (triangle_count x 3)
    double *progress;    // (vertex_count) linear in between
    rbt_box_tree tree;   // over the triangles
} rbt_cut_surface;

// Copies everything; progress NULL: 0 everywhere.
bool rbt_cut_surface_init(rbt_cut_surface *surface, const double *vertices, size_t vertex_count,
                          const int32_t *triangles, size_t triangle_count, const double *progress, rbt_error *error);
void rbt_cut_surface_free(rbt_cut_surface *surface);

// Where the segment from p to q goes through the surface: p + s (q - p)
typedef struct rbt_crossing {
    double s, progress;
} rbt_crossing;

enum { RBT_CROSSINGS = 64 };  // of one segment that are looked at

// Writes the crossings in ascending order of s; returns how many (RBT_CROSSINGS at most). A segment through the edge
// that two triangles share goes through one of them.
size_t rbt_cut_surface_cross(const rbt_cut_surface *surface, const double p[3], const double q[3],
                             rbt_crossing crossings[RBT_CROSSINGS]);

// Whether some triangle, as far as boxes tell, is near the points (count x 3) and its plane has some of them on
// either side.
bool rbt_cut_surface_separates(const rbt_cut_surface *surface, const double (*points)[3], int count);

// Square of the distance to the triangles that begin before this progress, INFINITY if there are none; the nearest
// triangle.
double rbt_cut_surface_distance2(const rbt_cut_surface *surface, const double x[3], double until, int32_t *triangle);

// On which side of a triangle's plane a point lies: positive where its normal points to.
double rbt_cut_surface_side(const rbt_cut_surface *surface, int32_t triangle, const double x[3]);

#endif
