// What can touch what: triangles, free edges and single points as leaves of a tree. Every node and every edge is
// owned by one leaf, so that a pair of leaves names each pair of primitives once.
#ifndef RBT_CONTACT_BROAD_PHASE_SURFACE_H
#define RBT_CONTACT_BROAD_PHASE_SURFACE_H

#include "base/memory.h"
#include "contact/distance/gap.h"

typedef struct rbt_leaf {
    int32_t node[3];
    int32_t edge[3];            // of triangles: from corner k to k + 1; of edges: the first
    signed char corners;        // 3, 2 or 1
    unsigned char owned_nodes;  // bits
    unsigned char owned_edges;
} rbt_leaf;

typedef struct rbt_wall {
    int32_t node;      // the point it goes through
    double normal[3];  // unit, to the free side
} rbt_wall;

typedef struct rbt_contact_surface_def {
    size_t node_count, triangle_count, edge_count, point_count, wall_count;
    const int32_t *triangles, *edges, *points;
    const double *limit;  // (edge_count) share of its length by which an edge may change, 0: any; NULL: all of them
    const rbt_wall *walls;
    const double *radius;  // (node_count) of points and of both ends of thick edges [m]; 0 for all others
    const int32_t *body;   // (node_count)
    const double *X;       // (node_count x 3) at rest
    // (node_count) the largest inverse mass a node will have, 0: constrained for ever [1/kg]
    const double *inverse_mass;
    // (node_count) whether a node of a body has a prescribed motion; NULL: none does
    const unsigned char *prescribed;
    // Pairs of which all nodes are prescribed count where one of them moves, unless both are obstacles; else only those
    // of two bodies do.
    bool blocks;
} rbt_contact_surface_def;

typedef struct rbt_contact_surface {
    rbt_contact_surface_def def;  // what it points to belongs to the caller
    size_t leaf_count, edge_count;
    rbt_leaf *leaves;
    int32_t *edges;  // (edge_count x 2) of triangles and free ones, each once
} rbt_contact_surface;

bool rbt_contact_surface_init(rbt_contact_surface *surface, const rbt_contact_surface_def *def, rbt_error *error);
void rbt_contact_surface_free(rbt_contact_surface *surface);

// Names of pairs: kind, then two numbers (node and leaf; two edges; node and edge; two nodes; node and wall; edge and
// leaf). Their order is the order in which kicks of one moment are summed.
typedef uint64_t rbt_pair_key;
static inline rbt_pair_key rbt_pair_key_of(rbt_touch_kind kind, int32_t a, int32_t b) {
    return (uint64_t)kind << 60 | (uint64_t)(uint32_t)a << 30 | (uint64_t)(uint32_t)b;
}
static inline rbt_touch_kind rbt_pair_key_kind(rbt_pair_key key) { return (rbt_touch_kind)(key >> 60); }

// The ends of a free edge, a spring, do not pass through each other either.
static inline rbt_pair_key rbt_leaf_ends(const rbt_leaf *leaf) {
    return rbt_pair_key_of(RBT_TOUCH_POINT, leaf->node[0], leaf->node[1]);
}

// The nodes of a pair (up to 4)
void rbt_pair_nodes(const rbt_contact_surface *surface, rbt_pair_key key, int32_t node[4]);

// How much of a pair's distance does not count: what is inside of points and thick edges, or a limit of length [m]
double rbt_pair_inside(const rbt_contact_surface *surface, rbt_pair_key key, const int32_t node[4]);

// Names of all pairs of primitives of two leaves; returns how many (at most 15). Some are no pairs at all.
int rbt_leaf_names(const rbt_contact_surface *surface, int32_t a, int32_t b, rbt_pair_key keys[15]);

// Only of those with a node of leaf a.
int rbt_leaf_names_of(const rbt_contact_surface *surface, int32_t a, int32_t b, int32_t node, rbt_pair_key keys[15]);

// Whether a name is that of a pair: its sides share no node and are not both constrained for ever, unless a
// prescribed motion could make one body pass through another.
bool rbt_pair_exists(const rbt_contact_surface *surface, rbt_pair_key key);

// Whether a number that comes from outside is the name of a pair of surfaces.
bool rbt_pair_key_is_sound(const rbt_contact_surface *surface, rbt_pair_key key);

// Those that do; returns how many.
int rbt_leaf_pairs(const rbt_contact_surface *surface, int32_t a, int32_t b, rbt_pair_key keys[15]);

// Whether an edge of leaf a meets the triangle of leaf b at positions x (rounding decides where they barely touch);
// those that share a node do not count.
bool rbt_leaves_cross(const rbt_contact_surface *surface, const double *x, int32_t a, int32_t b);

// "triangle 12 of body 3" and the like are made by the caller; this says which primitive: element within triangles,
// edges, points.
void rbt_pair_text(const rbt_contact_surface *surface, rbt_pair_key key, char *text, size_t size);

#endif
