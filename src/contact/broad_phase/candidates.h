// Candidates: pairs of primitives of a surface that may come within a reach of each other. There are two lists, each
// for motions near one of all nodes at once, from x to y: it holds for positions
//   x + s (y - x) + e,   0 <= s <= 1 the same for all nodes,   |e| <= slack in each coordinate of each node,
// and for straight motions between two such positions. Slack makes lists last (the idea of Verlet's neighbour lists);
// that s is common makes things that move together no nearer to each other. What matters to a pair are differences of
// e, so lists hold for e of any size that neighbours share: how that is told is in candidate_hold.h.
//
// The wide list is found by a search in a tree of boxes (moving_box.h), for a step or two. The narrow one is taken out
// of it for the motion of the moment: a pair is left out if a direction n separates it at both ends,
//   min over B of n . x - max over A of n . x  >  reach |n| + 2 slack |n|_1,      and the same of y,
// since the left side is concave along the motion. Neighbours in a mesh, most of the wide list, stay apart along a
// direction for many steps, so directions are kept with the wide list, and each costs a few products.
#ifndef RBT_CONTACT_BROAD_PHASE_CANDIDATES_H
#define RBT_CONTACT_BROAD_PHASE_CANDIDATES_H

#include "contact/broad_phase/moving_box.h"
#include "contact/broad_phase/surface.h"
#include "mesh/query/box_tree.h"

typedef struct rbt_listed {  // what narrowing wants to know of a pair
    int32_t node[4];         // those of A, then those of B; the last one again where there are fewer
    float axis[3];           // n, about of length 1; all 0: not known
    float reach;             // [m] of both sides, at least
} rbt_listed;

typedef struct rbt_place {  // of a node at both ends of a motion, from an origin
    rbt_four end[2];
} rbt_place;

typedef struct rbt_tube {  // positions that a list holds for, as above
    size_t values;
    double *from, *to;  // (values)
    double slack;
    bool holds;  // false: for none
} rbt_tube;

typedef struct rbt_leaf_group {  // part of the tree, of which few leaves are left at its ends (candidate_hold.h)
    int32_t node, count;         // of the tree; leaves below it
    int32_t right;               // the left part is the next one; 0: an end
    int32_t first, last;         // an end's own: group_nodes[first] .. group_nodes[last - 1]
} rbt_leaf_group;

typedef struct rbt_offset_box {  // all e of a group: where they begin, and minus where they end
    rbt_four low, minus_high;
} rbt_offset_box;

typedef enum rbt_end_kind {  // of the leaves below an end of the tree, as bits
    RBT_END_TRIANGLES = 1,   // all are triangles
    RBT_END_MOVES = 2,       // all corners can move: any pair with one of them exists
    RBT_END_OBSTACLE = 4,    // all are of obstacles
} rbt_end_kind;

typedef struct rbt_tree_order {  // what leaves own, in the order of the tree: that of place i of it stands together
    size_t *edge_begin;          // (leaf_count + 1)
    size_t *node_begin;          // (leaf_count + 1)
    int32_t *edge, *node;        // (edge_count), (node_count) their numbers
    int32_t *place;              // (edge_count) of edges
    unsigned char *end;          // (of the tree's nodes) rbt_end_kind; 0 where there are nodes below
} rbt_tree_order;

typedef struct rbt_candidates {
    const rbt_contact_surface *surface;
    // (node_count) [m] radius, and half of the distance at which pairs of this node matter; the caller's
    const double *reach;
    bool built;         // the tree has its shape
    rbt_box_tree tree;  // over the leaves
    rbt_tree_order order;
    // (node_count), (edge_count, in the order of the tree), (leaf_count) and of the tree: boxes of the last search,
    // with reach and slack
    rbt_moving_box *nodes, *edges, *leaves, *bounds;
    rbt_moving_box *ordered;  // (leaf_count) those of leaves in the order of the tree

    rbt_leaf_group *groups;   // (group_count) the upper part of the tree, from its root
    rbt_offset_box *offsets;  // (group_count)
    int32_t *group_nodes;     // of ends, one after the other
    size_t group_count, group_node_count;

    rbt_tube wide;  // where the wide list holds
    size_t found_count, found_capacity;
    rbt_pair_key *found;  // (found_count) the wide list, ascending, each once
    rbt_listed *listed;   // (found_count) with directions along which they were apart last time
    size_t listed_capacity;

    rbt_tube narrow;    // where the narrow list holds
    bool nested;        // the wide list holds wherever nodes keep to the narrow one's slack
    double *known;      // (node_count x 3) positions that both hold for
    bool is_known;      // false: none
    double known_room;  // [m] what the wide one has to spare there, at least
    size_t count, capacity;
    rbt_pair_key *keys;  // (count) the narrow list, ascending

    size_t searches, lists;  // so far: of the tree, and narrow lists made
    // Work
    unsigned char *kept;  // (found_count)
    rbt_pair_key *sorted;
    rbt_listed *relisted;
    rbt_place *places;  // (node_count)
    size_t *bucket;
    size_t kept_capacity, sorted_capacity, relisted_capacity;
    struct rbt_candidate_pile *piles;
    size_t pile_count;
} rbt_candidates;

// `surface` and `reach` must stay.
bool rbt_candidates_init(rbt_candidates *candidates, const rbt_contact_surface *surface, const double *reach,
                         rbt_error *error);
void rbt_candidates_free(rbt_candidates *candidates);

// Makes sure that the narrow list holds for motions from x to y, both (node_count x 3). If it does not, one with
// `slack` [m] is made; if the wide list does not hold there either, one with `wide_slack`. `start`: where things were
// when they began to move, from which on the wide list tries to last. false: no memory; the lists are then empty and
// hold nowhere.
bool rbt_candidates_prepare(rbt_candidates *candidates, const double *start, const double *x, const double *y,
                            double slack, double wide_slack);

// Lists start again: other pairs exist now.
void rbt_candidates_forget(rbt_candidates *candidates);

// Calls `visit` with all pairs of leaves a < b whose boxes overlapped at the last search.
typedef void (*rbt_leaf_visit)(void *context, int32_t a, int32_t b);
void rbt_candidates_leaves(const rbt_candidates *candidates, rbt_leaf_visit visit, void *context);

// ---- Parts

// Around motions from x to y and on, `times` as far
void rbt_tube_lay(rbt_tube *tube, const double *x, const double *y, double times, double slack);

// A new wide list that holds for motions from x to y with this slack (candidate_search.c). false: no memory.
bool rbt_candidates_search(rbt_candidates *candidates, const double *x, const double *y, double slack);

// A new narrow list (candidate_axes.c)
void rbt_candidates_narrow(rbt_candidates *candidates, const double *x, const double *y, double slack);

#endif
