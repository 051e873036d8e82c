// Which triangles and edges of a mesh intersect each other, in one state or on the way from one to the next: all
// pairs, found with a tree of boxes and judged exactly (math/exact.h). The independent judge of runs with contact: it
// shares no code with any of it, so that `rubato verify` proves something. May be called from any room, at any time,
// with positions only, and does not depend on the number of threads.
//
// Round things (particles, and obstacles that are balls or rods) are solid: they meet what is nearer than their
// radius. Planes have a side on which nothing may be. Pairs of obstacles alone do not count, nor do pairs of an
// obstacle and something else if neither has moved so far (`still`): bodies may be built into walls.
//
// Surfaces are closed sets: to touch is to intersect. Primitives that share a node are no intersection unless they
// share more than that: an edge that lies on a triangle at whose corner it begins is one. Edges of no triangle
// (springs) may cross each other, but no triangle.
#ifndef RBT_VERIFY_EXACT_INTERSECT_H
#define RBT_VERIFY_EXACT_INTERSECT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct rbt_round {
    int32_t node[2];  // the centre, and -1; or the ends of a rod's axis
    double radius;    // [m]
} rbt_round;

typedef struct rbt_half_space {
    int32_t node;      // a point of the plane
    double normal[3];  // to the free side; of any length
} rbt_half_space;

// What must not intersect. Arrays are its own.
typedef struct rbt_intersect_mesh {
    size_t node_count;
    size_t triangle_count;
    int32_t *triangles;  // (triangle_count x 3) by their nodes, so that their order before does not matter
    size_t side_count, edge_count;
    int32_t *edges;  // (edge_count x 2) the triangles' sides, each once, then edges of no triangle
    size_t vertex_count;
    int32_t *vertices;  // (vertex_count) the nodes of all these, ascending
    size_t round_count, plane_count;
    rbt_round *rounds;
    rbt_half_space *planes;
    size_t obstacle_begin;  // nodes from here on are those of obstacles
    bool free_edges_meet;   // edges of no triangle must not cross each other either, on ways
    unsigned char *still;   // (node_count) has not moved since the first state; the caller's to write, at first all 0
} rbt_intersect_mesh;

// Triangles of all bodies (shells, and what rbt_boundary finds for tets) and edges of no triangle; copied.
bool rbt_intersect_mesh_build(rbt_intersect_mesh *mesh, const int32_t *triangles, size_t triangle_count,
                              const int32_t *edges, size_t edge_count, size_t node_count, rbt_error *error);

// Adds what is round, planes, and which nodes are obstacles; copied.
bool rbt_intersect_mesh_add(rbt_intersect_mesh *mesh, const rbt_round *rounds, size_t round_count,
                            const rbt_half_space *planes, size_t plane_count, size_t obstacle_begin,
                            rbt_error *error);
void rbt_intersect_mesh_free(rbt_intersect_mesh *mesh);

typedef enum rbt_intersection_kind {
    RBT_EDGE_IN_TRIANGLE,     // in a state: nodes 0 1, and 2 3 4
    RBT_VERTEX_HIT_TRIANGLE,  // on the way: node 0, and 1 2 3
    RBT_EDGE_HIT_EDGE,        // on the way: nodes 0 1, and 2 3
    RBT_ROUND_AT_TRIANGLE,    // in a state or on the way: 1 or 2 nodes, and 3 of the triangle
    RBT_ROUND_AT_EDGE,        // and 2 of an edge of no triangle
    RBT_ROUND_AT_ROUND,       // and 1 or 2 of the other
    RBT_NODE_BEHIND_PLANE     // in a state: node 0, which may be a ball's centre, and the plane's node
} rbt_intersection_kind;

typedef struct rbt_intersection {
    rbt_intersection_kind kind;
    bool touching;     // of states: they meet in a corner, on a side or within a plane only
    bool on_way;       // not in the state itself
    int32_t nodes[5];  // of the first, then of the second; -1 behind the last
    int counts[2];     // how many of the first and of the second
    double when;       // on the way, from 0 to 1
    double place[3];   // about where
    int32_t owner[2];  // whose the first and the second are; the caller's to write, at first 0
} rbt_intersection;

typedef struct rbt_intersections {
    size_t count;     // all of them; of these
    size_t touching;  // in a state, but only touching
    size_t kept;      // the first, by kind and numbers of the primitives
    rbt_intersection *kept_items;
    size_t tested;  // pairs whose boxes overlap
    size_t exact;   // on the way: pairs that floating point left open
} rbt_intersections;

// One state: every edge against every triangle, and what is round or behind a plane. `keep`: how many to describe. x:
// (node_count x 3). false only if something is wrong with the world or a position is not finite. Fills *found
// whatever it held; free it with rbt_intersections_free.
bool rbt_intersect_state(const rbt_intersect_mesh *mesh, const double *x, size_t keep, rbt_intersections *found,
                         rbt_error *error);

// On the way from x0 to x1, every node on a straight line at constant speed: every vertex against every triangle and
// every edge against every edge, leaving out pairs of which no node moves, and what is round. (A node that is before
// a plane at both ends of a straight way is so on all of it.)
bool rbt_intersect_motion(const rbt_intersect_mesh *mesh, const double *x0, const double *x1, size_t keep,
                          rbt_intersections *found, rbt_error *error);

void rbt_intersections_free(rbt_intersections *found);

#endif
