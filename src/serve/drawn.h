// What is drawn of a mesh: the hull of its tets, triangles of shells, springs and particles, with the nodes they have.
#ifndef RBT_SERVE_DRAWN_H
#define RBT_SERVE_DRAWN_H

#include "serve/message.h"
#include "view/scenery.h"

// Cells are in the order of frames on disk: tets, triangles, edges, particles, which are the nodes of nothing else.
typedef struct rbt_drawn_source {
    size_t node_count;
    const double *rest;  // (node_count x 3)
    size_t tet_count, triangle_count, edge_count, cell_count;
    const int32_t *tets, *triangles, *edges;
    const int32_t *body, *region;  // (cell_count)
} rbt_drawn_source;

typedef struct rbt_drawn {
    uint64_t id;             // the same for the same mesh
    size_t mesh_node_count;  // of the mesh
    size_t node_count;       // drawn
    int32_t *node;           // (node_count) numbers in the mesh, ascending
    double *rest;            // (node_count x 3)
    size_t triangle_count;
    int32_t *triangles;      // (triangle_count x 3) of drawn nodes, as are the numbers below
    int32_t *element;        // (triangle_count) the cell behind each
    int32_t *body, *region;  // (triangle_count)
    size_t edge_count, point_count;
    int32_t *edges, *edge_body;    // (edge_count x 2), (edge_count)
    int32_t *points, *point_body;  // (point_count)
} rbt_drawn;

uint64_t rbt_drawn_id(const rbt_drawn_source *source);
rbt_drawn *rbt_drawn_new(const rbt_drawn_source *source, rbt_error *error);
void rbt_drawn_free(rbt_drawn *shape);  // NULL: nothing

// Means at the nodes of what the tets and triangles around them have: values (cell_count), at_node (node_count).
bool rbt_drawn_means(const rbt_drawn_source *source, const double *values, double *at_node, rbt_error *error);

rbt_message *rbt_drawn_message(const rbt_drawn *shape, const rbt_scenery *scenery, uint32_t run, uint32_t frame,
                               rbt_error *error);

typedef struct rbt_shown_frame {
    uint32_t run, frame;
    double time;
    uint32_t live;  // 0: from disk; of a run in progress 1 at a frame, 2 between frames
    uint64_t sequence;
    const double *x;                         // (mesh_node_count x 3)
    const double *fields[RBT_SHOWN_FIELDS];  // (mesh_node_count) NULL: not there
    const rbt_scenery *scenery;              // of obstacles that move; NULL: none does
} rbt_shown_frame;

rbt_message *rbt_drawn_frame_message(const rbt_drawn *shape, const rbt_shown_frame *frame, rbt_error *error);

#endif
